package webface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

const pageA, pageB = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"

// fakeBackend answers calls from a table and hands out one terminal.
type fakeBackend struct {
	answer func(verb string, params json.RawMessage) (json.RawMessage, error)
	term   *fakeTerminal
	each   map[string]*fakeTerminal // not nil: each tab has a terminal of its own

	mu      sync.Mutex // guards the following
	rev     uint64
	changed chan struct{}
	asked   []string // what Attach was asked for
	refuse  error
}

func newBackend() *fakeBackend {
	return &fakeBackend{changed: make(chan struct{}), term: newTerminal()}
}

func (b *fakeBackend) Call(_ context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	return b.answer(verb, params)
}

func (b *fakeBackend) Attach(_ context.Context, raw json.RawMessage, cols, rows uint16) (Terminal, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, fmt.Sprintf("%s %dx%d", raw, cols, rows))
	if b.refuse != nil {
		return nil, b.refuse
	}
	if b.each != nil {
		var at struct{ Tab string }
		if err := json.Unmarshal(raw, &at); err != nil {
			return nil, err
		}
		b.each[at.Tab] = newTerminal()
		return b.each[at.Tab], nil
	}
	return b.term, nil
}

func (b *fakeBackend) Watch() (uint64, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rev, b.changed
}

func (b *fakeBackend) change() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rev++
	close(b.changed)
	b.changed = make(chan struct{})
}

// fakeTerminal gives the frames that a test puts in, and writes down what it is told.
type fakeTerminal struct {
	frames chan core.Frame
	closed chan struct{}
	deaf   chan struct{} // not nil: nothing is read from it until it is closed

	mu   sync.Mutex // guards the following
	told []string
	in   bytes.Buffer
}

// typed waits until the program was given exactly that.
func (t *fakeTerminal) typed(tt *testing.T, want string) {
	tt.Helper()
	var got string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		t.mu.Lock()
		got = t.in.String()
		t.mu.Unlock()
		if len(got) >= len(want) {
			break
		}
	}
	if got != want {
		tt.Errorf("typed %d bytes %.80q, want %d", len(got), got, len(want))
	}
}

func newTerminal() *fakeTerminal {
	return &fakeTerminal{frames: make(chan core.Frame, 16), closed: make(chan struct{})}
}

func (t *fakeTerminal) tell(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = append(t.told, fmt.Sprintf(format, args...))
}

func (t *fakeTerminal) Result() api.AttachResult {
	return api.AttachResult{TaskID: "task", TabID: "tab", Reason: "exited", Exit: &api.Exit{Code: 3}}
}

func (t *fakeTerminal) Next(ctx context.Context) (core.Frame, error) {
	select {
	case f, ok := <-t.frames:
		if !ok {
			return core.Frame{}, io.EOF
		}
		return f, nil
	case <-ctx.Done():
		return core.Frame{}, ctx.Err()
	}
}

func (t *fakeTerminal) Write(ctx context.Context, p []byte) error {
	if t.deaf != nil {
		select {
		case <-t.deaf:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in.Write(p)
	return nil
}
func (t *fakeTerminal) Resize(cols, rows uint16) error {
	t.tell("resize %dx%d", cols, rows)
	return nil
}
func (t *fakeTerminal) Ack(seq uint64)      { t.tell("ack %d", seq) }
func (t *fakeTerminal) Hide()               { t.tell("hide") }
func (t *fakeTerminal) Show()               { t.tell("show") }
func (t *fakeTerminal) Follow(f bool)       { t.tell("follow %v", f) }
func (t *fakeTerminal) Close(reason string) { t.tell("close %s", reason); close(t.closed) }

func (t *fakeTerminal) heard() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string{}, t.told...)
}

