package ptyhost

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// deadlineWriter is the writing half of a pseudo-terminal.
type deadlineWriter interface {
	io.Writer
	SetWriteDeadline(time.Time) error
}

// input is the queue of what is to be typed into one terminal. Its goroutine, run, is started by Host.Start, ends after
// close, and is awaited through Terminal.workers.
type input struct {
	out deadlineWriter

	mu     sync.Mutex // guards the following
	queue  []*typing
	bytes  int
	closed bool
	wake   chan struct{} // capacity 1
}

// typing is one write.
type typing struct {
	ctx  context.Context
	p    []byte
	done chan struct{} // closed once n and err are set
	n    int
	err  error
}

func newInput(out deadlineWriter) *input { return &input{out: out, wake: make(chan struct{}, 1)} }

// write queues p and waits until it was taken whole.
func (in *input) write(ctx context.Context, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	w := &typing{ctx: ctx, p: p, done: make(chan struct{})}
	if err := in.enqueue(w); err != nil {
		return &WriteError{Of: len(p), Err: err}
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		if in.withdraw(w) {
			return &WriteError{Of: len(p), Err: context.Cause(ctx)}
		}
		<-w.done // it is being written: the deadline ends that
	}
	if w.err != nil {
		return &WriteError{Written: w.n, Of: len(p), Err: w.err}
	}
	return nil
}

// post queues p without waiting; false when there is no room or the terminal is closed.
func (in *input) post(p []byte) bool {
	w := &typing{ctx: context.Background(), p: append([]byte(nil), p...), done: make(chan struct{})}
	return in.enqueue(w) == nil
}

func (in *input) enqueue(w *typing) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrExited
	}
	if len(in.queue) >= WriteQueueLen || in.bytes+len(w.p) > WriteQueueBytes {
		return ErrQueueFull
	}
	in.queue = append(in.queue, w)
	in.bytes += len(w.p)
	in.signal()
	return nil
}

// signal wakes run; in.mu must be held or the queue not empty.
func (in *input) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// withdraw takes w out of the queue and reports whether it was still there.
func (in *input) withdraw(w *typing) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, q := range in.queue {
		if q == w {
			in.queue = append(in.queue[:i], in.queue[i+1:]...)
			in.bytes -= len(w.p)
			return true
		}
	}
	return false
}

// next takes the oldest write, or reports that there is none and whether there ever will be one.
func (in *input) next() (w *typing, closed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || len(in.queue) == 0 {
		return nil, in.closed
	}
	w = in.queue[0]
	in.queue[0] = nil
	in.queue = in.queue[1:]
	in.bytes -= len(w.p)
	return w, false
}

// run writes what is queued, in order, until close.
func (in *input) run() {
	for {
		w, closed := in.next()
		if closed {
			return
		}
		if w == nil {
			<-in.wake
			continue
		}
		w.n, w.err = in.deliver(w)
		close(w.done)
	}
}

// deliver writes all of w, however short the single writes are, until its context ends.
func (in *input) deliver(w *typing) (n int, err error) {
	var mu sync.Mutex
	finished := false
	stop := context.AfterFunc(w.ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !finished {
			_ = in.out.SetWriteDeadline(time.Unix(1, 0))
		}
	})
	defer func() {
		stop()
		mu.Lock()
		finished = true
		mu.Unlock()
		if w.ctx.Err() != nil {
			_ = in.out.SetWriteDeadline(time.Time{})
		}
	}()
	for n < len(w.p) {
		k, err := in.out.Write(w.p[n:])
		n += max(k, 0)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			if w.ctx.Err() != nil {
				return n, context.Cause(w.ctx)
			}
			return n, ErrExited // the terminal is being closed
		default:
			return n, ErrExited
		}
	}
	return n, nil
}

// close fails what is queued and ends run. The caller closes the pseudo-terminal or sets a deadline in the past, if a
// write may be under way.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.closed = true
	for _, w := range in.queue {
		w.err = ErrExited
		close(w.done)
	}
	in.queue, in.bytes = nil, 0
	in.signal()
}
