package verb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// TestWorkedExample is the first paper's: A1 may act on [A], B1 on [B, C]. Both know the exact id of a task in C.
func TestWorkedExample(t *testing.T) {
	w := newWorld(t)
	// Project A's task A1 has the default config; project B's task B1 has its list widened to [B, C].
	a1, tabA := w.task(t, w.a, "A1", nil)
	b1, tabB := w.task(t, w.b, "B1", func(t *store.Task) { t.MCPProjects = []string{w.b.ID, w.c.ID} })
	capA := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, mcp: true})
	capB := w.capability(t, cage{mode: sandbox.Enforce, project: w.b, projects: []string{w.b.ID, w.c.ID}, mcp: true})
	w.cages.set(tabA, capA, capA)
	w.cages.set(tabB, capB, capB)
	tokenA, tokenB := callerOf(a1, tabA, w.a), callerOf(b1, tabB, w.b, w.c)

	c1, tabC := w.task(t, w.c, "C1", nil)
	capC := w.capability(t, cage{mode: sandbox.Enforce, project: w.c})
	w.cages.set(tabC, capC, capC)
	send := func(c grant.Caller, id string) (string, *fault.Error) {
		return w.call(t, c, "task_send", map[string]any{"task": id, "prompt": "hello"})
	}

	// The agent in A1 calls task_send for a task of project C: its projects are [A], refused before anything runs.
	none := missingID()
	_, missing := send(tokenA, none)
	before := len(w.ledger(t))
	_, f := send(tokenA, c1.ID)
	if same(t, f, c1.ID) != same(t, missing, none) {
		t.Errorf("A1 learns of C1: %s", words(t, f))
	}
	if rows := w.ledger(t)[before:]; len(rows) != 1 || rows[0].Target != "" || rows[0].Outcome != "not_found" || rows[0].Principal != "task:"+a1.ID {
		t.Errorf("ledger: %+v", rows)
	}
	// The agent in B1 makes the same call: [B, C] passes, then the comparison (C1 is at least as caged as B1), then it goes.
	if out, f := send(tokenB, c1.ID); f != nil || out != `{"mode":"accepted"}` {
		t.Errorf("B1 sends to C1: %s, %v", out, f)
	}
	queue, err := w.store.Prompts(t.Context(), tabC.ID)
	check(t, err)
	if len(queue) != 1 || queue[0].Text != "hello" || queue[0].FromTask != b1.ID {
		t.Errorf("queue of C1: %+v", queue)
	}
	// A C1 that may do more than B1 answers like one that is not there.
	wider := w.capability(t, cage{mode: sandbox.EnforceFs, project: w.c})
	for what, pair := range map[string][2]sandbox.Capability{"live": {wider, capC}, "stored": {capC, wider}, "stored, not running": {{}, wider}} {
		w.cages.set(tabC, pair[0], pair[1])
		if _, f := send(tokenB, c1.ID); same(t, f, c1.ID) != same(t, missing, none) {
			t.Errorf("%s wider: %s", what, words(t, f))
		}
	}
	w.cages.set(tabC, sandbox.Capability{}, capC)
	if out, f := send(tokenB, c1.ID); f != nil || out != `{"mode":"accepted"}` {
		t.Errorf("B1 sends to C1, which does not run: %s, %v", out, f) // the same answer as when it runs
	}
	// Reading it is out of the question, and so is naming it.
	for _, verb := range []string{"task_status", "task_wait", "task_log", "task_result", "task_diff", "task_tab"} {
		if _, f := w.call(t, tokenB, verb, map[string]any{"task": c1.ID}); f == nil || f.Code != fault.NotFound {
			t.Errorf("%s: %v", verb, f)
		}
	}
	for _, name := range []string{"C1", "C/C1", "c1"} {
		if _, f := send(tokenB, name); f == nil || f.Code != fault.NotFound || strings.Contains(words(t, f), c1.ID) {
			t.Errorf("by name %s: %v", name, f)
		}
	}
}

