package cli

import (
	"strings"

	"termic/internal/api"
)

func showSandbox(p *printer, r api.TaskSandboxResult) {
	p.fields("mode", r.Mode, "secrets", clean(strings.Join(r.Secrets, ", ")))
	showCage(p, r.Cage)
	if r.Mode == "enforce" || r.Mode == "enforce-fs" {
		p.printf("its agent has the worktree and a home of its own, and\n")
	} else if len(r.Layers) > 0 {
		p.printf("nothing is caged in this mode; a cage would have the worktree, a home of its own, and\n")
	}
	for _, l := range r.Layers {
		from := map[string]string{api.LayerBuiltIn: "built in", api.LayerAgent: "from its agent", api.LayerTask: "from the task", api.LayerProject: "from the project",
			api.LayerSettings: "from the settings", api.LayerRepo: "from .termic.yaml"}[l.Kind]
		if from == "" {
			from = "from " + clean(l.Kind)
		}
		p.fields("  "+from, strings.Join(grants(l.Read, l.Write, l.Hosts), ", "))
	}
	if len(r.Cage.Hosts) > 0 && r.Mode != "enforce" {
		p.note("Hosts are kept to their list in the mode enforce alone; in this one the network is open.")
	}
	if r.Restart {
		p.note("An agent that runs was started before some of this, and has it once it is started again.")
	}
	for _, w := range r.Warnings {
		p.printf("warning: %s\n", clean(w))
	}
	if r.Ended > 0 {
		p.note("%s ended. Start agents again to have the new sandbox.", plural(r.Ended, "terminal was", "terminals were"))
	}
}

func showCage(p *printer, c api.Cage) {
	own := func(list []string) string {
		if len(list) == 0 {
			return "its own"
		}
		return strings.Join(list, ", ")
	}
	p.fields("may drive tasks", yesNo(c.MCP), "on projects", own(c.Projects), "with agents", own(c.Agents),
		"reads", strings.Join(c.Read, ", "), "changes", strings.Join(c.Write, ", "), "reaches", strings.Join(c.Hosts, ", "))
}

// grants puts lists of grants into words.
func grants(read, write, hosts []string) []string {
	var out []string
	for _, l := range []struct {
		word string
		list []string
	}{{"read ", read}, {"change ", write}, {"reach ", hosts}} {
		for _, s := range l.list {
			out = append(out, l.word+s)
		}
	}
	return out
}

func showAllow(p *printer, r api.SandboxAllowResult) {
	if !r.Changed {
		p.printf("It is allowed there already: %s %s\n", clean(r.Kind), clean(r.Target))
	} else {
		p.printf("Allowed for the %s: %s %s\n", clean(r.For), clean(r.Kind), clean(r.Target))
	}
	if r.Restart {
		p.note("The agent that runs has it once it is started again.")
	}
}

func showGroups(p *printer, r api.SandboxGroupsResult) {
	for _, g := range r.Groups {
		p.printf("%s: %s\n", clean(g.Name), clean(g.Doc))
		for _, h := range g.Hosts {
			p.printf("    %s\n", clean(h))
		}
		for _, n := range g.Notes {
			p.printf("    note: %s\n", clean(n))
		}
	}
}

func showDenials(p *printer, denials []api.Denial) {
	for _, d := range denials {
		word := "refused"
		if d.Would {
			word = "would be refused"
		}
		p.printf("%s: %s %s, %s\n", word, clean(d.Kind), clean(d.Target), plural(int(d.Count), "time", "times"))
	}
}

func showRefs(p *printer, word string, refs []api.RefChange) {
	at := func(s string) string {
		if name, is := strings.CutPrefix(s, "ref: "); is {
			return clean(name)
		}
		return clean(short(s))
	}
	for _, r := range refs {
		what := at(r.Old) + " -> " + at(r.New)
		switch {
		case r.Old == "":
			what = "new, at " + at(r.New)
		case r.New == "":
			what = "gone, was at " + at(r.Old)
		}
		if r.Backup != "" {
			what += ", kept as " + clean(r.Backup)
		}
		p.printf("%s: %s (%s)\n", word, clean(r.Ref), what)
	}
}

