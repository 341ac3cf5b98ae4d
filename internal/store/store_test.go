package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"termic/internal/api"
	"termic/internal/fault"
)

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	goleak.VerifyTestMain(m)
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(time.Microsecond) // two readings differ, as those of a real clock do
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newClock() *clock { return &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// openAt opens a store that the test closes.
func openAt(t *testing.T, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// anyPort lets tests have the ports that they expect, whatever else runs on the machine.
func anyPort(int) bool { return true }

func openNew(t *testing.T) *Store {
	return openAt(t, filepath.Join(t.TempDir(), "termic.db"), Options{Now: newClock().now, PortFree: anyPort})
}

// must is for steps that prepare what a test is about.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func addProject(t *testing.T, s *Store, name string) Project {
	t.Helper()
	p, existed, err := s.AddProject(t.Context(), Project{Name: name, RootPath: "/repos/" + name})
	if err != nil || existed {
		t.Fatalf("AddProject(%s): existed %v, %v", name, existed, err)
	}
	return p
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("error %v has code %q, want %q", err, fault.CodeOf(err), code)
	}
}

func TestProjects(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	a := addProject(t, s, "Alpha")
	b := addProject(t, s, "beta")

	again, existed, err := s.AddProject(ctx, Project{Name: "other", RootPath: a.RootPath})
	if err != nil || !existed || again.ID != a.ID || again.Name != "Alpha" {
		t.Errorf("adding a folder again: %+v, %v, %v", again, existed, err)
	}
	_, _, err = s.AddProject(ctx, Project{Name: "ALPHA", RootPath: "/elsewhere"})
	wantCode(t, err, fault.Conflict)
	_, err = s.UpdateProject(ctx, b.ID, func(p *Project) error { p.Name = "alpha"; return nil })
	wantCode(t, err, fault.Conflict)
	_, err = s.UpdateProject(ctx, b.ID, func(p *Project) error { p.RootPath = a.RootPath; return nil })
	wantCode(t, err, fault.Conflict)

	got := must[Project](t)(s.UpdateProject(ctx, b.ID, func(p *Project) error {
		p.Name, p.BaseBranch, p.Bare, p.DefaultAgent, p.Remote = "Beta", "main", true, "codex", "origin"
		p.ID, p.Created = "stolen", time.Time{}
		return nil
	}))
	if diff := cmp.Diff(got, must[Project](t)(s.ProjectByName(ctx, "bEtA"))); diff != "" {
		t.Errorf("what UpdateProject returned is not what was stored (-returned +stored):\n%s", diff)
	}
	if got.ID != b.ID || !got.Created.Equal(b.Created) {
		t.Errorf("id or birth changed: %+v", got)
	}
	list := must[[]Project](t)(s.Projects(ctx))
	if len(list) != 2 || list[0].ID != a.ID || list[1].ID != b.ID {
		t.Errorf("Projects = %+v", list)
	}
	_, err = s.ProjectByRoot(ctx, "/nowhere")
	wantCode(t, err, fault.NotFound)
	_, _, err = s.AddProject(ctx, Project{Name: strings.Repeat("n", MaxName+1), RootPath: "/x"})
	wantCode(t, err, fault.InvalidArgument)
	_, _, err = s.AddProject(ctx, Project{Name: "nul", RootPath: "/x\x00y"})
	wantCode(t, err, fault.InvalidArgument)
}

func TestRemovedProjectComesBackWithItsHistory(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	wantCode(t, s.RemoveProject(ctx, p.ID), fault.Conflict)
	must[Task](t)(s.UpdateTask(ctx, task.ID, archive))
	if err := s.RemoveProject(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.RemoveProject(ctx, p.ID), fault.NotFound)
	_, err := s.ProjectByName(ctx, "alpha")
	wantCode(t, err, fault.NotFound)
	_, err = s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "two"})
	wantCode(t, err, fault.NotFound)

	addProject(t, s, "beta") // its name and place are free meanwhile
	back, existed, err := s.AddProject(ctx, Project{Name: "gamma", RootPath: p.RootPath})
	if err != nil || existed || back.ID != p.ID || back.Name != "gamma" {
		t.Fatalf("AddProject after removal: %+v, %v, %v", back, existed, err)
	}
	old := must[[]Task](t)(s.Tasks(ctx, TaskFilter{ProjectID: p.ID, Archived: true}))
	if len(old) != 1 || old[0].ID != task.ID {
		t.Errorf("history after coming back: %+v", old)
	}
}

