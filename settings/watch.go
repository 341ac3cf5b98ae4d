package settings

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	settle     = 100 * time.Millisecond // quiet after the last event: editors write, sync and rename in several steps
	settleMost = time.Second            // even if events never stop
	pollEvery  = 2 * time.Second        // where the system has no watches to give
	maxHops    = 40                     // links in a chain that are watched
)

// watch tells when the file may have changed. It watches folders, not files: editors put new files in place of old
// ones, and a dotfile manager points a link elsewhere.
type watch struct {
	path  string
	log   *slog.Logger
	w     *fsnotify.Watcher // nil: none to be had, poll
	names map[string]bool   // paths of the file and of every link on the way to it
	dirs  map[string]bool
}

func newWatch(path string, log *slog.Logger) *watch {
	w := &watch{path: path, log: log}
	var err error
	if w.w, err = fsnotify.NewWatcher(); err != nil {
		log.Warn("settings: no file watch, the file is polled", "err", err)
		w.w = nil
	}
	w.follow()
	return w
}

// follow brings the watched folders up to date with the chain of links.
func (w *watch) follow() {
	if w.w == nil {
		return
	}
	names, dirs := map[string]bool{}, map[string]bool{}
	for path, hop := w.path, 0; hop <= maxHops; hop++ {
		names[path], dirs[filepath.Dir(path)] = true, true
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	for dir := range w.dirs {
		if !dirs[dir] {
			_ = w.w.Remove(dir) // it may be gone, and its watch with it
		}
	}
	for dir := range dirs {
		// Adding again is harmless, and needed for a folder that was removed and made anew.
		if err := w.w.Add(dir); err != nil {
			w.log.Debug("settings: folder is not watched", "dir", dir, "err", err)
			delete(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		w.log.Warn("settings: no folder can be watched, the file is polled")
		_ = w.w.Close()
		w.w = nil
	}
	w.names, w.dirs = names, dirs
}

func (w *watch) close() {
	if w.w != nil {
		_ = w.w.Close()
	}
}

// run is the goroutine of File.
func (f *File) run(w *watch) {
	defer func() { w.close() }()
	var events chan fsnotify.Event
	var errs chan error
	var poll, quiet <-chan time.Time
	var since time.Time // the first event that was not acted on
	for {
		if w.w != nil {
			events, errs = w.w.Events, w.w.Errors
		} else {
			events, errs = nil, nil
			if poll == nil {
				t := time.NewTicker(pollEvery)
				defer t.Stop()
				poll = t.C
			}
		}
		select {
		case <-f.stop:
			return
		case <-f.kick:
			f.tell()
		case <-poll:
			f.takeUp(w)
		case e, ok := <-events:
			if !ok {
				w.w = nil
				continue
			}
			if !w.names[e.Name] && !w.dirs[e.Name] {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			quiet = time.After(min(settle, max(0, settleMost-time.Since(since))))
		case err, ok := <-errs:
			if ok { // events were lost: read, to be sure
				f.o.Log.Warn("settings: file watch", "err", err)
				quiet = time.After(settle)
			}
		case <-quiet:
			quiet, since = nil, time.Time{}
			f.takeUp(w)
		}
	}
}

// takeUp reads the file after an event.
func (f *File) takeUp(w *watch) {
	w.follow()
	if err := f.Reload(); err != nil {
		f.o.Log.Debug("settings: reload", "err", err)
	}
}

// tell calls the subscribers.
func (f *File) tell() {
	f.mu.Lock()
	subs := make([]func(Settings), 0, len(f.subs))
	for _, n := range slices.Sorted(maps.Keys(f.subs)) {
		subs = append(subs, f.subs[n])
	}
	s := f.cur.settings
	f.mu.Unlock()
	for _, fn := range subs {
		fn(s.clone())
	}
}
