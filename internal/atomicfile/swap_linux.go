package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap lets two files of one folder change places in one step.
func swap(a, b string) error { return SwapAt(unix.AT_FDCWD, a, b) }

// SwapAt lets two names in an open folder change places in one step. Errors: ErrNoSwap where the file system cannot.
func SwapAt(dir int, a, b string) error {
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.EPERM {
		return errors.Join(ErrNoSwap, err)
	}
	return err
}
