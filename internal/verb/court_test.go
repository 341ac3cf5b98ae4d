package verb

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// clock is a clock that a test sets: that on the wall, and the time since boot.
type clock struct {
	mu   sync.Mutex
	wall time.Time
	boot time.Duration
}

func newClock() *clock {
	return &clock{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), boot: time.Hour}
}

func (k *clock) add(wall, boot time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wall, k.boot = k.wall.Add(wall), k.boot+boot
}

func (k *clock) of() core.Clock {
	return core.Clock{
		Wall: func() time.Time { k.mu.Lock(); defer k.mu.Unlock(); return k.wall },
		Boot: func() (time.Duration, error) { k.mu.Lock(); defer k.mu.Unlock(); return k.boot, nil },
	}
}

// court is a world with a project in which worktrees can be made, and clients that ask and decide.
type court struct {
	*world
	t     *testing.T
	clock *clock
	repo  string
	asks  grant.Caller // an operator for every project
	says  grant.Caller // an approve token for every project
}

func newCourt(t *testing.T) *court {
	t.Helper()
	return openCourt(t, t.TempDir(), newClock())
}

func openCourt(t *testing.T, dir string, k *clock) *court {
	t.Helper()
	c := &court{world: openWorld(t, dir, k.of()), t: t, clock: k}
	c.repo = c.a.RootPath
	if st, err := os.Stat(filepath.Join(c.repo, ".git/worktrees")); err == nil && !st.IsDir() {
		check(t, os.Remove(filepath.Join(c.repo, ".git/worktrees")))
		c.write(c.repo, "a.txt", "a\n")
		c.git(c.repo, "add", "-A")
		c.git(c.repo, "commit", "-q", "-m", "second")
		c.asks, c.says = c.token("asks", grant.Operator), c.token("says", grant.Approve)
	}
	return c
}

func (c *court) git(dir string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *court) write(dir, name, text string) {
	c.t.Helper()
	check(c.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// token stores a named token and gives its caller, as its bearer would.
func (c *court) token(name string, scope grant.Class, projects ...store.Project) grant.Caller {
	c.t.Helper()
	v := store.Token{Name: name, Scope: string(scope), Everywhere: len(projects) == 0}
	for _, p := range projects {
		v.Projects = append(v.Projects, p.ID)
	}
	check(c.t, c.store.Write(c.t.Context(), func(tx *store.Tx) (err error) { v, err = tx.AddToken(c.t.Context(), v); return err }))
	return c.caller(name)
}

// caller is what a token gives now.
func (c *court) caller(name string) grant.Caller {
	c.t.Helper()
	list, err := c.core.NamedGrants(c.t.Context())
	check(c.t, err)
	for _, g := range list {
		if g.Name == name {
			return g.Grant.Caller(grant.MCP)
		}
	}
	c.t.Fatalf("no token %s", name)
	return grant.Caller{}
}

// tree makes a task with a worktree of its own, with one changed and one new file.
func (c *court) tree(name string) store.Task {
	c.t.Helper()
	path := filepath.Join(c.dir, "trees", name)
	c.git(c.repo, "worktree", "add", "-q", "-b", "b-"+name, path)
	task, _ := c.task(c.t, c.a, name, func(t *store.Task) {
		t.Path, t.Branch, t.BaseRef, t.BaseCommit, t.Sandbox = path, "b-"+name, "main", c.git(c.repo, "rev-parse", "main"), "off"
	})
	c.write(path, "a.txt", "changed by "+name+"\n")
	c.write(path, "new-"+name+".txt", "secret-of-the-task\n")
	return task
}

func (c *court) raise(verb string, params map[string]any) api.RaisedResult {
	c.t.Helper()
	return do[api.RaisedResult](c.t, c.world, c.asks, verb, params)
}

func (c *court) decide(by grant.Caller, id, decision string) (api.ApprovalDecideResult, *fault.Error) {
	c.t.Helper()
	raw, f := c.call(c.t, by, "approval_decide", map[string]any{"approval": id, "decision": decision, "reason": "as I say"})
	var out api.ApprovalDecideResult
	if f == nil {
		check(c.t, json.Unmarshal([]byte(raw), &out))
	}
	return out, f
}

func (c *court) job(id string) api.Job {
	c.t.Helper()
	return do[api.JobResult](c.t, c.world, owner, "job_get", map[string]any{"job": id}).Job
}

func (c *court) state(id string) string {
	c.t.Helper()
	return do[api.ApprovalResult](c.t, c.world, owner, "approval_get", map[string]any{"approval": id}).Approval.State
}

func (c *court) applied() bool {
	c.t.Helper()
	return c.git(c.repo, "status", "--porcelain") != ""
}

func (c *court) there(task store.Task) bool {
	c.t.Helper()
	t, err := c.store.Task(c.t.Context(), task.ID)
	check(c.t, err)
	_, err = os.Stat(task.Path)
	return err == nil && !t.Archived()
}
