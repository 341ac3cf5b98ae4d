//go:build windows

package datadir

import (
	"errors"
	"io/fs"
	"os"
)

func tryLock(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func ownedByUs(fs.FileInfo) bool { return true }
