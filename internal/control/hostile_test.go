package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

func TestGarbageIsRefused(t *testing.T) {
	b := &fakeBackend{}
	r := start(t, b)
	for name, text := range map[string]string{
		"no JSON":         "GET / HTTP/1.1\r\n",
		"empty line":      "\n",
		"array":           "[]\n",
		"batch":           `[{"id":"1","verb":"hello"}]` + "\n",
		"number":          "7\n",
		"null":            "null\n",
		"two values":      `{"id":"1","verb":"hello"}{"id":"2","verb":"hello"}` + "\n",
		"no id":           `{"verb":"hello"}` + "\n",
		"id of a number":  `{"id":1,"verb":"hello"}` + "\n",
		"long id":         `{"id":"` + strings.Repeat("i", 65) + `","verb":"hello"}` + "\n",
		"no verb":         `{"id":"1"}` + "\n",
		"long verb":       `{"id":"1","verb":"` + strings.Repeat("v", 65) + `"}` + "\n",
		"params a list":   `{"id":"1","verb":"path","params":[]}` + "\n",
		"params a string": `{"id":"1","verb":"path","params":"{}"}` + "\n",
		"not UTF-8":       "{\"id\":\"1\",\"verb\":\"\xff\"}\n",
		"zero bytes":      strings.Repeat("\x00", 4096) + "\n",
		"deep":            strings.Repeat("[", 20000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := r.wire(t)
			w.send(text)
			w.refused(fault.InvalidArgument, true)
		})
	}
	if got := b.seen(); len(got) > 0 {
		t.Errorf("the dispatcher heard %q", got)
	}
}

func TestUnknownFieldsAreTolerated(t *testing.T) {
	r := start(t, &fakeBackend{})
	w := r.wire(t)
	w.send(`{"id":"1","verb":"hello","future":{"x":[1]}}` + "\n")
	if l, err := w.line(); err != nil || !l.OK {
		t.Errorf("%+v %v", l, err)
	}
}

func TestLongLinesAreRefusedBeforeTheyEnd(t *testing.T) {
	r := start(t, &fakeBackend{})
	w := r.wire(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// 2 MiB without a newline. The server answers after the first; writing on fails.
		_, _ = io.Copy(w, io.LimitReader(neverEnding('x'), 2<<20))
	}()
	w.refused(fault.InvalidArgument, true)
	within(t, "the end of writing", done)
}

func TestTheLongestLineIsTaken(t *testing.T) {
	r := start(t, &fakeBackend{})
	head, tail := `{"id":"1","verb":"hello","pad":"`, `"}`
	w := r.wire(t)
	w.send(head + strings.Repeat("p", MaxLine-len(head)-len(tail)) + tail + "\n")
	if l, err := w.line(); err != nil || !l.OK {
		t.Errorf("%d bytes: %+v %v", MaxLine, l, err)
	}
	w.send(head + strings.Repeat("p", MaxLine+1-len(head)-len(tail)) + tail + "\n")
	w.refused(fault.InvalidArgument, true)
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// TestHalfARequestIsNeverActedUpon covers a line whose newline does not come: not while waiting, and not when the
// client leaves.
func TestHalfARequestIsNeverActedUpon(t *testing.T) {
	b := &fakeBackend{}
	r := start(t, b, func(o *Options) { o.Limits.Read = 50 * time.Millisecond })
	w := r.wire(t)
	w.send(`{"id":"1","token":"` + r.token(t) + `","verb":"quit"}`)
	w.refused(fault.InvalidArgument, true) // too late
	w = r.wire(t)
	w.send(`{"id":"1","token":"` + r.token(t) + `","verb":"quit"}`)
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if l, err := w.line(); err == nil {
		t.Errorf("answered %+v", l)
	}
	if got := b.seen(); len(got) > 0 {
		t.Errorf("the dispatcher heard %q", got)
	}
}

// TestSlowLoris shows that the time limit is on the whole request: a byte now and then does not stretch it.
func TestSlowLoris(t *testing.T) {
	r := start(t, &fakeBackend{}, func(o *Options) { o.Limits.Read = 100 * time.Millisecond })
	w := r.wire(t)
	began := time.Now()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				if _, err := io.WriteString(w, "{"); err != nil {
					return
				}
			}
		}
	}()
	w.refused(fault.InvalidArgument, true)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	close(stop)
	<-done
}