// serve starts a face and a server for one test.
func serve(t *testing.T, b *fakeBackend, o Options) (*Face, *httptest.Server) {
	t.Helper()
	face := New(b, o)
	server := httptest.NewServer(face)
	t.Cleanup(func() { face.Close(); server.Close() })
	return face, server
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestCall(t *testing.T) {
	b := newBackend()
	b.answer = func(verb string, params json.RawMessage) (json.RawMessage, error) {
		switch verb {
		case "good":
			return json.RawMessage(`{"echo":` + string(params) + `}`), nil
		case "refused":
			return nil, fault.New(fault.NeedsConsent, "Work would be lost").WithHint("Agree.").WithData("losses", []string{"a"})
		}
		return nil, errors.New("a secret of the developer")
	}
	_, server := serve(t, b, Options{})
	for _, c := range []struct{ name, body, want string }{
		{"result", `{"verb":"good","params":{"a":1}}`, `{"ok":true,"data":{"echo":{"a":1}}}`},
		{"fault", `{"verb":"refused"}`, `{"ok":false,"error":{"code":"needs_consent","message":"Work would be lost","hint":"Agree.","data":{"losses":["a"]}}}`},
		{"not JSON", `nonsense`, `"code":"invalid_argument"`},
		{"unknown field", `{"verb":"good","caller":"outside"}`, `"code":"invalid_argument"`},
		{"too long", `{"verb":"good","params":"` + strings.Repeat("x", maxCall) + `"}`, `"code":"invalid_argument"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := post(t, server.URL+Prefix+"call", c.body)
			if status != http.StatusOK || !strings.Contains(text, c.want) {
				t.Errorf("%d %s, want %s", status, text, c.want)
			}
		})
	}
	if _, text := post(t, server.URL+Prefix+"call", `{"verb":"bad"}`); strings.Contains(text, "secret") || !strings.Contains(text, `"internal"`) {
		t.Errorf("an error for developers reached the page: %s", text)
	}
}

func TestEventsTellEachRevisionAndBurstsOnce(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	lines := json.NewDecoder(get(t, server.URL+Prefix+"events?page="+pageA).Body)
	next := func() uint64 {
		var line struct{ Rev uint64 }
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		return line.Rev
	}
	if rev := next(); rev != 0 {
		t.Fatalf("first line has %d", rev)
	}
	for range 50 {
		b.change()
	}
	seen := []uint64{next()}
	for seen[len(seen)-1] < 50 {
		seen = append(seen, next())
	}
	if len(seen) > 5 {
		t.Errorf("a burst of 50 changes was told %d times: %v", len(seen), seen)
	}
}

func TestAPageMustNameItself(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	for _, page := range []string{"", "short", strings.Repeat("z", 16), pageA + "%2f.."} {
		if got := get(t, server.URL+Prefix+"events?page="+page).StatusCode; got != http.StatusBadRequest {
			t.Errorf("page %q: %d", page, got)
		}
	}
}

// deaf is an answer that nobody takes, once its head is out.
type deaf struct {
	*httptest.ResponseRecorder
	began chan struct{}
	once  sync.Once
	stays chan struct{}
}

func (d *deaf) Write([]byte) (int, error) {
	d.once.Do(func() { close(d.began) })
	<-d.stays
	return 0, io.ErrClosedPipe
}

func (d *deaf) Flush() {}

// TestCloseDoesNotWaitForADeafPage: a page that takes nothing any more, since its process is stopped or gone, does not keep
// the app from ending.
func TestCloseDoesNotWaitForADeafPage(t *testing.T) {
	face := New(newBackend(), Options{})
	d := &deaf{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), stays: make(chan struct{})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		face.ServeHTTP(d, httptest.NewRequest("GET", Prefix+"events?page="+pageA, nil))
	}()
	<-d.began
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		face.Close()
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("Close waits for a page that takes nothing")
	}
	close(d.stays)
	<-served
}

func TestCloseEndsEveryStream(t *testing.T) {
	b := newBackend()
	face, server := serve(t, b, Options{})
	attach(t, server, pageA)
	events := get(t, server.URL+Prefix+"events?page="+pageA).Body
	face.Close()
	<-b.term.closed
	if _, err := io.ReadAll(events); err != nil {
		t.Errorf("the events did not end well: %v", err)
	}
	if got := get(t, server.URL+Prefix+"events?page="+pageA).StatusCode; got != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", got)
	}
}
