package core

import (
	"context"
	"path/filepath"
	"strings"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/sandbox"
)

// newTask is a creation that was found to be possible.
type newTask struct {
	params  api.TaskNewParams
	project store.Project
	kind    agent.Kind
	mode    string // worktree, main, adopt
	prompt  string
	task    store.Task
	tab     store.Tab
	queued  store.Prompt
	job     string
	told    []string            // what was tightened
	limit   *sandbox.Capability // what its agent may do at most; nil: whatever the task may
	start   string              // the commit that it begins at; empty: where its base is when it is made
	repo    *worktree.Repo      // of the project; nil where it is a plain folder
	branch  string              // that will be made, if it goes as it was foreseen; empty: it was not
	commit  string              // at which
}

// TaskNew is the verb task_new. It answers when the task is durable and its worktree under way, or with wait when its
// agent settled.
func (c *Core) TaskNew(ctx context.Context, call *Call, p api.TaskNewParams) (api.TaskNewResult, error) {
	n, err := c.planNew(ctx, call, p)
	if err != nil {
		return api.TaskNewResult{}, err
	}
	summary, err := c.startNewTask(ctx, call, n)
	if err != nil {
		return api.TaskNewResult{}, err
	}
	result := api.TaskNewResult{Task: summary, Prompt: n.queued.ID}
	if p.Open {
		c.show(n.task.ID)
	}
	if p.Wait {
		out, err := c.await(ctx, call, waitFor{task: n.task.ID, tab: n.tab.ID, prompt: n.queued.ID, timeoutMs: p.TimeoutMs, fresh: true})
		if err != nil {
			return result, err
		}
		if result.Task, err = c.summary(ctx, call.Caller, n.task.ID); err != nil {
			return result, err
		}
		result.Wait = &out
	}
	return result, nil
}

// startNewTask makes a task durable and begins its creation, which goes on after the answer. The call is about that task then.
func (c *Core) startNewTask(ctx context.Context, call *Call, n *newTask) (api.TaskSummary, error) {
	if err := c.acceptNew(ctx, call, n); err != nil {
		return api.TaskSummary{}, err
	}
	call.Task = n.task.ID
	if n.task.Race == "" {
		call.KeepJob()
	}
	c.setStarting(n.tab.ID, true)
	under := *n // the creation goes on while the answer is made, and writes into its own
	if !c.spawn(func() {
		defer c.setStarting(under.tab.ID, false)
		c.create(&under)
	}) {
		return api.TaskSummary{}, ending()
	}
	c.beacon.change()
	summary, err := c.summary(ctx, call.Caller, n.task.ID)
	if err == nil {
		call.emit(api.Event{Event: "created", Task: &summary})
	}
	return summary, err
}

// planNew checks everything that can be checked before anything is made. It writes nothing.
func (c *Core) planNew(ctx context.Context, call *Call, p api.TaskNewParams) (*newTask, error) {
	n := &newTask{params: p}
	if err := c.planPlace(ctx, call.Caller, n); err != nil {
		return nil, err
	}
	if err := c.planStart(ctx, n); err != nil {
		return nil, err
	}
	var err error
	if n.prompt, err = c.compose(p.PromptRef, p.Prompt); err != nil {
		return nil, err
	}
	if n.kind, err = c.chooseAgent(ctx, c.agentAsked(call.Caller, p), n.project.DefaultAgent); err != nil && !(p.NoAgent && p.Agent == "") {
		return nil, err
	}
	switch {
	case p.NoAgent && (n.prompt != "" || p.Wait || p.Resume != ""):
		return nil, fault.New(fault.InvalidArgument, "A task without an agent takes no prompt, no wait and no resume")
	case p.Wait && !n.kind.WorkDone:
		return nil, fault.New(fault.Unsupported, "The agent %q gives no sign of settling, so there is nothing to wait for", n.kind.ID)
	case p.Resume != "" && len(n.kind.ResumeIDArgs) == 0:
		return nil, fault.New(fault.Unsupported, "The agent %q cannot resume by session id", n.kind.ID)
	case p.Yolo && len(n.kind.YoloArgs) == 0:
		return nil, fault.New(fault.Unsupported, "The agent %q has no switch for its permission prompts", n.kind.ID)
	}
	n.task = store.Task{ProjectID: n.project.ID, Name: n.params.Name, Agent: n.kind.ID, State: api.TaskCreating,
		IsMain: n.mode == "main", Yolo: p.Yolo, BaseRef: p.Base}
	n.task.ID = ids.New()
	if err := c.planParent(ctx, call, n); err != nil {
		return nil, err
	}
	if err := c.planCage(ctx, call, n); err != nil {
		return n, err
	}
	return n, c.planSecrets(ctx, call, n)
}

