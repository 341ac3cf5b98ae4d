package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// fakeTerminal is an attachment that a test drives: it takes frames from frames and notes what the client does.
type fakeTerminal struct {
	frames chan Frame
	block  chan struct{} // Write waits for it, when it is not nil

	mu     sync.Mutex
	closed chan struct{}
	reason string
	typed  bytes.Buffer
	sizes  [][2]uint16
	acked  []uint64
	looks  []string
	heard  chan struct{} // closed at the first acknowledgement, when it is not nil
}

func newFakeTerminal() *fakeTerminal {
	return &fakeTerminal{frames: make(chan Frame), closed: make(chan struct{})}
}

func (f *fakeTerminal) Result() api.AttachResult {
	return api.AttachResult{TaskID: "task", TabID: "tab", Exit: &api.Exit{Code: 3}}
}

func (f *fakeTerminal) Next(ctx context.Context) (Frame, error) {
	select {
	case fr := <-f.frames:
		return fr, nil
	case <-f.closed:
		return Frame{}, io.EOF
	case <-ctx.Done():
		return Frame{}, context.Cause(ctx)
	}
}

func (f *fakeTerminal) Write(ctx context.Context, keys []byte) error {
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.typed.Write(keys)
	return nil
}

func (f *fakeTerminal) Resize(cols, rows uint16) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizes = append(f.sizes, [2]uint16{cols, rows})
	return nil
}

func (f *fakeTerminal) Ack(seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acked = append(f.acked, seq)
	if f.heard != nil && len(f.acked) == 1 {
		close(f.heard)
	}
}

func (f *fakeTerminal) Hide() { f.look("hide") }
func (f *fakeTerminal) Show() { f.look("show") }

func (f *fakeTerminal) Follow(follows bool) { f.look(fmt.Sprint("follow ", follows)) }

func (f *fakeTerminal) look(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks = append(f.looks, what)
}

func (f *fakeTerminal) Close(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reason == "" {
		f.reason = reason
		close(f.closed)
	}
}

func (f *fakeTerminal) Reason() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason
}

