package core

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// How long a look at a folder may take. A local disk answers within microseconds; a home on a network whose server went away answers when that comes
// back, and lists of tasks are not to wait for it.
const (
	lookTime  = 250 * time.Millisecond
	lookAgain = 10 * time.Millisecond // while another look gets no answer: it is mostly the same server
	lookLong  = 5 * time.Second       // where work is refused if there is no answer: a disk that sleeps may take as long
)

// folders looks whether the folders of tasks and projects are there. A look that gets no answer goes on in a goroutine of its own, which no one can
// stop or waits for: it ends with the answer, or with the program. There is one for each path at most.
type folders struct {
	stat func(path string) error

	mu    sync.Mutex
	stuck map[string]*lookAt // looks that took too long, by path
}

// A lookAt is one call of stat.
type lookAt struct {
	began time.Time
	ended chan struct{} // closed at its end
	saw   sight         // from then on
}

func newFolders() *folders {
	return &folders{stat: func(path string) error { _, err := os.Stat(path); return err }, stuck: map[string]*lookAt{}}
}

// A sight is what a look at a folder tells.
type sight int

const (
	present sight = iota // or something keeps us from seeing it, which whoever uses it will say
	deleted
	silent // nothing tells yet: the file system gives no answer
)

// glance looks at a folder among many, for a moment.
func (f *folders) glance(path string) sight {
	f.mu.Lock()
	limit := lookTime
	if len(f.stuck) > 0 {
		limit = lookAgain
	}
	f.mu.Unlock()
	return f.look(path, limit)
}

// look looks at a folder, or waits for a look that is under way since it was slow. limit counts from the begin of that, so that a folder
// which gave no answer for as long is silent at once.
func (f *folders) look(path string, limit time.Duration) sight {
	f.mu.Lock()
	l := f.stuck[path]
	f.mu.Unlock()
	if l == nil {
		l = f.begin(path)
	}
	timer := time.NewTimer(time.Until(l.began.Add(limit)))
	defer timer.Stop()
	select {
	case <-l.ended:
		return l.saw
	case <-timer.C:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-l.ended:
		return l.saw
	default:
	}
	if f.stuck[path] == nil {
		f.stuck[path] = l
	}
	return silent
}

func (f *folders) begin(path string) *lookAt {
	l := &lookAt{began: time.Now(), ended: make(chan struct{})}
	go func() {
		saw := present
		if err := f.stat(path); os.IsNotExist(err) || errors.Is(err, syscall.ESTALE) { // deleted by another machine
			saw = deleted
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		l.saw = saw
		close(l.ended)
		if f.stuck[path] == l {
			delete(f.stuck, path)
		}
	}()
	return l
}

// missing reports whether the folder of a task was deleted behind our back. One that cannot be looked at now was not.
func (c *Core) missing(t store.Task) bool {
	return (t.State == api.TaskLive || t.State == api.TaskMissing) && c.folders.glance(t.Path) == deleted
}

// answers refuses what would wait in a folder for a file system that gives no answer: nothing ends that wait, and a program that is started there
// holds up the start of every other.
func (c *Core) answers(what, name, path string) error {
	if c.folders.look(path, lookLong) != silent {
		return nil
	}
	return fault.New(fault.Unavailable, "The folder of the %s %q gives no answer: %s", what, name, path).
		WithHint("It is on another machine, perhaps, which is away. Nothing is lost; ask again when it is back.")
}