func showProjectRefs(p *printer, r api.ProjectRefsResult) {
	showRefs(p, "put back", r.Undone)
	showRefs(p, "left as it is", r.Kept)
	showRefs(p, "changed while a caged agent ran", r.Refs)
	if r.Problem != "" {
		p.printf("warning: %s\n", clean(r.Problem))
	}
	switch {
	case len(r.Refs) > 0:
		p.note("It may have been the agent or you. --undo REF puts one back, --keep REF leaves it as it is; all stands for every one.")
	case len(r.Undone)+len(r.Kept) == 0:
		p.note("No ref of %s changed while a caged agent ran, but for the agents' own branches.", clean(r.Name))
	}
}

func showProjectSettings(p *printer, r api.ProjectSettingsResult) {
	v := r.Project
	mode := v.Sandbox
	if mode == "" {
		mode = "as the settings say"
	}
	p.fields("project", v.Name, "id", v.ID, "folder", v.RootPath, "agent", v.DefaultAgent, "sandbox", mode, "secrets", clean(strings.Join(v.Secrets, ", ")))
	if v.Cage != nil {
		showCage(p, *v.Cage)
	}
	if v.Repo != nil {
		showRepo(p, *v.Repo)
	}
}

func showRepo(p *printer, r api.Repo) {
	state := map[string]string{api.RepoKnobs: "only tightens", api.RepoWaiting: "waits for your consent", api.RepoAgreed: "agreed to", api.RepoBroken: "cannot be understood"}[r.State]
	if state == "" {
		state = r.State
	}
	p.fields(".termic.yaml", state, "digest", r.Digest, "problem", r.Problem, "mode", r.Mode, "projects", strings.Join(r.Projects, ", "),
		"agents", strings.Join(r.Agents, ", "), "asks for", strings.Join(grants(r.Read, r.Write, r.Hosts), ", "))
	for _, s := range r.Scripts {
		name := "script " + clean(s.Name)
		if s.Name != "setup" {
			name += " (not run by Termic)"
		}
		p.fields(name, s.Command)
	}
}

func showConsent(p *printer, r api.ProjectConsentResult) {
	if r.Repo == nil {
		p.printf("The project %s has no .termic.yaml.\n", clean(r.Name))
		return
	}
	showRepo(p, *r.Repo)
	if r.Repo.State == api.RepoWaiting {
		p.printf("\n%s", cleanLines(r.Text))
		p.note("Agree to exactly this with --digest %s", clean(r.Repo.Digest))
	}
}

// showProjectGit lists what a task of a project can start from.
func showProjectGit(p *printer, r api.ProjectGitResult) {
	var rows [][]string
	for _, w := range r.Worktrees {
		what := w.Task
		switch {
		case w.Main:
			what = "main checkout"
		case w.Gone:
			what = "its folder is gone"
		case w.Locked && what == "":
			what = "locked"
		}
		rows = append(rows, []string{clean(w.Path), clean(w.Branch), clean(what)})
	}
	p.table([]string{"WORKTREE", "BRANCH", "TASK"}, rows)
	rows = nil
	for _, b := range r.Branches {
		rows = append(rows, []string{clean(b.Name), clean(short(b.Commit)), clean(b.Time)})
	}
	p.printf("\n")
	p.table([]string{"BRANCH", "COMMIT", "TIME"}, rows)
	if r.More {
		p.note("There are more branches; `git branch -a` has them all.")
	}
}

// showProjectFind lists repositories that could be projects, and those that are.
func showProjectFind(p *printer, r api.ProjectFindResult) {
	if len(r.Repositories) == 0 {
		p.note("No git repository was found in %s", clean(r.Folder))
		return
	}
	var rows [][]string
	for _, x := range r.Repositories {
		rows = append(rows, []string{clean(x.Path), clean(x.Last), clean(x.Project)})
	}
	p.table([]string{"REPOSITORY", "LAST USED", "PROJECT"}, rows)
	if r.More {
		p.note("There may be more; name a folder to look in.")
	}
}
