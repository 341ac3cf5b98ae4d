package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// M17: a repeated call with the same key is the same task; with other arguments it is refused.
func TestIdempotencyKey(t *testing.T) {
	r := newRig(t)
	r.addProject()
	p := map[string]any{"name": "once", "project": "repo", "agent": "osc7501", "idempotency_key": "k1"}
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() { ids[i] = call[api.TaskNewResult](r, "task_new", p).Task.ID })
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("two tasks for one key: %v", ids)
		}
	}
	p["name"] = "other"
	refused(r, fault.Conflict, "task_new", p)
	p["name"] = "once"
	r.live(ids[0])
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": "once"})
	refused(r, fault.Conflict, "task_new", p)
}

// W23: of two creations with one name at the same time, one is refused and nothing of it is left.
func TestSameNameAtOnce(t *testing.T) {
	r := newRig(t)
	r.addProject()
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = try[api.TaskNewResult](r, "task_new", map[string]any{"name": []string{"Same", "same"}[i%2], "project": "repo", "agent": "osc7501"})
		})
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("refused with %v", err)
		}
	}
	if tasks := call[api.TaskListResult](r, "task_list", nil).Tasks; made != 1 || len(tasks) != 1 {
		t.Errorf("%d made, %d listed", made, len(tasks))
	}
}

// W28: fifty tasks have fifty ports.
func TestPorts(t *testing.T) {
	r := newRig(t)
	r.addProject()
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]bool{}
	for i := range 20 {
		wg.Go(func() {
			n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "p" + string(rune('a'+i)), "project": "repo", "noAgent": true})
			d := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": n.Task.ID})
			mu.Lock()
			defer mu.Unlock()
			if d.Task.Port == 0 || seen[d.Task.Port] {
				t.Errorf("port %d twice or none", d.Task.Port)
			}
			seen[d.Task.Port] = true
		})
	}
	wg.Wait()
}

// W21, W4: an older branch of the same name is never lost, and feat/x and feat-x have folders of their own.
func TestBranchesAreKept(t *testing.T) {
	r := newRig(t)
	r.git(r.repo, "branch", "feature/x")
	old := r.git(r.repo, "rev-parse", "feature/x")
	r.write("more.txt", "x\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "second")
	a := r.newTask("x", "osc7501", "")
	if b := r.live(a.Task.ID).Branch; b != "feature/x-2" {
		t.Errorf("derived branch %q", b)
	}
	if now := r.git(r.repo, "rev-parse", "feature/x"); now != old {
		t.Errorf("the older branch moved from %s to %s", old, now)
	}
	b := r.newTask("feat/y", "osc7501", "")
	c := r.newTask("feat-y", "osc7501", "")
	db, dc := r.live(b.Task.ID), r.live(c.Task.ID)
	if db.Path == dc.Path || db.Branch == dc.Branch || db.Branch != "feat/y" {
		t.Errorf("%q at %s and %q at %s", db.Branch, db.Path, dc.Branch, dc.Path)
	}
}

// W15: a worktree deleted behind our back is shown as missing, is no error for others, and can be brought back.
func TestWorktreeDeleted(t *testing.T) {
	r := newRig(t)
	n := r.newTask("gone", "osc7501", "")
	d := r.live(n.Task.ID)
	call[any](r, "task_stop", map[string]any{"task": "gone"})
	must(t, os.RemoveAll(d.Path))
	s := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": "gone"})
	if s.Task.State != api.TaskMissing {
		t.Errorf("state %q", s.Task.State)
	}
	refused(r, fault.NotFound, "task_diff", map[string]any{"task": "gone"})
	list := call[api.TaskListResult](r, "task_list", nil)
	if len(list.Tasks) != 1 || list.Tasks[0].State != api.TaskMissing {
		t.Errorf("list: %+v", list)
	}
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": "gone"})
	back := call[api.TaskRestoreResult](r, "task_restore", map[string]any{"task": "gone"})
	if _, err := os.Stat(filepath.Join(back.Task.Path, "README.md")); err != nil {
		t.Error(err)
	}
}

// Bad input is refused with a sentence, and nothing is made.
func TestBadInput(t *testing.T) {
	r := newRig(t)
	r.addProject()
	for _, c := range []struct {
		code fault.Code
		verb string
		p    map[string]any
	}{
		{fault.InvalidArgument, "task_new", map[string]any{"project": "repo"}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": "...", "project": "repo", "agent": "osc7501"}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": "a\nb", "project": "repo", "agent": "osc7501"}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": strings.Repeat("x", 201), "project": "repo", "agent": "osc7501"}},
		{fault.NotFound, "task_new", map[string]any{"name": "x", "project": "nope", "agent": "osc7501"}},
		{fault.NotFound, "task_new", map[string]any{"name": "x", "project": "repo", "agent": "nope"}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": "x", "project": "repo", "agent": "osc7501", "sandbox": "nonsense"}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": "x", "project": "repo", "timeoutMs": 1}},
		{fault.InvalidArgument, "task_new", map[string]any{"name": "x", "project": "repo", "agent": "osc7501", "prompt": " \n"}},
		{fault.InvalidArgument, "task_list", map[string]any{"Project": "repo"}},
		{fault.InvalidArgument, "task_list", map[string]any{"quiet": "yes"}},
		{fault.NotFound, "task_nope", nil},
		{fault.NotFound, "window_state", nil},
		{fault.NotFound, "task_status", map[string]any{"task": "nope"}},
		{fault.InvalidArgument, "project_add", map[string]any{"path": "relative"}},
		{fault.NotFound, "project_add", map[string]any{"path": "/does/not/exist"}},
		{fault.Unsupported, "project_add", map[string]any{"path": r.home}},
	} {
		if e := refused(r, c.code, c.verb, c.p); strings.HasSuffix(e.Message, ".") {
			t.Errorf("%s: %q ends with a full stop", c.verb, e.Message)
		}
	}
	if n := len(call[api.TaskListResult](r, "task_list", nil).Tasks); n != 0 {
		t.Errorf("%d tasks were made", n)
	}
	if out := r.git(r.repo, "for-each-ref", "--format=%(refname)"); out != "refs/heads/main" {
		t.Errorf("refs: %s", out)
	}
}

