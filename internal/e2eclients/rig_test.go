//go:build clients

package e2eclients

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fakemodel"
	"termic/internal/fault"
	"termic/internal/grant"
)

// patience bounds everything that is waited for. The clients are slow to start, and a machine may be busy; nothing here
// measures a time.
const patience = 3 * time.Minute

// rig is a whole app on a private profile with one repository, private homes of both clients, and a model.
type rig struct {
	t     *testing.T
	root  string
	home  string
	repo  string
	app   *app.App
	log   *lines
	model *fakemodel.Server
}

// options say how a rig differs from a usual one.
type options struct {
	firstRun bool                // the clients were never started and trust no folder
	inPage   bool                // claude draws into the page of the shell instead of one of its own
	args     map[string][]string // of the agents, in place of the built-in ones
	connect  bool                // the agents are connected to the endpoint wherever they have a token
	model    string              // address of the model; empty: any port of 127.0.0.1
	data     string              // name of the data folder; empty: data
	person   bool                // the user's login shell knows where the clients and their homes are
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	root := t.TempDir()
	r := &rig{t: t, root: root, home: filepath.Join(root, "home"), repo: filepath.Join(root, "repo")}
	data := filepath.Join(root, cmp.Or(o.data, "data"))
	for _, d := range []string{r.home, data, r.repo, r.home + "/claude", r.home + "/codex"} {
		r.must(os.MkdirAll(d, 0o700))
	}
	for k, v := range map[string]string{"HOME": r.home, "XDG_CONFIG_HOME": filepath.Join(r.home, ".config"), "XDG_DATA_HOME": filepath.Join(r.home, ".local/share"),
		"XDG_CACHE_HOME": filepath.Join(r.home, ".cache"), "TERMIC_DATA_DIR": data, "SHELL": "/bin/sh", "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL": filepath.Join(r.home, ".gitconfig")} {
		t.Setenv(k, v)
	}
	var err error
	r.model, err = fakemodel.Start(fakemodel.Options{Addr: o.model})
	r.must(err)
	t.Cleanup(func() {
		if err := r.model.Close(); err != nil {
			t.Errorf("fake model: %v", err)
		}
	})
	r.file(filepath.Join(r.home, ".gitconfig"), "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n")
	r.file(filepath.Join(data, "settings.toml"), r.settings(o))
	if o.person {
		r.loginShell()
	}
	r.claudeHome(o)
	r.codexHome(o)
	r.git("init", "-q")
	r.file(filepath.Join(r.repo, "README.md"), "one\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "first")
	r.start()
	t.Cleanup(r.stop)
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": r.repo, "name": "repo"})
	return r
}

// key is what claude takes for an API key; it approves one by its last 20 characters.
const key = "sk-ant-fake-key-for-tests-0123456789abcdefghij"

// settings name both clients by their built-in ids, so that the built-in recipes are what is tested.
func (r *rig) settings(o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[tasks]\ndir = %q\nfetch_before_create = false\n[queue]\ninterval_seconds = 0\n", filepath.Join(r.home, "tasks"))
	env := map[string]map[string]string{
		"claude": {"CLAUDE_CONFIG_DIR": filepath.Join(r.home, "claude"), "ANTHROPIC_BASE_URL": r.model.URL(), "ANTHROPIC_API_KEY": key,
			"DISABLE_AUTOUPDATER": "1"},
		"codex": {"CODEX_HOME": filepath.Join(r.home, "codex"), "FAKE_MODEL_KEY": "dummy"},
	}
	if !o.inPage {
		env["claude"]["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1" // with it, this release draws on a page of its own
	}
	for _, c := range clients {
		fmt.Fprintf(&b, "[[agents]]\nid = %q\ncommand = %q\n", c.id, c.command)
		if args, ok := o.args[c.id]; ok {
			list, err := json.Marshal(args) // a list of JSON strings is one of TOML
			r.must(err)
			fmt.Fprintf(&b, "args = %s\n", list)
		}
		if o.connect {
			b.WriteString("mcp_connect = \"always\"\n")
		}
		b.WriteString("[agents.env]\n")
		for _, k := range slices.Sorted(maps.Keys(env[c.id])) {
			fmt.Fprintf(&b, "%s = %q\n", k, env[c.id][k])
		}
	}
	return b.String()
}

// claudeHome answers what claude asks of a person at its first start.
func (r *rig) claudeHome(o options) {
	conf := map[string]any{"hasCompletedOnboarding": true, "theme": "dark"} // without these it wants its vendor's servers
	if !o.firstRun {
		conf["customApiKeyResponses"] = map[string]any{"approved": []string{key[len(key)-20:]}}
		trusted := map[string]any{"hasTrustDialogAccepted": true}
		conf["projects"] = map[string]any{r.repo: trusted, filepath.Join(r.home, "tasks"): trusted}
	}
	b, err := json.Marshal(conf)
	r.must(err)
	r.file(filepath.Join(r.home, "claude", ".claude.json"), string(b))
}

// codexHome does the same for codex, and names the model.
func (r *rig) codexHome(o options) {
	conf := fmt.Sprintf("model = \"fake\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"FAKE_MODEL_KEY\"\n", r.model.URL()+"/v1")
	if !o.firstRun {
		conf = "check_for_update_on_startup = false\n" + conf + fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", r.repo)
	}
	r.file(filepath.Join(r.home, "codex", "config.toml"), conf)
}

func (r *rig) start() {
	r.t.Helper()
	r.log = &lines{}
	a, err := app.Open(context.Background(), app.Options{Version: "test", Face: "serve", Getenv: os.Getenv, Environ: os.Environ(), LogTo: r.log, LogLevel: "debug"})
	r.must(err)
	r.app = a
}

func (r *rig) stop() {
	if r.app == nil {
		return
	}
	if r.t.Failed() {
		r.report()
	}
	if err := r.app.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
	r.app = nil
	for _, p := range processesWith(r.root) {
		r.t.Errorf("a process outlives the app: %s", p)
	}
	if r.t.Failed() {
		r.t.Logf("the app's log:\n%s", r.log)
	}
}

// processesWith finds the processes of this machine whose environment names a folder, other than ourselves. It finds
// none where there is no /proc.
func processesWith(dir string) []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, d := range dirs {
		if filepath.Base(d) == fmt.Sprint(os.Getpid()) {
			continue
		}
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !strings.Contains(string(env), dir) {
			continue // gone, or another user's
		}
		name, err := os.ReadFile(filepath.Join(d, "cmdline"))
		if err == nil && len(name) > 0 { // a zombie has none
			out = append(out, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return out
}

// report shows what a person would have seen.
func (r *rig) report() {
	list, err := try[api.TaskListResult](r, "task_list", nil)
	if err != nil {
		r.t.Logf("task_list: %v", err)
	}
	for _, task := range list.Tasks {
		if s, err := try[api.TaskLogResult](r, "task_log", map[string]any{"task": task.ID, "plain": true}); err == nil {
			r.t.Logf("screen of %s:\n%s", task.Name, s.Data)
		}
	}
	for _, q := range r.model.Requests() {
		r.t.Logf("request %d: %s %s main=%v done=%v conversation=%s prompts=%.400q results=%.200q", q.N, q.Method, q.Path, q.Main, q.Done, q.Conversation, q.Prompts, q.Results)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) file(path, text string) {
	r.t.Helper()
	r.must(os.WriteFile(path, []byte(text), 0o600))
}

func (r *rig) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.repo
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// try calls a verb as the owner on the command line.
func try[T any](r *rig, verb string, params map[string]any) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var out T
	if params == nil {
		params = map[string]any{}
	}
	raw, err := json.Marshal(params)
	r.must(err)
	data, err := r.app.Dispatcher.Call(ctx, grant.OwnerOn(grant.CLI), verb, raw, nil)
	if err != nil {
		return out, err
	}
	r.must(json.Unmarshal(data, &out))
	return out, nil
}

// call is try for calls that must succeed.
func call[T any](r *rig, verb string, params map[string]any) T {
	r.t.Helper()
	out, err := try[T](r, verb, params)
	if err != nil {
		f := fault.From(err)
		r.t.Fatalf("%s %.300v: %s (%s) hint %q data %v cause %v", verb, params, f.Message, f.Code, f.Hint, f.Data, f.Err)
	}
	return out
}

// newTask makes a task, sends its first prompt if there is one, and waits until that has settled.
func (r *rig) newTask(name string, c client, prompt string) api.TaskNewResult {
	r.t.Helper()
	p := map[string]any{"name": name, "project": "repo", "agent": c.id}
	if prompt != "" {
		p["prompt"], p["wait"], p["timeoutMs"] = prompt, true, patience.Milliseconds()
	}
	return call[api.TaskNewResult](r, "task_new", p)
}

// send sends a prompt and waits for its outcome.
func (r *rig) send(task, prompt string, more map[string]any) api.TaskSendResult {
	r.t.Helper()
	p := map[string]any{"task": task, "prompt": prompt, "wait": true, "timeoutMs": patience.Milliseconds()}
	maps.Copy(p, more)
	return call[api.TaskSendResult](r, "task_send", p)
}

// wantDone fails unless a wait ended well.
func (r *rig) wantDone(what string, w *api.WaitOutcome) {
	r.t.Helper()
	if w == nil || w.Outcome != api.OutcomeDone {
		r.t.Fatalf("%s: outcome %+v, want done", what, w)
	}
}

// until watches a task until it is as wanted.
func (r *rig) until(id, what string, ok func(api.TaskDetail) bool) api.TaskDetail {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		_, changed := r.app.Core.Watch()
		d := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": id}).Task
		if ok(d) {
			return d
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("task %s is not %s: %+v", id, what, d)
		}
	}
}

// asked waits for a request of the model's main conversation.
func (r *rig) asked(what string, ok func(fakemodel.Request) bool) fakemodel.Request {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q, err := r.model.Await(ctx, func(q fakemodel.Request) bool { return q.Main && ok(q) })
	if err != nil {
		r.t.Fatalf("the model was never asked: %s", what)
	}
	return q
}

// last is the newest request of a conversation's turns; its prompts are all that the agent was ever given in it.
func (r *rig) last() fakemodel.Request {
	r.t.Helper()
	all := r.model.Main()
	if len(all) == 0 {
		r.t.Fatal("the model was never asked")
	}
	return all[len(all)-1]
}

// wantPrompts compares what the newest conversation was given, in order, with what was sent.
func (r *rig) wantPrompts(want ...string) {
	r.t.Helper()
	if got := r.last().Prompts; !slices.Equal(got, want) {
		r.t.Fatalf("the model saw %d prompts, want %d\n got %q\nwant %q", len(got), len(want), got, want)
	}
}

// result is the agent's last answer.
func (r *rig) result(task string) string {
	r.t.Helper()
	return call[api.TaskResultResult](r, "task_result", map[string]any{"task": task}).Text
}

// keys types as a person at the terminal would.
func (r *rig) keys(task, text string) {
	r.t.Helper()
	raw, err := json.Marshal(map[string]any{"task": task})
	r.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a, err := r.app.Dispatcher.Attach(ctx, grant.OwnerOn(grant.CLI), raw, core.AttachAs{})
	r.must(err)
	defer a.Close("detached")
	r.must(a.Write(ctx, []byte(text)))
}

// screen is what a person would see.
func (r *rig) screen(task string) string {
	r.t.Helper()
	return call[api.TaskLogResult](r, "task_log", map[string]any{"task": task, "plain": true}).Data
}

// showing waits until a text is on the screen of a task. Nobody tells of what a program paints, so it looks again and
// again.
func (r *rig) showing(task, text string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(r.screen(task), text); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%q never came up on the screen", text)
		}
	}
}

// quit ends an agent by its own keys. claude asks for a second one within a second or so, which a busy machine misses: then it
// asks anew.
func (r *rig) quit(task string, c client) api.TaskDetail {
	r.t.Helper()
	ended := func(d api.TaskDetail) bool { return !d.Tabs[0].Live && d.Tabs[0].Exit != nil }
	for range 10 {
		r.keys(task, "\x03")
		if c.id == "claude" {
			r.showing(task, "again to exit")
			r.keys(task, "\x03")
		}
		for range 50 {
			if d := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": task}).Task; ended(d) {
				return d
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return r.until(task, "ended", ended)
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// answer waits for a menu and presses a key until it is gone. A client may paint a menu before it reads keys, so a person
// presses again too.
func (r *rig) answer(task, menu, key string) {
	r.t.Helper()
	r.showing(task, menu)
	for deadline := time.Now().Add(patience); ; {
		r.keys(task, key)
		for again := time.Now().Add(5 * time.Second); time.Now().Before(again); time.Sleep(50 * time.Millisecond) {
			if !strings.Contains(r.screen(task), menu) {
				return
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%q does not go away", menu)
		}
	}
}

// absent fails if a file is there.
func (r *rig) absent(path string) {
	r.t.Helper()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		r.t.Errorf("%s is there (%v)", path, err)
	}
}
