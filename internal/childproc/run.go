// Package childproc runs helper programs that must end: bounded in time and output, with an environment given as a
// list, without a terminal, and with everything that they started ended along with them.
//
// It promises that Run returns within the timeout plus the grace, whatever the child or its children do. It does not cover programs that live in a terminal or in a cage.
package childproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Default limits of a Cmd.
const (
	DefaultMaxOutput = 64 << 20        // bytes of standard output that are kept
	DefaultMaxErrors = 64 << 10        // bytes of standard error that are kept
	DefaultGrace     = 2 * time.Second // between the polite and the final signal; also how long a grandchild may hold our pipes
	maxLine          = 4096            // bytes of one line handed to OnLine
)

// Cmd describes one child. Path and Env are taken as they are: nothing of this program's environment is added.
type Cmd struct {
	Path    string        // program, absolute
	Args    []string      // arguments without the program's name
	Dir     string        // working folder; empty = ours
	Env     []string      // the whole environment
	Stdin   io.Reader     // nil = the null device
	Stdout  io.Writer     // nil = kept in Result.Stdout, at most MaxOutput bytes
	Timeout time.Duration // 0 = only the context limits it
	Grace   time.Duration // 0 = DefaultGrace

	MaxOutput int64             // 0 = DefaultMaxOutput
	OnLine    func(line string) // each line of standard error while it runs, without control bytes; nil = none

	Started func() // called once it runs; nil = nobody wants to know

	Elsewhere Starter // starts it in our stead; nil = a child of ours
}

// Result is how a child ended. It is also given next to an error of Run, with what was seen until then.
type Result struct {
	Stdout    []byte
	Stderr    string // the first DefaultMaxErrors bytes
	Code      int    // exit code; -1 when a signal ended it or it never started
	Truncated bool   // standard output was longer than MaxOutput; the rest was read and dropped
	Total     int64  // bytes of standard output
	TimedOut  bool   // Timeout ended it
}

// Run starts the child, waits for it and returns how it ended. An exit code other than zero is no error of Run; an
// error means that the child could not be started, was ended by the context or the timeout, or a pipe broke. At the end
// of context or timeout the child's whole process group gets the polite signal, then the final one.
func Run(ctx context.Context, c Cmd) (Result, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
		defer cancel()
	}
	out := &capped{max: orDefault(c.MaxOutput, DefaultMaxOutput)}
	errs := &capped{max: DefaultMaxErrors}
	lines := &lineWriter{emit: c.OnLine}
	if c.Elsewhere != nil {
		return c.runElsewhere(ctx, out, errs, lines)
	}

	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean ours
	}
	cmd.Stdout, cmd.Stderr = out, errs
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.OnLine != nil {
		cmd.Stderr = io.MultiWriter(errs, lines)
	}
	cmd.WaitDelay = time.Duration(orDefault(int64(c.Grace), int64(DefaultGrace)))
	killGroup := isolate(cmd)
	err := answers(ctx, c.Dir)
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		c.started()
		err = cmd.Wait()
	}
	if ctx.Err() != nil && err != nil {
		killGroup()
	}
	lines.flush()

	r := Result{Stdout: out.buf.Bytes(), Stderr: errs.buf.String(), Code: -1, Truncated: out.total > out.max, Total: out.total}
	if cmd.ProcessState != nil {
		r.Code = cmd.ProcessState.ExitCode()
	}
	r.TimedOut = errors.Is(context.Cause(ctx), errTimeout) && err != nil
	return r, judge(ctx, c, r, err)
}

func (c Cmd) started() {
	if c.Started != nil {
		c.Started()
	}
}

// runElsewhere is Run with a Starter.
func (c Cmd) runElsewhere(ctx context.Context, out, errs *capped, lines *lineWriter) (Result, error) {
	var stdout, stderr io.Writer = out, errs
	if c.Stdout != nil {
		stdout = c.Stdout
	}
	if c.OnLine != nil {
		stderr = io.MultiWriter(errs, lines)
	}
	code, err := runElsewhere(ctx, c, stdout, stderr)
	lines.flush()
	r := Result{Stdout: out.buf.Bytes(), Stderr: errs.buf.String(), Code: code, Truncated: out.total > out.max, Total: out.total,
		TimedOut: err != nil && errors.Is(context.Cause(ctx), errTimeout)}
	if err != nil {
		err = fmt.Errorf("run %s: %w", c.Path, err)
	}
	return r, err
}

var errTimeout = errors.New("the time for this program ran out")

// judge turns the result of exec into the error of Run.
func judge(ctx context.Context, c Cmd, r Result, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return nil // a grandchild that keeps our pipe open is not the child's failure
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", c.Path, context.Cause(ctx))
	case errors.As(err, &exit):
		return nil
	}
	return fmt.Errorf("run %s: %w", c.Path, err)
}

func orDefault(v, def int64) int64 {
	if v > 0 {
		return v
	}
	return def
}

// capped keeps the first max bytes and counts all of them. It never refuses a write, so that the child never blocks.
type capped struct {
	buf   bytes.Buffer
	max   int64
	total int64
}

func (w *capped) Write(p []byte) (int, error) {
	if room := w.max - int64(w.buf.Len()); room > 0 {
		w.buf.Write(p[:min(int64(len(p)), room)])
	}
	w.total += int64(len(p))
	return len(p), nil
}

// lineWriter hands on complete lines; a carriage return ends a line too, since progress meters use it.
type lineWriter struct {
	emit func(string)
	part []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' || b == '\r' {
			w.flush()
		} else if len(w.part) < maxLine {
			w.part = append(w.part, b)
		}
	}
	return len(p), nil
}

func (w *lineWriter) flush() {
	if w.emit == nil || len(w.part) == 0 {
		return
	}
	line := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(w.part), "\uFFFD"))
	w.part = w.part[:0]
	w.emit(line)
}