// A branch name that git could take for an option is refused (W29), and no task is made for it.
func TestTypedBranch(t *testing.T) {
	r := newRig(t)
	r.addProject()
	f := refused(r, fault.InvalidArgument, "task_new", map[string]any{"name": "opt", "project": "repo", "agent": "osc7501", "branch": "--force"})
	if !strings.Contains(f.Message, "--force") || f.Hint == "" {
		t.Errorf("%q, %q", f.Message, f.Hint)
	}
	if n := len(call[api.TaskListResult](r, "task_list", nil).Tasks); n != 0 {
		t.Errorf("%d tasks were made", n)
	}
}

// A plain folder and a main checkout take tasks without a worktree; archiving only unlinks.
func TestMainCheckout(t *testing.T) {
	r := newRig(t)
	plain := filepath.Join(r.home, "plain")
	must(t, os.MkdirAll(plain, 0o700))
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": plain, "nonGit": true})
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "m", "project": "plain", "agent": "osc7501", "prompt": "#write f.txt x", "wait": true})
	if n.Wait.Outcome != api.OutcomeDone || !n.Task.IsMainCheckout {
		t.Errorf("%+v", n)
	}
	refused(r, fault.Unsupported, "task_diff", map[string]any{"task": "m"})
	refused(r, fault.Unsupported, "task_apply", map[string]any{"task": "m"})
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": "m"})
	if _, err := os.Stat(filepath.Join(plain, "f.txt")); err != nil {
		t.Error(err)
	}
	r.addProject()
	n = call[api.TaskNewResult](r, "task_new", map[string]any{"name": "m2", "project": "repo", "agent": "osc7501", "mode": "main"})
	d := r.live(n.Task.ID)
	if d.Path != r.repo || d.Branch != "main" {
		t.Errorf("%+v", d)
	}
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": "m2"})
	if _, err := os.Stat(filepath.Join(r.repo, "README.md")); err != nil {
		t.Error(err)
	}
}

// A worktree is one task's at a time, and a folder that could not be adopted is nobody's.
func TestAdoptedOnce(t *testing.T) {
	r := newRig(t)
	r.addProject()
	mine := filepath.Join(r.home, "mine")
	r.git(r.repo, "worktree", "add", "-q", "-b", "mine", mine)
	adopt := func(name, from string) map[string]any {
		return map[string]any{"name": name, "project": "repo", "from": from, "noAgent": true, "idempotency_key": name}
	}
	first := call[api.TaskNewResult](r, "task_new", adopt("first", mine)).Task.ID
	if again := call[api.TaskNewResult](r, "task_new", adopt("first", mine)).Task.ID; again != first {
		t.Errorf("the same key made %s and %s", first, again)
	}
	must(t, os.Symlink(mine, filepath.Join(r.home, "link")))
	refused(r, fault.Conflict, "task_new", adopt("second", filepath.Join(r.home, "link")))

	refused(r, fault.NotFound, "task_new", adopt("foreign", "/"))
	refused(r, fault.NotFound, "path", map[string]any{"cwd": r.data})
	if p := call[api.PathResult](r, "path", map[string]any{"cwd": mine}); p.TaskID != first {
		t.Errorf("%+v", p)
	}
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": first})
	if _, err := os.Stat(mine); !os.IsNotExist(err) {
		t.Errorf("after the archive: %v", err)
	}
}

// Removing a project loses nothing: while work exists only in a task, all stays as it is.
func TestProjectRemove(t *testing.T) {
	r := newRig(t)
	r.newTask("clean", "osc7501", "")
	r.newTask("dirty", "osc7501", "#write a.txt x")
	refused(r, fault.NeedsConsent, "project_remove", map[string]any{"name": "repo"})
	if n := len(call[api.TaskListResult](r, "task_list", nil).Tasks); n != 2 {
		t.Errorf("%d tasks are left", n)
	}
	p := call[api.ProjectRemoveResult](r, "project_remove", map[string]any{"name": "repo", "discard": true})
	if p.RemovedTasks != 2 || len(p.BackupRefs) != 1 {
		t.Errorf("%+v", p)
	}
	if _, err := os.Stat(filepath.Join(r.repo, "README.md")); err != nil {
		t.Error(err)
	}
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": r.repo, "name": "repo"})
}

// Apply, commit, let the agent go on, apply again: the newer version takes the place of the one that was applied.
func TestApplyAgain(t *testing.T) {
	r := newRig(t)
	r.newTask("again", "osc7501", "#write a.txt first\n#commit one")
	call[api.TaskApplyResult](r, "task_apply", map[string]any{"task": "again"})
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "taken over")
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": "again", "prompt": "#write a.txt second\n#commit two", "wait": true})
	a := call[api.TaskApplyResult](r, "task_apply", map[string]any{"task": "again"})
	if b, err := os.ReadFile(filepath.Join(r.repo, "a.txt")); err != nil || string(b) != "second\n" || len(a.Conflicts) != 0 {
		t.Errorf("a.txt is %q, %v; %+v", b, err, a)
	}
}
