package core

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// gated is what an approval is asked for: what would be done, and the state that it is bound to.
type gated struct {
	plan    api.ApprovalPlan
	bound   boundTo
	project store.Project
	task    store.Task // zero for what is about a project
}

// planGated finds out what a call would do, and refuses it where the call itself would be refused now. It changes nothing.
func (c *Core) planGated(ctx context.Context, call *Call, params any) (gated, error) {
	switch p := params.(type) {
	case api.TaskApplyParams:
		return c.gateApply(ctx, call)
	case api.TaskArchiveParams:
		return c.gateArchive(ctx, call, p)
	case api.TaskTabCloseParams:
		return c.gateClose(ctx, call, p)
	case api.ProjectRemoveParams:
		return c.gateRemove(ctx, call, p)
	}
	return gated{}, fault.New(fault.Forbidden, "%s cannot be approved", call.Verb).WithHint("Only the owner can do that.")
}

// gateApply plans an apply as the apply itself reads the repository, so that both come to the same.
func (c *Core) gateApply(ctx context.Context, call *Call) (gated, error) {
	t, project, err := c.applicable(ctx, call.Task)
	if err != nil {
		return gated{}, err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return gated{}, err
	}
	p, err := c.repoFor(repo, t).PlanApply(ctx, t.Path, baseOf(t), t.AppliedTree)
	if err != nil {
		return gated{}, err
	}
	if p.Refusal != nil {
		return gated{}, p.Refusal
	}
	if t.FromCage || c.written(ctx, t) {
		if err := c.refuseSelfRun(ctx, t, "they arrive in the main checkout", "apply "+shellWord(t.Name)+" --accept-files"); err != nil {
			return gated{}, err
		}
	}
	v := viewPlan(t, project, p)
	said := fmt.Sprintf("Apply the task %s to the main checkout of %s: %s", quoted(t.Name), quoted(project.Name), countOf(v.Total, "file"))
	if n := len(p.Conflicts); n > 0 {
		said += fmt.Sprintf(", %d of them with conflicts", n)
	}
	return gated{plan: api.ApprovalPlan{Summary: said, Apply: &v}, task: t, project: project,
		bound: boundTo{partTask + t.ID: taskFacts(t, project), partApply + t.ID: p.Digest}}, nil
}

func (c *Core) gateArchive(ctx context.Context, call *Call, p api.TaskArchiveParams) (gated, error) {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return gated{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return gated{}, err
	}
	g := gated{task: t, project: project, bound: boundTo{}}
	if err := c.planRemoval(ctx, &g, t, p.DeleteBranch); err != nil {
		return gated{}, err
	}
	if lost := g.plan.Tasks[0].Losses; len(lost) > 0 && !p.Discard {
		return gated{}, needsDiscard(t, lost)
	}
	if p.DeleteBranch && t.Branch != "" {
		g.plan.Deletes = []string{t.Branch}
	}
	g.plan.Summary = fmt.Sprintf("Archive the task %s: %s", quoted(t.Name), removalWords(g.plan.Tasks[0]))
	if len(g.plan.Deletes) > 0 {
		g.plan.Summary += ", and the branch " + quoted(t.Branch) + " is deleted"
	}
	return g, nil
}

// planRemoval adds to a plan what archiving a task would lose and end.
func (c *Core) planRemoval(ctx context.Context, g *gated, t store.Task, deleteBranch bool) error {
	lost, tree, err := c.held(ctx, t, g.project, deleteBranch)
	if err != nil {
		return err
	}
	programs, err := c.programFacts(ctx, t.ID)
	if err != nil {
		return err
	}
	g.bound[partTask+t.ID], g.bound[partPrograms+t.ID], g.bound[partTree+t.ID] = taskFacts(t, g.project), programs, tree
	v := api.PlannedTask{TaskID: t.ID, Name: t.Name, Branch: t.Branch, Losses: lost}
	for _, l := range c.liveTabs(t.ID) {
		if l.tab.Kind == store.TabAgent {
			v.Agents++
		} else {
			v.Others++
		}
	}
	g.plan.Tasks = append(g.plan.Tasks, v)
	return nil
}

