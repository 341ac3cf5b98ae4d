package core

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"

	"termic/internal/agenthome"
	"termic/internal/shellenv"
	"termic/internal/store"
)

// homeOf is the folder on the host that is the home of a task's caged agents.
func (c *Core) homeOf(taskID string) string { return filepath.Join(c.dataDir, "homes", taskID) }

// homed reports whether the agent of a tab keeps its files in a private home: the one that runs, or else the next one.
func (c *Core) homed(t store.Task, tab store.Tab) bool {
	if l := c.liveOf(tab.ID); l != nil {
		return l.walls.home != ""
	}
	return caged(t)
}

// takeLogin takes back a login that a caged agent has refreshed, for the user and for other homes.
func (c *Core) takeLogin(l *liveTab) {
	if l.walls.home == "" || l.kind.LoginStays {
		return
	}
	c.spawn(func() {
		back, err := agenthome.Return(c.ctx, agenthome.ReturnOptions{Agent: l.kind.ID, RealHome: c.home,
			Env: merged(c.environment(c.ctx).Env, l.kind.Env), Homes: append([]string{l.walls.home}, c.otherHomes(l)...)})
		for _, r := range back.Refused {
			c.log.Warn("a login was not taken back from a private home", "home", r.Home, "why", r.Why)
		}
		if err != nil {
			c.log.Warn("a login could not be taken back from a private home", "task", l.task.ID, "err", err)
		}
	})
}

// otherHomes are the private homes of other live agents of the same kind.
func (c *Core) otherHomes(l *liveTab) []string {
	var out []string
	for _, o := range c.liveTabs("") {
		if o != l && o.walls.home != "" && o.walls.home != l.walls.home && o.kind.ID == l.kind.ID {
			out = append(out, o.walls.home)
		}
	}
	return out
}

// prepareHome makes the private home of an agent, with what it needs of the user's.
func (c *Core) prepareHome(ctx context.Context, l *liveTab, base shellenv.Base) (agenthome.Prepared, error) {
	project, err := c.store.Project(ctx, l.task.ProjectID)
	if err != nil {
		return agenthome.Prepared{}, err
	}
	l.walls.home = c.homeOf(l.task.ID)
	o := agenthome.Options{Agent: l.kind.ID, RealHome: c.home, Home: l.walls.home, Inside: c.home,
		Trusted: []string{l.task.Path, project.RootPath}, Repo: project.RootPath, Env: merged(base.Env, l.kind.Env), Unasked: true, CopyBack: !l.kind.LoginStays, Git: c.git.Bin()}
	if runtime.GOOS == "darwin" {
		o.Inside = o.Home
	}
	home, err := agenthome.Prepare(ctx, o)
	for _, left := range home.Left {
		c.log.Info("left out of a private home", "task", l.task.ID, "what", left)
	}
	return home, err
}

// cageEnv is the environment of a caged agent: the list that every child gets, its logins, and what its home and its task
// say. Nothing that names a socket or a secret of the desktop is in it.
func cageEnv(base shellenv.Base, home agenthome.Prepared, extra map[string]string) []string {
	all := map[string]string{"TMPDIR": "/tmp", "TMP": "/tmp", "TEMP": "/tmp"}
	for _, name := range home.Logins {
		if v, ok := base.Env[name]; ok {
			all[name] = v
		}
	}
	all = merged(all, extra, home.Env) // where the user keeps an agent's files is not where they are in a cage
	unset := map[string]bool{}
	for _, name := range home.Unset {
		_, meant := home.Env[name]
		unset[name] = !meant
	}
	var out []string
	for _, v := range shellenv.Build(shellenv.Options{Base: base, Extra: all}) {
		if name, _, _ := strings.Cut(v, "="); !unset[name] {
			out = append(out, v)
		}
	}
	return out
}

// merged is a new map of all; the later ones win.
func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// cagedShell is how a person's shell is started in a cage: as at a login, but for the plain ones, whose prompt the system's
// profile would set. What a login brings besides is in the environment.
func cagedShell(shell string) []string {
	switch filepath.Base(shell) {
	case "bash", "zsh", "fish":
		return []string{shell, "-l"}
	}
	return []string{shell}
}

// cagePrompt makes the prompt of a person's shell say that it is in a cage. Start files of bash set the prompt themselves, so
// there it is marked each time before it is shown. A shell that knows neither variable keeps its own prompt.
func cagePrompt(shell string) string {
	if filepath.Base(shell) == "bash" {
		return `PROMPT_COMMAND=PS1="(cage) ${PS1#"(cage) "}"`
	}
	return "PS1=(cage) $ "
}
