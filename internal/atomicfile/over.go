package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNoSwap says that two files cannot change places in one step on this system or file system.
var ErrNoSwap = errors.New("files cannot change places here")

// maxSwaps bounds how often files change places because another program keeps writing between.
const maxSwaps = 64

// Over writes only if the file has still the content that the new one was made from, or with missing does still not exist;
// else WriteFile fails with ErrChanged and the file is what the other program wrote last.
//
// The new file and the old one change places in one step, and then the old one is looked at: another program that puts a new
// file in the place of the old one, as programs do that keep their files whole, never loses what it wrote. Two things remain.
// A program that writes into the old file itself at that very moment writes into what is taken away; and where the file system
// cannot let files change places (some network homes), the comparison is the last step before the rename, microseconds apart.
func Over(content []byte, missing bool) Option {
	return func(o *options) { o.over = &expected{content, missing} }
}

// expected is what Over compares with.
type expected struct {
	content []byte
	missing bool
}

// same tells whether target is as it is expected: nil, ErrChanged, or why that cannot be told.
func (e *expected) same(target string) error {
	have, err := os.ReadFile(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if e.missing {
			return nil
		}
		return ErrChanged
	case err != nil:
		return fmt.Errorf("compare with %s: %w", target, err)
	case e.missing || !bytes.Equal(have, e.content):
		return ErrChanged
	}
	return nil
}

// putOver puts temp, which holds data, in the place of target if that is as expected. After an error target is as the other
// program left it; temp is gone in any case.
func (e *expected) putOver(temp, target string, data []byte) error {
	err := e.same(target)
	if err == nil && e.missing {
		err = os.Link(temp, target) // unlike a rename it never takes the place of a file
		if errors.Is(err, fs.ErrExist) {
			err = ErrChanged
		}
		if err != nil && !errors.Is(err, ErrChanged) {
			return os.Rename(temp, target) // a file system without links
		}
	} else if err == nil {
		err = SwapOver(func() error { return swap(temp, target) }, func() ([]byte, error) { return os.ReadFile(temp) }, data, e.content)
		if errors.Is(err, ErrNoSwap) {
			return os.Rename(temp, target)
		}
	}
	return errors.Join(err, os.Remove(temp))
}

// SwapOver lets a file that holds ours and another one change places, if the other one holds expected. swap does it in one step;
// aside reads what lies in the first place. Afterwards what lies there is to be removed.
//
// Errors: ErrChanged, after which the other program's newest file is where it was; ErrNoSwap, and what swap says, after which
// nothing has changed.
func SwapOver(swap func() error, aside func() ([]byte, error), ours, expected []byte) error {
	if err := swap(); err != nil {
		return err
	}
	put := ours // what was put into the place last
	if out, err := aside(); err == nil && bytes.Equal(out, expected) {
		return nil
	}
	for range maxSwaps {
		back, _ := aside() // what goes back in; unreadable is as good as unknown
		if err := swap(); err != nil {
			return errors.Join(ErrChanged, err)
		}
		// If what comes out is not what went in last, they wrote once more between, and that is newer than what went back in.
		if out, err := aside(); err == nil && bytes.Equal(out, put) {
			return ErrChanged
		}
		put = back
	}
	return ErrChanged
}
