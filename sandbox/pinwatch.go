package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// PinWatch tells when a file that a cage sees read-only was replaced outside of it: the kernel drops the mount that pins a
// file when another is renamed over it, and the cage could write the new one. It has one goroutine, which Close ends and
// waits for.
type PinWatch struct {
	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

// WatchPins calls replaced once, with the path, when a pinned file of a running cage is not what it was. It looks at every
// change in the folders that hold pins, and never at a clock. A policy without pins has nothing to watch: the watch is nil.
func (p Policy) WatchPins(replaced func(path string)) (*PinWatch, error) {
	was := map[string]os.FileInfo{}
	for _, pin := range p.View().Pins {
		if st, err := os.Lstat(pin); err == nil {
			was[pin] = st
		}
	}
	if len(was) == 0 {
		return nil, nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	watched := map[string]bool{}
	for pin := range was {
		dir := filepath.Dir(pin)
		if watched[dir] {
			continue
		}
		watched[dir] = true
		if err := w.Add(dir); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	pw := &PinWatch{watcher: w}
	pw.done.Go(func() {
		for {
			select {
			case _, ok := <-w.Events:
				if !ok {
					return
				}
			case _, ok := <-w.Errors: // events were lost: look all the same
				if !ok {
					return
				}
			}
			for pin, before := range was {
				if now, err := os.Lstat(pin); err != nil || !os.SameFile(before, now) {
					replaced(pin)
					return
				}
			}
		}
	})
	return pw, nil
}

// Close ends the watch. A nil watch has nothing to end.
func (w *PinWatch) Close() {
	if w == nil {
		return
	}
	_ = w.watcher.Close() // its channels are closed, which ends the goroutine
	w.done.Wait()
}
