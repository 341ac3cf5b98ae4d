package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
	"termic/sandbox"
)

// fakeCages tells of every terminal and task what a test says.
type fakeCages struct {
	mu    sync.Mutex
	live  map[string]sandbox.Capability // by tab
	would map[string]sandbox.Capability // by task; of others: like
	like  sandbox.Capability
	deny  map[string][]api.Denial
}

func newCages() *fakeCages {
	return &fakeCages{live: map[string]sandbox.Capability{}, would: map[string]sandbox.Capability{}, deny: map[string][]api.Denial{}}
}

func (f *fakeCages) Check(sandbox.Mode) error { return nil }

func (f *fakeCages) Live(tabID string) (sandbox.Capability, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.live[tabID]
	return c, ok
}

func (f *fakeCages) Would(_ context.Context, t store.Task, _ string) (sandbox.Capability, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.would[t.ID]; ok {
		return c, nil
	}
	if !f.like.Known() {
		return sandbox.Capability{}, errors.New("nothing is known of that task")
	}
	return f.like, nil
}

func (f *fakeCages) Denials(taskID string) []api.Denial { return f.deny[taskID] }

func (f *fakeCages) set(tab store.Tab, live, would sandbox.Capability) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.would[tab.TaskID] = would
	if delete(f.live, tab.ID); live.Known() {
		f.live[tab.ID] = live
	}
}

// world is a rig with three projects and the tasks of the first paper's example.
type world struct {
	*rig
	cages   *fakeCages
	ground  string // folders that cages are granted
	a, b, c store.Project
}

const worldSettings = `[mcp]
enabled = true
[tasks]
fetch_before_create = false
[[agents]]
id = "mine"
name = "Mine"
command = "/bin/cat"
[[agents]]
id = "other"
name = "Other"
command = "/bin/cat"
`

func newWorld(t *testing.T) *world {
	t.Helper()
	return openWorld(t, t.TempDir())
}

// openWorld is newWorld in a folder that may hold one already, as a start of the app after another.
func openWorld(t *testing.T, dir string, clock ...core.Clock) *world {
	t.Helper()
	w := &world{cages: newCages(), ground: filepath.Join(dir, "ground")}
	w.rig = newRigWith(t, dir, w.cages, worldSettings, clock...)
	for _, d := range []string{"ground/one", "ground/two", "data/homes/x", "tree"} {
		check(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for name, p := range map[string]*store.Project{"A": &w.a, "B": &w.b, "C": &w.c} {
		root := filepath.Join(dir, "repos", name)
		if _, err := os.Stat(root); err != nil {
			check(t, os.CopyFS(root, os.DirFS(template(t))))
			check(t, os.WriteFile(filepath.Join(root, ".git/worktrees"), nil, 0o600)) // so that no worktree can be made, and no agent starts in one
		}
		var err error
		*p, _, err = w.store.AddProject(t.Context(), store.Project{Name: name, RootPath: root, BaseBranch: "main"})
		check(t, err)
	}
	return w
}

// templateRepo is a repository with one commit, made once: each world gets copies of it.
var templateRepo struct {
	once sync.Once
	dir  string
	err  error
}

func template(t *testing.T) string {
	t.Helper()
	templateRepo.once.Do(func() {
		if templateRepo.dir, templateRepo.err = os.MkdirTemp("", "termic-template"); templateRepo.err != nil {
			return
		}
		for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "first"}} {
			out, err := exec.Command("git", append([]string{"-C", templateRepo.dir}, args...)...).CombinedOutput()
			if err != nil {
				templateRepo.err = fmt.Errorf("git %v: %w: %s", args, err, out)
				return
			}
		}
	})
	check(t, templateRepo.err)
	return templateRepo.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if templateRepo.dir != "" {
		_ = os.RemoveAll(templateRepo.dir)
	}
	os.Exit(code)
}

// cage is the capability of a caged terminal.
type cage struct {
	mode     sandbox.Mode
	project  store.Project
	projects []string
	agents   []string
	agent    string
	mcp      bool
	read     []string // below the ground
	write    []string
	hosts    []string
}

