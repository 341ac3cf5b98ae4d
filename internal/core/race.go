package core

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
)

// maxRacers is how many agents one race may have: as many as a person can compare, and as a machine can run.
const maxRacers = 8

// TaskRace is the verb task_race: one prompt for several agents, each in a task of its own, all from the same commit. It answers
// when every task is durable. Whose work is taken is said afterwards, with task_apply.
func (c *Core) TaskRace(ctx context.Context, call *Call, p api.TaskRaceParams) (api.TaskRaceResult, error) {
	runs, err := c.planRace(ctx, call, p)
	if err != nil {
		return api.TaskRaceResult{}, err
	}
	result := api.TaskRaceResult{Tasks: []api.TaskSummary{}}
	for i, n := range runs {
		made, err := c.startNewTask(ctx, call, n)
		if err != nil {
			return result, halfRace(err, i, len(runs))
		}
		call.Spend()
		result.Race, result.Base, result.Commit = n.task.Race, n.task.BaseRef, n.start
		result.Tasks, result.Jobs = append(result.Tasks, made), append(result.Jobs, n.job)
	}
	call.Task = "" // it is about several
	return result, nil
}

// halfRace says how far a race came that could not begin whole.
func halfRace(err error, made, asked int) error {
	if made == 0 {
		return err
	}
	f := fault.From(err)
	return f.WithHint("%s of %d were created and run; archive them, or go on with them. %s", countOf(made, "task"), asked, f.Hint)
}

// planRace checks every task of a race before the first is made.
func (c *Core) planRace(ctx context.Context, call *Call, p api.TaskRaceParams) ([]*newTask, error) {
	if n := len(p.Agents); n < 2 || n > maxRacers {
		return nil, fault.New(fault.InvalidArgument, "A race is between 2 and %d agents, not %d", maxRacers, n).
			WithHint("Name each with agent. The same one may run twice.")
	}
	if p.Prompt == "" && p.PromptRef == "" {
		return nil, fault.New(fault.InvalidArgument, "A race needs a prompt: the same for every agent")
	}
	race := ids.New()
	var runs []*newTask
	for i, name := range raceNames(p.Name, p.Agents) {
		one := api.TaskNewParams{Name: name, Project: p.Project, Prompt: p.Prompt, PromptRef: p.PromptRef, Agent: p.Agents[i], Mode: "worktree",
			Base: p.Base, Sandbox: p.Sandbox, Yolo: p.Yolo, Cwd: p.Cwd}
		n, err := c.planNew(ctx, call, one)
		if err != nil {
			return nil, err
		}
		n.task.Race = race
		runs = append(runs, n)
	}
	if err := c.freeNames(ctx, p, runs); err != nil {
		return nil, err
	}
	return runs, c.sameStart(ctx, runs)
}

// raceNames names each task of a race after the race and its agent; agents that run twice get numbers.
func raceNames(race string, agents []string) []string {
	seen := map[string]int{}
	names := make([]string, len(agents))
	for i, agent := range agents {
		seen[agent]++
		names[i] = race + " " + agent
		if n := seen[agent]; n > 1 {
			names[i] += " " + strconv.Itoa(n)
		}
	}
	return names
}

// freeNames refuses a race of which a task has a name that is taken.
func (c *Core) freeNames(ctx context.Context, p api.TaskRaceParams, runs []*newTask) error {
	have, err := c.store.Tasks(ctx, store.TaskFilter{ProjectID: runs[0].project.ID})
	if err != nil {
		return err
	}
	for _, n := range runs {
		if slices.ContainsFunc(have, func(t store.Task) bool { return strings.EqualFold(t.Name, n.task.Name) }) {
			return fault.New(fault.Conflict, "There is a task named %q in this project already", n.task.Name).WithHint("Choose another name for the race.")
		}
	}
	return nil
}

// sameStart brings the base up to date once, and lets every task of a race begin at that commit: what they make can be compared
// only if they began alike.
func (c *Core) sameStart(ctx context.Context, runs []*newTask) error {
	first := runs[0]
	if first.mode != "worktree" {
		return fault.New(fault.Unsupported, "The project %q is a plain folder, so several agents cannot work side by side in it", first.project.Name)
	}
	repo, err := c.repoOf(ctx, first.project)
	if err != nil {
		return err
	}
	base := orElse(first.params.Base, first.project.BaseBranch)
	var note string
	if c.settings.Get().Tasks.FetchBeforeCreate {
		if err := repo.Fetch(ctx, base); err != nil {
			if ctx.Err() != nil {
				return err
			}
			note = "The base could not be brought up to date, so the race starts from what is here. " + sentence(err)
		}
	}
	start, err := repo.ResolveBase(ctx, base)
	if err != nil {
		return err
	}
	for _, n := range runs {
		n.start, n.task.BaseRef = start.Commit, start.Name
		if note != "" {
			n.told = append(n.told, note)
		}
	}
	return nil
}
