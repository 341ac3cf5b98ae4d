package e2e

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/sandbox/cage"
)

// fakeAgent is the path of the built fake agent.
var fakeAgent string

func TestMain(m *testing.M) {
	cage.BeChild() // does not return in the first process of a cage
	dir, err := os.MkdirTemp("", "termic-e2e")
	if err != nil {
		panic(err)
	}
	built := os.Getenv("TERMIC_TEST_PROGRAMS") // a folder of them, for a machine without a compiler
	if built == "" {
		built = dir
	}
	fakeAgent, termicBin = filepath.Join(built, "fakeagent"), filepath.Join(built, "termic")
	if built != dir {
		buildTermic = func() error { return nil }
	} else if err := buildGo(fakeAgent, "termic/internal/fakeagent"); err != nil {
		fmt.Fprintf(os.Stderr, "the fake agent does not build: %v\n", err)
		os.Exit(1)
	}
	// These tests wait for agents to settle most of their time, so twice as many as processors run beside each other.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func buildGo(to, pkg string) error {
	build := exec.Command("go", "build", "-tags", "headless", "-buildvcs=false", "-o", to, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

var (
	termicBin   string
	buildTermic = sync.OnceValue(func() error { return buildGo(termicBin, "termic") })
)

// program is the path of the real program without a window, which the first test that asks builds.
func program(t *testing.T) string {
	t.Helper()
	must(t, buildTermic())
	return termicBin
}

// appLog is what an app has logged so far; it may be read while the app runs.
type appLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *appLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *appLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// rig is a whole app on a private profile with one repository.
type rig struct {
	t    *testing.T
	home string
	data string
	repo string
	env  map[string]string // what it sees otherwise than this process: rigs stand side by side
	app  *app.App
	log  *appLog

	level     string // least level of the log
	pageAgent string // default agent of a page of docs; empty: the fake one
	secrets   planted
}

// manners are the agents that the settings of a rig name: the manner of the fake agent for each id.
var manners = []string{"osc7501", "report", "title", "osc9", "osc133", "progress", "silent", "osc7501,cr-window", "osc7501,reads-bursts",
	"osc7501,linemode", "osc7501,drop-first-paste", "osc7501,deaf", "osc7501,banner-delay", "modal", "trust", "osc7501,exits"}

// idOf makes an agent id of a manner.
func idOf(manner string) string { return strings.ReplaceAll(manner, ",", "_") }

// newRig makes one, beside those of other tests: most of a test's time is an agent's, which sleeps.
func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	return anotherRig(t)
}

// anotherRig makes one more for a test that has one.
func anotherRig(t *testing.T) *rig {
	t.Helper()
	return rigLogging(t, "debug")
}

// rigLogging is anotherRig with another least level of its log, which stays in memory.
func rigLogging(t *testing.T, level string) *rig {
	t.Helper()
	root := t.TempDir()
	r := layRig(t, level, root, filepath.Join(root, "data"))
	r.start()
	t.Cleanup(r.stop)
	return r
}

// layRig makes the folders of one, with its state in a folder that may be elsewhere, and starts nothing.
func layRig(t *testing.T, level, root, data string) *rig {
	t.Helper()
	r := &rig{t: t, level: level, home: filepath.Join(root, "home"), data: data, repo: filepath.Join(root, "repo a b 'q' é")}
	for _, d := range []string{r.home, r.data, r.repo} {
		must(t, os.MkdirAll(d, 0o700))
	}
	r.env = map[string]string{"HOME": r.home, "XDG_CONFIG_HOME": filepath.Join(r.home, ".config"), "XDG_DATA_HOME": filepath.Join(r.home, ".local/share"),
		"DBUS_SESSION_BUS_ADDRESS": "disabled:", // no test reaches the user's keyring
		"TERMIC_DATA_DIR":          r.data, "SHELL": "/bin/sh", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(r.home, ".gitconfig")}
	must(t, os.WriteFile(filepath.Join(r.home, ".gitconfig"), []byte("[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(r.data, "settings.toml"), []byte(r.settings()), 0o600))
	r.git(r.repo, "init", "-q")
	r.write("README.md", "one\ntwo\nthree\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "first")
	return r
}

func (r *rig) settings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[tasks]\ndir = %q\nfetch_before_create = false\n[queue]\ninterval_seconds = 0\n", filepath.Join(r.home, "tasks"))
	for _, m := range manners {
		fmt.Fprintf(&b, "[[agents]]\nid = %q\nname = %q\ncommand = %q\nargs = [\"--manner\", %q]\nsession_id_args = [\"--session-id\", \"{UUID}\"]\nresume_id_args = [\"--resume\", \"{UUID}\"]\nenv = { FAKEAGENT_LOG = %q, FAKEAGENT_HOME = %q }\n",
			idOf(m), idOf(m), fakeAgent, m, r.logOf(m), filepath.Join(r.home, "fakeagent"))
		if m == "title" {
			b.WriteString("signals = { busy = ['^[\\x{2800}-\\x{28FF}]'], idle = ['^\u2733'] }\n")
		}
	}
	return b.String()
}

func (r *rig) logOf(manner string) string { return filepath.Join(r.home, idOf(manner)+".jsonl") }

func (r *rig) start() {
	r.t.Helper()
	r.log = &appLog{}
	a, err := app.Open(context.Background(), app.Options{Version: "test", Face: "serve", Getenv: r.getenv, Environ: r.environ(), LogTo: r.log, LogLevel: r.level})
	must(r.t, err)
	r.app = a
}

// getenv and environ are the environment of the rig.
func (r *rig) getenv(name string) string {
	if v, ok := r.env[name]; ok {
		return v
	}
	return os.Getenv(name)
}

func (r *rig) environ() []string {
	env := os.Environ()
	for k, v := range r.env {
		env = append(env, k+"="+v) // of two, the later one counts for exec
	}
	return env
}

func (r *rig) stop() {
	if r.app == nil {
		return
	}
	r.gather()
	if err := r.app.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
	r.app = nil
	r.sweep()
	if r.t.Failed() {
		r.t.Logf("the app's log ends with:\n%s", r.tail())
	}
}

// tail is the end of the app's log.
func (r *rig) tail() string {
	lines := strings.Split(r.log.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// try calls a verb as the owner on the command line.
func try[T any](r *rig, verb string, params map[string]any) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if params == nil {
		params = map[string]any{}
	}
	raw, err := json.Marshal(params)
	must(r.t, err)
	var out T
	data, err := r.app.Dispatcher.Call(ctx, grant.OwnerOn(grant.CLI), verb, raw, nil)
	if err != nil {
		return out, err
	}
	must(r.t, json.Unmarshal(data, &out))
	return out, nil
}

// call is try for calls that must succeed.
func call[T any](r *rig, verb string, params map[string]any) T {
	r.t.Helper()
	out, err := try[T](r, verb, params)
	if err != nil {
		f := fault.From(err)
		r.t.Fatalf("%s %v: %s (%s) hint %q data %v cause %v\nlog:\n%s", verb, params, f.Message, f.Code, f.Hint, f.Data, f.Err, r.tail())
	}
	return out
}

// refused calls a verb that must be refused with a code and a sentence, and returns the error.
func refused(r *rig, code fault.Code, verb string, params map[string]any) *fault.Error {
	r.t.Helper()
	_, err := try[json.RawMessage](r, verb, params)
	f := fault.From(err)
	if fault.CodeOf(err) != code {
		r.t.Fatalf("%s %v: error %v (%s), want %s", verb, params, err, fault.CodeOf(err), code)
	}
	if f.Message == "" || f.Code != fault.Internal && strings.HasPrefix(f.Message, "Something went wrong") {
		r.t.Errorf("%s: the refusal has no sentence: %q", verb, f.Message)
	}
	return f
}

// newTask adds the project if needed, creates a task and waits until its agent is up.
func (r *rig) newTask(name, agent, prompt string) api.TaskNewResult {
	r.t.Helper()
	r.addProject()
	p := map[string]any{"name": name, "project": "repo", "agent": agent}
	if prompt != "" {
		p["prompt"], p["wait"], p["timeoutMs"] = prompt, true, 60000
	}
	n := call[api.TaskNewResult](r, "task_new", p)
	r.live(n.Task.ID)
	return n
}

func (r *rig) addProject() {
	r.t.Helper()
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": r.repo, "name": "repo"})
}

// live waits until a task is live and its default tab runs.
func (r *rig) live(id string) api.TaskDetail {
	r.t.Helper()
	return r.until(id, "live", func(d api.TaskDetail) bool {
		return d.State == api.TaskLive && len(d.Tabs) > 0 && d.Tabs[0].Live
	})
}

// until watches a task until it is as wanted.
func (r *rig) until(id, what string, ok func(api.TaskDetail) bool) api.TaskDetail {
	r.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		_, changed := r.app.Core.Watch()
		d := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": id}).Task
		if ok(d) {
			return d
		}
		select {
		case <-changed:
		case <-time.After(500 * time.Millisecond): // some conditions are about files, which nobody tells of
		case <-deadline:
			r.t.Fatalf("task %s is not %s after a minute: %+v\nlog:\n%s", id, what, d, r.tail())
		}
	}
}

func (r *rig) git(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.tryGit(dir, args...)
	if err != nil {
		r.t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimRight(out, "\n")
}

func (r *rig) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, r.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.repo, name)
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(r.t, os.WriteFile(path, []byte(text), 0o600))
}

// received returns the prompts that the fake agents of a manner were given, in order.
func (r *rig) received(manner string) []string {
	r.t.Helper()
	f, err := os.Open(r.logOf(manner))
	if os.IsNotExist(err) {
		return nil
	}
	must(r.t, err)
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		var row struct {
			Event  string `json:"event"`
			Prompt string `json:"prompt"`
		}
		must(r.t, json.Unmarshal(s.Bytes(), &row))
		if row.Event != "" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(row.Prompt)
		must(r.t, err)
		out = append(out, string(b))
	}
	return out
}