func archive(v *Task) error {
	v.State, v.ArchivedAt = api.TaskArchived, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	return nil
}

func TestTaskRoundTrip(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	parent := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "parent"}))
	want := Task{ProjectID: p.ID, Name: "Fix it", Branch: "feature/fix-it", BaseRef: "origin/main", BaseCommit: "abc", Path: "/w/a \"b\"\n\xff",
		Agent: "claude", State: api.TaskLive, Error: "none", IsMain: true, ParentID: parent.ID, Depth: 1, Sandbox: "enforce", MCP: true,
		MCPProjects: []string{p.ID}, Yolo: true, BackupRef: "refs/termic/x", ReusedBranch: true,
		Warnings: []string{"w"}, Log: []string{"a", "b"}}
	got := must[Task](t)(s.CreateTask(ctx, want))
	if diff := cmp.Diff(got, must[Task](t)(s.Task(ctx, got.ID))); diff != "" {
		t.Fatalf("returned and stored differ (-returned +stored):\n%s", diff)
	}
	want.ID, want.Port, want.Position, want.Created, want.Revision = got.ID, PortFirst+PortBlock, 2, got.Created, 1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored task (-want +got):\n%s", diff)
	}
	next := must[Task](t)(s.UpdateTask(ctx, got.ID, func(v *Task) error {
		v.Name, v.Log, v.ID, v.ProjectID, v.Revision = "other", append(v.Log, "c"), "x", "y", 99
		return nil
	}))
	want.Name, want.Log, want.Revision = "other", []string{"a", "b", "c"}, 2
	if diff := cmp.Diff(want, next); diff != "" {
		t.Errorf("updated task (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(next, must[Task](t)(s.Task(ctx, got.ID))); diff != "" {
		t.Errorf("returned and stored differ after update (-returned +stored):\n%s", diff)
	}
	stop := errors.New("stop")
	if _, err := s.UpdateTask(ctx, got.ID, func(v *Task) error { v.Name = "lost"; return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of fn is %v", err)
	}
	if must[Task](t)(s.Task(ctx, got.ID)).Name != "other" {
		t.Error("a refused update was stored")
	}
	children := must[[]Task](t)(s.Tasks(ctx, TaskFilter{ParentID: parent.ID}))
	if len(children) != 1 || children[0].ID != got.ID {
		t.Errorf("children = %+v", children)
	}
}

func TestTaskNamesAndPortsAcrossArchive(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p, q := addProject(t, s, "alpha"), addProject(t, s, "beta")
	a := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	_, err := s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "ONE"})
	wantCode(t, err, fault.Conflict)
	if other := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: q.ID, Name: "one"})); other.Port != a.Port+PortBlock {
		t.Errorf("ports %d and %d", a.Port, other.Port)
	}
	must[Task](t)(s.UpdateTask(ctx, a.ID, archive))
	b := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	if b.Port != a.Port {
		t.Errorf("the block of an archived task was not used again: %d, %d", a.Port, b.Port)
	}
	restore := func(v *Task) error { v.State, v.ArchivedAt = api.TaskLive, time.Time{}; return nil }
	_, err = s.UpdateTask(ctx, a.ID, restore)
	wantCode(t, err, fault.Conflict) // its name is taken
	back := must[Task](t)(s.UpdateTask(ctx, a.ID, func(v *Task) error { v.Name = "two"; return restore(v) }))
	if back.Port == b.Port || back.Port == 0 {
		t.Errorf("a restored task has the ports of a live one: %d", back.Port)
	}
	live := must[[]Task](t)(s.Tasks(ctx, TaskFilter{}))
	if len(live) != 3 || live[0].ProjectID != p.ID || live[2].ProjectID != q.ID {
		t.Errorf("live tasks: %+v", live)
	}
}

