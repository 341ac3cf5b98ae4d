//go:build !unix

package agenthome

import (
	"os"

	"termic/internal/fault"
)

type tree struct{}

func noCages() error {
	return fault.New(fault.Unsupported, "There are no cages on this system, so there are no private homes")
}

func openTree(string) (*tree, error)                         { return nil, noCages() }
func makeTree(string) (*tree, error)                         { return nil, noCages() }
func (*tree) Close() error                                   { return nil }
func (*tree) mkdir(string) error                             { return noCages() }
func (*tree) read(string, int64) ([]byte, error)             { return nil, noCages() }
func (*tree) write(string, []byte, uint32, bool) error       { return noCages() }
func (*tree) writeOver(string, []byte, []byte, uint32) error { return noCages() }
func locked(string, func() error) error                      { return noCages() }
func openSource(path string) (*os.File, error)               { return os.Open(path) }