// TestBlindSendsTellNothing: what would tell about a task that the sender does not see makes the task not exist.
func TestBlindSendsTellNothing(t *testing.T) {
	w := newWorld(t)
	me, tab := w.task(t, w.a, "me", nil)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
	w.cages.set(tab, like, like)
	w.cages.like = like
	caller := callerOf(me, tab, w.a)
	sibling, _ := w.task(t, w.a, "sibling", nil)
	none := missingID()
	for _, more := range []map[string]any{{"tab": "1"}, {"resume": true}, {"fresh": true}, {"wait": true}, {"wait": true, "timeoutMs": 5},
		{"project": "B"}, {"project": "no-such"}, {"tab": "1", "resume": true}, {"resume": true, "fresh": true}, {"timeoutMs": 5}} {
		answer := func(id string) string {
			params := map[string]any{"task": id, "prompt": "x"}
			for k, v := range more {
				params[k] = v
			}
			_, f := w.call(t, caller, "task_send", params)
			return same(t, f, id)
		}
		if hidden, missing := answer(sibling.ID), answer(none); hidden != missing {
			t.Errorf("%v: %s, missing: %s", more, hidden, missing)
		}
	}
	// Tasks that take no prompts do not exist either.
	for _, change := range []func(*store.Task){
		func(t *store.Task) { t.State = api.TaskFailed },
		func(t *store.Task) { t.ArchivedAt = t.Created.AddDate(1, 0, 0) },
	} {
		x, err := w.store.CreateTask(t.Context(), store.Task{ProjectID: w.a.ID, Name: "gone" + missingID(), Agent: "mine", State: api.TaskLive, Sandbox: "enforce"})
		check(t, err)
		_, err = w.store.UpdateTask(t.Context(), x.ID, func(t *store.Task) error { change(t); return nil })
		check(t, err)
		_, f := w.call(t, caller, "task_send", map[string]any{"task": x.ID, "prompt": "x"})
		_, missing := w.call(t, caller, "task_send", map[string]any{"task": none, "prompt": "x"})
		if same(t, f, x.ID) != same(t, missing, none) {
			t.Errorf("%s", words(t, f))
		}
	}
	// What waits is bounded, whatever becomes of it.
	var f *fault.Error
	for n := 0; f == nil; n++ {
		if _, f = w.call(t, caller, "task_send", map[string]any{"task": sibling.ID, "prompt": "x"}); n > 100 {
			t.Fatal("there is no bound")
		}
	}
	if f.Code != fault.Conflict {
		t.Errorf("%s", words(t, f))
	}
}

// TestHiddenAndMissingTasksAnswerAlike: every verb of a caged agent that names a task, in every way to name one.
func TestHiddenAndMissingTasksAnswerAlike(t *testing.T) {
	w := newWorld(t)
	me, tab := w.task(t, w.a, "me", nil)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
	w.cages.set(tab, like, like)
	caller := callerOf(me, tab, w.a)
	child, childTab := w.task(t, w.a, "same", func(t *store.Task) { t.ParentID = me.ID })
	w.cages.set(childTab, like, like)
	hidden, _ := w.task(t, w.b, "same", nil)
	grandchild, _ := w.task(t, w.a, "grandchild", func(t *store.Task) { t.ParentID = child.ID; t.Depth = 2 })
	outside, _ := w.task(t, w.b, "outside", func(t *store.Task) { t.ParentID = me.ID }) // its project was taken off the list
	for _, v := range All() {
		if !v.On(grant.MCP) || !caller.Class.Covers(v.Class) || v.Name == "task_new" || !slices.ContainsFunc(v.Params, func(p Param) bool { return p.Name == "task" }) {
			continue
		}
		for _, pair := range [][2]string{{hidden.ID, missingID()}, {strings.ToLower(hidden.ID), strings.ToLower(missingID())}, {grandchild.ID, missingID()}, {"grandchild", "nothing"},
			{"A/grandchild", "A/nothing"}, {"outside", "nothing"}, {outside.ID, missingID()}, {"B/same", "B/nothing"}, {"B/same", "D/same"}} {
			answer := func(task string, more map[string]any) string {
				params := map[string]any{"task": task}
				for k, x := range rest[v.Name] {
					params[k] = x
				}
				for k, x := range more {
					params[k] = x
				}
				_, f := w.call(t, caller, v.Name, params)
				return same(t, f, task)
			}
			for _, more := range []map[string]any{nil, {"project": "A"}, {"project": w.a.ID}} {
				if h, m := answer(pair[0], more), answer(pair[1], more); h != m {
					t.Errorf("%s %v %v: %s, missing: %s", v.Name, pair, more, h, m)
				}
			}
			inB := func(p string) string {
				params := map[string]any{"task": "same", "project": p}
				for k, x := range rest[v.Name] {
					params[k] = x
				}
				_, f := w.call(t, caller, v.Name, params)
				return same(t, f, p)
			}
			if h, m := inB("B"), inB("nowhere"); strings.ReplaceAll(h, "ASKED", "") != strings.ReplaceAll(m, "ASKED", "") {
				t.Errorf("%s in a hidden project: %s, in a missing one: %s", v.Name, h, m)
			}
		}
	}
	// The name that a hidden task shares is not ambiguous.
	if out, f := w.call(t, caller, "task_status", map[string]any{"task": "same"}); f != nil || !strings.Contains(out, child.ID) || strings.Contains(out, hidden.ID) {
		t.Errorf("%s, %v", out, f)
	}
}

