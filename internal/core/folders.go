package core

import (
	"os"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/store"
)

// How long a look at a folder may take. A local disk answers within microseconds; a home on a network whose server went away answers when that comes
// back, and lists of tasks are not to wait for it.
const (
	lookTime  = 250 * time.Millisecond
	lookAgain = 10 * time.Millisecond // while another look gets no answer: it is mostly the same server
)

// folders looks whether the folders of tasks and projects are there. A look that gets no answer goes on in a goroutine of its own, which no one can
// stop or waits for: it ends with the answer, or with the program. There is one for each path at most.
type folders struct {
	stat func(path string) error

	mu    sync.Mutex
	stuck map[string]*lookAt // looks that took too long, by path
}

// A lookAt is one call of stat.
type lookAt struct{ ended bool } // guarded by the mutex of folders

func newFolders() *folders {
	return &folders{stat: func(path string) error { _, err := os.Stat(path); return err }, stuck: map[string]*lookAt{}}
}

// gone reports whether a folder was deleted. One that cannot be looked at now is not.
func (f *folders) gone(path string) bool {
	f.mu.Lock()
	limit := lookTime
	if len(f.stuck) > 0 {
		limit = lookAgain
	}
	waits := f.stuck[path] != nil
	f.mu.Unlock()
	if waits {
		return false
	}
	l, answer := &lookAt{}, make(chan bool, 1)
	go func() {
		answer <- os.IsNotExist(f.stat(path))
		f.mu.Lock()
		defer f.mu.Unlock()
		if l.ended = true; f.stuck[path] == l {
			delete(f.stuck, path)
		}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case is := <-answer:
		return is
	case <-timer.C:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !l.ended && f.stuck[path] == nil {
		f.stuck[path] = l
	}
	return false
}

// missing reports whether the folder of a task was deleted behind our back.
func (c *Core) missing(t store.Task) bool {
	return (t.State == api.TaskLive || t.State == api.TaskMissing) && c.folders.gone(t.Path)
}
