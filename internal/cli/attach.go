package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/fault"
)

// attach joins a task's terminal from this one. Whatever happens, this terminal is put back before a word is printed.
func (r *runner) attach(ctx context.Context, inv invocation) error {
	keys := defaultDetachKeys
	if k, ok := inv.values["detach-keys"].(string); ok {
		keys = k
	}
	detach, err := parseDetachKeys(keys)
	if err != nil {
		return err
	}
	tty, err := openTTY(r.Stdin, r.Stdout)
	if err != nil {
		return err
	}
	defer tty.close()
	params, err := r.params(inv)
	if err != nil {
		return err
	}
	client, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	cols, rows := tty.size()
	stream, err := client.Attach(ctx, params, control.AttachAs{Cols: cols, Rows: rows, Resizes: inv.on("resize")})
	if err != nil {
		return err
	}
	if _, err := stream.Next(); err != nil { // ready, or the refusal
		return attachError(err, stream)
	}
	j := &joined{tty: tty, stream: stream, detach: detach, resize: inv.on("resize")}
	if err := j.run(); err != nil {
		return err
	}
	return r.attachEnd(stream.Result(), keys)
}

// attachError turns an end before the terminal was joined into an error.
func attachError(err error, stream *control.Stream) error {
	if errors.Is(err, io.EOF) {
		return fault.New(fault.Unavailable, "The terminal closed at once (%s)", clean(stream.Result().Reason))
	}
	return err
}

// attachEnd says why the terminal was left and chooses the exit code.
func (r *runner) attachEnd(res api.AttachResult, keys string) error {
	words := map[string]string{"detached": "detached; the program goes on", "exited": "the program ended",
		"archived": "the task was archived", "closed": "the tab was closed", "stopped": "the task was stopped",
		"lagged": "this terminal was too slow and was left behind; attach again"}[res.Reason]
	if words == "" {
		words = clean(res.Reason)
	}
	fmt.Fprintf(r.Stderr, "[termic: %s]\n", words)
	switch res.Reason {
	case "detached":
	case "lagged":
		r.exit = fault.ExitLost
	default:
		r.exit = fault.ExitClosed
	}
	if r.global.json() {
		return r.printJSON(res)
	}
	return nil
}

// joined is the time in which two terminals are one. run owns it: it starts a goroutine for keys and one for changes
// of size, stops both when the stream ends (tty.wake and done), and waits for them before this terminal is put back.
type joined struct {
	tty    *tty
	stream *control.Stream
	detach *detachKeys
	resize bool
}

func (j *joined) run() (err error) {
	restore, err := j.tty.raw()
	if err != nil {
		return fault.Wrap(err, fault.Unsupported, "This terminal cannot be switched to pass every key on")
	}
	show := newScreen(j.tty.out)
	var wg sync.WaitGroup
	done := make(chan struct{})
	defer func() {
		close(done)
		err = errors.Join(err, j.tty.wake())
		wg.Wait()
		err = errors.Join(err, show.restore(), restore())
	}()
	wg.Go(j.readKeys)
	if j.resize {
		wg.Go(func() { j.followSize(done) })
	}
	return j.showFrames(show)
}

// showFrames draws until the stream ends, and acknowledges what was drawn.
func (j *joined) showFrames(show *screen) error {
	for {
		f, err := j.stream.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := show.Write(f.Data); err != nil {
			return fault.Wrap(err, fault.Unavailable, "This terminal takes no more output")
		}
		if f.Seq > 0 {
			if err := j.stream.Ack(f.Seq); err != nil {
				continue // the app hung up; what it still had to say is read first
			}
		}
	}
}

// readKeys sends what is typed until the detach keys, the end of the stream or the end of the terminal. Each of them
// but the second asks the app to end the stream, which ends showFrames.
func (j *joined) readKeys() {
	buf := make([]byte, 4<<10)
	for {
		n, err := j.tty.read(buf)
		if errors.Is(err, errWoken) {
			return
		}
		keys, leave := j.detach.feed(buf[:n])
		if len(keys) > 0 && j.stream.Send(keys) != nil {
			return // the app hung up, and showFrames says so
		}
		if leave || err != nil {
			_ = j.stream.Detach() // its failure means that the stream has ended, which is what is wanted
			return
		}
	}
}

// followSize gives the task's terminal each new size of this one.
func (j *joined) followSize(done <-chan struct{}) {
	changed, stop := sizeChanges()
	defer stop()
	for {
		select {
		case <-changed:
			cols, rows := j.tty.size()
			if cols == 0 || j.stream.Resize(cols, rows) != nil {
				continue // the stream ended, which done tells, or the terminal has no size
			}
		case <-done:
			return
		}
	}
}