// Who asks without an id gets nothing of others.
func TestNoIDIsNotAll(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent, Agent: "claude"}))
	must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "one"}))
	if tabs, err := s.Tabs(ctx, ""); fault.CodeOf(err) != fault.NotFound || len(tabs) > 0 {
		t.Errorf("tabs: %+v %v", tabs, err)
	}
	if prompts, err := s.Prompts(ctx, ""); fault.CodeOf(err) != fault.NotFound || len(prompts) > 0 {
		t.Errorf("prompts: %+v %v", prompts, err)
	}
	if prompts, err := s.PromptsOf(ctx, ""); fault.CodeOf(err) != fault.NotFound || len(prompts) > 0 {
		t.Errorf("prompts of a task: %+v %v", prompts, err)
	}
	if of := must[[]Prompt](t)(s.PromptsOf(ctx, task.ID)); len(of) != 1 || of[0].TabID != tab.ID {
		t.Errorf("prompts of the task: %+v", of)
	}
}

func TestTabs(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	a := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent, Agent: "claude", Title: "Claude", IsDefault: true}))
	b := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabTerminal, Command: []string{"make", "run it"}}))
	_, err := s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent, IsDefault: true})
	wantCode(t, err, fault.Conflict)
	_, err = s.CreateTab(ctx, Tab{TaskID: "none", Kind: TabAgent})
	wantCode(t, err, fault.NotFound)
	_, err = s.UpdateTab(ctx, b.ID, func(v *Tab) error { v.IsDefault = true; return nil })
	wantCode(t, err, fault.Conflict)

	got := must[Tab](t)(s.UpdateTab(ctx, a.ID, func(v *Tab) error {
		v.SessionID, v.SessionUsed, v.Exited, v.ExitCode, v.ExitSignal = "sess", true, true, -1, "KILL"
		return nil
	}))
	if diff := cmp.Diff(got, must[Tab](t)(s.Tab(ctx, a.ID))); diff != "" {
		t.Errorf("returned and stored differ:\n%s", diff)
	}
	if diff := cmp.Diff([]Tab{got, b}, must[[]Tab](t)(s.Tabs(ctx, task.ID))); diff != "" {
		t.Errorf("Tabs:\n%s", diff)
	}
	must[Tab](t)(s.UpdateTab(ctx, a.ID, func(v *Tab) error { v.ClosedAt = time.Unix(5, 0); return nil }))
	if open := must[[]Tab](t)(s.AllTabs(ctx)); len(open) != 1 || open[0].ID != b.ID {
		t.Errorf("open tabs: %+v", open)
	}
	if closed := must[[]Tab](t)(s.ClosedTabs(ctx, task.ID)); len(closed) != 1 || closed[0].ID != a.ID {
		t.Errorf("closed tabs: %+v", closed)
	}
	must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent, IsDefault: true}))
	if err := s.DeleteTask(ctx, task.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Tab(ctx, b.ID)
	wantCode(t, err, fault.NotFound)
}

func TestPromptQueue(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	first := must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "one"}))
	second := must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "two"}))
	if first.TaskID != task.ID || first.State != PromptQueued || second.Seq <= first.Seq {
		t.Fatalf("queued: %+v, %+v", first, second)
	}
	next := func() string {
		t.Helper()
		v, ok, err := s.NextPrompt(ctx, tab.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ""
		}
		return v.Text
	}
	if next() != "one" {
		t.Errorf("next = %q", next())
	}
	if err := s.SetPromptState(ctx, first.ID, PromptDelivering, "", PromptQueued); err != nil {
		t.Fatal(err)
	}
	if next() != "" {
		t.Errorf("a second prompt is offered while the first is being delivered: %q", next())
	}
	wantCode(t, s.SetPromptState(ctx, first.ID, PromptCancelled, "", PromptQueued), fault.Conflict)
	if unknown := must[[]Prompt](t)(s.InterruptPrompts(ctx)); len(unknown) != 1 || unknown[0].ID != first.ID || unknown[0].State != PromptUnknown {
		t.Errorf("interrupted: %+v", unknown)
	}
	if next() != "two" {
		t.Errorf("next = %q", next())
	}
	must[Tab](t)(s.UpdateTab(ctx, tab.ID, func(v *Tab) error { v.ClosedAt = time.Unix(9, 0); return nil }))
	if got := must[Prompt](t)(s.Prompt(ctx, second.ID)); got.State != PromptCancelled || got.Reason == "" {
		t.Errorf("a prompt for a closed tab: %+v", got)
	}
	_, err := s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "late"})
	wantCode(t, err, fault.Conflict)
	_, err = s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: strings.Repeat("x", MaxText+1)})
	wantCode(t, err, fault.InvalidArgument)
	if left := must[[]Prompt](t)(s.Prompts(ctx, tab.ID)); len(left) != 0 {
		t.Errorf("left in the queue: %+v", left)
	}
}

