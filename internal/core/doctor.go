package core

import (
	"context"
	"os"
	"runtime"
	"strings"

	"termic/internal/api"
	"termic/internal/store"
)

// Doctor is the verb doctor. It changes nothing.
func (c *Core) Doctor(ctx context.Context, _ *Call, _ api.DoctorParams) (api.DoctorResult, error) {
	r := api.DoctorResult{Version: c.version}
	add := func(f api.Finding) { r.Findings = append(r.Findings, f) }
	add(api.Finding{Name: "platform", Level: "ok", Detail: runtime.GOOS + "/" + runtime.GOARCH})
	add(api.Finding{Name: "git", Level: "ok", Detail: c.git.Version() + " at " + c.git.Bin()})
	base := c.environment(ctx)
	shell := api.Finding{Name: "login shell", Level: "ok", Detail: base.Shell}
	if !base.Probed {
		shell.Level, shell.Detail, shell.Fix = "warn", base.Shell+" did not tell its environment", "Start it by hand and look for what makes it wait or fail."
	}
	add(shell)
	add(c.agentFinding(ctx))
	add(c.settingsFinding())
	add(c.storeFinding(ctx))
	add(c.endpointFinding())
	add(c.updateFinding())
	if dir := c.settings.Get().Tasks.Dir; dir != "" {
		f := api.Finding{Name: "tasks folder", Level: "ok", Detail: dir}
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			f.Level, f.Fix = "fail", "Set tasks.dir to a folder."
		}
		add(f)
	}
	for _, f := range c.secretFindings(ctx) {
		add(f)
	}
	for _, f := range c.clientFindings(ctx) {
		add(f)
	}
	for _, f := range c.taskFindings(ctx) {
		add(f)
	}
	for _, f := range c.cageFindings(ctx) {
		add(f)
	}
	return r, nil
}

func (c *Core) agentFinding(ctx context.Context) api.Finding {
	var usable []string
	for _, a := range c.listAgents(c.lookPath(ctx)) {
		if a.Usable {
			usable = append(usable, a.ID)
		}
	}
	if len(usable) == 0 {
		return api.Finding{Name: "agents", Level: "warn", Detail: "none is installed", Fix: "Install claude or codex, or add your own under [[agents]] in settings.toml."}
	}
	return api.Finding{Name: "agents", Level: "ok", Detail: strings.Join(usable, ", ")}
}

func (c *Core) settingsFinding() api.Finding {
	f := api.Finding{Name: "settings", Level: "ok", Detail: c.settings.Path()}
	if p := strings.TrimSpace(c.settings.Problem() + "\n" + c.settings.Note()); p != "" {
		f.Level, f.Detail, f.Fix = "warn", strings.ReplaceAll(p, "\n", "; "), "Edit "+c.settings.Path()+"; it is taken up at once."
	}
	return f
}

func (c *Core) storeFinding(ctx context.Context) api.Finding {
	if err := c.store.Check(ctx); err != nil {
		return api.Finding{Name: "database", Level: "fail", Detail: sentence(err), Fix: "Keep " + c.store.Path() + " and put back the newest backup beside it."}
	}
	return api.Finding{Name: "database", Level: "ok", Detail: c.store.Path() + ", and the chain of its ledger is whole"}
}

// taskFindings names projects and tasks whose folders are gone.
func (c *Core) taskFindings(ctx context.Context) []api.Finding {
	var out []api.Finding
	projects, err := c.projects(ctx)
	if err != nil {
		return []api.Finding{{Name: "projects", Level: "fail", Detail: sentence(err)}}
	}
	for _, p := range projects {
		if p.Missing {
			out = append(out, api.Finding{Name: "project " + quoted(p.Name), Level: "warn", Detail: p.RootPath + " is gone", Fix: "Put the folder back, or `termic project remove`."})
		}
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return append(out, api.Finding{Name: "tasks", Level: "fail", Detail: sentence(err)})
	}
	for _, t := range tasks {
		if c.missing(t) {
			out = append(out, api.Finding{Name: "task " + quoted(t.Name), Level: "warn", Detail: t.Path + " is gone", Fix: "`termic archive` it; `termic restore` brings the branch back."})
		}
	}
	return out
}
