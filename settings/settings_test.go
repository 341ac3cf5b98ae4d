package settings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"termic/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const home = "/home/u"

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// fresh returns a file with that content, opened.
func fresh(t *testing.T, text string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	write(t, path, text)
	return openFile(t, path)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, f *File) string {
	t.Helper()
	b, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("error %v has code %q, want %q", err, fault.CodeOf(err), code)
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		if seen[s.Key] || s.Doc == "" || !strings.HasSuffix(s.Doc, ".") || strings.Count(s.Key, ".") != 1 {
			t.Errorf("row %s: twice, without a sentence, or no section.key", s.Key)
		}
		seen[s.Key] = true
		if v, why := s.accept(s.Default); why != "" || !cmp.Equal(v, s.Default) {
			t.Errorf("the default of %s %s", s.Key, why)
		}
		if s.Kind == Number && (s.Min >= s.Max || s.Unit == "") {
			t.Errorf("%s has no range or no unit", s.Key)
		}
		if (s.Kind == Text || s.Kind == Path || s.Kind == List) && s.Max == 0 {
			t.Errorf("%s has no limit", s.Key)
		}
	}
	d := Defaults(home)
	want := Settings{General: General{true, "info", ""}, Tasks: Tasks{home + "/termic/tasks", "feature", true, "worktree", ""},
		Terminal: Terminal{"", 13, 5000, false, "ask"}, Appearance: Appearance{"system", "side-by-side"}, MCP: MCP{Toolsets: []string{}}, Sandbox: Sandbox{"off", []string{}, []string{}, []string{}, false, false, 0, 4096}, Notify: Notify{true, true, true}, Queue: Queue{10}, Keys: map[string]string{}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

const full = `# mine
[general]
cli_enabled = false
log_level = "debug"
[tasks]
dir = "~/work"
branch_prefix = "me/x"
fetch_before_create = false
default_mode = "main"
default_agent = "codex"
[terminal]
font_family = "Iosevka"
font_size = 16
scrollback_lines = 100
copy_on_select = true
[appearance]
theme = "dark"
[notifications]
done = false
[mcp]
enabled = true
toolbox = ["core"] # from a later version
[sandbox]
default_mode = "enforce"
memory_mib = 2048
read = ["~/sdk"]
hosts = ["*.example.org"]
[queue]
interval_seconds = 0
[git]
path = "/opt/git"
[[agents]]
id = "claude"
yolo_args = []
[[agents]]
id = "mine"
name = "Mine"
command = "/opt/mine"
args = ["-x", ""]
env = { A = "1" }
sandbox_paths = ["~/.mine"]
sandbox_hosts = ["example.org"]
disabled = false
work_done = true
resume_args = ["-c"]
session_id_args = ["--id", "{UUID}"]
resume_id_args = ["--resume", "{UUID}"]
signals = { busy = ["^\\*"], idle = ["^-"], attention = [], pending = ["shells"] }
color = "red"
[[prompts]]
id = "review"
title = "Review"
body = """
one
two"""
[keys]
"tab.next" = "ctrl+tab"
palette = ""
[other]
x = 1
`

func TestReadsEverything(t *testing.T) {
	yes, no := true, false
	f := fresh(t, full)
	want := Settings{General: General{false, "debug", ""}, Tasks: Tasks{home + "/work", "me/x", false, "main", "codex"},
		Terminal: Terminal{"Iosevka", 16, 100, true, "ask"}, Appearance: Appearance{"dark", "side-by-side"}, MCP: MCP{Enabled: true, Toolsets: []string{}}, Sandbox: Sandbox{"enforce", []string{"~/sdk"}, []string{}, []string{"*.example.org"}, false, false, 2048, 4096},
		Notify: Notify{true, false, true}, Queue: Queue{0}, Git: Git{"/opt/git"},
		Agents: []Agent{{ID: "claude", YoloArgs: []string{}}, {ID: "mine", Name: "Mine", Command: "/opt/mine", Args: []string{"-x", ""},
			Env: map[string]string{"A": "1"}, SandboxPaths: []string{"~/.mine"}, SandboxHosts: []string{"example.org"}, Disabled: &no, WorkDone: &yes,
			ResumeArgs: []string{"-c"}, SessionIDArgs: []string{"--id", "{UUID}"}, ResumeIDArgs: []string{"--resume", "{UUID}"},
			Signals: Signals{Busy: []string{`^\*`}, Idle: []string{"^-"}, Attention: []string{}, Pending: []string{"shells"}}}},
		Prompts: []Prompt{{ID: "review", Title: "Review", Body: "one\ntwo"}}, Keys: map[string]string{"tab.next": "ctrl+tab", "palette": ""}}
	if diff := cmp.Diff(want, f.Get()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Problem() != "" || f.ReadOnly() {
		t.Errorf("problem: %s", f.Problem())
	}
	var notes []string
	for _, n := range f.Notes() {
		notes = append(notes, fmt.Sprint(n.Line, " ", n.Key))
	}
	if diff := cmp.Diff([]string{"22 mcp.toolbox", "49 agents.1.color", "59 other"}, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	a := f.Get()
	a.Agents[1].Args[0], a.Agents[1].Env["A"], *a.Agents[1].WorkDone, a.Keys["palette"], a.Prompts[0].Title = "y", "y", false, "y", "y"
	if diff := cmp.Diff(want, f.Get()); diff != "" {
		t.Errorf("a holder changed the settings of all:\n%s", diff)
	}
}

func TestBadValueKeepsTheLastGoodOne(t *testing.T) {
	f := fresh(t, "[terminal]\nfont_size = 20\n[queue]\ninterval_seconds = 5\n[[agents]]\nid = 'a'\ncommand = 'good'\n[keys]\nx = 'k'\n")
	write(t, f.Path(), `
[terminal]
font_size = 500 # line 3
scrollback_lines = "many"
copy_on_select = true
[queue]
interval_seconds = 1.5
[appearance]
theme = "pink"
[tasks]
dir = "relative"
branch_prefix = "-x"
[[agents]]
id = "a"
command = 7
[[agents]]
id = "a"
[[agents]]
name = "none"
[[agents]]
id = "b"
signals.busy = ["("]
args = [1]
[keys]
x = 1
`)
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	s := f.Get()
	if s.Terminal.FontSize != 20 || s.Terminal.ScrollbackLines != 5000 || !s.Terminal.CopyOnSelect || s.Queue.IntervalSeconds != 5 ||
		s.Appearance.Theme != "system" || s.Tasks.Dir != home+"/termic/tasks" || s.Tasks.BranchPrefix != "feature" || s.Keys["x"] != "k" {
		t.Errorf("settings: %+v", s)
	}
	if len(s.Agents) != 2 || s.Agents[0].Command != "good" || s.Agents[1].ID != "b" || s.Agents[1].Args != nil {
		t.Errorf("agents: %+v", s.Agents)
	}
	want := []int{3, 4, 7, 9, 11, 12, 15, 17, 18, 22, 23, 25}
	var got []int
	for _, p := range f.Problems() {
		got = append(got, p.Line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines of problems (-want +got):\n%s\n%s", diff, f.Problem())
	}
	if !strings.Contains(f.Problem(), "settings.toml, line 3: terminal.font_size must be from 6 to 72, and is 500") {
		t.Errorf("words: %s", f.Problem())
	}
	if f.ReadOnly() {
		t.Error("bad values made the file read-only")
	}
	if err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 11}); err != nil || f.Get().Terminal.FontSize != 11 {
		t.Errorf("patch: %v", err)
	}
}

func TestSectionsOfTheWrongType(t *testing.T) {
	f := fresh(t, "terminal = 1\nagents = 2\nprompts = [3]\nkeys = 4\n")
	if n := len(f.Problems()); n != 4 {
		t.Errorf("%d problems: %s", n, f.Problem())
	}
	if diff := cmp.Diff(Defaults(home), f.Get()); diff != "" {
		t.Errorf("not the defaults:\n%s", diff)
	}
	err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 11})
	wantCode(t, err, fault.Conflict)
}