// TestMovePromptUp: places are changed within one tab, and what is typed or done stays where it is.
func TestMovePromptUp(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	other := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	add := func(tab Tab, text string) Prompt {
		return must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: text}))
	}
	a, x, b, c := add(tab, "a"), add(other, "x"), add(tab, "b"), add(tab, "c")
	up := func(p Prompt) error {
		return s.Write(ctx, func(tx *Tx) error { return tx.MovePromptUp(ctx, p.ID) })
	}
	want := func(order string) {
		t.Helper()
		got := ""
		for _, p := range must[[]Prompt](t)(s.Prompts(ctx, tab.ID)) {
			got += p.Text
		}
		if got != order {
			t.Errorf("the queue is %s, want %s", got, order)
		}
	}
	for _, step := range []struct {
		p     Prompt
		order string
	}{{c, "acb"}, {c, "cab"}, {c, "cab"}, {x, "cab"}, {b, "cba"}} {
		if err := up(step.p); err != nil {
			t.Fatal(err)
		}
		want(step.order)
	}
	if err := s.SetPromptState(ctx, c.ID, PromptDelivering, "", PromptQueued); err != nil {
		t.Fatal(err)
	}
	if err := up(b); err != nil { // never before what is being typed
		t.Fatal(err)
	}
	want("cba")
	wantCode(t, up(c), fault.Conflict)
	add(tab, "d")
	if err := up(a); err != nil {
		t.Fatal(err)
	}
	want("cabd")
}

func TestArchivedTaskCancelsItsQueue(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	prompt := must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "one"}))
	must[Task](t)(s.UpdateTask(ctx, task.ID, archive))
	if got := must[Prompt](t)(s.Prompt(ctx, prompt.ID)); got.State != PromptCancelled {
		t.Errorf("prompt of an archived task is %s", got.State)
	}
}

func TestTerminalsIntentsJobs(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	term := must[Terminal](t)(s.PutTerminal(ctx, Terminal{TabID: "tab", TaskID: "task", PID: 7, PGID: 7, SID: 7, StartTicks: 1<<63 + 5, BootID: "b"}))
	term.PID = 8
	term = must[Terminal](t)(s.PutTerminal(ctx, term))
	if diff := cmp.Diff([]Terminal{term}, must[[]Terminal](t)(s.Terminals(ctx))); diff != "" {
		t.Errorf("terminals:\n%s", diff)
	}
	for range 2 {
		if err := s.DeleteTerminal(ctx, term.ID); err != nil {
			t.Fatal(err)
		}
	}
	in := must[Intent](t)(s.BeginIntent(ctx, Intent{Kind: "worktree-add", Payload: []byte(`{"path":"/w"}`)}))
	if diff := cmp.Diff([]Intent{in}, must[[]Intent](t)(s.Intents(ctx))); diff != "" {
		t.Errorf("intents:\n%s", diff)
	}
	_, err := s.BeginIntent(ctx, Intent{Kind: "x", Payload: []byte("{")})
	wantCode(t, err, fault.Internal)
	if err := s.EndIntent(ctx, in.ID); err != nil {
		t.Fatal(err)
	}
	one := must[Job](t)(s.StartJob(ctx, Job{Verb: "task_new", Principal: "owner", Face: "cli"}))
	two := must[Job](t)(s.StartJob(ctx, Job{Verb: "task_new", Principal: "owner", Face: "cli"}))
	if err := s.EndJob(ctx, one.ID, JobEnd{State: JobDone, Outcome: "ok"}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.EndJob(ctx, one.ID, JobEnd{State: JobFailed}), fault.Conflict)
	if n := must[int](t)(s.InterruptRunningJobs(ctx)); n != 1 {
		t.Errorf("interrupted %d jobs", n)
	}
	if a, b := must[Job](t)(s.Job(ctx, one.ID)), must[Job](t)(s.Job(ctx, two.ID)); a.State != JobDone || a.Ended.IsZero() || b.State != JobInterrupted {
		t.Errorf("jobs: %+v, %+v", a, b)
	}
	_, err = s.Job(ctx, "none")
	wantCode(t, err, fault.NotFound)
}