// agentAsked is the agent that a new task was asked for with. A caged agent that names none means its own kind.
func (c *Core) agentAsked(caller grant.Caller, p api.TaskNewParams) string {
	if p.Agent == "" && confined(caller) {
		if tab, err := c.store.Tab(c.ctx, caller.Terminal); err == nil {
			return tab.Agent
		}
	}
	return p.Agent
}

// planCage settles how the task is caged and what its agent may drive: as it was asked for, as the project or the settings
// say, or as tight as the agent that asks; and never looser than the repository wants it.
func (c *Core) planCage(ctx context.Context, call *Call, n *newTask) (err error) {
	p, t := n.params, &n.task
	if confined(call.Caller) {
		err = c.planChild(ctx, call, n)
	} else {
		t.Sandbox = orElse(p.Sandbox, orElse(n.project.Sandbox, c.settings.Get().Sandbox.DefaultMode))
		t.MCP, t.MCPProjects, t.MCPAgents = p.MCP || n.project.MCP, n.project.MCPProjects, n.project.MCPAgents
		if given(p.Projects) {
			t.MCPProjects, err = c.projectIDs(ctx, call.Caller, p.Projects)
		}
		if given(p.Agents) && err == nil {
			t.MCPAgents, err = c.agentIDs(p.Agents)
		}
	}
	if err != nil {
		return err
	}
	if *t, n.told, err = c.tightened(ctx, *t); err != nil {
		return err
	}
	n.told = append(n.told, c.besideRunning(*t)...)
	return c.cages.Check(sandbox.Mode(t.Sandbox))
}

// planPlace settles name, project and mode.
func (c *Core) planPlace(ctx context.Context, caller grant.Caller, n *newTask) (err error) {
	p := &n.params
	if p.Name == "" && p.From == "" {
		return fault.New(fault.InvalidArgument, "The task needs a name")
	}
	if n.project, err = c.projectOfNew(ctx, caller, p); err != nil {
		return err
	}
	switch {
	case p.From != "":
		n.mode = "adopt"
		if p.Name == "" {
			p.Name = filepath.Base(p.From)
		}
	case n.project.NonGit:
		n.mode = "main"
		if p.Mode == "worktree" {
			return fault.New(fault.Unsupported, "The project %q is a plain folder, so its tasks work in the folder itself", n.project.Name)
		}
	case confined(caller):
		n.mode = "worktree" // the main checkout is the user's
	default:
		n.mode = orElse(p.Mode, c.settings.Get().Tasks.DefaultMode)
	}
	if n.mode == "main" && n.project.Bare {
		return fault.New(fault.Unsupported, "The project %q is a bare repository without a main checkout", n.project.Name)
	}
	if n.mode == "main" && (p.Base != "" || p.Branch != "") {
		return fault.New(fault.InvalidArgument, "A task in the main checkout takes no base and no branch")
	}
	if err := checkName("task", p.Name); err != nil {
		return err
	}
	if p.Branch != "" {
		if err := worktree.CheckBranch(p.Branch); err != nil {
			return err
		}
	}
	_, err = worktree.Slug(p.Name)
	return err
}

