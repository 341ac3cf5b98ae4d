package childproc

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Starter starts a program elsewhere than as a child of this process: in a cage. It gets copies of the descriptors 0, 1
// and 2 for the program, and closes none of them.
type Starter func(ctx context.Context, argv, env []string, dir string, stdio [3]*os.File) (Running, error)

// Running is a program that a Starter has started.
type Running interface {
	// Wait returns when nothing of the program is left. The code is -1 when a signal ended it.
	Wait() (code int)
	// Kill ends everything of the program at once, and may be called at any time.
	Kill()
}

// runElsewhere is Run for a Cmd with a Starter. There is no polite signal: what ends early ends at once.
func runElsewhere(ctx context.Context, c Cmd, stdout, stderr io.Writer) (code int, err error) {
	p := &pipes{}
	defer p.close()
	stdio, err := p.open(c.Stdin, stdout, stderr)
	if err != nil {
		return -1, err
	}
	env := c.Env
	if env == nil {
		env = []string{}
	}
	running, err := c.Elsewhere(ctx, append([]string{c.Path}, c.Args...), env, c.Dir, stdio)
	p.closeTheirs()
	if err != nil {
		return -1, err
	}
	c.started()
	stop := context.AfterFunc(ctx, running.Kill)
	defer stop()
	code = running.Wait()
	p.drain(time.Duration(orDefault(int64(c.Grace), int64(DefaultGrace))))
	if ctx.Err() != nil {
		return code, context.Cause(ctx)
	}
	return code, nil
}

// pipes carry the input and the output of a program. The goroutines that read its output are waited for by drain; the one
// that feeds it ends with the program or with its source.
type pipes struct {
	theirs, ours []*os.File
	readers      sync.WaitGroup
}

func (p *pipes) open(in io.Reader, out, errs io.Writer) (stdio [3]*os.File, err error) {
	if in == nil {
		if stdio[0], err = os.Open(os.DevNull); err != nil {
			return stdio, err
		}
		p.theirs = append(p.theirs, stdio[0])
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return stdio, fmt.Errorf("make a pipe: %w", err)
		}
		_ = r.Fd() // makes it blocking: programs know nothing else
		stdio[0] = r
		p.theirs = append(p.theirs, r)
		go func() {
			_, _ = io.Copy(w, in) // a program may end before it has read everything
			_ = w.Close()
		}()
	}
	for i, to := range []io.Writer{out, errs} {
		r, w, err := os.Pipe()
		if err != nil {
			return stdio, fmt.Errorf("make a pipe: %w", err)
		}
		_ = w.Fd() // as above
		stdio[i+1] = w
		p.theirs, p.ours = append(p.theirs, w), append(p.ours, r)
		p.readers.Go(func() { _, _ = io.Copy(to, r) })
	}
	return stdio, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
	p.theirs = nil
}

// drain waits for the last of the output. Nothing can hold it open once the program is gone, but for a copy of ours that
// another start has inherited.
func (p *pipes) drain(limit time.Duration) {
	for _, f := range p.ours {
		_ = f.SetReadDeadline(time.Now().Add(limit))
	}
	p.readers.Wait()
}

func (p *pipes) close() {
	p.closeTheirs()
	for _, f := range p.ours {
		_ = f.Close()
	}
	p.readers.Wait()
}