func removalWords(t api.PlannedTask) string {
	var words []string
	if len(t.Losses) == 0 {
		words = append(words, "nothing is lost")
	} else {
		words = append(words, lossWords(t.Losses)+" exist nowhere else")
	}
	if t.Agents > 0 {
		words = append(words, countOf(t.Agents, "agent")+" ended")
	}
	if t.Others > 0 {
		words = append(words, countOf(t.Others, "terminal")+" ended")
	}
	return strings.Join(words, ", ")
}

func (c *Core) gateClose(ctx context.Context, call *Call, p api.TaskTabCloseParams) (gated, error) {
	tabs, err := c.tabsFor(ctx, call.Caller, call.Task)
	if err != nil {
		return gated{}, err
	}
	tab, err := resolveTab(tabs, p.Tab)
	if err != nil {
		return gated{}, err
	}
	if err := needsAllowDefault(tab, p); err != nil {
		return gated{}, err
	}
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return gated{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return gated{}, err
	}
	facts, err := c.tabFacts(ctx, tab)
	if err != nil {
		return gated{}, err
	}
	end := api.PlannedEnd{TabID: tab.ID, Title: orElse(tab.Name, tab.Title), Agent: tab.Agent, Queued: c.queued(tab.ID)}
	if l := c.liveOf(tab.ID); l != nil {
		end.Running, end.Working = true, l.working()
	}
	return gated{plan: api.ApprovalPlan{Summary: closeWords(t, end), Ends: []api.PlannedEnd{end}}, task: t, project: project,
		bound: boundTo{partTab + tab.ID: facts}}, nil
}

func closeWords(t store.Task, e api.PlannedEnd) string {
	said := fmt.Sprintf("Close the tab %s of the task %s", quoted(e.Title), quoted(t.Name))
	switch {
	case e.Working:
		said += "; its agent is at work"
	case e.Running:
		said += "; its program is ended"
	}
	if e.Queued > 0 {
		said += "; " + countOf(e.Queued, "queued prompt") + " will not be typed"
	}
	return said
}

func (c *Core) gateRemove(ctx context.Context, call *Call, p api.ProjectRemoveParams) (gated, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return gated{}, err
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{ProjectID: project.ID})
	if err != nil {
		return gated{}, err
	}
	if !p.Discard {
		if err := c.lossesOfAll(ctx, tasks); err != nil {
			return gated{}, err
		}
	}
	g := gated{project: project, bound: boundTo{partProject + project.ID: projectFacts(project, tasks)}}
	for _, t := range tasks {
		if err := c.planRemoval(ctx, &g, t, false); err != nil {
			return gated{}, err
		}
	}
	losing := 0
	for _, t := range g.plan.Tasks {
		if len(t.Losses) > 0 {
			losing++
		}
	}
	g.plan.Summary = fmt.Sprintf("Archive %s of the project %s and forget it; its repository is left alone", countOf(len(tasks), "task"), quoted(project.Name))
	if losing > 0 {
		g.plan.Summary += fmt.Sprintf("; work in %d of them exists nowhere else", losing)
	}
	return g, nil
}

// requester is who asked for an approval, with what its token may do now.
func (c *Core) requester(ctx context.Context, a store.Approval) (grant.Caller, error) {
	caller, found, err := c.callerOfToken(ctx, a.Token, grant.Face(a.Face))
	if err != nil {
		return grant.Caller{}, err
	}
	if !found || caller.Class != grant.Operator || !caller.Everywhere && !slices.Contains(caller.Projects, a.ProjectID) {
		return grant.Caller{}, &staleError{fault.New(fault.Forbidden, "%s may not do that any more, so nothing was done", a.Principal).
			WithHint("Its token was revoked or narrowed since it asked.")}
	}
	return caller, nil
}

// tokenByID finds a named token by what no other one ever has.
func (c *Core) tokenByID(ctx context.Context, id string) (store.Token, bool, error) {
	tokens, err := c.store.Tokens(ctx)
	for _, t := range tokens {
		if t.ID == id && id != "" {
			return t, true, err
		}
	}
	return store.Token{}, false, err
}