func TestUnparseableFileIsKept(t *testing.T) {
	const broken = "[terminal]\nfont_size = 20\n[mcp\nenabled = true\n"
	f := fresh(t, broken)
	if !f.ReadOnly() || !strings.Contains(f.Problem(), "line 3") {
		t.Errorf("read-only %v, problem %q", f.ReadOnly(), f.Problem())
	}
	if diff := cmp.Diff(Defaults(home), f.Get()); diff != "" {
		t.Errorf("not the defaults:\n%s", diff)
	}
	wantCode(t, f.Patch(t.Context(), map[string]any{"terminal.font_size": 11}), fault.Conflict)
	if content(t, f) != broken {
		t.Error("the file was changed")
	}
	if _, _, err := Load(f.Path(), Options{Home: home}); err == nil {
		t.Error("Load did not say so")
	}
	write(t, f.Path(), "[terminal]\nfont_size = 20\n")
	if err := f.Patch(t.Context(), map[string]any{"mcp.enabled": true}); err != nil {
		t.Fatal(err)
	}
	if s := f.Get(); f.ReadOnly() || s.Terminal.FontSize != 20 || !s.MCP.Enabled {
		t.Errorf("after it was corrected: %+v", s)
	}
	// A file that breaks while the app runs leaves the last settings in force.
	write(t, f.Path(), broken)
	wantCode(t, f.Reload(), fault.Conflict)
	if f.Get().Terminal.FontSize != 20 || !f.ReadOnly() {
		t.Error("the last good settings are gone")
	}
}

