//go:build windows

package store

// syncDir does nothing: Windows has no handle to a folder that can be flushed, and NTFS journals names by itself.
func syncDir(string) error { return nil }