func (w *world) capability(t *testing.T, c cage) sandbox.Capability {
	t.Helper()
	layer := sandbox.Layer{Name: "the test", Hosts: c.hosts, Owner: true}
	for _, p := range c.read {
		layer.Read = append(layer.Read, filepath.Join(w.ground, p))
	}
	for _, p := range c.write {
		layer.Write = append(layer.Write, filepath.Join(w.ground, p))
	}
	if c.agent == "" {
		c.agent = "mine"
	}
	wish := sandbox.Wish{Mode: c.mode, Layers: []sandbox.Layer{layer}, TaskID: "x", Project: c.project.ID, Projects: c.projects, Agents: c.agents, Agent: c.agent,
		Worktree: filepath.Join(w.dir, "tree"), Home: w.dir, HomeDir: filepath.Join(w.dir, "data", "homes", "x"), DataDir: filepath.Join(w.dir, "data"),
		Program: "/bin/cat", MCP: c.mcp, GOOS: "linux"}
	if c.mcp {
		wish.MCPPort = 4711
	}
	policy, err := sandbox.Compose(wish)
	check(t, err)
	return policy.Capability()
}

// task writes a live task with one agent tab.
func (w *world) task(t *testing.T, p store.Project, name string, change func(*store.Task)) (store.Task, store.Tab) {
	t.Helper()
	v := store.Task{ProjectID: p.ID, Name: name, Agent: "mine", State: api.TaskLive, Sandbox: "enforce", Path: filepath.Join(w.dir, "tree")}
	if change != nil {
		change(&v)
	}
	v.FromCage = v.ParentID != "" // the agents of this world are all in cages
	task, err := w.store.CreateTask(t.Context(), v)
	check(t, err)
	tab, err := w.store.CreateTab(t.Context(), store.Tab{TaskID: task.ID, Kind: store.TabAgent, Agent: task.Agent, Title: "Mine", IsDefault: true})
	check(t, err)
	return task, tab
}

// runs writes a terminal for a tab, as if its program ran.
func (w *world) runs(t *testing.T, tab store.Tab) {
	t.Helper()
	_, err := w.store.PutTerminal(t.Context(), store.Terminal{TabID: tab.ID, TaskID: tab.TaskID, PID: 1 << 30, BootID: "none"})
	check(t, err)
}

// caller is the agent of a tab, as its token makes it.
func callerOf(task store.Task, tab store.Tab, projects ...store.Project) grant.Caller {
	g := grant.Grant{Principal: "task:" + task.ID, Class: grant.Scoped, Task: task.ID, Terminal: tab.ID}
	for _, p := range projects {
		g.Projects = append(g.Projects, p.ID)
	}
	return g.Caller(grant.MCP)
}

// call runs a verb and gives its result, or its refusal, as JSON.
func (w *world) call(t *testing.T, c grant.Caller, verb string, params map[string]any) (result string, f *fault.Error) {
	t.Helper()
	raw, err := json.Marshal(params)
	check(t, err)
	out, err := w.Call(t.Context(), c, verb, raw, nil)
	return string(out), fault.From(err)
}

// words is everything that a refusal tells a client.
func words(t *testing.T, f *fault.Error) string {
	t.Helper()
	if f == nil {
		t.Fatal("it was not refused")
	}
	raw, err := json.Marshal(map[string]any{"code": f.Code, "message": f.Message, "hint": f.Hint, "data": f.Data})
	check(t, err)
	return string(raw)
}

// same is a refusal with what was asked for taken out.
func same(t *testing.T, f *fault.Error, asked string) string {
	t.Helper()
	return strings.ReplaceAll(words(t, f), asked, "ASKED")
}

func missingID() string { return ids.New() }

// settle waits until nothing is being created.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for {
		_, changed := w.core.Watch()
		tasks, err := w.store.Tasks(t.Context(), store.TaskFilter{})
		check(t, err)
		if !slices.ContainsFunc(tasks, func(t store.Task) bool { return t.State == api.TaskCreating }) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("a creation does not end")
		case <-time.After(30 * time.Second):
			t.Fatal("a creation does not end")
		}
	}
}
