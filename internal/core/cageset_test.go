package core

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// edit calls task_sandbox as the owner.
func (r *idRig) edit(task store.Task, p api.TaskSandboxParams) (api.TaskSandboxResult, error) {
	return r.TaskSandbox(r.t.Context(), r.ownCall(task), p)
}

func (r *idRig) ownCall(task store.Task) *Call {
	return &Call{Caller: grant.OwnerOn(grant.CLI), Task: task.ID, Verb: "test"}
}

// placed is a task as the rig makes one, in a folder of its own below the home.
func (r *idRig) placed(name, mode string, box bool, kind, agent string) (store.Task, store.Tab) {
	r.t.Helper()
	task, tab := r.task(name, mode, box, kind, agent)
	tree := filepath.Join(r.dir, "tree")
	must(r.t, os.MkdirAll(tree, 0o700))
	task, err := r.store.UpdateTask(r.t.Context(), task.ID, func(t *store.Task) error { t.Path = tree; return nil })
	must(r.t, err)
	return task, tab
}

func (r *idRig) start(task store.Task, tab store.Tab) *liveTab {
	r.t.Helper()
	l, err := r.startTab(r.t.Context(), task.ID, tab.ID, startHow{})
	must(r.t, err)
	return l
}

func (r *idRig) prompt(tab store.Tab, from string) store.Prompt {
	r.t.Helper()
	p, err := r.store.EnqueuePrompt(r.t.Context(), store.Prompt{TabID: tab.ID, Text: "hello", FromTask: from, Capability: writtenIn(r.t, sandbox.Monitor)})
	must(r.t, err)
	return p
}

// writtenIn is what is noted on a prompt of an agent that had nothing but a mode.
func writtenIn(t *testing.T, m sandbox.Mode) string {
	text, err := sandbox.Unbounded(m).MarshalBinary()
	must(t, err)
	return string(text)
}

func (r *idRig) state(p store.Prompt) string {
	got, err := r.store.Prompt(r.t.Context(), p.ID)
	must(r.t, err)
	return got.State
}

