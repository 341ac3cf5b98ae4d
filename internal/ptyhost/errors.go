package ptyhost

import (
	"errors"
	"fmt"
)

// ErrDetached is returned by Attachment.Next after the viewer was detached.
var ErrDetached = errors.New("viewer is detached")

// ErrExited is the cause of a WriteError when the program ended before it took all bytes.
var ErrExited = errors.New("program has ended")

// ErrQueueFull is the cause of a WriteError when too much input waits already.
var ErrQueueFull = errors.New("too much input waits for the program")

// WriteError says how far a Write came. Its cause is ErrExited, ErrQueueFull, or the error of the context.
type WriteError struct {
	Written int // bytes that the kernel took
	Of      int
	Err     error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("wrote %d of %d bytes: %v", e.Written, e.Of, e.Err)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }
