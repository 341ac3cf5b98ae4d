package webface

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/ids"
)

// attachment is one terminal that a page holds open.
type attachment struct {
	term Terminal
	stop context.CancelFunc // ends its stream
	in   sync.Mutex         // held while bytes of the page are written, so that they keep their order
}

// Bounds of a terminal's size, in cells. A page that measures before it has a layout asks for nonsense.
const minCells, maxCells = 2, 1000

type helloFrame struct {
	Attachment string `json:"attachment"`
	api.AttachResult
}

type endFrame struct {
	Reason string     `json:"reason"`
	Exit   *api.Exit  `json:"exit,omitempty"`
	Error  *callError `json:"error,omitempty"`
}

// termOut attaches to a terminal and streams it until either side ends. A terminal that cannot be attached gives a
// stream of one frame that says why, so that the page has one way to read a failure.
func (f *Face) termOut(w http.ResponseWriter, r *http.Request) {
	cols, err1 := cells(r.URL.Query().Get("cols"))
	rows, err2 := cells(r.URL.Query().Get("rows"))
	if err := errors.Join(err1, err2); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, end, ok := f.stream(w, r, false)
	if !ok {
		return
	}
	defer end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.Header().Set("Content-Type", "application/octet-stream")
	s := &stream{w: w, out: http.NewResponseController(w)}
	where, _ := json.Marshal(map[string]string{"task": r.PathValue("task"), "tab": r.PathValue("tab")})
	term, err := f.back.Attach(ctx, where, cols, rows)
	if err != nil {
		fe := fault.From(err)
		_ = s.json(KindEnd, 0, endFrame{Reason: "refused", Error: &callError{Code: fe.Code, Message: fe.Message, Hint: fe.Hint}})
		return
	}
	id := ids.New()
	f.mu.Lock()
	f.terms[id] = &attachment{term: term, stop: stop}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.terms, id)
		f.mu.Unlock()
		term.Close("detached")
	}()
	if err := s.json(KindHello, 0, helloFrame{Attachment: id, AttachResult: term.Result()}); err != nil {
		return
	}
	if err := s.copy(ctx, term); err != nil {
		f.opts.Log.Debug("a terminal's stream broke", "attachment", id, "err", err)
	}
}

// stream writes frames to a page.
type stream struct {
	w   io.Writer
	out *http.ResponseController
	buf []byte // reused from frame to frame
}

// copy sends a terminal's frames until it ends, then says why.
func (s *stream) copy(ctx context.Context, term Terminal) error {
	for {
		frame, err := term.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			result := term.Result()
			return s.json(KindEnd, 0, endFrame{Reason: result.Reason, Exit: result.Exit})
		case err != nil:
			return err
		}
		if err := s.frame(frame); err != nil {
			return err
		}
	}
}

// frame sends one frame of the terminal. A snapshot is preceded by the size that it was made for.
func (s *stream) frame(f core.Frame) error {
	switch f.Kind {
	case core.FrameSnapshot:
		if f.Cols > 0 {
			if err := s.size(f); err != nil {
				return err
			}
		}
		return s.send(KindSnapshot, f.Seq, f.Data)
	case core.FrameReplay:
		return s.send(KindReplay, f.Seq, f.Data)
	case core.FrameOutput:
		return s.send(KindOutput, f.Seq, f.Data)
	case core.FrameResize:
		return s.size(f)
	case core.FrameExit:
		return s.json(KindExit, f.Seq, f.Exit)
	}
	return nil
}

func (s *stream) size(f core.Frame) error {
	return s.send(KindResize, f.Seq, []byte{byte(f.Cols >> 8), byte(f.Cols), byte(f.Rows >> 8), byte(f.Rows)})
}

func (s *stream) json(kind Kind, seq uint64, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.send(kind, seq, data)
}

// send writes a frame in one write: the window's writer is a pipe, and each write wakes the page.
func (s *stream) send(kind Kind, seq uint64, data []byte) error {
	s.buf = appendFrame(s.buf[:0], kind, seq, data)
	if _, err := s.w.Write(s.buf); err != nil {
		return err
	}
	flush(s.out)
	return nil
}

// termAct does what the page asks of one of its terminals.
func (f *Face) termAct(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	a := f.terms[r.PathValue("attachment")]
	f.mu.Unlock()
	if a == nil {
		// An attachment may end while the page still tells it something. Only what was typed must not get lost silently.
		if r.PathValue("act") == "in" {
			http.Error(w, "no such attachment", http.StatusGone)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := a.act(w, r, f); err != nil {
		http.Error(w, fault.From(err).Message, http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *attachment) act(w http.ResponseWriter, r *http.Request, f *Face) error {
	switch r.PathValue("act") {
	case "in":
		return a.input(w, r, f)
	case "ack":
		var p struct {
			Seq uint64 `json:"seq"`
		}
		if err := readSmall(w, r, &p); err != nil {
			return err
		}
		a.term.Ack(p.Seq)
	case "resize":
		var p struct {
			Cols uint16 `json:"cols"`
			Rows uint16 `json:"rows"`
		}
		if err := readSmall(w, r, &p); err != nil {
			return err
		}
		if outOfBounds(int(p.Cols)) || outOfBounds(int(p.Rows)) {
			return errCells
		}
		return a.term.Resize(p.Cols, p.Rows)
	case "hide":
		a.term.Hide()
	case "show":
		a.term.Show()
	case "close":
		a.stop()
	default:
		return fault.New(fault.InvalidArgument, "A terminal has no such act")
	}
	return nil
}

// input writes the page's bytes to the program. The page sends one request at a time; the lock keeps the order even if
// it does not.
func (a *attachment) input(w http.ResponseWriter, r *http.Request, f *Face) error {
	a.in.Lock()
	defer a.in.Unlock()
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInput))
	if err != nil {
		return err
	}
	ctx, stop := f.within(r.Context())
	defer stop()
	return a.term.Write(ctx, data)
}

var errCells = fault.New(fault.InvalidArgument, "A terminal has between %d and %d columns and rows", minCells, maxCells)

func outOfBounds(n int) bool { return n < minCells || n > maxCells }

func cells(text string) (uint16, error) {
	n, err := strconv.Atoi(text)
	if err != nil || outOfBounds(n) {
		return 0, errCells
	}
	return uint16(n), nil
}