// TestOneClauseEach: a task that the caller sees and that can do more than it, in one part alone, is not driven; the
// refusal names the part and nothing in it.
func TestOneClauseEach(t *testing.T) {
	w := newWorld(t)
	me, tab := w.task(t, w.a, "me", nil)
	base := cage{mode: sandbox.EnforceFs, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true, read: []string{"one"}}
	mine := w.capability(t, base)
	w.cages.set(tab, mine, mine)
	caller := callerOf(me, tab, w.a)
	child, childTab := w.task(t, w.a, "child", func(t *store.Task) { t.ParentID = me.ID })
	change := func(f func(*cage)) sandbox.Capability {
		c := base
		f(&c)
		return w.capability(t, c)
	}
	inEnforce := func(f func(*cage)) (mine, theirs sandbox.Capability) {
		c := base
		c.mode = sandbox.Enforce
		mine = w.capability(t, c)
		f(&c)
		return mine, w.capability(t, c)
	}
	enforce, moreHosts := inEnforce(func(c *cage) { c.hosts = []string{"example.com"} })
	_, looser := inEnforce(func(c *cage) { c.mode = sandbox.EnforceFs })
	_, noMCP := inEnforce(func(c *cage) { c.mcp = false })
	for _, c := range []struct {
		what, part   string
		mine, theirs sandbox.Capability
	}{
		{"equal", "", mine, mine},
		{"no files", "", mine, change(func(c *cage) { c.read = nil })},
		{"tighter mode", "", mine, enforce},
		{"no control", "", mine, change(func(c *cage) { c.mcp = false })},
		{"mode", "mode", enforce, looser},
		{"reads", "files", mine, change(func(c *cage) { c.read = []string{"one", "two"} })},
		{"writes", "files", mine, change(func(c *cage) { c.write = []string{"one"} })},
		{"hosts", "hosts", enforce, moreHosts},
		{"control", "control", noMCP, enforce},
		{"projects", "projects", mine, change(func(c *cage) { c.projects = []string{w.a.ID, w.b.ID} })},
		{"agents", "agents", mine, change(func(c *cage) { c.agents = []string{"mine", "other"} })},
		{"monitored", "mode", mine, sandbox.Unbounded(sandbox.Monitor)},
		{"uncaged", "mode", mine, sandbox.Unbounded(sandbox.Off)},
		{"monitored from monitored", "", sandbox.Unbounded(sandbox.Monitor), sandbox.Unbounded(sandbox.Monitor)},
		{"caged from monitored", "", sandbox.Unbounded(sandbox.Monitor), mine},
		{"uncaged from monitored", "mode", sandbox.Unbounded(sandbox.Monitor), sandbox.Unbounded(sandbox.Off)},
	} {
		w.cages.set(tab, c.mine, c.mine)
		for how, pair := range map[string][2]sandbox.Capability{"live": {c.theirs, c.mine}, "stored": {{}, c.theirs}, "both": {c.theirs, c.theirs}} {
			w.cages.set(childTab, pair[0], pair[1])
			for verb, params := range map[string]map[string]any{
				"task_send": {"task": child.ID, "prompt": "x", "tab": childTab.ID},
				"task_tab":  {"task": child.ID},
			} {
				if verb == "task_tab" && how == "live" {
					continue // a new tab is another program: what it would be provisioned with counts
				}
				before := len(w.ledger(t))
				_, f := w.call(t, caller, verb, params)
				refused := f != nil && f.Code == fault.Forbidden
				if refused != (c.part != "") || refused && f.Data["part"] != c.part {
					t.Errorf("%s, %s, %s: %v", c.what, how, verb, f)
				}
				if refused {
					text := words(t, f)
					if strings.Contains(text, w.dir) || strings.Contains(text, "example.com") || strings.Contains(text, w.b.ID) || strings.Contains(text, "other") {
						t.Errorf("%s tells what the other has: %s", c.what, text)
					}
					if rows := w.ledger(t)[before:]; len(rows) != 1 || rows[0].Outcome != "forbidden" || rows[0].Target != "" {
						t.Errorf("%s: ledger %+v", c.what, rows)
					}
				}
			}
		}
	}
	// A caller whose terminal has ended does nothing, and one who is not known to be caged neither.
	w.cages.set(childTab, mine, mine)
	for _, gone := range []grant.Caller{callerOf(me, store.Tab{ID: missingID()}, w.a), {Principal: "task:" + me.ID, Face: grant.MCP, Class: grant.Scoped, Task: me.ID, Projects: []string{w.a.ID}}} {
		for verb, params := range map[string]map[string]any{"task_send": {"task": child.ID, "prompt": "x", "tab": childTab.ID}, "task_tab": {"task": child.ID}, "task_new": {"name": "x", "agent": "mine"}} {
			if _, f := w.call(t, gone, verb, params); f == nil || f.Code != fault.Forbidden {
				t.Errorf("%s by a terminal that ended: %v", verb, f)
			}
		}
	}
}

