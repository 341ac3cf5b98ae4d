package webface

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// page is one load of the page: what its streams live in.
type page struct {
	ctx     context.Context
	stop    context.CancelFunc
	streams int     // guarded by Face.mu; the page is forgotten when it falls to 0
	out     *outlet // guarded by Face.mu; nil while it has no stream of terminals
}

// pageName is what a page may call itself: it makes a fresh name at each load.
var pageName = regexp.MustCompile(`^[0-9a-f]{16,64}$`)

// stream opens a stream of the page that r names. The context ends with the request, with its page and with the face.
// end must be called when the stream is over; ok is false if the request cannot be served.
func (f *Face) stream(w http.ResponseWriter, r *http.Request, fresh bool) (ctx context.Context, end func(), ok bool) {
	name := r.URL.Query().Get("page")
	if !pageName.MatchString(name) {
		http.Error(w, "the page must name itself", http.StatusBadRequest)
		return nil, nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		http.Error(w, "the app is ending", http.StatusServiceUnavailable)
		return nil, nil, false
	}
	if fresh && f.opts.OnePage {
		f.endOthers(name)
	}
	p := f.pages[name]
	if p == nil {
		p = &page{}
		p.ctx, p.stop = context.WithCancel(f.ctx)
		f.pages[name] = p
	}
	p.streams++
	f.busy.Add(1)
	ctx, cancel := context.WithCancel(r.Context())
	unhook := context.AfterFunc(p.ctx, cancel)
	return ctx, func() {
		unhook()
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		if p.streams--; p.streams == 0 && f.pages[name] == p {
			p.stop()
			delete(f.pages, name)
		}
		f.busy.Done()
	}, true
}

// endOthers ends the streams of every page but one. The caller holds mu.
func (f *Face) endOthers(name string) {
	for other, p := range f.pages {
		if other != name {
			p.stop()
			delete(f.pages, other)
		}
	}
}

// events tells the page, line by line, that the revision moved. The first line comes at once.
func (f *Face) events(w http.ResponseWriter, r *http.Request) {
	ctx, end, ok := f.stream(w, r, true)
	if !ok {
		return
	}
	defer end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := http.NewResponseController(w)
	for {
		rev, changed := f.back.Watch()
		if _, err := fmt.Fprintf(w, "{\"rev\":%d}\n", rev); err != nil {
			return
		}
		flush(out)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		select { // let a burst of changes gather
		case <-ctx.Done():
			return
		case <-time.After(eventPause):
		}
	}
}

// flush pushes what was written to the page. The window's own writer has no buffer and says that it cannot flush.
func flush(out *http.ResponseController) { _ = out.Flush() }
