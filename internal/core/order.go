package core

import (
	"context"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TaskMove is the verb task_move: it gives a task another place in the sidebar among the tasks of its project. Tasks that
// another one made stand below that one, in the order in which they were made.
func (c *Core) TaskMove(ctx context.Context, call *Call, p api.TaskMoveParams) (api.TaskMoveResult, error) {
	if p.Position < 1 {
		return api.TaskMoveResult{}, firstIsOne()
	}
	result := api.TaskMoveResult{TaskID: call.Task}
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		task, err := tx.Task(ctx, call.Task)
		if err != nil {
			return err
		}
		if task.Archived() {
			return fault.New(fault.Conflict, "The task %q is archived, so it has no place in the sidebar", task.Name)
		}
		all, err := tx.Tasks(ctx, store.TaskFilter{ProjectID: task.ProjectID})
		if err != nil {
			return err
		}
		slices.Reverse(all) // as the sidebar shows them
		roots, below := rootTasks(all)
		if !slices.Contains(roots, task.ID) {
			return fault.New(fault.Conflict, "The task %q stands below the task that made it", task.Name).WithHint("Move that one.")
		}
		result.Name = task.Name
		roots, result.Position = moved(roots, task.ID, int(p.Position))
		order := append(roots, below...)
		slices.Reverse(order)
		return tx.PlaceTasks(ctx, order)
	})
	if err == nil {
		c.beacon.change()
	}
	return result, err
}

func firstIsOne() error {
	return fault.New(fault.InvalidArgument, "The first place is 1")
}

// rootTasks parts the tasks of a project into those that stand by themselves and those below an ancestor that is among them.
func rootTasks(all []store.Task) (roots, below []string) {
	there := map[string]bool{}
	for _, t := range all {
		there[t.ID] = true
	}
	for _, t := range all {
		if there[t.ParentID] {
			below = append(below, t.ID)
		} else {
			roots = append(roots, t.ID)
		}
	}
	return roots, below
}

// moved puts id at a place of the list, from 1, or at its end; it returns the place as well.
func moved(list []string, id string, to int) ([]string, int) {
	list = slices.DeleteFunc(slices.Clone(list), func(one string) bool { return one == id })
	to = min(to, len(list)+1)
	return slices.Insert(list, to-1, id), to
}

// ProjectMove is the verb project_move: it gives a project another place in the sidebar.
func (c *Core) ProjectMove(ctx context.Context, call *Call, p api.ProjectMoveParams) (api.ProjectMoveResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectMoveResult{}, err
	}
	if p.Position < 1 {
		return api.ProjectMoveResult{}, firstIsOne()
	}
	result := api.ProjectMoveResult{ID: project.ID, Name: project.Name}
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		all, err := tx.Projects(ctx)
		if err != nil {
			return err
		}
		all = together(all)
		order, _ := moved(projectIDsOf(all), project.ID, int(p.Position))
		slices.SortFunc(all, func(a, b store.Project) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
		order = projectIDsOf(together(all))
		result.Position = slices.Index(order, project.ID) + 1
		return tx.PlaceProjects(ctx, order)
	})
	if err == nil {
		c.beacon.change()
	}
	return result, err
}

func projectIDsOf(projects []store.Project) []string {
	out := make([]string, len(projects))
	for i, p := range projects {
		out[i] = p.ID
	}
	return out
}

// together keeps the projects of each group together, at the place of the first of them.
func together(projects []store.Project) []store.Project {
	out := make([]store.Project, 0, len(projects))
	done := map[string]bool{}
	for _, p := range projects {
		if p.Group == "" {
			out = append(out, p)
			continue
		}
		if done[p.Group] {
			continue
		}
		done[p.Group] = true
		for _, other := range projects {
			if other.Group == p.Group {
				out = append(out, other)
			}
		}
	}
	return out
}