func TestPatchKeepsEveryOtherByte(t *testing.T) {
	text := "\xef\xbb\xbf" + strings.ReplaceAll(full, "\n", "\r\n")
	f := fresh(t, text)
	err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 17, "mcp.enabled": false, "agents.mine.command": "/new", "keys.palette": "ctrl+k"})
	if err != nil {
		t.Fatal(err)
	}
	want := text
	for old, now := range map[string]string{"font_size = 16": "font_size = 17", "enabled = true\r\ntool": "enabled = false\r\ntool",
		`"/opt/mine"`: `"/new"`, `palette = ""`: `palette = "ctrl+k"`} {
		want = strings.Replace(want, old, now, 1)
	}
	if diff := cmp.Diff(want, content(t, f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := f.Get(); s.Terminal.FontSize != 17 || s.MCP.Enabled || s.Agents[1].Command != "/new" {
		t.Errorf("in force: %+v", s)
	}
}

func TestPatchNewKeysAndEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "settings.toml")
	f := openFile(t, path)
	ctx := t.Context()
	if err := f.Patch(ctx, map[string]any{"agents.mine.command": "m", "agents.mine.args": []string{"a"}, "agents.mine.signals.busy": []any{"x"},
		"agents.mine.env": map[string]string{"A": "b c"}, "prompts.p.body": "two\nlines", "terminal.font_size": 11, "keys.tab.next": "ctrl+n"}); err != nil {
		t.Fatal(err)
	}
	want := "[[agents]]\nid = \"mine\"\nargs = [\"a\"]\ncommand = \"m\"\nenv = { A = \"b c\" }\n\n[agents.signals]\nbusy = [\"x\"]\n\n" +
		"[keys]\n\"tab.next\" = \"ctrl+n\"\n\n[[prompts]]\nid = \"p\"\nbody = \"two\\nlines\"\n\n[terminal]\nfont_size = 11\n"
	if diff := cmp.Diff(want, content(t, f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st, err)
	}
	if v, err := f.Value("agents.mine.signals.busy"); err != nil || !cmp.Equal(v, []string{"x"}) {
		t.Errorf("Value = %v, %v", v, err)
	}
	if err := f.Patch(ctx, map[string]any{"agents.mine": nil, "prompts.p": nil, "terminal.font_size": nil, "keys.tab.next": nil, "agents.none": nil}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Defaults(home), f.Get()); diff != "" {
		t.Errorf("after taking all out:\n%s\n%s", diff, content(t, f))
	}
}