func TestIdempotencyKeys(t *testing.T) {
	c := newClock()
	s, ctx := openAt(t, filepath.Join(t.TempDir(), "termic.db"), Options{Now: c.now}), t.Context()
	k := IdempotencyKey{Face: "mcp", Principal: "client:a", Verb: "task_new", Key: "k", Digest: "d"}
	claim := func(k IdempotencyKey, ref, want string, joinedWant bool) {
		t.Helper()
		have, joined, err := s.ClaimKey(ctx, k, ref)
		if err != nil || have != want || joined != joinedWant {
			t.Errorf("ClaimKey(%+v, %s) = %q, %v, %v; want %q, %v", k, ref, have, joined, err, want, joinedWant)
		}
	}
	claim(k, "task1", "task1", false)
	claim(k, "task2", "task1", true)
	for _, other := range []IdempotencyKey{{"cli", k.Principal, k.Verb, k.Key, "x"}, {k.Face, "client:b", k.Verb, k.Key, "x"}, {k.Face, k.Principal, "task_send", k.Key, "x"}} {
		claim(other, "task3", "task3", false) // a space of its own
	}
	changed := k
	changed.Digest = "other"
	_, _, err := s.ClaimKey(ctx, changed, "task4")
	wantCode(t, err, fault.Conflict)
	_, _, err = s.LookupKey(ctx, changed)
	wantCode(t, err, fault.Conflict)
	c.move(KeyLife)
	if _, found, err := s.LookupKey(ctx, k); found || err != nil {
		t.Errorf("a key of yesterday: %v, %v", found, err)
	}
	claim(changed, "task5", "task5", false)
}