// TestChildIsItsParent: a task that a caged agent creates has its cage, lists and control plane, whatever the project has.
func TestChildIsItsParent(t *testing.T) {
	w := newWorld(t)
	_, err := w.store.UpdateProject(t.Context(), w.b.ID, func(p *store.Project) error { p.SandboxHosts = []string{"b.example"}; return nil })
	check(t, err)
	_, err = w.store.UpdateProject(t.Context(), w.c.ID, func(p *store.Project) error {
		p.SandboxHosts, p.SandboxWrite, p.Sandbox, p.DefaultAgent, p.MCPAgents = []string{"c.example"}, []string{"/"}, "off", "other", []string{"other"}
		return nil
	})
	check(t, err)
	me, tab := w.task(t, w.b, "me", func(t *store.Task) {
		t.MCPProjects, t.SandboxRead, t.MCP = []string{w.b.ID, w.c.ID}, []string{"/opt/mine"}, true
	})
	mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.b, projects: []string{w.b.ID, w.c.ID}, mcp: true})
	w.cages.set(tab, mine, mine)
	caller := callerOf(me, tab, w.b, w.c)
	// No worktree can be made, so nothing is started; what was accepted is what counts.
	out, f := w.call(t, caller, "task_new", map[string]any{"name": "worker", "project": "C", "base": "main", "prompt": "begin"})
	if f != nil {
		t.Fatal(words(t, f))
	}
	var r api.TaskNewResult
	check(t, json.Unmarshal([]byte(out), &r))
	if r.Job != "" || strings.Contains(out, `"job"`) {
		t.Errorf("a job is told: %s", out)
	}
	got, err := w.store.Task(t.Context(), r.Task.ID)
	check(t, err)
	want := store.Task{ProjectID: w.c.ID, Name: "worker", Agent: "mine", Sandbox: "enforce", MCP: true, MCPProjects: []string{w.b.ID, w.c.ID}, MCPAgents: []string{"mine"},
		SandboxRead: []string{"/opt/mine"}, SandboxHosts: []string{"b.example"}, FromCage: true, ParentID: me.ID, Depth: 1}
	have := store.Task{ProjectID: got.ProjectID, Name: got.Name, Agent: got.Agent, Sandbox: got.Sandbox, MCP: got.MCP, MCPProjects: got.MCPProjects, MCPAgents: got.MCPAgents,
		SandboxRead: got.SandboxRead, SandboxWrite: got.SandboxWrite, SandboxHosts: got.SandboxHosts, FromCage: got.FromCage, ParentID: got.ParentID, Depth: got.Depth, Yolo: got.Yolo, IsMain: got.IsMain}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the child (-want +got):\n%s", diff)
	}
	prompts, err := w.store.Prompt(t.Context(), r.Prompt)
	check(t, err)
	if c, err := sandbox.ParseCapability([]byte(prompts.Capability)); prompts.FromTask != me.ID || err != nil || sandbox.Within(c, mine) != nil || sandbox.Within(mine, c) != nil {
		t.Errorf("its first prompt: %+v", prompts)
	}
	// Without a project it is the caller's own; other agents and projects than those allowed are not to be had.
	if out, f := w.call(t, caller, "task_new", map[string]any{"name": "second", "base": "main"}); f != nil || !strings.Contains(out, `"project":"B"`) {
		t.Errorf("%s, %v", out, f)
	}
	if _, f := w.call(t, caller, "task_new", map[string]any{"name": "x", "agent": "other"}); f == nil || f.Code != fault.Forbidden || !strings.Contains(f.Hint, "mine") {
		t.Errorf("another agent: %v", f)
	}
	// Names by which the user would mean another task, whether there is such a project or not.
	for _, name := range []string{"A/x", "nowhere/x", got.ID, strings.ToLower(me.ID)} {
		if _, f := w.call(t, caller, "task_new", map[string]any{"name": name, "base": "main"}); f == nil || f.Code != fault.InvalidArgument || !strings.Contains(f.Message, "looks like") {
			t.Errorf("%s: %v", name, f)
		}
	}
	// What has such a name from the user does not take the place of another in silence.
	target, _ := w.task(t, w.a, "x", nil)
	if id, err := w.core.ResolveTask(t.Context(), grant.OwnerOn(grant.CLI), api.TaskRef{Task: "a/X"}, "task_send"); err != nil || id != target.ID {
		t.Errorf("%s, %v", id, err)
	}
	w.task(t, w.c, "A/x", nil)
	if id, err := w.core.ResolveTask(t.Context(), grant.OwnerOn(grant.CLI), api.TaskRef{Task: "A/x"}, "task_send"); fault.CodeOf(err) != fault.Ambiguous {
		t.Errorf("%s, %v", id, err)
	}
	if _, f := w.call(t, callerOf(me, tab, w.c), "task_new", map[string]any{"name": "x"}); f == nil || f.Code != fault.InvalidArgument || !strings.Contains(f.Hint, "C") || strings.Contains(f.Hint, "B") {
		t.Errorf("own project not allowed: %v", f)
	}
	for name, list := range map[string][]store.Project{"B": {w.a}, "nowhere": nil} {
		if _, f := w.call(t, callerOf(me, tab, list...), "task_new", map[string]any{"name": "x", "project": name}); f == nil || f.Code != fault.NotFound || strings.Contains(words(t, f), `C`) {
			t.Errorf("%s: %v", name, f)
		}
	}
	plain, _, err := w.store.AddProject(t.Context(), store.Project{Name: "plain", RootPath: w.ground, NonGit: true})
	check(t, err)
	if _, f := w.call(t, callerOf(me, tab, plain), "task_new", map[string]any{"name": "x", "project": "plain"}); f == nil || f.Code != fault.Unsupported {
		t.Errorf("in a plain folder: %v", f)
	}
}

