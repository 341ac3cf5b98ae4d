package core

import (
	"context"
	"path/filepath"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/repofind"
)

// findFor is how long a look for repositories may take: somebody waits for it in front of an empty window.
const findFor = 3 * time.Second

// ProjectFind is the verb project_find: repositories on this machine that could be projects.
func (c *Core) ProjectFind(ctx context.Context, _ *Call, p api.ProjectFindParams) (api.ProjectFindResult, error) {
	dir := c.home
	if p.Path != "" {
		var err error
		if dir, err = c.absolute(p.Path); err != nil {
			return api.ProjectFindResult{}, err
		}
	}
	projects, err := c.store.Projects(ctx)
	if err != nil {
		return api.ProjectFindResult{}, err
	}
	names := map[string]string{}
	for _, one := range projects {
		names[filepath.Clean(one.RootPath)] = one.Name
	}
	within, end := context.WithTimeout(ctx, findFor)
	defer end()
	found, err := repofind.Look(within, dir, c.settings.Get().Tasks.Dir, c.dataDir)
	if err != nil {
		return api.ProjectFindResult{}, fault.Wrap(err, fault.Unavailable, "The folder %q cannot be read", dir)
	}
	r := api.ProjectFindResult{Folder: dir, Repositories: []api.FoundRepository{}, More: found.More}
	for _, one := range found.Repositories {
		r.Repositories = append(r.Repositories, api.FoundRepository{Path: one.Path, Last: stamp(one.Last), Project: names[one.Path]})
	}
	return r, nil
}
