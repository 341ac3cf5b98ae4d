//go:build windows

package atomicfile

import (
	"io/fs"
	"os"
)

// SyncDir does nothing: Windows has no handle to a folder that can be flushed, and NTFS journals names by itself.
func SyncDir(string) error { return nil }

func keepOwner(*os.File, fs.FileInfo) {}