// TestChildrenAreCounted: eight live ones, three levels; the count is in the store.
func TestChildrenAreCounted(t *testing.T) {
	dir := t.TempDir()
	var ids []string
	var me store.Task
	var tab store.Tab
	create := func(w *world, more map[string]any) *fault.Error {
		params := map[string]any{"name": "next" + missingID(), "base": "main"}
		for k, v := range more {
			params[k] = v
		}
		_, f := w.call(t, callerOf(me, tab, w.a), "task_new", params)
		return f
	}
	t.Run("full", func(t *testing.T) {
		w := openWorld(t, dir)
		me, tab = w.task(t, w.a, "me", nil)
		mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
		w.cages.set(tab, mine, mine)
		w.cages.like = mine
		for i := range core.MaxChildren {
			child, childTab := w.task(t, w.a, fmt.Sprint("child", i), func(t *store.Task) { t.ParentID, t.Depth = me.ID, 1 })
			w.runs(t, childTab)
			ids = append(ids, child.ID)
		}
		idle, _ := w.task(t, w.a, "idle", func(t *store.Task) { t.ParentID = me.ID })
		before := len(w.ledger(t))
		if f := create(w, nil); f == nil || f.Code != fault.Conflict || !strings.Contains(f.Message, "8 running children") || !strings.Contains(f.Hint, "task_tab_close") {
			t.Errorf("the ninth: %v", f)
		}
		if rows := w.ledger(t)[before:]; len(rows) != 1 {
			t.Errorf("ledger: %+v", rows)
		}
		// Starting the agent of a ninth takes as much room as creating it; that of a live one takes none.
		for _, verb := range []string{"task_tab", "task_send"} {
			params := map[string]any{"task": idle.ID}
			if verb == "task_send" {
				params["prompt"], params["fresh"] = "x", true
			}
			if _, f := w.call(t, callerOf(me, tab, w.a), verb, params); f == nil || f.Code != fault.Conflict || !strings.Contains(f.Message, "8 running children") {
				t.Errorf("%s: %v", verb, f)
			}
		}
	})
	t.Run("a live one takes no more", func(t *testing.T) {
		w := openWorld(t, dir)
		mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
		w.cages.set(tab, mine, mine)
		w.cages.like = mine
		for _, id := range ids {
			tabs, err := w.store.Tabs(t.Context(), id)
			check(t, err)
			w.runs(t, tabs[0])
		}
		// Its tree is none of git's, so the start fails later, and for another reason.
		if _, f := w.call(t, callerOf(me, tab, w.a), "task_tab", map[string]any{"task": ids[3], "agentId": "mine"}); f == nil || strings.Contains(f.Message, "running children") {
			t.Errorf("another agent in a live child: %v", f)
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		// A restart ends what survived, so the count is of what was started again.
		w := openWorld(t, dir)
		mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
		w.cages.set(tab, mine, mine)
		w.cages.like = mine
		if f := create(w, nil); f != nil {
			t.Errorf("nothing runs: %v", f)
		}
		w.settle(t)
		for _, id := range ids {
			tabs, err := w.store.Tabs(t.Context(), id)
			check(t, err)
			w.runs(t, tabs[0])
		}
		if f := create(w, nil); f == nil || f.Code != fault.Conflict {
			t.Errorf("eight run: %v", f)
		}
		// A shell of the user's beside it is no agent; closing the agent frees the room.
		shell, err := w.store.CreateTab(t.Context(), store.Tab{TaskID: ids[0], Kind: store.TabShell, Title: "Shell"})
		check(t, err)
		w.runs(t, shell)
		if _, f := w.call(t, callerOf(me, tab, w.a), "task_tab_close", map[string]any{"task": ids[0], "tab": "1"}); f == nil || f.Code != fault.NeedsConsent {
			t.Errorf("without consent: %v", f)
		}
		if _, f := w.call(t, callerOf(me, tab, w.a), "task_tab_close", map[string]any{"task": ids[0], "tab": "1", "allowDefault": true}); f != nil {
			t.Error(words(t, f))
		}
		if f := create(w, nil); f != nil {
			t.Errorf("seven run: %v", f)
		}
	})
}

func TestTasksCreateTasksThreeLevelsDeep(t *testing.T) {
	w := newWorld(t)
	mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
	for depth := range core.MaxDepth + 1 {
		me, tab := w.task(t, w.a, fmt.Sprint("level", depth), func(t *store.Task) { t.Depth = depth })
		w.cages.set(tab, mine, mine)
		_, f := w.call(t, callerOf(me, tab, w.a), "task_new", map[string]any{"name": fmt.Sprint("below", depth), "base": "main"})
		if (f != nil) != (depth == core.MaxDepth) || f != nil && (f.Code != fault.Conflict || !strings.Contains(f.Message, "3 levels")) {
			t.Errorf("from level %d: %v", depth, f)
		}
	}
}

// TestIdempotencyOfCagedAgents: a repeat joins even when there is no room for another, other arguments are a conflict, and
// another task's key of the same name is another key.
func TestIdempotencyOfCagedAgents(t *testing.T) {
	w := newWorld(t)
	mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
	me, tab := w.task(t, w.a, "me", nil)
	w.cages.set(tab, mine, mine)
	caller := callerOf(me, tab, w.a)
	params := map[string]any{"name": "once", "base": "main", "idempotency_key": "k"}
	id := func(c grant.Caller, params map[string]any) string {
		t.Helper()
		out, f := w.call(t, c, "task_new", params)
		if f != nil {
			t.Fatal(words(t, f))
		}
		var r api.TaskNewResult
		check(t, json.Unmarshal([]byte(out), &r))
		if strings.Contains(out, `"job"`) {
			t.Errorf("%s", out)
		}
		return r.Task.ID
	}
	first := id(caller, params)
	for i := range core.MaxChildren {
		_, childTab := w.task(t, w.a, fmt.Sprint("child", i), func(t *store.Task) { t.ParentID = me.ID })
		w.runs(t, childTab)
	}
	if again := id(caller, params); again != first {
		t.Errorf("a repeat made %s beside %s", again, first)
	}
	other := map[string]any{"name": "another", "base": "main", "idempotency_key": "k"}
	if _, f := w.call(t, caller, "task_new", other); f == nil || f.Code != fault.Conflict {
		t.Errorf("other arguments: %v", f)
	}
	you, yourTab := w.task(t, w.a, "you", nil)
	w.cages.set(yourTab, mine, mine)
	if theirs := id(callerOf(you, yourTab, w.a), map[string]any{"name": "theirs", "base": "main", "idempotency_key": "k"}); theirs == first {
		t.Error("a key of another task was joined")
	}
}

// TestWhatACagedAgentIsShown: its own agents and not the user's terminals, its own refusals and nobody else's, no parent
// that it may not read, and the agents that it may start.
func TestWhatACagedAgentIsShown(t *testing.T) {
	w := newWorld(t)
	mine := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, mcp: true})
	parent, _ := w.task(t, w.a, "parent", nil)
	me, tab := w.task(t, w.a, "me", func(t *store.Task) { t.ParentID = parent.ID })
	child, _ := w.task(t, w.a, "child", func(t *store.Task) { t.ParentID = me.ID })
	w.cages.set(tab, mine, mine)
	w.cages.like = mine
	for _, x := range []store.Task{parent, me, child} {
		w.cages.deny[x.ID] = []api.Denial{{Kind: api.DenyHost, Target: "host-of-" + x.ID, Count: 1, Last: "2026-01-02T03:04:05Z"}}
	}
	shell, err := w.store.CreateTab(t.Context(), store.Tab{TaskID: me.ID, Kind: store.TabShell, Title: "my secrets"})
	check(t, err)
	caller := callerOf(me, tab, w.a)
	status := func(id string) (d api.TaskDetail) {
		t.Helper()
		out, f := w.call(t, caller, "task_status", map[string]any{"task": id})
		if f != nil {
			t.Fatal(words(t, f))
		}
		var r api.TaskStatusResult
		check(t, json.Unmarshal([]byte(out), &r))
		return r.Task
	}
	d := status(me.ID)
	if d.ParentID != "" || len(d.Tabs) != 1 || d.Tabs[0].ID != tab.ID || *d.OpenTabs != 1 || len(d.Denials) != 1 || d.Denials[0].Target != "host-of-"+me.ID {
		t.Errorf("self: %+v", d)
	}
	if d := status(child.ID); d.ParentID != me.ID || len(d.Denials) != 0 {
		t.Errorf("child: %+v", d)
	}
	for verb, params := range map[string]map[string]any{"task_log": {"tab": shell.ID}, "task_tab_close": {"tab": "my secrets"}, "task_wait": {"tab": "my secrets"}, "task_send": {"tab": shell.ID, "prompt": "x"}} {
		params["task"] = me.ID
		_, f := w.call(t, caller, verb, params)
		asked := fmt.Sprint(params["tab"])
		params["tab"] = "no-such-tab"
		_, missing := w.call(t, caller, verb, params)
		if same(t, f, asked) != same(t, missing, "no-such-tab") || strings.Contains(words(t, missing), "secrets") {
			t.Errorf("%s of the user's shell: %s", verb, words(t, f))
		}
	}
	out, f := w.call(t, caller, "task_agents", map[string]any{})
	if f != nil || !strings.Contains(out, `"mine"`) || strings.Contains(out, `"other"`) || strings.Contains(out, `"claude"`) {
		t.Errorf("agents: %s, %v", out, f)
	}
	// The owner sees it all.
	out, f = w.call(t, owner, "task_status", map[string]any{"task": me.ID})
	if f != nil || !strings.Contains(out, parent.ID) || !strings.Contains(out, shell.ID) || !strings.Contains(out, "host-of-"+me.ID) {
		t.Errorf("owner: %s, %v", out, f)
	}
}

