package core

import (
	"context"
	"path/filepath"

	"termic/internal/fault"
	"termic/internal/store"
)

// refuseWritten refuses a new project in a folder that a cage writes: an agent may have made it, and git runs what the
// settings of a repository name. A clone has settings of its own. Whatever stands in the worktree of a task is refused, since
// it may have had a cage before.
func (c *Core) refuseWritten(ctx context.Context, p store.Project, asked string) error {
	have, err := c.store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, h := range have {
		if h.RootPath == p.RootPath {
			return nil // adding it again changes nothing
		}
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return err
	}
	refusal := func(whose string) error {
		return fault.New(fault.Conflict, "%s lies in %s, so an agent may have written what git runs there", p.RootPath, whose).
			WithHint("Add a copy that has settings of its own: `git clone %s` to another folder.", shellWord(p.RootPath))
	}
	for _, folder := range []string{asked, p.RootPath} {
		if within(filepath.Join(c.dataDir, "homes"), folder) {
			return refusal("the home of a caged agent")
		}
		for _, t := range tasks {
			if (!t.IsMain || c.ownCageWrites(t)) && t.Path != "" && within(t.Path, folder) {
				return refusal("the folder of the task \"" + t.Name + "\"")
			}
		}
	}
	return nil
}
