//go:build !unix

package cli

import (
	"errors"
	"os"
)

type tty struct{ in, out *os.File }

func newTTY(_, _ *os.File) (*tty, error) { return nil, errors.ErrUnsupported }

func (t *tty) read([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (t *tty) wake() error              { return nil }
func (t *tty) close()                   {}

func sizeChanges() (<-chan os.Signal, func()) { return nil, func() {} }
