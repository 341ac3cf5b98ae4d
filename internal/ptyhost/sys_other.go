//go:build !linux && !darwin

package ptyhost

import (
	"errors"
	"os"
	"syscall"

	"termic/internal/fault"
)

var errUnsupported = errors.New("terminals are not supported on this system")

func startChild(string, Spec) (*os.File, child, int, error) {
	return nil, nil, 0, fault.Wrap(errUnsupported, fault.Unsupported, "Terminals are not supported on this system")
}

func setSize(*os.File, Size) error          { return errUnsupported }
func foregroundGroup(*os.File) (int, error) { return 0, errUnsupported }
func readProcess(int) (process, bool)       { return process{}, false }
func listProcesses() ([]process, error)     { return nil, errUnsupported }
func environment(int) ([]string, bool)      { return nil, false }
func ignores(int) (term, hup bool)          { return false, false }
func bootID() string                        { return "" }
func openProcess(process) (handle, bool)    { return handle{}, false }

type handle struct{}

func (handle) signal(syscall.Signal) {}
func (handle) close()                {}