// projectOfNew picks the project: the one named, the one before a slash in the name, the one of the current folder, or that
// of the caged agent that asks.
func (c *Core) projectOfNew(ctx context.Context, caller grant.Caller, p *api.TaskNewParams) (store.Project, error) {
	if p.Project != "" {
		return c.resolveProject(ctx, caller, p.Project)
	}
	if first, rest, ok := strings.Cut(p.Name, "/"); ok && rest != "" {
		if project, err := c.resolveProject(ctx, caller, first); err == nil {
			p.Name = rest
			return project, nil
		}
	}
	projects, err := c.projectsFor(ctx, caller)
	if err != nil {
		return store.Project{}, err
	}
	if confined(caller) {
		return c.ownProject(ctx, caller, projects)
	}
	if folder := orElse(p.From, p.Cwd); folder != "" {
		if project, ok, err := c.projectOfFolder(ctx, projects, folder); ok || err != nil {
			return project, err
		}
	}
	if len(projects) == 0 {
		return store.Project{}, fault.New(fault.NotFound, "There is no project yet").WithHint("Add one: `termic project add PATH`.")
	}
	return store.Project{}, fault.New(fault.InvalidArgument, "Which project is the task for?").
		WithHint("Name it with --project, or run the command inside its folder.")
}

// projectOfFolder finds the project whose repository holds a folder: its main checkout, or any of its worktrees. A
// repository that was not added is an error that names it.
func (c *Core) projectOfFolder(ctx context.Context, projects []store.Project, folder string) (store.Project, bool, error) {
	for _, p := range projects {
		if within(p.RootPath, folder) {
			return p, true, nil
		}
	}
	repo, err := c.git.Open(ctx, folder)
	if err != nil {
		return store.Project{}, false, nil // no repository: nothing to go by
	}
	root := repo.Root()
	if repo.Bare() {
		root = repo.CommonDir()
	}
	for _, p := range projects {
		if within(p.RootPath, root) {
			return p, true, nil
		}
	}
	return store.Project{}, false, fault.New(fault.UnregisteredProject, "The repository %s was not added to Termic", root).
		WithHint("Add it: `termic project add %s`.", shellWord(root)).WithData("root", root)
}

// acceptNew makes the task durable: row, tab, prompt, job and intent in one transaction.
func (c *Core) acceptNew(ctx context.Context, call *Call, n *newTask) error {
	if n.task.ParentID != "" {
		release, err := c.hold(ctx, "children:"+n.task.ParentID)
		if err != nil {
			return err
		}
		defer release()
	}
	c.createMu.Lock()
	defer c.createMu.Unlock()
	if err := c.planPath(ctx, n); err != nil {
		return err
	}
	return c.store.Write(ctx, func(tx *store.Tx) error {
		if err := c.roomFor(ctx, n.task.ParentID, ""); err != nil {
			return err
		}
		if err := c.insertNew(ctx, tx, call, n); err != nil {
			return err
		}
		return noteFiring(ctx, tx, "", n.task.ID)
	})
}

func (c *Core) insertNew(ctx context.Context, tx *store.Tx, call *Call, n *newTask) (err error) {
	if n.mode == "adopt" {
		if err := refuseShared(ctx, tx, n.task.Path); err != nil {
			return err
		}
	}
	if n.task, err = tx.CreateTask(ctx, n.task); err != nil {
		return err
	}
	if !n.params.NoAgent {
		n.tab, err = tx.CreateTab(ctx, store.Tab{TaskID: n.task.ID, Kind: store.TabAgent, Agent: n.kind.ID, Title: n.kind.Name,
			IsDefault: true, SessionID: n.params.Resume, SessionUsed: n.params.Resume != ""})
		if err != nil {
			return err
		}
	}
	if n.prompt != "" {
		p := store.Prompt{TabID: n.tab.ID, Text: n.prompt}
		if err := c.signed(call.Caller, &p); err != nil {
			return err
		}
		if n.queued, err = tx.EnqueuePrompt(ctx, p); err != nil {
			return err
		}
	}
	if n.job = call.Job; n.task.Race != "" { // each of a race is one of its own
		job, err := tx.StartJob(ctx, store.Job{Verb: call.Verb, Principal: call.Caller.Principal, Token: call.Caller.Token, Face: string(call.Caller.Face), Target: n.task.ID})
		if err != nil {
			return err
		}
		n.job = job.ID
	} else if err := tx.SetJobTarget(ctx, n.job, n.task.ID); err != nil {
		return err
	}
	return n.begin(ctx, tx)
}

func orElse(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
