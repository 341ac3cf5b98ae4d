//go:build !linux

package sandbox

import (
	"errors"
	"io/fs"
)

func boundSockets() ([]boundSocket, error) { return nil, errors.ErrUnsupported }

func inode(fs.FileInfo) uint64 { return 0 }

func parseDevice(string) (uint64, bool) { return 0, false }

func unescapeMount(s string) string { return s }