// TestIdleConnectionsEnd covers a client that says nothing at all, also after a call.
func TestIdleConnectionsEnd(t *testing.T) {
	r := start(t, &fakeBackend{}, func(o *Options) { o.Limits.Read = 50 * time.Millisecond })
	r.wire(t).refused(fault.InvalidArgument, true)
	w := r.wire(t)
	w.send(`{"id":"1","verb":"hello"}` + "\n")
	if l, err := w.line(); err != nil || !l.OK {
		t.Fatalf("%+v %v", l, err)
	}
	w.refused(fault.InvalidArgument, true)
}

func TestACallMayTakeLongerThanTheReadLimit(t *testing.T) {
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
			return json.RawMessage(`{}`), nil
		}
	}}, func(o *Options) { o.Limits.Read = 50 * time.Millisecond })
	if _, err := r.dial(t).Call(t.Context(), "task_wait", nil, nil); err != nil {
		t.Error(err)
	}
}

// TestHangingUpCancels shows that a call ends when its client goes, in each way of going.
func TestHangingUpCancels(t *testing.T) {
	running, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	var cause error
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
		running <- struct{}{}
		<-ctx.Done()
		cause = context.Cause(ctx)
		ended <- struct{}{}
		return nil, cause
	}}, func(o *Options) { o.Limits.Heartbeat = 10 * time.Millisecond })
	request := `{"id":"1","token":"` + r.token(t) + `","verb":"task_wait"}` + "\n"
	for name, leave := range map[string]func(*wire){
		"closes":                func(w *wire) { _ = w.Close() },
		"half closes":           func(w *wire) { _ = w.CloseWrite() },
		"closes with a line":    func(w *wire) { w.send(request); _ = w.Close() }, // only a heartbeat finds this one out
		"sends an endless line": func(w *wire) { _, _ = io.Copy(w, io.LimitReader(neverEnding('x'), 2<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := r.wire(t)
			w.send(request)
			within(t, "the call", running)
			leave(w)
			within(t, "the cancelling", ended)
			if !errors.Is(cause, errClientLeft) {
				t.Errorf("cause %v", cause)
			}
		})
	}
}

// TestClientContextCancels shows both ends of Ctrl-C: the client returns its cause, the server's call is cancelled.
func TestClientContextCancels(t *testing.T) {
	running, ended := make(chan struct{}), make(chan struct{})
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
		close(running)
		<-ctx.Done()
		close(ended)
		return nil, context.Cause(ctx)
	}})
	why := errors.New("interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-running
		cancel(why)
	}()
	if _, err := r.dial(t).Call(ctx, "task_wait", nil, nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	within(t, "the cancelling", ended)
}

// TestAClientThatDoesNotReadIsDropped fills the socket's buffer until the write limit strikes.
func TestAClientThatDoesNotReadIsDropped(t *testing.T) {
	ended := make(chan struct{})
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
		defer close(ended)
		for ctx.Err() == nil {
			emit(api.Event{Event: "setup", Line: strings.Repeat("x", 64<<10)})
		}
		return nil, context.Cause(ctx)
	}}, func(o *Options) { o.Limits.Write = 100 * time.Millisecond })
	w := r.wire(t)
	w.send(`{"id":"1","token":"` + r.token(t) + `","verb":"task_new"}` + "\n")
	within(t, "the end of the call", ended)
}

func TestConnectionsAreCounted(t *testing.T) {
	r := start(t, &fakeBackend{}, func(o *Options) { o.Limits.Connections = 2 })
	hello := `{"id":"1","verb":"hello"}` + "\n"
	var open []*wire
	for i := range 2 {
		w := r.wire(t)
		w.send(hello)
		if l, err := w.line(); err != nil || !l.OK {
			t.Fatalf("connection %d: %+v %v", i, l, err)
		}
		open = append(open, w)
	}
	for range 3 {
		r.wire(t).refused(fault.Unavailable, true)
	}
	if _, err := Dial(t.Context(), r.addr); fault.CodeOf(err) != fault.Unavailable || errors.Is(err, ErrLost) {
		t.Errorf("the client reports %v", err)
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		w := r.wire(t)
		if _, err := io.WriteString(w, hello); err == nil {
			if l, err := w.line(); err == nil && l.OK {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the place that came free was not given away")
		}
	}
}

// TestPipelining answers requests that came in one piece, in their order.
func TestPipelining(t *testing.T) {
	r := start(t, &fakeBackend{})
	w := r.wire(t)
	var all strings.Builder
	for i := range 20 {
		fmt.Fprintf(&all, `{"id":"%d","token":"%s","verb":"path"}`+"\n", i, r.token(t))
	}
	w.send(all.String())
	for i := range 20 {
		if l, err := w.line(); err != nil || l.ID != fmt.Sprint(i) || !l.OK {
			t.Fatalf("answer %d: %+v %v", i, l, err)
		}
	}
}
