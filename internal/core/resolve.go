package core

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// ResolveTask finds the one task that a caller means, among those that it may see: an exact id alone, then a name
// without regard to case (within the project, when one is given), then project/name, then the current folder where
// ref.Cwd allows it. Names of tasks that the caller may not see appear in no answer. A caged agent may send to more tasks
// than it sees, by their exact ids.
func (c *Core) ResolveTask(ctx context.Context, caller grant.Caller, ref api.TaskRef, verb string) (string, error) {
	id, err := c.taskNamed(ctx, caller, ref, verb)
	if err != nil || !confined(caller) || verb == "task_send" || verb == "task_tab" {
		return id, err // these two are compared with the one tab that they are about
	}
	t, err := c.store.Task(ctx, id)
	if err == nil {
		err = c.reads(ctx, caller, t)
	}
	return id, err
}

func (c *Core) taskNamed(ctx context.Context, caller grant.Caller, ref api.TaskRef, verb string) (string, error) {
	if ref.Project == "" && ids.Valid(strings.ToUpper(ref.Task)) { // a program's call: nobody else need be looked at
		t, err := c.store.Task(ctx, strings.ToUpper(ref.Task))
		if err == nil && t.Archived() == (verb == "task_restore") && mayRead(caller, t) {
			return t.ID, nil
		}
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return "", err
		}
	}
	tasks, names, err := c.visibleTasks(ctx, caller, verb)
	if err != nil {
		return "", err
	}
	if ref.Task == "" {
		return c.taskOfFolder(caller, tasks, names, ref, verb)
	}
	var p store.Project
	if ref.Project != "" {
		if p, err = c.resolveProject(ctx, caller, ref.Project); err != nil {
			return "", err
		}
		tasks = slices.DeleteFunc(tasks, func(t store.Task) bool { return t.ProjectID != p.ID })
	}
	if ids.Valid(strings.ToUpper(ref.Task)) {
		for _, t := range tasks {
			if t.ID == strings.ToUpper(ref.Task) {
				return t.ID, nil
			}
		}
	}
	// Both at once: a task whose name has a slash in it does not take the place of the one that is meant by its project's name.
	found := matching(tasks, func(t store.Task) bool {
		return strings.EqualFold(t.Name, ref.Task) || strings.EqualFold(names[t.ProjectID]+"/"+t.Name, ref.Task)
	})
	if ruled(caller) {
		all := found
		if found = slices.DeleteFunc(slices.Clone(all), func(t store.Task) bool { return t.FromCage }); len(found) == 0 && len(all) > 0 {
			return "", fault.New(fault.NotFound, "The only task called %q is one that a caged agent made, which chose the name", ref.Task).
				WithHint("Name it in the rule by its id, %s, if it is meant.", all[0].ID)
		}
	}
	if len(found) == 0 && confined(caller) && verb == "task_send" && ids.Valid(strings.ToUpper(ref.Task)) {
		t, ok, err := c.addressed(ctx, caller, strings.ToUpper(ref.Task))
		if err != nil {
			return "", err
		}
		if ok && (p.ID == "" || p.ID == t.ProjectID) {
			return t.ID, nil
		}
	}
	if len(found) == 0 && !bounded(caller) {
		return "", c.otherwise(ctx, caller, tasks, names, ref, verb)
	}
	return oneTask(caller, found, names, ref.Task)
}

// otherwise is what is true of a name that no task answers to for this verb: it may be that of an archived task, or, where
// an archived one is wanted, of one that is not. It is for callers from whom nothing is hidden.
func (c *Core) otherwise(ctx context.Context, caller grant.Caller, tasks []store.Task, names map[string]string, ref api.TaskRef, verb string) error {
	restoring := verb == "task_restore"
	others, err := c.store.Tasks(ctx, store.TaskFilter{Archived: !restoring})
	if err != nil {
		return err
	}
	for _, t := range others {
		project := names[t.ProjectID]
		if t.ID != strings.ToUpper(ref.Task) && !strings.EqualFold(t.Name, ref.Task) && !strings.EqualFold(project+"/"+t.Name, ref.Task) ||
			ref.Project != "" && !strings.EqualFold(project, ref.Project) && t.ProjectID != strings.ToUpper(ref.Project) {
			continue
		}
		if restoring {
			return fault.New(fault.Conflict, "The task %q is not archived, so there is nothing to restore", t.Name).WithHint("`termic status %s` shows it.", shellWord(t.Name))
		}
		return fault.New(fault.NotFound, "The task %q is archived", t.Name).WithHint("`termic restore %s` brings it back.", shellWord(t.Name))
	}
	known := make([]string, 0, len(tasks))
	for _, t := range tasks {
		known = append(known, t.Name)
	}
	if strings.Contains(ref.Task, "/") {
		for i, t := range tasks {
			known[i] = names[t.ProjectID] + "/" + t.Name
		}
	}
	return fault.From(noTask(caller, ref.Task)).OrNear(ref.Task, known)
}

// ruled reports whether a rule calls. Nobody looks at which task a name stands for then, so that names which caged agents choose count for
// nothing: one would take the place of a task that was archived, or stand beside one so that neither is meant.
func ruled(caller grant.Caller) bool {
	return caller.Face == grant.Trigger || caller.Face == grant.Schedule
}