func TestWriteIsOneTransaction(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	stop := errors.New("stop")
	err := s.Write(ctx, func(tx *Tx) error {
		p, _, err := tx.AddProject(ctx, Project{Name: "a", RootPath: "/a"})
		if err != nil {
			return err
		}
		if _, err := tx.CreateTask(ctx, Task{ProjectID: p.ID, Name: "t"}); err != nil {
			return err
		}
		if seen := must[[]Task](t)(tx.Tasks(ctx, TaskFilter{})); len(seen) != 1 {
			t.Errorf("inside: %+v", seen)
		}
		if outside := must[[]Task](t)(s.Tasks(ctx, TaskFilter{})); len(outside) != 0 {
			t.Errorf("outside before the commit: %+v", outside)
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("Write = %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Write(ctx, func(tx *Tx) error {
			_, _, _ = tx.AddProject(ctx, Project{Name: "a", RootPath: "/a"})
			panic("boom")
		})
	}()
	if left := must[[]Project](t)(s.Projects(ctx)); len(left) != 0 {
		t.Errorf("left behind: %+v", left)
	}
}

func TestContextBoundsTheWaitOnly(t *testing.T) {
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, func(tx *Tx) error {
		cancel()
		_, _, err := tx.AddProject(context.WithoutCancel(ctx), Project{Name: "a", RootPath: "/a"})
		if err != nil {
			return err
		}
		// Another writer, whose context has ended, does not get in line.
		_, _, err = s.AddProject(ctx, Project{Name: "b", RootPath: "/b"})
		wantCode(t, err, fault.Unavailable)
		return nil
	})
	if err != nil {
		t.Fatalf("a transaction that had begun was not finished: %v", err)
	}
	if _, err := s.ProjectByName(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// TestFullDisk lets the database grow no further, which SQLite reports as it does a full disk.
func TestFullDisk(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	pages := func(query string, n int) {
		t.Helper()
		if err := s.w.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	pages("PRAGMA max_page_count = 1", 0) // means: as many as there are
	text := strings.Repeat("x", 100_000)
	err := s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.UpdateTask(ctx, task.ID, func(v *Task) error { v.Name = "two"; return nil }); err != nil {
			return err
		}
		_, err := tx.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: text})
		return err
	})
	wantCode(t, err, fault.Unavailable)
	if f := fault.From(err); !strings.Contains(f.Message, "disk is full") {
		t.Errorf("words: %q", f.Message)
	}
	if got := must[Task](t)(s.Task(ctx, task.ID)); got.Name != "one" {
		t.Error("half of a failed transaction was kept")
	}
	// Grouped rows wait until there is room again.
	for n := range groupMost {
		big := row(n)
		big.Shape = strings.Repeat("s", maxShape)
		if err := s.AppendGrouped(ctx, big); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, s.AppendGrouped(ctx, row(groupMost)), fault.Unavailable)
	pages("PRAGMA max_page_count = 1000000", 0)
	must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: text}))
	if _, total, err := s.Ledger(ctx, LedgerFilter{}); err != nil || total != groupMost {
		t.Errorf("%d grouped rows after the disk had room again, %v", total, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

// TestNoGroupedRowIsLostAtClose has rows come in while the store closes: each that was taken is there afterwards.
func TestNoGroupedRowIsLostAtClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range 4 {
		wg.Go(func() {
			for {
				err := s.AppendGrouped(context.Background(), row(1))
				if err != nil {
					wantCode(t, err, fault.Unavailable)
					return
				}
				taken.Add(1)
			}
		})
	}
	for taken.Load() < 500 {
		runtime.Gosched()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	again := openAt(t, path, Options{})
	if _, total, err := again.Ledger(t.Context(), LedgerFilter{}); err != nil || total != taken.Load() {
		t.Errorf("%d rows were taken, %d are there, %v", taken.Load(), total, err)
	}
	wantChain(t, again, 0, ChainWhole)
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "termic.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.AddProject(t.Context(), Project{Name: "a", RootPath: "/a"})
	wantCode(t, err, fault.Unavailable)
	wantCode(t, s.AppendGrouped(t.Context(), LedgerRow{Phase: PhaseDone}), fault.Unavailable)
}

func TestOldRowsAreDropped(t *testing.T) {
	c := newClock()
	path := filepath.Join(t.TempDir(), "termic.db")
	s, ctx := openAt(t, path, Options{Now: c.now}), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	tab := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	shut := must[Tab](t)(s.CreateTab(ctx, Tab{TaskID: task.ID, Kind: TabAgent}))
	must[Tab](t)(s.UpdateTab(ctx, shut.ID, func(v *Tab) error { v.ClosedAt = c.now(); return nil }))
	waits := must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "waits"}))
	done := must[Prompt](t)(s.EnqueuePrompt(ctx, Prompt{TabID: tab.ID, Text: "done"}))
	if err := s.SetPromptState(ctx, done.ID, PromptDelivered, ""); err != nil {
		t.Fatal(err)
	}
	running := must[Job](t)(s.StartJob(ctx, Job{Verb: "v"}))
	ended := must[Job](t)(s.StartJob(ctx, Job{Verb: "v"}))
	if err := s.EndJob(ctx, ended.ID, JobEnd{State: JobDone}); err != nil {
		t.Fatal(err)
	}
	c.move(KeepEnd + time.Hour)
	if err := s.prune(ctx); err != nil {
		t.Fatal(err)
	}
	_, err1 := s.Prompt(ctx, waits.ID)
	_, err2 := s.Job(ctx, running.ID)
	_, err3 := s.Tab(ctx, tab.ID)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Errorf("something live was dropped: %v", err)
	}
	_, err := s.Prompt(ctx, done.ID)
	wantCode(t, err, fault.NotFound)
	_, err = s.Job(ctx, ended.ID)
	wantCode(t, err, fault.NotFound)
	_, err = s.Tab(ctx, shut.ID)
	wantCode(t, err, fault.NotFound)
}

// raw opens the database beside the store, as another program would.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