func TestPatchIsAllOrNothing(t *testing.T) {
	f := fresh(t, full)
	ctx := t.Context()
	for _, changes := range []map[string]any{
		{"terminal.font_size": 11, "appearance.theme": "pink"}, {"terminal.font_size": 11, "no.such": 1}, {"terminal.font_size": 500},
		{"terminal.font_size": "11"}, {"agents.mine": 1}, {"agents.mine.id": "x"}, {"agents.-.command": "x"}, {"keys.": "x"}, {"general": 1},
		{"tasks.dir": ""}, {"tasks.branch_prefix": "a b"}, {"tasks.branch_prefix": "a..b"}, {"tasks.branch_prefix": "a/"}, {"git.path": "git"},
		{"terminal.font_family": "a\nb"}, {"agents.mine.args": []any{1}}, {"agents.mine.env": map[string]any{"A=": "x"}}, {"agents.mine.command": "x\x00"},
	} {
		wantCode(t, f.Patch(ctx, changes), fault.InvalidArgument)
	}
	if content(t, f) != full {
		t.Error("a refused patch changed the file")
	}
	before, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Patch(ctx, map[string]any{"terminal.font_size": 16}); err != nil { // C10
		t.Fatal(err)
	}
	if after, err := os.Stat(f.Path()); err != nil || !os.SameFile(before, after) {
		t.Errorf("a patch that changes nothing wrote the file (%v)", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	f.patching <- struct{}{}
	wantCode(t, f.Patch(done, map[string]any{"terminal.font_size": 11}), fault.Unavailable)
	<-f.patching
}

// TestPatchesAndHandEdits has several patches at once, and a hand edit between two patches that no watch has seen yet.
func TestPatchesAndHandEdits(t *testing.T) {
	f := fresh(t, full)
	var wg sync.WaitGroup
	for i, key := range []string{"terminal.font_size", "terminal.scrollback_lines", "queue.interval_seconds"} {
		wg.Go(func() {
			for n := range 10 {
				if err := f.Patch(t.Context(), map[string]any{key: 20 + 10*i + n}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := f.Get()
	if s.Terminal.FontSize != 29 || s.Terminal.ScrollbackLines != 39 || s.Queue.IntervalSeconds != 49 {
		t.Errorf("a patch was lost: %+v", s)
	}
	write(t, f.Path(), strings.Replace(content(t, f), "theme = \"dark\"", "theme = \"light\" # by hand", 1))
	if err := f.Patch(t.Context(), map[string]any{"mcp.enabled": false}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(content(t, f), "theme = \"light\" # by hand") || f.Get().Appearance.Theme != "light" {
		t.Error("a hand edit was lost")
	}
}

func TestParseValue(t *testing.T) {
	for _, tt := range []struct {
		key, text string
		want      any
	}{
		{"terminal.font_size", "14", int64(14)}, {"terminal.font_size", "0x10", int64(16)}, {"mcp.enabled", "true", true},
		{"appearance.theme", "dark", "dark"}, {"appearance.theme", `"dark"`, "dark"}, {"appearance.theme", "'dark'", "dark"},
		{"terminal.font_family", "3270", "3270"}, {"terminal.font_family", "JetBrains Mono", "JetBrains Mono"}, {"terminal.font_family", "", ""},
		{"terminal.font_family", "true", "true"}, {"tasks.dir", "/a b/c", "/a b/c"}, {"git.path", "", ""}, {"keys.palette", "ctrl+k", "ctrl+k"},
		{"agents.x.args", `["a", "b"]`, []string{"a", "b"}}, {"agents.x.disabled", "true", true}, {"agents.x.env", `{ A = "1" }`, map[string]string{"A": "1"}},
		{"agents.x.command", "run me", "run me"}, {"terminal.font_family", "a\" # x", "a\" # x"},
	} {
		if got, err := ParseValue(tt.key, tt.text); err != nil || !cmp.Equal(tt.want, got) {
			t.Errorf("ParseValue(%s, %q) = %#v, %v; want %#v", tt.key, tt.text, got, err, tt.want)
		}
	}
	for key, text := range map[string]string{"terminal.font_size": "big", "mcp.enabled": "yes", "appearance.theme": "pink", "no.such": "1",
		"agents.x.args": "a b", "agents.x": "1", "terminal.scrollback_lines": "1\nfont_size = 2", "tasks.dir": "x\ny"} {
		_, err := ParseValue(key, text)
		wantCode(t, err, fault.InvalidArgument)
	}
}

func TestValue(t *testing.T) {
	f := fresh(t, full)
	for key, want := range map[string]any{"terminal.font_size": int64(16), "tasks.dir": "~/work", "keys.tab.next": "ctrl+tab", "agents.mine.command": "/opt/mine",
		"agents.mine.work_done": true, "prompts.review.title": "Review"} {
		if got, err := f.Value(key); err != nil || !cmp.Equal(got, want) {
			t.Errorf("Value(%s) = %#v, %v", key, got, err)
		}
	}
	for _, key := range []string{"agents.none.command", "agents.claude.command", "keys.none"} {
		_, err := f.Value(key)
		wantCode(t, err, fault.NotFound)
	}
	_, err := f.Value("no.such")
	wantCode(t, err, fault.InvalidArgument)
	if n := len(f.Values()); n != len(Table())+3 {
		t.Errorf("%d values", n)
	}
	if _, err := f.Value("agents"); err != nil {
		t.Error(err)
	}
}

// waiter collects what subscribers are told.
type waiter struct {
	t  *testing.T
	ch chan Settings
}

func subscribe(t *testing.T, f *File) *waiter {
	w := &waiter{t, make(chan Settings, 100)}
	t.Cleanup(f.Subscribe(func(s Settings) { w.ch <- s }))
	return w
}

func (w *waiter) until(what string, ok func(Settings) bool) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case s := <-w.ch:
			if ok(s) {
				return
			}
		case <-deadline:
			w.t.Fatalf("no word of %s", what)
		}
	}
}

func size(n int) func(Settings) bool {
	return func(s Settings) bool { return s.Terminal.FontSize == n }
}

func sized(n int) string { return fmt.Sprintf("[terminal]\nfont_size = %d\n", n) }

func TestHandEditsAreTakenUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.toml")
	f := openFile(t, path)
	w := subscribe(t, f)

	write(t, path, sized(20))
	w.until("a new file", size(20))
	write(t, path, sized(21))
	w.until("a file written in place", size(21))
	write(t, filepath.Join(dir, "settings.toml.swp"), sized(22))
	if err := os.Rename(filepath.Join(dir, "settings.toml.swp"), path); err != nil {
		t.Fatal(err)
	}
	w.until("a file put in its place", size(22))
	write(t, path, sized(22)+"[broken\n")
	w.until("a file that does not parse", func(Settings) bool { return f.ReadOnly() })
	write(t, path, sized(23))
	w.until("a correction", func(s Settings) bool { return size(23)(s) && !f.ReadOnly() })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.until("its removal", size(13))
	if err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 24}); err != nil {
		t.Fatal(err)
	}
	w.until("a patch", size(24))
}

// TestLinkedFile has the file kept elsewhere, as dotfile managers do (C8).
func TestLinkedFile(t *testing.T) {
	dir, dots := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "settings.toml")
	write(t, filepath.Join(dots, "a.toml"), sized(20))
	write(t, filepath.Join(dots, "b.toml"), sized(30))
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(dots, "a.toml"), filepath.Join(dots, "hop.toml"))
	link(filepath.Join(dots, "hop.toml"), path)
	f := openFile(t, path)
	w := subscribe(t, f)
	write(t, filepath.Join(dots, "a.toml"), sized(21))
	w.until("an edit at the far end", size(21))
	if err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 22}); err != nil {
		t.Fatal(err)
	}
	w.until("a patch", size(22))
	if b, err := os.ReadFile(filepath.Join(dots, "a.toml")); err != nil || string(b) != sized(22) {
		t.Errorf("the far end has %q, %v", b, err)
	}
	if to, err := os.Readlink(path); err != nil || to != filepath.Join(dots, "hop.toml") {
		t.Errorf("the link is %q, %v", to, err)
	}
	link(filepath.Join(dots, "b.toml"), filepath.Join(dots, "hop.toml"))
	w.until("a link that leads elsewhere", size(30))
	write(t, filepath.Join(dots, "b.toml"), sized(31))
	w.until("an edit at the new far end", size(31))
}