func oneTask(caller grant.Caller, found []store.Task, names map[string]string, asked string) (string, error) {
	switch len(found) {
	case 1:
		return found[0].ID, nil
	case 0:
		return "", noTask(caller, asked)
	}
	qualified := make([]string, len(found))
	for i, t := range found {
		qualified[i] = names[t.ProjectID] + "/" + t.Name
	}
	return "", fault.New(fault.Ambiguous, "More than one task is called %q", asked).
		WithHint("Say which: %s.", strings.Join(qualified, ", ")).WithData("matches", qualified)
}

func matching(tasks []store.Task, is func(store.Task) bool) []store.Task {
	var out []store.Task
	for _, t := range tasks {
		if is(t) {
			out = append(out, t)
		}
	}
	return out
}

// visibleTasks returns the tasks that a verb of this caller may be about, and the names of all projects. Archived tasks
// are only there for the verb that brings one back.
func (c *Core) visibleTasks(ctx context.Context, caller grant.Caller, verb string) ([]store.Task, map[string]string, error) {
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{Archived: verb == "task_restore"})
	if err != nil {
		return nil, nil, err
	}
	tasks = matching(tasks, func(t store.Task) bool { return mayRead(caller, t) })
	names, err := c.projectNames(ctx)
	return tasks, names, err
}

// taskOfFolder picks the task whose folder holds cwd: the deepest worktree first, then main checkouts. A task that could
// not be created has no folder: the one that it was to adopt may be anybody's.
func (c *Core) taskOfFolder(caller grant.Caller, tasks []store.Task, names map[string]string, ref api.TaskRef, verb string) (string, error) {
	if ref.Project != "" || ref.Cwd == "" {
		return "", fault.New(fault.InvalidArgument, "%s needs a task", verb).WithHint("Name it, or run the command inside the task's folder where the verb allows that.")
	}
	var best []store.Task
	for _, main := range []bool{false, true} {
		length := 0
		for _, t := range tasks {
			if t.IsMain != main || t.State == api.TaskFailed || !within(t.Path, ref.Cwd) || len(t.Path) < length {
				continue
			}
			if len(t.Path) > length {
				best, length = nil, len(t.Path)
			}
			best = append(best, t)
		}
		if len(best) > 0 {
			return oneTask(caller, best, names, filepath.Base(ref.Cwd))
		}
	}
	return "", fault.New(fault.NotFound, "The current folder belongs to no task").WithHint("Name the task, or go to its folder: `cd \"$(termic path TASK)\"`.")
}

// within reports whether path is dir or below it, after resolving links of both where they exist.
func within(dir, path string) bool {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return r
		}
		return filepath.Clean(p)
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (c *Core) projectNames(ctx context.Context) (map[string]string, error) {
	projects, err := c.store.Projects(ctx)
	names := make(map[string]string, len(projects))
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	return names, err
}

// projectsFor are the projects that a caller may name.
func (c *Core) projectsFor(ctx context.Context, caller grant.Caller) ([]store.Project, error) {
	projects, err := c.store.Projects(ctx)
	if bounded(caller) {
		projects = slices.DeleteFunc(projects, func(p store.Project) bool { return !slices.Contains(caller.Projects, p.ID) })
	}
	return projects, err
}

// resolveProject finds a project that a caller may name by its name, without regard to case, then by its id.
func (c *Core) resolveProject(ctx context.Context, caller grant.Caller, asked string) (store.Project, error) {
	projects, err := c.projectsFor(ctx, caller)
	if err != nil {
		return store.Project{}, err
	}
	for _, p := range projects {
		if strings.EqualFold(p.Name, asked) {
			return p, nil
		}
	}
	for _, p := range projects {
		if p.ID == strings.ToUpper(asked) {
			return p, nil
		}
	}
	names := make([]string, len(projects))
	for i, p := range projects {
		names[i] = p.Name
	}
	e := fault.New(fault.NotFound, "There is no project %q", asked)
	if len(names) == 0 && !bounded(caller) {
		return store.Project{}, e.WithHint("Add one: `termic project add PATH`.")
	}
	return store.Project{}, e.WithHint("%s", listed("There are", names)).OrNear(asked, names)
}

// resolveTab finds a tab of a task: exact id, then the number that the strip shows, then title or agent id without
// regard to case.
func resolveTab(tabs []store.Tab, asked string) (store.Tab, error) {
	for _, t := range tabs {
		if t.ID == strings.ToUpper(asked) {
			return t, nil
		}
	}
	if n, err := strconv.Atoi(asked); err == nil && n >= 1 && n <= len(tabs) {
		return tabs[n-1], nil
	}
	var found []store.Tab
	var listed []string
	for i, t := range tabs {
		listed = append(listed, "["+strconv.Itoa(i+1)+"] "+orElse(t.Name, t.Title)+" ("+t.ID+")")
		if strings.EqualFold(orElse(t.Name, t.Title), asked) || strings.EqualFold(t.Agent, asked) && t.Agent != "" {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return store.Tab{}, fault.New(fault.NotFound, "The task has no tab %q", asked).WithHint("Its tabs are: %s.", strings.Join(listed, ", "))
	}
	return store.Tab{}, fault.New(fault.Ambiguous, "More than one tab answers to %q", asked).WithHint("Say which: %s.", strings.Join(listed, ", "))
}

// refuseShared refuses a worktree that is a task's already: archiving one of the two would take the folder from under the
// other's agents.
func refuseShared(ctx context.Context, tx *store.Tx, path string) error {
	tasks, err := tx.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.State != api.TaskFailed && !t.IsMain && within(t.Path, path) && within(path, t.Path) {
			return fault.New(fault.Conflict, "%s is the folder of the task %q already", path, t.Name).
				WithHint("Work in that task, or open another tab in it.")
		}
	}
	return nil
}