// TestRepeatOfALoosenedChild: an agent that repeats a creation is told of the task that it made as of any other: not at all,
// once the owner gave that task more than the agent has.
func TestRepeatOfALoosenedChild(t *testing.T) {
	w := newWorld(t)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true})
	w.cages.like = like
	parent, tab := w.task(t, w.a, "parent", func(t *store.Task) { t.MCP = true })
	w.cages.set(tab, like, like)
	me := callerOf(parent, tab, w.a)
	params := map[string]any{"name": "kid", "idempotency_key": "k"}
	child := do[api.TaskNewResult](t, w, me, "task_new", params).Task
	w.settle(t)
	if again := do[api.TaskNewResult](t, w, me, "task_new", params).Task; again.ID != child.ID {
		t.Fatalf("a repeat made %s, not %s", again.ID, child.ID)
	}
	_, err := w.store.UpdateTask(t.Context(), child.ID, func(t *store.Task) error { t.State, t.Name, t.Sandbox = api.TaskLive, "theirs-now", "off"; return nil })
	check(t, err)
	w.cages.would[child.ID] = w.capability(t, cage{mode: sandbox.EnforceFs, project: w.a})
	if _, f := w.call(t, me, "task_status", map[string]any{"task": child.ID}); f == nil {
		t.Fatal("it is read, so the test shows nothing")
	}
	result, f := w.call(t, me, "task_new", params)
	if f == nil {
		t.Fatalf("a repeat tells of it: %s", result)
	}
	if strings.Contains(words(t, f), "theirs-now") {
		t.Errorf("the refusal tells of it: %s", words(t, f))
	}
	// Nor of one that it made before it was in a cage, in a project that it does not reach any more, or that is another's by now.
	for what, change := range map[string]func(*store.Task){"made without a cage": func(t *store.Task) { t.FromCage = false },
		"another's": func(t *store.Task) { t.ParentID = "" }} {
		w.cages.would[child.ID] = like
		_, err := w.store.UpdateTask(t.Context(), child.ID, func(t *store.Task) error { t.ParentID, t.FromCage = parent.ID, true; change(t); return nil })
		check(t, err)
		if result, f := w.call(t, me, "task_new", params); f == nil || strings.Contains(words(t, f), "theirs-now") {
			t.Errorf("%s: %s %v", what, result, f)
		}
	}
}
