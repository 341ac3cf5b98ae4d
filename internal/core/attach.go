package core

import (
	"context"
	"errors"
	"io"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ptyhost"
)

// Frame is one step of what an attached presenter draws.
type Frame struct {
	Kind       FrameKind
	Seq        uint64 // what to give to Ack once it is drawn
	Data       []byte // snapshot, replay, output
	Cols, Rows uint16 // snapshot, resize
	Exit       *api.Exit
}

// FrameKind says what a Frame holds.
type FrameKind = ptyhost.FrameKind

// Kinds of frames. A viewer throws away what its emulator answers while it parses a snapshot or a replay.
const (
	FrameSnapshot = ptyhost.FrameSnapshot
	FrameReplay   = ptyhost.FrameReplay
	FrameOutput   = ptyhost.FrameOutput
	FrameResize   = ptyhost.FrameResize
	FrameExit     = ptyhost.FrameExit
)

// Attachment is a presenter's view of a terminal. It is used by one reader and any number of writers, and is ended with
// Close by whoever got it.
type Attachment struct {
	core   *Core
	result api.AttachResult
	term   *ptyhost.Terminal
	view   *ptyhost.Attachment
	tab    string
}

// AttachVerb is the verb attach. It needs a presenter that can stream; others cannot reach it.
func (c *Core) AttachVerb(ctx context.Context, call *Call, p api.AttachParams) (api.AttachHandle, error) {
	as, ok := ctx.Value(attachKey{}).(AttachAs)
	if !ok {
		return api.AttachHandle{}, fault.New(fault.Unsupported, "A terminal cannot be attached over this connection")
	}
	tab, err := c.pickTab(ctx, call.Caller, call.Task, p.Tab, p.Shell)
	if err != nil {
		return api.AttachHandle{}, err
	}
	term, ok := c.host.Get(tab.ID)
	if !ok {
		return api.AttachHandle{}, fault.New(fault.Conflict, "Nothing runs in the tab %q", tab.Title).
			WithHint("Start its program: `termic tab TASK --restart %s`.", tab.ID)
	}
	a := &Attachment{core: c, term: term, tab: tab.ID, result: api.AttachResult{TaskID: call.Task, TabID: tab.ID}}
	if as.Resizes && as.Cols > 0 {
		if err := a.Resize(as.Cols, as.Rows); err != nil {
			return api.AttachHandle{}, err
		}
	}
	// A person looks at it, so a flood waits for the viewer instead of throwing it out.
	if a.view, err = term.Attach(ptyhost.AttachOptions{AnswersQueries: as.AnswersQueries, Pressure: ptyhost.PauseReader, History: as.History}); err != nil {
		return api.AttachHandle{}, err
	}
	return api.AttachHandle{AttachResult: a.result, Handle: a}, nil
}

// Result says which terminal it is and, once it ended, why.
func (a *Attachment) Result() api.AttachResult {
	r := a.result
	r.Reason = a.Reason()
	if e := a.term.Exit(); e.Cause != "" {
		r.Exit = &api.Exit{Code: e.Code, Signal: e.Signal}
	}
	return r
}

// Next waits for the next frame; io.EOF says that the view ended, and Reason why.
func (a *Attachment) Next(ctx context.Context) (Frame, error) {
	f, err := a.view.Next(ctx)
	if errors.Is(err, ptyhost.ErrDetached) {
		return Frame{}, io.EOF
	}
	if err != nil {
		return Frame{}, err
	}
	out := Frame{Kind: f.Kind, Seq: f.Seq, Data: f.Data, Cols: f.Size.Cols, Rows: f.Size.Rows}
	if f.Mute && f.Kind == FrameOutput {
		out.Kind = FrameReplay // somebody else answers the queries in it
	}
	if f.Kind == FrameExit {
		out.Exit = &api.Exit{Code: f.Exit.Code, Signal: f.Exit.Signal}
	}
	return out, nil
}

// Write types bytes. While a prompt is being typed into an agent, keys wait: between its text and its Enter they would
// become part of it.
func (a *Attachment) Write(ctx context.Context, p []byte) error {
	l := a.core.liveOf(a.tab)
	if l == nil || l.det == nil || l.term != a.term {
		return a.term.Write(ctx, p)
	}
	select {
	case l.keys <- struct{}{}:
		defer func() { <-l.keys }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.term.Done():
		return a.term.Write(ctx, p) // which says that it has ended
	}
	l.det.Typed(p)
	return a.term.Write(ctx, p)
}

// Resize gives the terminal a size.
func (a *Attachment) Resize(cols, rows uint16) error {
	changed, err := a.term.Resize(ptyhost.Size{Cols: cols, Rows: rows})
	if changed {
		if l := a.core.liveOf(a.tab); l != nil && l.det != nil && l.term == a.term {
			l.det.Resized()
		}
	}
	return err
}

// Ack tells that everything up to seq was drawn; without it, output stops after 256 KiB.
func (a *Attachment) Ack(seq uint64) { a.view.Ack(seq) }

// Hide stops the bytes. Show resumes them, with a snapshot unless only little was printed meanwhile.
func (a *Attachment) Hide() { a.view.Hide() }

// Show resumes a hidden view.
func (a *Attachment) Show() { a.view.Show() }

// Follow says whether the view shows the end of what is printed, and so need not be given all of a flood.
func (a *Attachment) Follow(follows bool) { a.view.Follow(follows) }

// Close ends the view; the first reason counts.
func (a *Attachment) Close(reason string) { a.view.Detach(reason) }

// Reason says why the view ended: detached, exited, archived, closed, stopped or lagged; empty while it goes on.
func (a *Attachment) Reason() string {
	switch r := a.view.Reason(); r {
	case ptyhost.ReasonExit:
		return orElse(a.core.endedBecause(a.tab), "exited")
	default:
		return strings.ToValidUTF8(r, "?")
	}
}
