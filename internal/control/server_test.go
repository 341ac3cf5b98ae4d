package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

func TestCallGivesTheExactBytes(t *testing.T) {
	want := `{"text":"<a> & \u2028 é","n":[1,2.50]}`
	b := &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
		return json.RawMessage(want), nil
	}}
	r := start(t, b)
	got, err := r.dial(t).Call(t.Context(), "task_list", json.RawMessage(`{"quiet":true}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !reflect.DeepEqual(b.callers[0], grant.OwnerOn(grant.CLI)) {
		t.Errorf("the caller is %+v", b.callers[0])
	}
}

func TestOneConnectionCarriesManyCalls(t *testing.T) {
	r := start(t, &fakeBackend{})
	c := r.dial(t)
	for i, params := range []string{`{"a":1}`, `{"b":"x"}`, ``} {
		got, err := c.Call(t.Context(), "path", json.RawMessage(params), nil)
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		if want := `{"echo":` + string(orEmpty(orNil(params))) + `}`; string(got) != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	if h := c.Hello(); h != (Hello{App: "termic", Version: "1.2.3", Protocol: Protocol}) {
		t.Errorf("hello said %+v", h)
	}
}

func orNil(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func TestEventsComeBeforeTheReply(t *testing.T) {
	r := start(t, &fakeBackend{call: func(_ context.Context, _ string, _ json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
		emit(api.Event{Event: "created", Task: &api.TaskSummary{Name: "fix"}})
		emit(api.Event{Event: "setup", Line: strings.Repeat("x", MaxLine)}) // no line holds it: left out
		emit(api.Event{Event: "state", State: "working"})
		return json.RawMessage(`{}`), nil
	}})
	var got []string
	_, err := r.dial(t).Call(t.Context(), "task_new", nil, func(e api.Event) { got = append(got, e.Event+":"+e.State) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"created:", "state:working"}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestErrorsKeepCodeHintAndDataButNotTheCause(t *testing.T) {
	r := start(t, &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
		return nil, fault.Wrap(errTest, fault.UnregisteredProject, "That folder was not added").WithHint("Add it.").WithData("root", "/r")
	}})
	_, err := r.dial(t).Call(t.Context(), "task_new", nil, nil)
	f := fault.From(err)
	if f.Code != fault.UnregisteredProject || f.Message != "That folder was not added" || f.Hint != "Add it." || f.Data["root"] != "/r" {
		t.Errorf("got %+v", f)
	}
	if strings.Contains(err.Error(), errTest.Error()) {
		t.Error("the cause reached the client")
	}
}

func TestHeartbeatsWhileACallRuns(t *testing.T) {
	release := make(chan struct{})
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
		<-release
		return json.RawMessage(`{}`), nil
	}}, func(o *Options) { o.Limits.Heartbeat = 5 * time.Millisecond })
	beats := 0
	_, err := r.dial(t).Call(t.Context(), "task_wait", nil, func(e api.Event) {
		if e.Event == "heartbeat" {
			if beats++; beats == 3 {
				close(release)
			}
		}
	})
	if err != nil || beats < 3 {
		t.Errorf("%d heartbeats, error %v", beats, err)
	}
}

// TestAuthority walks over what is refused before the dispatcher hears of it.
func TestAuthority(t *testing.T) {
	b := &fakeBackend{}
	r := start(t, b)
	token := r.token(t)
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(token) {
		t.Fatalf("the token is %q", token)
	}
	for _, c := range []struct{ name, token string }{
		{"none", ""}, {"wrong", strings.Repeat("0", 64)}, {"prefix", token[:63]}, {"longer", token + "0"},
		{"twice", token + token}, {"upper case", strings.ToUpper(token)}, {"with newline", token + `\n`},
	} {
		for _, verb := range []string{"task_list", "attach", "no_such_verb"} {
			w := r.wire(t)
			w.send(`{"id":"7","token":"` + c.token + `","verb":"` + verb + `"}` + "\n")
			if l := w.refused(fault.Forbidden, false); l.ID != "7" || l.Error.Data["reason"] != nil {
				t.Errorf("%s, %s: %+v", c.name, verb, l)
			}
		}
	}
	r.off.Store(true)
	for _, tok := range []string{token, ""} {
		w := r.wire(t)
		w.send(`{"id":"8","token":"` + tok + `","verb":"task_list"}` + "\n")
		if l := w.refused(fault.Forbidden, false); l.Error.Data["reason"] != ReasonDisabled {
			t.Errorf("switched off: %+v", l.Error)
		}
		w.send(`{"id":"9","verb":"hello"}` + "\n")
		if l, err := w.line(); err != nil || !l.OK {
			t.Errorf("hello while switched off: %+v %v", l, err)
		}
	}
	if got := b.seen(); len(got) > 0 {
		t.Errorf("the dispatcher heard %q", got)
	}
	r.off.Store(false) // asked again for each request
	if _, err := r.dial(t).Call(t.Context(), "task_list", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestRaiseNeedsNoToken(t *testing.T) {
	raised := 0
	r := start(t, &fakeBackend{}, func(o *Options) { o.Raise = func(context.Context, string) error { raised++; return nil } })
	if ok, err := Raise(t.Context(), r.addr, ""); !ok || err != nil || raised != 1 {
		t.Errorf("raised %d times, answer %v %v", raised, ok, err)
	}
	r = start(t, &fakeBackend{})
	if ok, err := Raise(t.Context(), r.addr, ""); ok || err != nil {
		t.Errorf("without a window: %v %v", ok, err)
	}
}

func TestFiles(t *testing.T) {
	r := start(t, &fakeBackend{})
	for _, path := range []string{r.addr.Socket, r.addr.Token} {
		if st, err := os.Lstat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, st, err)
		}
	}
	first := r.token(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(r.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := Dial(t.Context(), r.addr); !errors.Is(err, ErrNotRunning) {
		t.Errorf("dial after close: %v", err)
	}
	if second := start(t, &fakeBackend{}).token(t); second == first {
		t.Error("the token did not change")
	}
}

// TestTokenIsAFreshFile shows that a descriptor on an old token file never shows the new token, and that a link in its
// place is replaced and not followed.
func TestTokenIsAFreshFile(t *testing.T) {
	dir := shortDir(t)
	target := filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "cli-token")); err != nil {
		t.Fatal(err)
	}
	start(t, &fakeBackend{}, func(o *Options) { o.Dir = dir })
	if got, err := os.ReadFile(target); err != nil || string(got) != "old" {
		t.Errorf("the link's target now holds %q, %v", got, err)
	}
	if st, err := os.Lstat(filepath.Join(dir, "cli-token")); err != nil || !st.Mode().IsRegular() || st.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v %v", st, err)
	}
}

func TestBind(t *testing.T) {
	t.Run("a stale socket is replaced", func(t *testing.T) {
		dir := shortDir(t)
		path := AddressIn(dir).Socket
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(t.Context(), AddressIn(dir)); !errors.Is(err, ErrNotRunning) {
			t.Errorf("dial on a stale socket: %v", err)
		}
		start(t, &fakeBackend{}, func(o *Options) { o.Dir = dir })
	})
	t.Run("another file is left alone", func(t *testing.T) {
		dir := shortDir(t)
		if err := os.WriteFile(AddressIn(dir).Socket, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Listen(t.Context(), Options{Dir: dir, Log: quiet()})
		if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("got %v", err)
		}
		if got, err := os.ReadFile(AddressIn(dir).Socket); err != nil || string(got) != "mine" {
			t.Errorf("the file holds %q, %v", got, err)
		}
	})
	t.Run("a long path is refused in words", func(t *testing.T) {
		dir := filepath.Join(shortDir(t), strings.Repeat("d", 100))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := Listen(t.Context(), Options{Dir: dir, Log: quiet()})
		if f := fault.From(err); f.Code != fault.InvalidArgument || !strings.Contains(f.Hint, "TERMIC_DATA_DIR") {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("the longest path works", func(t *testing.T) {
		dir := shortDir(t)
		dir = filepath.Join(dir, strings.Repeat("d", MaxSocketPath-len(dir)-len("/")-len("/termic.sock")))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r := start(t, &fakeBackend{}, func(o *Options) { o.Dir = dir })
		if len(r.addr.Socket) != MaxSocketPath {
			t.Fatalf("the path has %d bytes", len(r.addr.Socket))
		}
		r.dial(t)
	})
	t.Run("without a token file nothing is served", func(t *testing.T) {
		dir := shortDir(t)
		if err := os.MkdirAll(filepath.Join(dir, "cli-token", "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(t.Context(), Options{Dir: dir, Log: quiet()}); err == nil {
			t.Fatal("it listens")
		}
		if _, err := os.Lstat(AddressIn(dir).Socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
}

// TestCloseLeavesWhatIsNotItsOwn shows that files which another process put in place of ours survive our end.
func TestCloseLeavesWhatIsNotItsOwn(t *testing.T) {
	r := start(t, &fakeBackend{})
	for _, path := range []string{r.addr.Socket, r.addr.Token} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{r.addr.Socket, r.addr.Token} {
		if got, err := os.ReadFile(path); err != nil || string(got) != "another's" {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
}

func TestCloseEndsCallsAndAnswersThem(t *testing.T) {
	running := make(chan struct{})
	r := start(t, &fakeBackend{call: func(ctx context.Context, _ string, _ json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
		close(running)
		<-ctx.Done()
		return json.RawMessage(`{"quitting":true}`), nil
	}})
	idle := r.wire(t)
	c := r.dial(t)
	got := make(chan error, 1)
	go func() {
		_, err := c.Call(context.Background(), "quit", nil, nil)
		got <- err
	}()
	within(t, "the call", running)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the reply of a call under way was lost: %v", err)
	}
	if _, err := idle.line(); err == nil {
		t.Error("an idle connection was kept open")
	}
	if err := r.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestBigResultsBecomeARefusal(t *testing.T) {
	size := 0
	r := start(t, &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
		return json.RawMessage(`{"data":"` + strings.Repeat("x", size) + `"}`), nil
	}})
	c := r.dial(t)
	overhead := len(`{"id":"2","ok":true,"data":{"data":""}}`)
	size = MaxLine - overhead
	if got, err := c.Call(t.Context(), "task_log", nil, nil); err != nil || len(got) < size {
		t.Fatalf("a result that just fits: %d bytes, %v", len(got), err)
	}
	size++
	_, err := c.Call(t.Context(), "task_log", nil, nil)
	if fault.CodeOf(err) != fault.Internal || errors.Is(err, ErrLost) {
		t.Fatalf("one byte more: %v", err)
	}
	size = 1
	if _, err := c.Call(t.Context(), "task_log", nil, nil); err != nil {
		t.Errorf("the connection is not whole any more: %v", err)
	}
}

func TestBrokenBackends(t *testing.T) {
	answers := map[string]func() (json.RawMessage, error){
		"panics":   func() (json.RawMessage, error) { panic("on purpose") },
		"no JSON":  func() (json.RawMessage, error) { return json.RawMessage(`{"half`), nil },
		"two ends": func() (json.RawMessage, error) { return json.RawMessage("{}\n{}"), nil },
		"an error": func() (json.RawMessage, error) { return nil, errTest },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			r := start(t, &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
				return answer()
			}})
			c := r.dial(t)
			for range 2 {
				_, err := c.Call(t.Context(), "path", nil, nil)
				if fault.CodeOf(err) != fault.Internal || errors.Is(err, ErrLost) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

func TestResultsAreOneLine(t *testing.T) {
	r := start(t, &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
		return json.RawMessage("{\n  \"a\": 1\n}"), nil
	}})
	got, err := r.dial(t).Call(t.Context(), "path", nil, nil)
	if err != nil || bytes.Contains(got, []byte("\n")) {
		t.Errorf("%q %v", got, err)
	}
}
