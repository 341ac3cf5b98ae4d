package webface

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"termic/internal/core"
)

// outlet is the one stream through which a page gets what all of its terminals print. A browser opens only a few
// connections to one host, so that a stream for each terminal would leave none for anything else.
//
// Each terminal on it has two goroutines, its pump and its typist. They end with ctx or with the terminal, and close waits
// for them: the writer must not be used after its request was answered.
type outlet struct {
	ctx  context.Context
	stop context.CancelFunc
	out  *http.ResponseController
	busy sync.WaitGroup

	mu    sync.Mutex             // guards the following
	terms map[uint32]*attachment // by channel; nil while it is being attached
	down  bool

	turn sync.Mutex // held for one frame; guards the following. Each terminal waits with one frame, so that none starves another
	w    io.Writer
	buf  []byte // reused from frame to frame
	pack packer
}

// termOut opens the page's stream of terminals, in the place of one that it had, and lasts as long as it.
func (f *Face) termOut(w http.ResponseWriter, r *http.Request) {
	ctx, end, ok := f.stream(w, r, false)
	if !ok {
		return
	}
	defer end()
	w.Header().Set("Content-Type", "application/octet-stream")
	o := &outlet{w: w, out: http.NewResponseController(w), terms: map[uint32]*attachment{}}
	o.ctx, o.stop = context.WithCancel(ctx)
	defer o.close()
	f.mu.Lock()
	p := f.pages[r.URL.Query().Get("page")]
	var old *outlet
	if p != nil {
		old, p.out = p.out, o
	}
	f.mu.Unlock()
	if old != nil {
		old.stop()
	}
	if err := o.send(0, KindOpen, 0, nil); err == nil { // only now that terminals can be attached
		<-o.ctx.Done()
	}
	f.mu.Lock()
	if p != nil && p.out == o {
		p.out = nil
	}
	f.mu.Unlock()
}

// close ends what is attached, and waits for it.
func (o *outlet) close() {
	o.mu.Lock()
	o.down = true
	o.mu.Unlock()
	o.stop()
	o.busy.Wait()
}

// take reserves a channel for a terminal that is being attached; false if it is in use or the stream has ended. Whoever
// took it calls leave and then busy.Done.
func (o *outlet) take(channel uint32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, used := o.terms[channel]; used || o.down {
		return false
	}
	o.terms[channel] = nil
	o.busy.Add(1)
	return true
}

func (o *outlet) leave(channel uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.terms, channel)
}

func (o *outlet) attachment(channel uint32) *attachment {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.terms[channel]
}

// send writes a frame in one write: the window's writer is a pipe, and each write wakes the page. A stream that cannot be
// written to ends.
func (o *outlet) send(channel uint32, kind Kind, seq uint64, data []byte) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if small, ok := o.pack.pack(data); ok {
		kind, data = kind|packed, small
	}
	o.buf = appendFrame(o.buf[:0], channel, kind, seq, data)
	if _, err := o.w.Write(o.buf); err != nil {
		o.stop()
		return err
	}
	if cap(o.buf) > maxKept { // a snapshot of a long history
		o.buf = nil
	}
	flush(o.out)
	return nil
}

// maxKept bounds the buffer that is kept from frame to frame: a frame of output is at most 64 KiB.
const maxKept = 128 << 10

func (o *outlet) json(channel uint32, kind Kind, seq uint64, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return o.send(channel, kind, seq, data)
}

// frame sends one frame of a terminal. A snapshot is preceded by the size that it was made for.
func (o *outlet) frame(channel uint32, f core.Frame) error {
	switch f.Kind {
	case core.FrameSnapshot:
		if f.Cols > 0 {
			if err := o.size(channel, f); err != nil {
				return err
			}
		}
		return o.send(channel, KindSnapshot, f.Seq, f.Data)
	case core.FrameReplay:
		return o.send(channel, KindReplay, f.Seq, f.Data)
	case core.FrameOutput:
		return o.send(channel, KindOutput, f.Seq, f.Data)
	case core.FrameResize:
		return o.size(channel, f)
	case core.FrameExit:
		return o.json(channel, KindExit, f.Seq, f.Exit)
	}
	return nil
}

func (o *outlet) size(channel uint32, f core.Frame) error {
	return o.send(channel, KindResize, f.Seq, []byte{byte(f.Cols >> 8), byte(f.Cols), byte(f.Rows >> 8), byte(f.Rows)})
}