// joinedRig is a server with one terminal, and a client's stream that is past its first frame.
func joinedRig(t *testing.T, term *fakeTerminal, change ...func(*Options)) (*rig, *Client, *Stream) {
	t.Helper()
	r := start(t, &fakeBackend{attach: func(params json.RawMessage, as AttachAs) (Attachment, error) {
		if string(params) != `{"task":"fix"}` || as != (AttachAs{Cols: 132, Rows: 40, Resizes: true}) {
			t.Errorf("attach got %s, %+v", params, as)
		}
		return term, nil
	}}, change...)
	c := r.dial(t)
	s, err := c.Attach(t.Context(), json.RawMessage(`{"task":"fix"}`), AttachAs{Cols: 132, Rows: 40, Resizes: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Next()
	if err != nil || f.Kind != FrameReady || f.TaskID != "task" || f.TabID != "tab" {
		t.Fatalf("first frame %+v, %v", f, err)
	}
	return r, c, s
}

// end reads to the end of a stream.
func end(t *testing.T, s *Stream) api.AttachResult {
	t.Helper()
	for {
		_, err := s.Next()
		if errors.Is(err, io.EOF) {
			return s.Result()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAttachCarriesFramesBothWays(t *testing.T) {
	term := newFakeTerminal()
	_, _, s := joinedRig(t, term)
	big := bytes.Repeat([]byte{0, 0x1b, 0xff, '<', '\n'}, 200_000) // 1 MB of bytes that JSON does not like
	for _, want := range []Frame{
		{Kind: FrameSnapshot, Data: []byte("\x1bcscreen"), Seq: 5, Cols: 132, Rows: 40},
		{Kind: FrameReplay, Data: []byte("before"), Seq: 11},
		{Kind: FrameOutput, Data: big, Seq: 11 + uint64(len(big))},
		{Kind: FrameResize, Cols: 80, Rows: 24},
		{Kind: FrameExit},
	} {
		go func() { term.frames <- want }()
		var got Frame
		for got.Seq != want.Seq || got.Kind == "" {
			f, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			if f.Seq != 0 && f.Seq != want.Seq {
				t.Fatalf("sequence %d, want %d", f.Seq, want.Seq)
			}
			f.Data = append(got.Data, f.Data...)
			got = f
		}
		if got.Kind != want.Kind || !bytes.Equal(got.Data, want.Data) || got.Cols != want.Cols || got.Rows != want.Rows {
			t.Errorf("got %s with %d bytes, want %s with %d", got.Kind, len(got.Data), want.Kind, len(want.Data))
		}
		if err := s.Ack(got.Seq); err != nil {
			t.Fatal(err)
		}
	}
	keys := append([]byte("\x03\x1b[A"), big...) // Ctrl-C is a key like any other
	for _, err := range []error{s.Send(keys), s.Resize(100, 30), s.Resize(0, 30), s.Detach()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if res := end(t, s); res.Reason != reasonDetached || res.TaskID != "task" || res.Exit.Code != 3 {
		t.Errorf("result %+v", res)
	}
	if !bytes.Equal(term.typed.Bytes(), keys) {
		t.Errorf("the program got %d bytes, want %d", term.typed.Len(), len(keys))
	}
	if want := [][2]uint16{{100, 30}}; !slices.Equal(term.sizes, want) {
		t.Errorf("sizes %v", term.sizes)
	}
	if len(term.acked) != 5 || term.acked[2] != 11+uint64(len(big)) {
		t.Errorf("acks %v", term.acked)
	}
}

func TestAttachEnds(t *testing.T) {
	for _, reason := range []string{"exited", "archived", "closed", "lagged"} {
		term := newFakeTerminal()
		_, _, s := joinedRig(t, term)
		term.Close(reason)
		if res := end(t, s); res.Reason != reason {
			t.Errorf("reason %q, want %q", res.Reason, reason)
		}
	}
}

// TestAttachNoticesTheClientLeaving also when the program takes no keys, which holds up the reading of more.
func TestAttachNoticesTheClientLeaving(t *testing.T) {
	for name, stuck := range map[string]bool{"reading": false, "stuck in keys": true} {
		t.Run(name, func(t *testing.T) {
			term := newFakeTerminal()
			if stuck {
				term.block = make(chan struct{})
			}
			_, c, s := joinedRig(t, term, func(o *Options) { o.Limits.Heartbeat = 10 * time.Millisecond })
			for range 3 {
				if err := s.Send([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			within(t, "the end of the attachment", term.closed)
		})
	}
}

func TestAttachHeartbeats(t *testing.T) {
	term := newFakeTerminal()
	_, _, s := joinedRig(t, term, func(o *Options) { o.Limits.Heartbeat = 5 * time.Millisecond })
	for range 3 {
		if f, err := s.Next(); err != nil || f.Kind != FrameHeartbeat {
			t.Fatalf("%+v %v", f, err)
		}
	}
}

func TestAttachBadFrames(t *testing.T) {
	for name, text := range map[string]string{
		"garbage": "hello\n", "another request": `{"id":"2","verb":"quit"}` + "\n", "server's frame": `{"frame":"out","data":"eA=="}` + "\n",
		"bad base64": `{"frame":"in","data":"%%%"}` + "\n", "too large a size": `{"frame":"resize","cols":70000,"rows":1}` + "\n",
		"not UTF-8": "{\"frame\":\"in\xff\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			term := newFakeTerminal()
			_, c, s := joinedRig(t, term)
			if _, err := io.WriteString(c.conn, text); err != nil {
				t.Fatal(err)
			}
			if res := end(t, s); res.Reason != reasonDetached {
				t.Errorf("result %+v", res)
			}
			if term.typed.Len() > 0 || len(term.sizes) > 0 {
				t.Error("it was acted upon")
			}
		})
	}
}

func TestAttachRefused(t *testing.T) {
	r := start(t, &fakeBackend{})
	c := r.dial(t)
	s, err := c.Attach(t.Context(), nil, AttachAs{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

// TestServerCloseEndsAttach also when the client has stopped reading and the buffers are full.
func TestServerCloseEndsAttach(t *testing.T) {
	term := newFakeTerminal()
	r, _, s := joinedRig(t, term)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case term.frames <- Frame{Kind: FrameOutput, Data: make([]byte, 64<<10)}:
			case <-stop:
				return
			}
		}
	})
	// The pump stands still once the socket's buffers are full: two frames more are held on the way.
	for full := false; !full; {
		select {
		case term.frames <- Frame{Kind: FrameOutput, Data: make([]byte, 64<<10)}:
		case <-time.After(100 * time.Millisecond):
			full = true
		}
	}
	began := time.Now()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
	close(stop)
	wg.Wait()
	for {
		if _, err := s.Next(); err != nil {
			return
		}
	}
}

func TestLostApp(t *testing.T) {
	term := newFakeTerminal()
	r, _, s := joinedRig(t, term)
	go func() { _ = r.Close() }()
	if res := end(t, s); res.Reason != reasonDetached {
		t.Errorf("an app that ends says %+v", res)
	}
	if _, err := s.Next(); !errors.Is(err, ErrLost) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSplitKeepsEveryByte(t *testing.T) {
	for _, n := range []int{0, 1, maxChunk - 1, maxChunk, maxChunk + 1, 3 * maxChunk} {
		f := Frame{Kind: FrameOutput, Data: bytes.Repeat([]byte("x"), n), Seq: 9}
		var got []byte
		pieces := f.split()
		for i, p := range pieces {
			got = append(got, p.Data...)
			if last := i == len(pieces)-1; last != (p.Seq == 9) {
				t.Errorf("%d bytes: piece %d has sequence %d", n, i, p.Seq)
			}
			line, err := encode(frameLine{ID: "1", Stream: true, Frame: p})
			if err != nil || len(line) > MaxLine {
				t.Errorf("%d bytes: a line of %d, %v", n, len(line), err)
			}
		}
		if !bytes.Equal(got, f.Data) {
			t.Errorf("%d bytes: got %d", n, len(got))
		}
	}
}