// TestEditEndsWhatRuns: a change of a task's sandbox ends its terminals, takes its tokens back, and cancels what caged agents
// sent it; one that changes nothing does none of that.
func TestEditEndsWhatRuns(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.placed("boxed", "monitor", true, store.TabAgent, "talker")
	other, otherTab := r.placed("other", "monitor", true, store.TabAgent, "talker")
	l, untouched := r.start(task, tab), r.start(other, otherTab)
	if !r.good(l) || !r.good(untouched) {
		t.Fatal("there is no token to take back")
	}
	for _, p := range []api.TaskSandboxParams{{}, {Mode: "monitor"}, {MCP: true}, {Projects: []string{"p"}}, {Projects: []string{""}}, {Agents: []string{"talker"}}, {Hosts: []string{}}} {
		got, err := r.edit(task, p)
		if err != nil || got.Ended != 0 || !r.good(l) || got.Mode != "monitor" || !got.Cage.MCP {
			t.Errorf("%+v: %+v, %v", p, got, err)
		}
	}
	// One prompt is on its way and cannot be typed, since a person has the keys; what follows waits behind it.
	l.keys <- struct{}{}
	first := r.prompt(tab, "")
	l.wake()
	r.awaitChange("the first prompt", func() bool { return r.state(first) == store.PromptDelivering })
	caged, owners := r.prompt(tab, other.ID), r.prompt(tab, "")
	got, err := r.edit(task, api.TaskSandboxParams{NoMCP: true, Hosts: []string{"Example.COM"}})
	if err != nil || got.Ended != 1 || got.Cage.MCP || !slices.Equal(got.Cage.Hosts, []string{"example.com"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if r.good(l) || r.liveOf(tab.ID) != nil || !r.good(untouched) {
		t.Error("the edit did not end exactly the task's own terminals and tokens")
	}
	// Failed is one that the runner took up while its program ended.
	if s := r.state(caged); s != store.PromptCancelled && s != store.PromptFailed || r.state(owners) == store.PromptCancelled {
		t.Errorf("the agent's prompt is %s, the owner's %s", r.state(caged), r.state(owners))
	}
	if got, err := r.hostRules(t.Context(), []string{"@registries", "@forges", "A.b"}); err != nil || !slices.Equal(got, []string{"@registries", "@forges", "a.b"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, p := range []api.TaskSandboxParams{{Projects: []string{"nowhere"}}, {Agents: []string{"nobody"}}, {Hosts: []string{"http://x/"}},
		{Read: []string{"relative"}}, {Write: []string{"/a\nb"}}} {
		if _, err := r.edit(other, p); err == nil || !r.good(untouched) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestEditCancelsWhatIsBeingTyped: a prompt of a caged agent that was on its way when the sandbox of its target was changed
// does not come back, also when its delivery finds out only afterwards that not a byte was typed.
func TestEditCancelsWhatIsBeingTyped(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.placed("boxed", "monitor", true, store.TabAgent, "talker")
	other, _ := r.placed("other", "monitor", true, store.TabAgent, "talker")
	caged, owners := r.prompt(tab, other.ID), r.prompt(tab, "")
	for _, p := range []store.Prompt{caged, owners} {
		must(t, r.store.SetPromptState(t.Context(), p.ID, store.PromptDelivering, "", store.PromptQueued))
	}
	if _, err := r.edit(task, api.TaskSandboxParams{NoMCP: true}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []store.Prompt{caged, owners} { // as the delivery does when a dialog stood in its way
		_ = r.store.SetPromptState(t.Context(), p.ID, store.PromptQueued, "", store.PromptDelivering)
	}
	if r.state(caged) != store.PromptCancelled || r.state(owners) != store.PromptQueued {
		t.Errorf("the agent's prompt is %s, the owner's %s", r.state(caged), r.state(owners))
	}
}

// TestPromptsAreAskedAboutOnceMore: what a caged agent sent is compared again when it is about to be typed, with the program
// that runs then.
func TestPromptsAreAskedAboutOnceMore(t *testing.T) {
	r := newIDRig(t)
	sender, senderTab := r.placed("sender", "monitor", true, store.TabAgent, "talker")
	same, sameTab := r.placed("same", "monitor", false, store.TabAgent, "silent")
	loose, looseTab := r.placed("loose", "off", false, store.TabAgent, "silent")
	elsewhere, elsewhereTab := r.placed("elsewhere", "monitor", false, store.TabAgent, "silent")
	const tight = `{"v":1,"mode":"enforce","control":0,"hosts":[]}`
	far, _, err := r.store.AddProject(t.Context(), store.Project{Name: "far", RootPath: filepath.Join(r.dir, "far"), NonGit: true})
	must(t, err)
	elsewhere.ProjectID = far.ID
	for _, running := range []bool{false, true} {
		if running {
			r.start(sender, senderTab)
		}
		for _, c := range []struct {
			what string
			task store.Task
			tab  store.Tab
			from string
			ok   bool
		}{
			{"as tight", same, sameTab, sender.ID, true},
			{"itself", sender, senderTab, sender.ID, true},
			{"looser", loose, looseTab, sender.ID, false},
			{"another project", elsewhere, elsewhereTab, sender.ID, false},
			{"from a task that is not there", same, sameTab, "gone", false},
		} {
			err := r.stillAllowed(t.Context(), store.Prompt{FromTask: c.from, Capability: writtenIn(t, sandbox.Monitor)}, &liveTab{task: c.task, tab: c.tab})
			if (err == nil) != c.ok {
				t.Errorf("%s, sender runs %v: %v", c.what, running, err)
			}
		}
	}
	if _, err := sandbox.ParseCapability([]byte(tight)); err != nil {
		t.Fatal(err)
	}
	for what, noted := range map[string]string{"tighter when it was sent": tight, "sent before that was noted": "", "noted by a later version": `{"v":99}`} {
		if err := r.stillAllowed(t.Context(), store.Prompt{FromTask: sender.ID, Capability: noted}, &liveTab{task: same, tab: sameTab}); err == nil {
			t.Errorf("%s: it may be typed", what)
		}
	}
	// The real way: it waits for an agent that is started uncaged meanwhile, and is not typed.
	p, mine := r.prompt(looseTab, sender.ID), r.prompt(sameTab, sender.ID)
	r.start(loose, looseTab)
	r.start(same, sameTab)
	r.awaitChange("the fate of the prompts", func() bool { return r.state(p) != store.PromptQueued && r.state(mine) != store.PromptQueued })
	got, err := r.store.Prompt(t.Context(), p.ID)
	must(t, err)
	if got.State != store.PromptFailed || got.Reason == "" || r.state(mine) == store.PromptFailed && strings.Contains(got.Reason, "cage of this agent") != true {
		t.Errorf("%+v, the allowed one is %s", got, r.state(mine))
	}
	// Whoever sent it had a cage then. That the receiver is as tight as that says nothing once the sender has none.
	for _, mode := range []string{"off", "monitor"} {
		_, err = r.store.UpdateTask(t.Context(), sender.ID, func(t *store.Task) error { t.Sandbox = mode; return nil })
		must(t, err)
		if err := r.stillAllowed(t.Context(), store.Prompt{FromTask: sender.ID, Capability: writtenIn(t, sandbox.Monitor)}, &liveTab{task: same, tab: sameTab}); (err == nil) != (mode == "monitor") {
			t.Errorf("its sender is in mode %s by now: %v", mode, err)
		}
	}
	_, err = r.store.UpdateTask(t.Context(), sender.ID, func(t *store.Task) error { t.ArchivedAt = time.Now(); return nil })
	must(t, err)
	if err := r.stillAllowed(t.Context(), store.Prompt{FromTask: sender.ID, Capability: writtenIn(t, sandbox.Monitor)}, &liveTab{task: same, tab: sameTab}); err == nil {
		t.Error("the sender was archived")
	}
}

// TestStartsAreLimited: an agent that would be able to do more than who asks for it is not started.
func TestStartsAreLimited(t *testing.T) {
	r := newIDRig(t)
	me, myTab := r.placed("me", "monitor", true, store.TabAgent, "talker")
	loose, looseTab := r.placed("loose", "off", false, store.TabAgent, "talker")
	child, childTab := r.placed("child", "monitor", true, store.TabAgent, "talker")
	r.start(me, myTab)
	caller := grant.Grant{Principal: "task:" + me.ID, Class: grant.Scoped, Task: me.ID, Terminal: myTab.ID, Projects: []string{r.project.ID}}.Caller(grant.MCP)
	if _, err := r.startFor(t.Context(), caller, loose, looseTab, startHow{}); fault.CodeOf(err) != fault.Forbidden || r.liveOf(looseTab.ID) != nil {
		t.Errorf("an uncaged agent: %v", err)
	}
	silent, err := r.store.CreateTab(t.Context(), store.Tab{TaskID: child.ID, Kind: store.TabAgent, Agent: "silent", Title: "x"})
	must(t, err)
	if _, err := r.startFor(t.Context(), caller, child, silent, startHow{}); fault.CodeOf(err) != fault.Forbidden || r.liveOf(silent.ID) != nil {
		t.Errorf("an agent that is not in the list: %v", err)
	}
	if _, err := r.startFor(t.Context(), caller, child, childTab, startHow{}); err != nil || r.liveOf(childTab.ID) == nil {
		t.Errorf("%v", err)
	}
	r.start(loose, looseTab)
	if _, err := r.startFor(t.Context(), caller, loose, looseTab, startHow{}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("an uncaged agent that runs already: %v", err)
	}
}

// repo writes the .termic.yaml of the rig's project.
func (r *idRig) repo(text string) {
	r.t.Helper()
	must(r.t, os.WriteFile(filepath.Join(r.dir, ".termic.yaml"), []byte(text), 0o600))
}

// TestRepositoryKnobsOnlyTighten: whatever a .termic.yaml says, nothing is wider than without it.
func TestRepositoryKnobsOnlyTighten(t *testing.T) {
	r := newIDRig(t)
	far, _, err := r.store.AddProject(t.Context(), store.Project{Name: "far", RootPath: filepath.Join(r.dir, "far"), NonGit: true})
	must(t, err)
	both := []string{r.project.ID, far.ID}
	own := store.Task{ProjectID: r.project.ID, Agent: "talker", Sandbox: "enforce-fs", MCP: true}
	wide := own
	wide.MCPProjects, wide.MCPAgents = both, []string{"talker", "silent"}
	for _, c := range []struct {
		file string
		task store.Task
		want store.Task
		told int
	}{
		{"", wide, wide, 0},
		{"sandbox: {mode: off}", wide, wide, 0},
		{"sandbox: {mode: monitor, mcp: true}", wide, wide, 0},
		{"sandbox: {mode: enforce}", own, store.Task{ProjectID: own.ProjectID, Agent: "talker", Sandbox: "enforce", MCP: true}, 1},
		{"sandbox: {mcp: false}", own, store.Task{ProjectID: own.ProjectID, Agent: "talker", Sandbox: "enforce-fs"}, 1},
		{"sandbox: {projects: [P, far, nowhere], agents: [talker, silent, more]}", wide, wide, 0},
		{"sandbox: {projects: [far]}", wide, store.Task{ProjectID: own.ProjectID, Agent: "talker", Sandbox: "enforce-fs", MCP: true, MCPProjects: []string{far.ID}, MCPAgents: wide.MCPAgents}, 1},
		{"sandbox: {projects: [far]}", own, store.Task{ProjectID: own.ProjectID, Agent: "talker", Sandbox: "enforce-fs", MCP: true, MCPProjects: []string{}}, 1},
		{"sandbox: {agents: []}", wide, store.Task{ProjectID: own.ProjectID, Agent: "talker", Sandbox: "enforce-fs", MCP: true, MCPProjects: both, MCPAgents: []string{}}, 1},
		{"sandbox: {read: [/], write: [/], hosts: ['*']}", wide, wide, 0},
	} {
		if strings.Contains(c.file, "mode: off") {
			c.file = `sandbox: {mode: "off"}`
		}
		r.repo(c.file)
		got, told, err := r.tightened(t.Context(), c.task)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || len(told) != c.told {
			t.Errorf("%s: %v, told %q\n%s", c.file, err, told, diff)
		}
	}
	// A file that cannot be understood may ask for more, so nothing is started.
	r.repo("sandbox: {mdoe: enforce}")
	task, tab := r.placed("never", "off", false, store.TabAgent, "talker")
	if _, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{}); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v", err)
	}
}

// TestRepositoryListsWaitForConsent: they hold from the consent to this content on, until the content is another one.
func TestRepositoryListsWaitForConsent(t *testing.T) {
	r := newIDRig(t)
	_, err := r.store.UpdateProject(t.Context(), r.project.ID, func(p *store.Project) error { p.SandboxRead = []string{"/of/project"}; return nil })
	must(t, err)
	must(t, r.settings.Patch(t.Context(), map[string]any{"sandbox.hosts": []string{"of.settings"}, "agents.talker.sandbox_hosts": []string{"of.agent"}}))
	task := store.Task{ProjectID: r.project.ID, Agent: "talker", SandboxWrite: []string{"/of/task"}}
	lists := func(task store.Task) (read, write, hosts []string) {
		t.Helper()
		layers, err := r.layersOf(t.Context(), task, task.Agent)
		must(t, err)
		for _, l := range layers {
			if (l.Owner) != !strings.Contains(l.Name, ".termic.yaml") {
				t.Errorf("%s is the owner's: %v", l.Name, l.Owner)
			}
			read, write, hosts = append(read, l.Read...), append(write, l.Write...), append(hosts, l.Hosts...)
		}
		return read, write, hosts
	}
	expect := func(what string, agreed bool) {
		t.Helper()
		read, write, hosts := lists(task)
		if slices.Contains(read, "/of/repo") != agreed || slices.Contains(write, "~/of-repo") != agreed || slices.Contains(hosts, "of.repo") != agreed {
			t.Errorf("%s: %v %v %v", what, read, write, hosts)
		}
		for _, s := range []string{"/of/project", "/of/task", "of.settings", "of.agent"} {
			if !slices.Contains(slices.Concat(read, write, hosts), s) {
				t.Errorf("%s: %s is missing", what, s)
			}
		}
	}
	consent := func(p api.ProjectConsentParams) (api.ProjectConsentResult, error) {
		p.Name = "p"
		return r.ProjectConsent(t.Context(), r.ownCall(store.Task{}), p)
	}
	const text = "sandbox: {read: [/of/repo], write: [~/of-repo], hosts: [of.repo]}\nscripts: {setup: make}\n"
	expect("without a file", false)
	r.repo(text)
	expect("not asked yet", false)
	shown, err := consent(api.ProjectConsentParams{})
	must(t, err)
	if shown.Repo.State != api.RepoWaiting || shown.Text != text || len(shown.Repo.Scripts) != 1 {
		t.Errorf("%+v", shown)
	}
	if _, err := consent(api.ProjectConsentParams{Digest: strings.Repeat("0", 64)}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("another digest: %v", err)
	}
	expect("another digest", false)
	agreed, err := consent(api.ProjectConsentParams{Digest: shown.Repo.Digest})
	if err != nil || agreed.Repo.State != api.RepoAgreed {
		t.Errorf("%+v, %v", agreed, err)
	}
	expect("agreed", true)
	// A task that a caged agent made has its own lists and its agent's.
	caged := task
	caged.FromCage = true
	if read, write, hosts := lists(caged); len(read) != 0 || !slices.Equal(write, []string{"/of/task"}) || !slices.Equal(hosts, []string{"of.agent"}) {
		t.Errorf("from a cage: %v %v %v", read, write, hosts)
	}
	// What such a task is made with: what a repository may not have written in the home stays for reading alone.
	read, write, hosts, err := r.frozenLists(t.Context(), task)
	must(t, err)
	if !slices.Equal(read, []string{"/of/project", "/of/repo", "~/of-repo"}) || !slices.Equal(write, []string{"/of/task"}) || !slices.Equal(hosts, []string{"of.settings", "of.repo"}) {
		t.Errorf("frozen: %v %v %v", read, write, hosts)
	}
	r.repo(text + "# changed by a pull\n")
	expect("after a change", false)
	r.repo(text)
	expect("the same content again", true)
	if _, err := consent(api.ProjectConsentParams{Withdraw: true}); err != nil {
		t.Error(err)
	}
	expect("taken back", false)
	must(t, os.Remove(filepath.Join(r.dir, ".termic.yaml")))
	if _, err := consent(api.ProjectConsentParams{Digest: shown.Repo.Digest}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("without a file: %v", err)
	}
}

// TestAllow: one thing, at one place; nothing that runs is ended.
func TestAllow(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.placed("boxed", "monitor", true, store.TabAgent, "talker")
	l := r.start(task, tab)
	caller := l.identity.grant.Caller(grant.MCP)
	if err := r.asProvisioned(t.Context(), caller); err != nil {
		t.Errorf("as it was started: %v", err)
	}
	rows, err := r.store.Terminals(t.Context())
	must(t, err)
	if len(rows) != 1 || !strings.Contains(rows[0].Capability, `"monitor"`) {
		t.Errorf("what was provisioned is not written down: %+v", rows)
	}
	allow := func(p api.SandboxAllowParams) (api.SandboxAllowResult, error) {
		return r.SandboxAllow(t.Context(), r.ownCall(task), p)
	}
	for _, c := range []struct {
		p       api.SandboxAllowParams
		target  string
		changed bool
		code    fault.Code
	}{
		{api.SandboxAllowParams{Host: "Example.com"}, "example.com", true, ""},
		{api.SandboxAllowParams{Host: "example.com", For: "task"}, "example.com", false, ""},
		{api.SandboxAllowParams{Host: "example.com", For: "project"}, "example.com", true, ""},
		{api.SandboxAllowParams{Host: "example.com", For: "agent"}, "example.com", true, ""},
		{api.SandboxAllowParams{Host: "example.com", For: "agent"}, "example.com", false, ""},
		{api.SandboxAllowParams{Read: "/usr/lib"}, "/usr/lib", true, ""},
		{api.SandboxAllowParams{Write: "/usr/lib", For: "agent"}, "/usr/lib", true, ""},
		{api.SandboxAllowParams{Read: "/usr/lib", For: "agent"}, "", false, fault.Unsupported},
		{api.SandboxAllowParams{}, "", false, fault.InvalidArgument},
		{api.SandboxAllowParams{Host: "a.b", Read: "/x"}, "", false, fault.InvalidArgument},
		{api.SandboxAllowParams{Host: "https://a.b"}, "", false, fault.InvalidArgument},
		{api.SandboxAllowParams{Read: "x"}, "", false, fault.InvalidArgument},
	} {
		got, err := allow(c.p)
		if fault.CodeOf(err) != c.code || err == nil && (got.Target != c.target || got.Changed != c.changed || got.Restart != c.changed) {
			t.Errorf("%+v: %+v, %v", c.p, got, err)
		}
	}
	stored, err := r.store.Task(t.Context(), task.ID)
	must(t, err)
	project, err := r.store.Project(t.Context(), r.project.ID)
	must(t, err)
	if !slices.Equal(stored.SandboxHosts, []string{"example.com"}) || !slices.Equal(stored.SandboxRead, []string{"/usr/lib"}) || !slices.Equal(project.SandboxHosts, []string{"example.com"}) {
		t.Errorf("%+v, %+v", stored, project)
	}
	for _, a := range r.settings.Get().Agents {
		if a.ID == "talker" && (!slices.Equal(a.SandboxHosts, []string{"example.com"}) || !slices.Equal(a.SandboxPaths, []string{"/usr/lib"}) || a.Command != "/bin/sh") {
			t.Errorf("%+v", a)
		}
	}
	if err := r.asProvisioned(t.Context(), caller); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a child would have more than its parent was started with: %v", err)
	}
	if r.liveOf(tab.ID) != l || !r.good(l) {
		t.Error("an allowance ended what runs")
	}
	_, err = r.store.UpdateTask(t.Context(), task.ID, func(t *store.Task) error { t.FromCage = true; return nil })
	must(t, err)
	if _, err := allow(api.SandboxAllowParams{Host: "c.d", For: "project"}); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("for the project of a task from a cage: %v", err)
	}
}

// TestAProjectThatCameBackIsNotTrusted: removing a project takes it off every list, and its consent with it.
func TestAProjectThatCameBackIsNotTrusted(t *testing.T) {
	r := newIDRig(t)
	dir := filepath.Join(r.dir, "far")
	must(t, os.Mkdir(dir, 0o700))
	far, _, err := r.store.AddProject(t.Context(), store.Project{Name: "far", RootPath: dir, NonGit: true})
	must(t, err)
	must(t, r.store.SetConsent(t.Context(), far.ID, "abc"))
	task, _ := r.placed("x", "monitor", true, store.TabAgent, "talker")
	_, err = r.store.UpdateTask(t.Context(), task.ID, func(t *store.Task) error { t.MCPProjects = []string{far.ID}; return nil })
	must(t, err)
	_, err = r.store.UpdateProject(t.Context(), r.project.ID, func(p *store.Project) error { p.MCPProjects = []string{r.project.ID, far.ID}; return nil })
	must(t, err)
	_, err = r.ProjectRemove(t.Context(), r.ownCall(store.Task{}), api.ProjectRemoveParams{Name: "far"})
	must(t, err)
	back, _, err := r.store.AddProject(t.Context(), store.Project{Name: "far", RootPath: dir, NonGit: true})
	must(t, err)
	task, err = r.store.Task(t.Context(), task.ID)
	must(t, err)
	project, err := r.store.Project(t.Context(), r.project.ID)
	must(t, err)
	_, agreed, err := r.store.Consent(t.Context(), far.ID)
	must(t, err)
	if back.ID != far.ID || len(projectsOf(task)) != 0 || !slices.Equal(project.MCPProjects, []string{r.project.ID}) || agreed {
		t.Errorf("back as %s, was %s; the task may act on %v, new ones on %v, consent %v", back.ID, far.ID, projectsOf(task), project.MCPProjects, agreed)
	}
}

// TestKnobsOfNewTasks: what is asked for, else what the project says, else the settings; and the repository tightens all.
func TestKnobsOfNewTasks(t *testing.T) {
	r := newIDRig(t)
	r.cages = anyMode{ownCages{r.Core}}
	plan := func(p api.TaskNewParams) store.Task {
		t.Helper()
		p.Name, p.Project, p.NoAgent = "x", "p", true
		n, err := r.planNew(t.Context(), r.ownCall(store.Task{}), p)
		must(t, err)
		return n.task
	}
	expect := func(what string, got store.Task, mode string, mcp bool, projects, agents []string) {
		t.Helper()
		if got.Sandbox != mode || got.MCP != mcp || !slices.Equal(got.MCPProjects, projects) || !slices.Equal(got.MCPAgents, agents) || got.FromCage {
			t.Errorf("%s: %+v", what, got)
		}
	}
	expect("by the settings", plan(api.TaskNewParams{}), "off", false, nil, nil)
	_, err := r.ProjectSettings(t.Context(), r.ownCall(store.Task{}), api.ProjectSettingsParams{Name: "p", Sandbox: "enforce-fs", MCP: true, Projects: []string{"P"}, Agents: []string{"talker", "silent"}})
	must(t, err)
	own := []string{r.project.ID}
	expect("by the project", plan(api.TaskNewParams{}), "enforce-fs", true, own, []string{"talker", "silent"})
	expect("as asked", plan(api.TaskNewParams{Sandbox: "off", Agents: []string{"chatty"}}), "off", true, own, []string{"chatty"})
	r.repo("sandbox: {mode: enforce, mcp: false, agents: [talker]}")
	expect("tightened", plan(api.TaskNewParams{Sandbox: "off", MCP: true}), "enforce", false, own, []string{"talker"})
	got, err := r.ProjectSettings(t.Context(), r.ownCall(store.Task{}), api.ProjectSettingsParams{Name: "p", Sandbox: "default", NoMCP: true, Projects: []string{}, Agents: []string{""}})
	if err != nil || got.Project.Sandbox != "" || got.Project.Cage != nil || got.Project.Repo == nil || got.Project.Repo.State != api.RepoKnobs {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.planNew(t.Context(), r.ownCall(store.Task{}), api.TaskNewParams{Name: "x", Project: "p", NoAgent: true, Projects: []string{"nowhere"}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// anyMode are cages of which every mode can be had.
type anyMode struct{ ownCages }

func (anyMode) Check(sandbox.Mode) error { return nil }

// TestGrantsThatNoCageHas: what the start of a cage would refuse is refused when it is written, in every list.
func TestGrantsThatNoCageHas(t *testing.T) {
	home := t.TempDir()
	c := &Core{home: home, dataDir: t.TempDir()}
	for _, p := range []string{"/no/such/place", "$HOME/missing", "~/missing", "/", "/proc", "/dev/shm", "/tmp", "~", "$HOME", home, c.dataDir, c.dataDir + "/..//" + filepath.Base(c.dataDir), "relative"} {
		for _, err := range []error{second(c.paths([]string{"/usr", p})), c.checkGrants("sandbox.read", []string{p}), c.checkGrants("agents.mine.sandbox_paths", []string{p})} {
			if f := fault.From(err); f == nil || f.Code != fault.InvalidArgument || f.Hint == "" {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
	for _, p := range []string{"/usr", "$WORKSPACE/later", "$SSH_AUTH_SOCK", home + "/.."} {
		if _, err := c.paths([]string{p}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	if err := c.checkGrants("keys.newTask", "/"); err != nil {
		t.Error(err)
	}
}

func second[A any](_ A, err error) error { return err }

// TestRefusedEntrySaysHowToTakeItOut: an entry that became bad after it was written keeps agents from starting, and the
// refusal names the command that helps.
func TestRefusedEntrySaysHowToTakeItOut(t *testing.T) {
	r := newIDRig(t)
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct{ layer, agent, want string }{
		{layerTask, "talker", "`termic sandbox 'my task' --write /usr`"},
		{layerProject, "talker", "`termic project settings p --write /usr`"},
		{layerSettings, "talker", "`termic settings set sandbox.write '[\"/usr\"]'`"},
		{layerAgent + "talker", "talker", "`termic settings set agents.talker.sandbox_paths '[\"/usr\"]'`"},
	} {
		l := sandbox.Layer{Name: c.layer, Write: []string{"/usr", gone}}
		err := fault.New(fault.InvalidArgument, "no").WithData("entry", sandbox.Entry{Layer: c.layer, Text: gone, Write: true})
		got := fault.From(r.sayHow(t.Context(), store.Task{Name: "my task", ProjectID: r.project.ID}, c.agent, []sandbox.Layer{l}, err))
		if !strings.Contains(got.Hint, c.want) || got.Data != nil {
			t.Errorf("%s: %s %v", c.layer, got.Hint, got.Data)
		}
	}
}
