package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/app/webface"
	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
)

func (p *profile) options() Options {
	return Options{Version: "test", Face: faceWindow, Getenv: os.Getenv, Environ: os.Environ(), LogTo: p.log, LogLevel: "debug"}
}

// join takes the seat of a window on the profile that p serves.
func (p *profile) join() seat {
	p.t.Helper()
	s, err := takeSeat(p.t.Context(), p.options(), "")
	check(p.t, err)
	if s == nil || !s.served() {
		p.t.Fatalf("the seat is %v", s)
	}
	p.t.Cleanup(func() { check(p.t, s.close()) })
	return s
}

// result calls a verb on a seat.
func result[R any](t *testing.T, s webface.Backend, verb string, params any) R {
	t.Helper()
	raw, err := json.Marshal(params)
	check(t, err)
	data, err := s.Call(t.Context(), verb, raw)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	var r R
	check(t, json.Unmarshal(data, &r))
	return r
}

// aRepository makes a git repository with one commit.
func aRepository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	check(t, os.Mkdir(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "Begin"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// aTerminal makes a task in the app that is served, with a shell in it.
func aTerminal(t *testing.T, s webface.Backend) (task, tab string) {
	t.Helper()
	result[api.ProjectAddResult](t, s, "project_add", map[string]any{"path": aRepository(t)})
	made := result[api.TaskNewResult](t, s, "task_new", map[string]any{"name": "work", "project": "web", "noAgent": true})
	for { // it is made beside the call
		_, changed := s.Watch()
		tasks := result[api.WindowState](t, s, "window_state", map[string]any{"peek": true}).Tasks
		if len(tasks) == 1 && tasks[0].State == api.TaskLive {
			break
		}
		within(t, "the task to be made", changed)
	}
	opened := result[api.TaskTabResult](t, s, "task_tab", map[string]any{"task": made.Task.ID, "kind": "terminal"})
	return made.Task.ID, opened.TabID
}

// printed gathers what a terminal prints, as the page does: always, and saying how far it came.
type printed struct {
	t    *testing.T
	done chan struct{} // closed at the end of the terminal

	mu   sync.Mutex // guards the following
	text strings.Builder
	more chan struct{} // closed when there is more
	exit *api.Exit
	err  error
}

func read(t *testing.T, term webface.Terminal) *printed {
	p := &printed{t: t, done: make(chan struct{}), more: make(chan struct{})}
	go func() {
		defer close(p.done)
		for {
			f, err := term.Next(context.Background())
			p.mu.Lock()
			if f.Kind == core.FrameExit {
				p.exit = f.Exit
			}
			p.text.Write(f.Data)
			p.err = err
			close(p.more)
			p.more = make(chan struct{})
			p.mu.Unlock()
			if err != nil {
				return
			}
			term.Ack(f.Seq)
		}
	}()
	t.Cleanup(func() { term.Close("test"); within(t, "the end of the terminal", p.done) })
	return p
}

// until waits until the text was printed and returns all that was.
func (p *printed) until(text string) string {
	p.t.Helper()
	for {
		p.mu.Lock()
		all, more := p.text.String(), p.more
		p.mu.Unlock()
		if strings.Contains(all, text) {
			return all
		}
		within(p.t, text, more)
	}
}

func TestAWindowTypesIntoATerminalThatServeStarted(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	task, tab := aTerminal(t, s)
	where, err := json.Marshal(map[string]string{"task": task, "tab": tab})
	check(t, err)
	term, err := s.Attach(t.Context(), where, 100, 30)
	check(t, err)
	if r := term.Result(); r.TaskID != task || r.TabID != tab {
		t.Errorf("attached to %+v", r)
	}
	see := read(t, term)
	check(t, term.Write(t.Context(), []byte("stty size; echo one-$((40+2))\r")))
	if all := see.until("one-42"); !strings.Contains(all, "30 100") {
		t.Errorf("the size is not the window's: %q", all)
	}
	check(t, term.Resize(90, 20))
	check(t, term.Write(t.Context(), []byte("stty size; echo two-$((40+2))\r")))
	if all := see.until("two-42"); !strings.Contains(all, "20 90") {
		t.Errorf("the new size did not arrive: %q", all)
	}
	// Hidden, it prints nothing here; shown, the screen comes again.
	term.Hide()
	check(t, term.Write(t.Context(), []byte("echo three-$((40+2))\r")))
	term.Show()
	see.until("three-42")
	// A window that leaves ends nothing: the same terminal goes on, on another one.
	term.Close("detached")
	check(t, s.close())
	again := p.join()
	term, err = again.Attach(t.Context(), where, 100, 30)
	check(t, err)
	see = read(t, term)
	see.until("three-42")
	check(t, term.Write(t.Context(), []byte("exit 7\r")))
	within(t, "the end of the shell", see.done)
	if r := term.Result(); !errors.Is(see.err, io.EOF) || see.exit == nil || see.exit.Code != 7 || r.Exit == nil || r.Exit.Code != 7 || r.Reason != "exited" {
		t.Errorf("it ended with %v, %+v, %+v", see.err, see.exit, r)
	}
	where = []byte(`{"task":"no-such-task"}`)
	if _, err := again.Attach(t.Context(), where, 100, 30); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("attached to nothing: %v", err)
	}
}

// TestTypingIntoAFlood holds that a window which types more than the program takes, while it prints more than is shown,
// does not come to a stop: what was shown must be heard behind keys that wait.
func TestTypingIntoAFlood(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	task, tab := aTerminal(t, s)
	where, err := json.Marshal(map[string]string{"task": task, "tab": tab})
	check(t, err)
	term, err := s.Attach(t.Context(), where, 100, 30)
	check(t, err)
	see := read(t, term)
	check(t, term.Write(t.Context(), []byte("stty -echo raw; echo go-$((40+2)); cat; \r")))
	see.until("go-42")
	const bytes = 1 << 20
	var typing sync.WaitGroup
	typing.Go(func() {
		text := []byte(strings.Repeat("0123456789abcdef", bytes/16) + "the-end")
		if err := term.Write(t.Context(), text); err != nil {
			t.Error(err)
		}
	})
	all := see.until("the-end")
	typing.Wait()
	if got := strings.Count(all, "0123456789abcdef"); got != bytes/16 {
		t.Errorf("%d of %d pieces came back", got, bytes/16)
	}
	term.Close("detached")
}

func TestAWindowOnServeIsToldAndRaised(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	rev, changed := s.Watch()
	result[api.ProjectAddResult](t, s, "project_add", map[string]any{"path": aRepository(t)})
	within(t, "the change", changed)
	if now, _ := s.Watch(); now <= rev {
		t.Errorf("revision %d after %d", now, rev)
	}
	raised := make(chan struct{})
	var once sync.Once
	s.onRaise(func() bool { once.Do(func() { close(raised) }); return true })
	// Another window comes: this one is raised, with the link of the other.
	const secretWord = "hunter2"
	other, err := takeSeat(t.Context(), p.options(), "termic://new?project=web&prompt="+secretWord)
	if other != nil || err != nil {
		t.Fatalf("a second window: %v, %v", other, err)
	}
	within(t, "the window to be raised", raised)
	state := result[api.WindowState](t, s, "window_state", map[string]any{"peek": true})
	if state.Link != nil {
		t.Error("a look took the link")
	}
	state = result[api.WindowState](t, s, "window_state", map[string]any{})
	if state.Link == nil || state.Link.Prompt != secretWord || state.Link.Project != state.Projects[0].ID || len(state.Tasks) != 0 {
		t.Errorf("the link is %+v, and there are %d tasks", state.Link, len(state.Tasks))
	}
	if result[api.WindowState](t, s, "window_state", map[string]any{}).Link != nil {
		t.Error("the link is told twice")
	}
	for _, bad := range []string{"termic://new?project=" + secretWord, "termic://open/" + secretWord, "termic://new?prompt=" + secretWord + "%1b", "termic://" + secretWord} {
		if other, err := takeSeat(t.Context(), p.options(), bad); other != nil || err != nil {
			t.Fatalf("%s: %v, %v", bad, other, err)
		}
		state := result[api.WindowState](t, s, "window_state", map[string]any{})
		if state.Link == nil || state.Link.Refused == "" || state.Link.Prompt != "" {
			t.Errorf("%s: %+v", bad, state.Link)
		}
	}
	if strings.Contains(p.log.String(), secretWord) {
		t.Errorf("a link is in the log: %s", p.log.String())
	}
}

func TestTheShapeOfAWindowOnServeIsKept(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	want := api.WindowShape{Width: 900, Height: 700, X: 10, Y: 20, Placed: true}
	check(t, s.keepShape(t.Context(), want))
	if got, err := s.shape(t.Context()); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	check(t, s.keepShape(t.Context(), api.WindowShape{Width: 1920, Height: 1080, Maximised: true}))
	want.Maximised = true
	if got, err := s.shape(t.Context()); err != nil || got != want {
		t.Errorf("maximised: got %+v, %v", got, err)
	}
	if got := frameColour(t.Context(), s, p.app.Log); got != darkFrame {
		t.Errorf("the frame is %+v", got)
	}
	result[api.SettingsResult](t, s, "settings_set", map[string]any{"key": "appearance.theme", "value": "light"})
	result[api.SettingsResult](t, s, "settings_set", map[string]any{"key": "notifications.done", "value": "false"})
	if got := frameColour(t.Context(), s, p.app.Log); got != lightFrame {
		t.Errorf("the frame of the light theme is %+v", got)
	}
	check(t, os.MkdirAll(filepath.Join(p.dir, "themes"), 0o700))
	check(t, os.WriteFile(filepath.Join(p.dir, "themes", "night.json"), []byte(`{"name":"Night","colorScheme":"dark","ui":{"frame":"#102030"}}`), 0o600))
	result[api.SettingsResult](t, s, "settings_set", map[string]any{"key": "appearance.theme", "value": "custom:night"})
	if got := frameColour(t.Context(), s, p.app.Log); got != (rgb{0x10, 0x20, 0x30}) {
		t.Errorf("the frame of a theme of one's own is %+v", got)
	}
	if scheme, _ := chosenTheme(t.Context(), s, p.app.Log); scheme != "dark" {
		t.Errorf("the scheme of a theme of one's own is %q", scheme)
	}
	for value, want := range map[string]string{"system": "", "light": "light", "dark": "dark", "custom:gone": ""} {
		result[api.SettingsResult](t, s, "settings_set", map[string]any{"key": "appearance.theme", "value": value})
		if scheme, _ := chosenTheme(t.Context(), s, p.app.Log); scheme != want {
			t.Errorf("the theme %s: the page is told %q", value, scheme)
		}
	}
	if w := s.wishes(t.Context()); w.Done || !w.NeedsInput || !w.Failed {
		t.Errorf("settings: %+v", w)
	}
	for _, bad := range []string{"x", `{"width":-1}`, `{"x":1000000}`} {
		if _, err := s.Call(t.Context(), "window_set", json.RawMessage(`{"shape":`+string(must(json.Marshal(bad)))+`}`)); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func within(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

func TestAWindowOutlivesServeAndStartsAgain(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	p.stop()
	within(t, "the end to be told", s.over())
	if s.wanted() {
		t.Error("nobody asked for the end")
	}
	_, err := s.Call(t.Context(), "window_state", json.RawMessage(`{}`))
	if f := fault.From(err); f.Code != fault.Unavailable || !strings.Contains(f.Message, "termic serve") {
		t.Errorf("a call after that: %v", err)
	}
	own, err := takeSeat(t.Context(), p.options(), "")
	check(t, err)
	if own == nil || own.served() {
		t.Fatalf("the seat is %v", own)
	}
	result[api.WindowState](t, own, "window_state", map[string]any{})
	check(t, own.close())
}

func TestServeEndsByTheWindowsWish(t *testing.T) {
	p := newProfile(t)
	s := p.join()
	result[api.QuitResult](t, s, "quit", map[string]any{})
	if s.wanted() {
		t.Error("a look at what would end is a wish")
	}
	result[api.QuitResult](t, s, "quit", map[string]any{"commit": true})
	within(t, "the wish", p.app.Quitting())
	p.stop()
	within(t, "the end", s.over())
	if !s.wanted() {
		t.Error("the window would stay")
	}
}

func TestAWindowIsRefusedInWords(t *testing.T) {
	p := newProfile(t)
	o := p.options()
	o.Version = "older"
	if s, err := takeSeat(t.Context(), o, ""); s != nil || fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "older") {
		t.Errorf("another version: %v, %v", s, err)
	}
	check(t, os.WriteFile(filepath.Join(p.dir, "settings.toml"), []byte("[general]\ncli_enabled = false\n"), 0o600))
	deadline := time.Now().Add(patience)
	for p.app.settings.Get().General.CLIEnabled {
		if time.Now().After(deadline) {
			t.Fatal("the settings are not read")
		}
		time.Sleep(10 * time.Millisecond) // the file is looked at from time to time
	}
	if s, err := takeSeat(t.Context(), p.options(), ""); s != nil || fault.CodeOf(err) != fault.Forbidden || !strings.Contains(fault.From(err).Hint, "cli_enabled") {
		t.Errorf("the command line switched off: %v, %v", s, err)
	}
}
