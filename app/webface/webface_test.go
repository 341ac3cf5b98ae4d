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

	mu   sync.Mutex // guards the following
	told []string
	in   bytes.Buffer
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

func (t *fakeTerminal) Write(_ context.Context, p []byte) error {
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

// attach opens the stream of a terminal and reads its first frame.
func attach(t *testing.T, server *httptest.Server, page string) (io.Reader, string) {
	t.Helper()
	body := get(t, server.URL+Prefix+"term/task/tab/out?cols=132&rows=40&page="+page).Body
	kind, _, data, err := readFrame(body)
	var hello helloFrame
	if err != nil || kind != KindHello || json.Unmarshal(data, &hello) != nil || hello.Attachment == "" || hello.TabID != "tab" {
		t.Fatalf("first frame: kind %d, %s, %v", kind, data, err)
	}
	return body, hello.Attachment
}

func TestTerminalStreamAndActs(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	body, id := attach(t, server, pageA)
	if want := `{"tab":"tab","task":"task"} 132x40`; b.asked[0] != want {
		t.Errorf("attached with %s, want %s", b.asked[0], want)
	}
	b.term.frames <- core.Frame{Kind: core.FrameSnapshot, Seq: 7, Data: []byte("screen"), Cols: 132, Rows: 40}
	b.term.frames <- core.Frame{Kind: core.FrameOutput, Seq: 1 << 40, Data: []byte{0, 255}}
	b.term.frames <- core.Frame{Kind: core.FrameExit, Seq: 1 << 40, Exit: &api.Exit{Code: 3}}
	for _, want := range []struct {
		kind Kind
		seq  uint64
		data string
	}{{KindResize, 7, "\x00\x84\x00\x28"}, {KindSnapshot, 7, "screen"}, {KindOutput, 1 << 40, "\x00\xff"}, {KindExit, 1 << 40, `{"code":3}`}} {
		kind, seq, data, err := readFrame(body)
		if err != nil || kind != want.kind || seq != want.seq || string(data) != want.data {
			t.Fatalf("frame %d %d %q %v, want %v", kind, seq, data, err, want)
		}
	}
	base := server.URL + Prefix + "term/" + id + "/"
	for _, act := range []struct{ name, body string }{{"in", "one "}, {"in", "two"}, {"ack", `{"seq":9}`}, {"resize", `{"cols":80,"rows":24}`}, {"hide", `{}`}, {"show", `{}`}} {
		if status, text := post(t, base+act.name, act.body); status != http.StatusNoContent {
			t.Errorf("%s: %d %s", act.name, status, text)
		}
	}
	for _, bad := range []struct{ name, body string }{{"resize", `{"cols":1,"rows":24}`}, {"resize", `{"cols":80,"rows":70000}`}, {"dance", `{}`}, {"in", strings.Repeat("x", maxInput+1)}} {
		if status, _ := post(t, base+bad.name, bad.body); status != http.StatusBadRequest {
			t.Errorf("%s %.30s: %d", bad.name, bad.body, status)
		}
	}
	close(b.term.frames)
	kind, _, data, err := readFrame(body)
	if err != nil || kind != KindEnd || string(data) != `{"reason":"exited","exit":{"code":3}}` {
		t.Errorf("last frame %d %s %v", kind, data, err)
	}
	<-b.term.closed
	if b.term.in.String() != "one two" {
		t.Errorf("typed %q", b.term.in.String())
	}
	if got, want := strings.Join(b.term.heard(), ", "), "ack 9, resize 80x24, hide, show, close detached"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if status, _ := post(t, base+"in", "late"); status != http.StatusGone {
		t.Errorf("typing after the end: %d", status)
	}
	if status, _ := post(t, base+"hide", "{}"); status != http.StatusNoContent {
		t.Errorf("hiding after the end: %d", status)
	}
}

func TestATerminalThatCannotBeAttachedSaysWhy(t *testing.T) {
	b := newBackend()
	b.refuse = fault.New(fault.Conflict, "Nothing runs in the tab").WithHint("Start it.")
	_, server := serve(t, b, Options{})
	kind, _, data, err := readFrame(get(t, server.URL+Prefix+"term/task/tab/out?cols=80&rows=24&page="+pageA).Body)
	if err != nil || kind != KindEnd || !strings.Contains(string(data), "Nothing runs in the tab") {
		t.Errorf("%d %s %v", kind, data, err)
	}
	for _, size := range []string{"cols=0&rows=24", "cols=80&rows=5000", "cols=-3&rows=x", ""} {
		if got := get(t, server.URL+Prefix+"term/task/tab/out?page="+pageA+"&"+size).StatusCode; got != http.StatusBadRequest {
			t.Errorf("size %q: %d", size, got)
		}
	}
}

func TestThePageClosesItsTerminal(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	_, id := attach(t, server, pageA)
	post(t, server.URL+Prefix+"term/"+id+"/close", "{}")
	<-b.term.closed
}

func TestANewPageEndsTheTerminalsOfTheOldOne(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{OnePage: true})
	attach(t, server, pageA)
	get(t, server.URL+Prefix+"events?page="+pageB)
	<-b.term.closed
}

func TestTwoPagesLiveTogetherWithoutOnePage(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	body, _ := attach(t, server, pageA)
	get(t, server.URL+Prefix+"events?page="+pageB)
	b.term.frames <- core.Frame{Kind: core.FrameOutput, Seq: 1, Data: []byte("still here")}
	if _, _, data, err := readFrame(body); err != nil || string(data) != "still here" {
		t.Errorf("%q %v", data, err)
	}
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

func TestBytesOfOneTerminalKeepTheirOrder(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	_, id := attach(t, server, pageA)
	var want strings.Builder
	for i := range 300 { // one in flight, as the page does
		piece := fmt.Sprintf("%d;", i)
		want.WriteString(piece)
		post(t, server.URL+Prefix+"term/"+id+"/in", piece)
	}
	if b.term.in.String() != want.String() {
		t.Error("the order was lost")
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(nil, KindOutput, 7, []byte("hello")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) >= frameHead && raw[9] != 0 {
			return // a length of more than 16 MiB is not one of ours
		}
		kind, seq, data, err := readFrame(bytes.NewReader(raw))
		if err != nil {
			return
		}
		if again := appendFrame(nil, kind, seq, data); !bytes.Equal(again, raw[:len(again)]) {
			t.Errorf("%x became %x", raw, again)
		}
	})
}
