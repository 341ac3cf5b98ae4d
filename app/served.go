package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"

	"termic/app/webface"
	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/settings"
)

// servedSeat is an app that another process serves, reached through its control socket. Calls and terminals have a
// connection each; the feed says what changed.
//
// It owns one goroutine, which reads the feed; close ends the feed and waits for it.
type servedSeat struct {
	feed *control.Feed
	log  *slog.Logger
	gone chan struct{} // closed when the app ended or was lost
	done sync.WaitGroup

	mu      sync.Mutex // guards the following
	rev     uint64
	changed chan struct{}
	raise   func() bool
	quit    bool // the person ended the app from this window
	left    bool // the window closes
}

// join joins the app that another process serves. One of another version is refused: the page asks for what this version
// has.
func join(ctx context.Context, o Options, address control.Address) (*servedSeat, error) {
	log, err := newLogger(o, new(slog.LevelVar))
	if err != nil {
		return nil, err
	}
	feed, err := control.OpenFeed(ctx, address)
	if err != nil {
		if fault.From(err).Data["reason"] == control.ReasonDisabled {
			return nil, fault.Wrap(err, fault.Forbidden, "`termic serve` runs on this profile with the command line switched off, and a window joins it the same way").
				WithHint("Set general.cli_enabled to true in settings.toml, or end `termic serve` and start the window alone.")
		}
		return nil, err
	}
	if theirs := feed.Hello().Version; theirs != o.Version {
		return nil, errors.Join(fault.New(fault.Unsupported, "`termic serve` runs on this profile in version %s, and this is version %s", theirs, o.Version).
			WithHint("End it and start it again with this version, then open the window."), feed.Close())
	}
	s := &servedSeat{feed: feed, log: log, gone: make(chan struct{}), rev: feed.Rev(), changed: make(chan struct{})}
	s.done.Go(s.listen)
	return s, nil
}

// listen takes the news in until there is none any more.
func (s *servedSeat) listen() {
	defer close(s.gone)
	for {
		news, err := s.feed.Next()
		if err != nil {
			s.mu.Lock()
			left := s.left
			s.mu.Unlock()
			if !left {
				s.log.Warn("the app that this window shows has ended", "err", err)
			}
			return
		}
		s.mu.Lock()
		raise := s.raise
		if news.Rev != 0 {
			s.rev = news.Rev
			close(s.changed)
			s.changed = make(chan struct{})
		}
		s.mu.Unlock()
		if news.Raise && raise != nil {
			raise()
		}
	}
}

// Call runs a verb in the other process.
func (s *servedSeat) Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	if verb == "quit" {
		var p api.QuitParams
		if json.Unmarshal(params, &p) == nil && p.Commit {
			s.mu.Lock()
			s.quit = true
			s.mu.Unlock()
		}
	}
	data, err := s.feed.Call(ctx, verb, params)
	if errors.Is(err, control.ErrNotRunning) {
		err = fault.Wrap(err, fault.Unavailable, "`termic serve`, which this window showed, has ended").WithHint("Start Termic again from this window.")
	}
	return data, err
}

// Attach joins a terminal of the other process.
func (s *servedSeat) Attach(ctx context.Context, raw json.RawMessage, cols, rows uint16) (webface.Terminal, error) {
	ctx, stop := context.WithCancel(ctx)
	stream, err := s.feed.Attach(ctx, raw, control.AttachAs{Cols: cols, Rows: rows, Resizes: true, AnswersQueries: true, History: true, ConfirmsInput: true})
	if err != nil {
		stop()
		return nil, err
	}
	first, err := stream.Next() // ready, or why not
	if err != nil || first.Kind != control.FrameReady {
		stop()
		if err == nil || errors.Is(err, io.EOF) {
			err = fault.New(fault.Unavailable, "The terminal closed at once")
		}
		return nil, errors.Join(err, stream.Close())
	}
	return &servedTerminal{stream: stream, stop: stop, took: make(chan struct{}, 1), over: make(chan struct{}),
		result: api.AttachResult{TaskID: first.TaskID, TabID: first.TabID}}, nil
}

// Watch is the newest revision that was told of, and a channel that closes at the next.
func (s *servedSeat) Watch() (uint64, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev, s.changed
}

func (s *servedSeat) tasks(ctx context.Context) ([]api.TaskDetail, error) {
	var state api.WindowState
	err := askOf(ctx, s, "window_state", api.WindowStateParams{Peek: true}, &state)
	return state.Tasks, err
}

