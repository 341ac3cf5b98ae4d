package attack

// proxyRows are tries to reach, through the cage's own proxy, what its rules do not allow. Uncaged there is no proxy, and
// the same place is reached directly.
func proxyRows() []Row {
	return []Row{
		network("proxy/loopback", "asks for another port of 127.0.0.1"),
		network("proxy/endpoint", "asks for the app's endpoint"),
		network("proxy/name", "asks for it as localhost"),
		network("proxy/dot", "asks for it as localhost with a dot behind"),
		network("proxy/decimal", "asks for it as one number"),
		network("proxy/short", "asks for it as 127.1"),
		network("proxy/mapped", "asks for it as an IPv6 address").lacking("IPv6"),
		network("proxy/loopback6", "asks for ::1").lacking("IPv6"),
		network("proxy/host", "asks for the host's own address").lacking("an address that is not loopback"),
		network("proxy/userinfo", "hides it behind a name and an at sign"),
		network("proxy/absolute", "asks for a page of it without a tunnel"),
		network("proxy/host-lies", "asks for an allowed name and means another host"),
	}
}

// placeRows are tried in a cage whose task works in the project's own checkout, not in a worktree of its own.
func placeRows() []Row {
	place := func(r Row) Row { r.Place = true; return r }
	rows := []Row{
		place(out("place/work", "writes in the checkout", "that is the agent's work: shows that the cage is alive")),
	}
	for _, r := range []Row{
		held("place/fsmonitor", "sets core.fsmonitor in the repository's config"),
		held("place/config-replace", "replaces the config by rename"),
		held("place/hook-new", "makes a hook"),
		held("place/hook-overwrite", "overwrites a hook of the user"),
		held("place/hooks-replace", "replaces the folder of hooks"),
		held("place/info-attributes", "switches a filter of the user on by info/attributes"),
		held("place/info-replace", "replaces the folder of info/attributes"),
		held("place/commondir-main", "makes git look for its config elsewhere"),
		held("place/config-worktree-main", "sets core.fsmonitor in config.worktree"),
		held("place/config-worktree-other", "sets core.fsmonitor in another task's config.worktree"),
		held("place/commondir-other", "points another task's admin folder at another repository"),
		held("place/head-other", "moves another task to another branch"),
		held("place/admin-other-remove", "removes another task's admin folder"),
		held("place/alternates", "adds objects of another repository"),
		held("place/grafts", "grafts history"),
		held("place/replace", "replaces a commit by another"),
		held("place/module-config", "sets core.fsmonitor in a submodule's config"),
		held("place/module-hook", "makes a hook in a submodule"),
		held("place/module-new", "makes the git folder of a submodule that the user may check out"),
		held("place/commit", "commits, for which it would have to write where git keeps what it runs"),
		held("place/rebase-todo", "leaves a rebase with a command in it, for the user to continue"),
		held("place/config-later", "sets core.fsmonitor after the user's own git has replaced the config"),
		held("place/git-replace", "puts another repository in the place of .git"),
	} {
		rows = append(rows, place(r))
	}
	return rows
}
