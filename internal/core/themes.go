package core

import (
	"context"
	"path/filepath"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/theme"
)

// ThemeList is the verb theme_list. The files are read anew each time: a person who writes one looks at it at once.
func (c *Core) ThemeList(_ context.Context, _ *Call, _ api.ThemeListParams) (api.ThemeListResult, error) {
	dir := filepath.Join(c.dataDir, "themes")
	themes, problems, err := theme.Read(dir)
	if err != nil {
		return api.ThemeListResult{}, fault.Wrap(err, fault.Unavailable, "The folder of the themes could not be read: %s", dir)
	}
	r := api.ThemeListResult{Folder: dir, Themes: []api.Theme{}, Problems: problems}
	for _, t := range themes {
		r.Themes = append(r.Themes, api.Theme{ID: "custom:" + t.ID, Name: t.Name, Scheme: t.Scheme, UI: t.UI, Terminal: t.Terminal, Problems: t.Problems})
	}
	return r, nil
}
