package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"termic/app/webface"
	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/settings"
)

// seat is what a window shows: the app of this process, or one that another process serves. Everything that the window
// does goes through it.
type seat interface {
	webface.Backend
	// tasks are the tasks that are not archived, and wishes of what the person wants to be told. They take nothing away
	// that is meant for the page.
	tasks(ctx context.Context) ([]api.TaskDetail, error)
	wishes(ctx context.Context) settings.Notify
	shape(ctx context.Context) (api.WindowShape, error)
	keepShape(ctx context.Context, s api.WindowShape) error
	// onRaise sets what brings the window forward when somebody asks for it.
	onRaise(f func() bool)
	// over is closed when there is nothing to show any more, or when somebody asked the app to end.
	over() <-chan struct{}
	// endsAgents is how many agents the closing of the window ends: none where another process serves.
	endsAgents(ctx context.Context) int
	// leave takes note that the window closes.
	leave()
	// wanted reports whether it is over because the person wanted it so.
	wanted() bool
	// served tells that another process serves.
	served() bool
	close() error
	logger() *slog.Logger
}

// Times of taking a seat: an app that starts or ends needs a moment.
const (
	seatPatience = 10 * time.Second
	seatRetry    = 200 * time.Millisecond
)

// takeSeat opens the profile for a window. Where `termic serve` has it, the window joins that. Where another window shows
// it already, that one is brought forward with the link, and there is no seat and no error.
func takeSeat(ctx context.Context, o Options, link string) (seat, error) {
	path, err := datadir.Find(o.Getenv)
	if err != nil {
		return nil, err
	}
	address, end := control.AddressIn(path), time.Now().Add(seatPatience)
	for {
		a, err := Open(ctx, o)
		if err == nil {
			return newOwnSeat(a), nil
		}
		if !held(err) {
			return nil, err
		}
		if raised, rerr := control.Raise(ctx, address, link); rerr == nil && raised {
			return nil, nil
		}
		s, jerr := join(ctx, o, address)
		switch {
		case jerr == nil:
			return s, nil
		case lasting(jerr):
			return nil, jerr
		case time.Now().After(end):
			return nil, errors.Join(err, jerr)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(seatRetry):
		}
	}
}

// held reports whether another process has the profile.
func held(err error) bool {
	f := fault.From(err)
	_, ok := f.Data["face"]
	return ok && f.Code == fault.Conflict
}

// lasting reports whether trying again cannot help: what is not there yet, or goes away, does so within moments.
func lasting(err error) bool {
	return !errors.Is(err, control.ErrNotRunning) && !errors.Is(err, control.ErrLost) && fault.CodeOf(err) != fault.Conflict
}

// ownSeat is the app of this process.
type ownSeat struct {
	webface.Backend
	app *App
}

func newOwnSeat(a *App) *ownSeat {
	return &ownSeat{Backend: webface.ForOwner(a.Dispatcher, a.Core), app: a}
}

func (s *ownSeat) tasks(ctx context.Context) ([]api.TaskDetail, error) {
	return s.app.Core.TaskDetails(ctx)
}
func (s *ownSeat) wishes(context.Context) settings.Notify             { return s.app.settings.Get().Notify }
func (s *ownSeat) shape(ctx context.Context) (api.WindowShape, error) { return s.app.Core.Shape(ctx) }
func (s *ownSeat) keepShape(ctx context.Context, shape api.WindowShape) error {
	return s.app.Core.KeepShape(ctx, shape)
}
func (s *ownSeat) onRaise(f func() bool) { s.app.OnRaise(f) }
func (s *ownSeat) over() <-chan struct{} { return s.app.Quitting() }
func (s *ownSeat) leave()                { s.app.Quit() }
func (s *ownSeat) wanted() bool          { return true }
func (s *ownSeat) served() bool          { return false }
func (s *ownSeat) close() error          { return s.app.Close() }
func (s *ownSeat) logger() *slog.Logger  { return s.app.Log }

// endsAgents asks, as the person would, how many agents the end of the app would end.
func (s *ownSeat) endsAgents(ctx context.Context) int {
	raw, err := s.app.Dispatcher.Call(ctx, grant.OwnerOn(grant.Window), "quit", json.RawMessage(`{}`), nil)
	var preview api.QuitResult
	if err != nil || json.Unmarshal(raw, &preview) != nil {
		s.app.Log.Error("cannot tell what quitting would end", "err", err)
		return 0
	}
	return preview.LiveAgents
}

// frameKinds puts the frames of the control protocol into the words of the window.
var frameKinds = map[control.FrameKind]core.FrameKind{control.FrameSnapshot: core.FrameSnapshot, control.FrameReplay: core.FrameReplay,
	control.FrameOutput: core.FrameOutput, control.FrameResize: core.FrameResize, control.FrameExit: core.FrameExit}