func TestSubscriberMayPatch(t *testing.T) {
	f := fresh(t, sized(20))
	done := make(chan error, 1)
	stop := f.Subscribe(func(s Settings) {
		if s.Terminal.FontSize == 21 {
			done <- f.Patch(context.Background(), map[string]any{"terminal.font_size": 22})
		}
	})
	defer stop()
	if err := f.Patch(t.Context(), map[string]any{"terminal.font_size": 21}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil || f.Get().Terminal.FontSize != 22 {
			t.Errorf("patch from a subscriber: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a subscriber that patches hangs")
	}
}

func TestWithoutWatchesTheFileIsPolled(t *testing.T) {
	f := &File{path: filepath.Join(t.TempDir(), "settings.toml"), o: Options{Home: home}.withDefaults(), patching: make(chan struct{}, 1),
		cur: defaults(home), subs: map[int]func(Settings){}, kick: make(chan struct{}, 1), stop: make(chan struct{})}
	f.wg.Go(func() { f.run(&watch{path: f.path, log: f.o.Log}) })
	t.Cleanup(func() { _ = f.Close() })
	w := subscribe(t, f)
	write(t, f.path, sized(20))
	w.until("an edit", size(20))
}

func TestManyUnknownKeysAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range maxNamed + 7 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	notes := fresh(t, b.String()).Notes()
	if len(notes) != maxNamed+1 {
		t.Fatalf("%d notes", len(notes))
	}
	found := false
	for _, n := range notes {
		found = found || strings.Contains(n.Text, "7 more")
	}
	if !found {
		t.Errorf("the rest is not counted: %+v", notes[0])
	}
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("\xef\xbb\xbf[terminal]\r\nfont_size = 99\r\n"))
	f.Add([]byte("agents = [{ id = 'a', signals = 1 }, 2]\nkeys = { a = 1 }\nmcp.enabled = true\n"))
	f.Add([]byte("[[agents]]\nid='x'\n[agents.signals]\nbusy=['(']\n[[prompts]]\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		start := defaults(home)
		s := read(doc, home, start)
		for _, one := range Table() { // whatever the file says, what is in force is allowed
			if _, why := one.accept(s.values[one.Key]); why != "" {
				t.Fatalf("%s = %v is in force and %s", one.Key, s.values[one.Key], why)
			}
		}
		for _, p := range s.problems {
			if p.Text == "" || p.Line < 0 {
				t.Fatalf("a problem without words: %+v", p)
			}
		}
		if again := read(doc, home, s); !s.broken && !cmp.Equal(again.settings, s.settings) {
			t.Fatal("reading the same file again changed the settings")
		}
		_ = s.all()
		_ = s.settings.clone()
	})
}

// TestBuiltInPromptsCanBeChanged: an entry may have the id of a prompt that comes with the app.
func TestBuiltInPromptsCanBeChanged(t *testing.T) {
	f := fresh(t, "")
	if err := f.Patch(t.Context(), map[string]any{"prompts.builtin:review.title": "Mine", "prompts.own.body": "one\ntwo"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Prompt{{ID: "builtin:review", Title: "Mine"}, {ID: "own", Body: "one\ntwo"}}, f.Get().Prompts); diff != "" || f.Problem() != "" {
		t.Errorf("%s\n%s", diff, f.Problem())
	}
	if err := f.Patch(t.Context(), map[string]any{"prompts.builtin:review": nil}); err != nil || len(f.Get().Prompts) != 1 {
		t.Errorf("%v, %+v", err, f.Get().Prompts)
	}
	wantCode(t, f.Patch(t.Context(), map[string]any{"prompts.other:review.title": "x"}), fault.InvalidArgument)
	wantCode(t, f.Patch(t.Context(), map[string]any{"agents.builtin:review.name": "x"}), fault.InvalidArgument)
}