func (s *servedSeat) shape(ctx context.Context) (api.WindowShape, error) {
	var state api.WindowState
	err := askOf(ctx, s, "window_state", api.WindowStateParams{Peek: true}, &state)
	if state.Look.Shape == nil {
		return api.WindowShape{}, err
	}
	return *state.Look.Shape, err
}

func (s *servedSeat) keepShape(ctx context.Context, shape api.WindowShape) error {
	text, err := json.Marshal(shape)
	if err != nil {
		return err
	}
	var look api.WindowLook
	return askOf(ctx, s, "window_set", api.WindowSetParams{Shape: string(text)}, &look)
}

func (s *servedSeat) wishes(ctx context.Context) (w settings.Notify) {
	setting(ctx, s, s.log, "notifications.needs_input", &w.NeedsInput)
	setting(ctx, s, s.log, "notifications.done", &w.Done)
	setting(ctx, s, s.log, "notifications.failed", &w.Failed)
	return w
}

func (s *servedSeat) onRaise(f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raise = f
}

func (s *servedSeat) over() <-chan struct{}          { return s.gone }
func (s *servedSeat) endsAgents(context.Context) int { return 0 }
func (s *servedSeat) served() bool                   { return true }
func (s *servedSeat) logger() *slog.Logger           { return s.log }

func (s *servedSeat) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
}

func (s *servedSeat) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quit || s.left
}

func (s *servedSeat) close() error {
	s.leave()
	err := s.feed.Close()
	s.done.Wait()
	return err
}

// servedTerminal is a terminal of the other process. Next is called by one goroutine, the others from any.
type servedTerminal struct {
	stream *control.Stream
	stop   context.CancelFunc
	took   chan struct{} // the program has the keys that were sent
	over   chan struct{} // closed when no more frames come
	ended  sync.Once     // closes it
	typing sync.Mutex    // held while keys are on their way

	mu     sync.Mutex // guards result
	result api.AttachResult
}

func (t *servedTerminal) Result() api.AttachResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.result
}

// Next waits for a frame. The stream ends with the context that it was attached with.
func (t *servedTerminal) Next(context.Context) (core.Frame, error) {
	for {
		f, err := t.stream.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				t.mu.Lock()
				t.result = t.stream.Result()
				t.mu.Unlock()
			}
			t.ended.Do(func() { close(t.over) })
			return core.Frame{}, err
		}
		if f.Kind == control.FrameTook {
			t.took <- struct{}{} // Write waits for it: there is never a second one
			continue
		}
		if kind, ok := frameKinds[f.Kind]; ok {
			return core.Frame{Kind: kind, Seq: f.Seq, Data: f.Data, Cols: f.Cols, Rows: f.Rows, Exit: f.Exit}, nil
		}
	}
}

// Write sends keys and returns when the program has them: what cannot be typed yet must wait here, where it is bounded.
func (t *servedTerminal) Write(ctx context.Context, keys []byte) error {
	t.typing.Lock()
	defer t.typing.Unlock()
	for len(keys) > 0 {
		piece := keys[:min(len(keys), maxKeys)]
		keys = keys[len(piece):]
		if err := t.stream.Send(piece); err != nil {
			return err
		}
		select {
		case <-t.took:
		case <-t.over:
			return fault.New(fault.Conflict, "The terminal has ended")
		case <-ctx.Done():
			t.stop() // its answer would be taken for that of the next keys
			return context.Cause(ctx)
		}
	}
	return nil
}

// maxKeys is the most bytes of keys that are on their way.
const maxKeys = 64 << 10

func (t *servedTerminal) Resize(cols, rows uint16) error { return t.stream.Resize(cols, rows) }

// Ack, Hide, Show and Follow fail only where the stream is over, which Next tells.
func (t *servedTerminal) Ack(seq uint64)      { _ = t.stream.Ack(seq) }
func (t *servedTerminal) Hide()               { _ = t.stream.Hide() }
func (t *servedTerminal) Show()               { _ = t.stream.Show() }
func (t *servedTerminal) Follow(follows bool) { _ = t.stream.Follow(follows) }

// Close leaves; the program goes on.
func (t *servedTerminal) Close(string) {
	t.stop()
	_ = t.stream.Close() // it is closed already where the context did it
}
