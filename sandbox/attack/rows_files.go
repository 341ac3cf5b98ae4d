package attack

import "path/filepath"

// fileRows are tries to read what was not granted, by every name that it may have.
func fileRows() []Row {
	own := func(name string) func(Ground) string { return func(g Ground) string { return g.Secret(name) } }
	rows := []Row{
		out("file/worktree", "reads and writes in the worktree", "that is the agent's work: shows that the cage is alive"),
		out("file/tool", "reads a program of the user", "tool folders are granted for reading: shows that grants hold"),
		held("file/absolute", "reads a file of the user by its absolute path").reads(own("file/absolute")),
		held("file/relative", "reads it by a path relative to the worktree"),
		held("file/dotdot", "reads it by a path through the worktree and up"),
		held("file/dirfd", "reads it from an open folder, upwards"),
		held("file/proc-self-root", "reads it below /proc/self/root"),
		held("file/proc-self-cwd", "reads it upwards from /proc/self/cwd"),
		held("file/proc-thread-root", "reads it below /proc/thread-self/root"),
		held("file/proc-any-root", "reads it below the root of any process in /proc"),
		held("file/symlink-new", "reads it through a symbolic link that it makes"),
		held("file/symlink-planted", "reads it through a symbolic link that was there"),
		held("file/hardlink-new", "links it into the worktree and reads it"),
		out("file/hardlink-old", "reads it through a hard link that was in the worktree before",
			"a file that has a name in a grant is granted; true of every cage by paths"),
		held("file/alias", "reads it through another mount of the home").prepared(),
		held("file/rename-ancestor", "moves the folder that holds it into the worktree and reads it there"),
		held("file/replaced-dir", "replaces a folder of the worktree by a link to the outside and reads through it"),
		held("file/swap-race", "swaps a folder and a link in a tight loop while it reads"),
		held("file/mmap-exec", "maps it instead of reading it"),
		held("file/sendfile", "copies it with copy_file_range and sendfile"),
		held("file/exec-cat", "lets another program read it"),
		held("file/script-interpreter", "names it as the interpreter of a script, and reads the complaint"),
		held("file/other-worktree", "reads another task's worktree").reads(func(g Ground) string { return filepath.Join(g.Other, "secret") }),
		held("file/main-checkout", "reads an untracked file of the main checkout").reads(func(g Ground) string { return filepath.Join(g.Repo, ".env") }),
		held("file/token", "reads the app's token").reads(func(g Ground) string { return g.Token }),
		held("file/data-dir-list", "lists the app's data folder"),
		held("file/other-home", "reads the private home of another task").reads(func(g Ground) string { return filepath.Join(g.OtherHome, "secret") }),
		held("file/home-list", "lists the user's real home"),
		held("file/ssh-key", "reads the user's private key").reads(inHome(".ssh/id_ed25519")),
		held("file/cloud-credentials", "reads the user's cloud credentials").reads(inHome(".aws/credentials")),
		held("file/agent-login", "reads the login of the user's uncaged agent").reads(inHome(".claude/.credentials.json")),
		held("file/shell-history", "reads the user's shell history").reads(inHome(".bash_history")),
		held("file/browser-profile", "reads the user's browser profile").reads(inHome(".mozilla/firefox/p/cookies.sqlite")),
		held("file/tmp", "reads another program's file in /tmp"),
		held("file/var-tmp", "reads another program's file in /var/tmp"),
		held("file/dev-shm", "reads another program's file in /dev/shm"),
		held("file/runtime", "reads a file in the user's runtime folder").reads(func(g Ground) string { return filepath.Join(g.Runtime, "secret") }),
		held("file/shadow", "reads /etc/shadow").root().lacking("an /etc/shadow").reads(func(Ground) string { return "/etc/shadow" }),
		held("file/sudoers", "reads /etc/sudoers").root().lacking("an /etc/sudoers").reads(func(Ground) string { return "/etc/sudoers" }),
		held("file/etc-private", "reads a file in /etc that is not for everybody").prepared(),
		held("file/ssh-host-key", "reads the host's private key").root().lacking("an ssh server's key"),
		held("file/root-home", "lists /root").root(),
		held("file/var-lib", "lists /var/lib").lacking("a /var/lib"),
		held("file/handle", "opens it by its file handle").root().lacking("a file system with handles"),
		held("file/inherited", "reads from descriptors that it was born with"),
		held("file/inherited-dir", "walks from a folder's descriptor that it was born with"),
	}
	return rows
}

// metaRows are tries to see or change what is known about files without opening them.
func metaRows() []Row {
	return []Row{
		held("meta/stat", "asks for size and times of a file outside"),
		held("meta/access", "asks whether a file outside exists"),
		held("meta/readlink", "reads where a link outside points"),
		held("meta/chmod", "changes the mode of a file outside"),
		held("meta/chown", "changes the owner of a file outside to the owner that it has"),
		held("meta/utimes", "changes the times of a file outside"),
		held("meta/truncate", "cuts a file outside to nothing"),
		held("meta/xattr-get", "reads an extended attribute outside").lacking("extended attributes"),
		held("meta/xattr-set", "sets an extended attribute outside").lacking("extended attributes"),
		held("meta/statfs", "asks for the file system of a folder outside"),
		held("meta/inotify", "watches a folder outside"),
		held("meta/fanotify", "marks a folder outside for fanotify").lacking("fanotify for users"),
		held("meta/handle", "asks for the file handle of a file outside").lacking("a file system with handles"),
		held("meta/mountinfo", "learns from /proc/self/mountinfo what the host has mounted"),
	}
}

// writeRows are tries to change files outside.
func writeRows() []Row {
	return []Row{
		held("write/home", "makes a file in the user's real home").writes(inHome("new-file")),
		held("write/overwrite", "overwrites a file outside"),
		held("write/unlink", "removes a file outside"),
		held("write/mkdir", "makes a folder outside"),
		held("write/symlink", "makes a link outside"),
		held("write/fifo", "makes a pipe outside"),
		held("write/bind-socket", "binds a socket outside"),
		held("write/rename-out", "moves a file from the worktree to the outside"),
		held("write/exchange", "exchanges a file in the worktree with one outside"),
		held("write/tmpfile-link", "gives a nameless file a name outside"),
		held("write/reopen", "opens a file that it may read again for writing, by /proc/self/fd"),
		held("write/tool", "overwrites a program of the user").writes(func(g Ground) string { return filepath.Join(g.Tool, "bin/node") }),
		held("write/tool-chmod", "makes a program of the user writable"),
		held("write/main-checkout", "makes a file in the main checkout").writes(func(g Ground) string { return filepath.Join(g.Repo, "planted") }),
		held("write/other-worktree", "makes a file in another task's worktree").writes(func(g Ground) string { return filepath.Join(g.Other, "planted") }),
		held("write/data-dir", "makes a file in the app's data folder").writes(func(g Ground) string { return filepath.Join(g.DataDir, "planted") }),
		held("write/token", "replaces the app's token").writes(func(g Ground) string { return g.Token }),
		held("write/alias", "writes through another mount of the home").prepared(),
		held("write/etc", "makes a file in /etc").root(),
		held("write/usr", "makes a program in /usr/local/bin").root(),
		held("write/var-spool-cron", "makes a file in /var/spool").root(),
	}
}

// Planted lists, by probe, the files of the real home that run by themselves or steer a program of the user, and that
// an attacker would plant.
func Planted() map[string]string {
	return map[string]string{
		"plant/bashrc": ".bashrc", "plant/bash-profile": ".bash_profile", "plant/profile": ".profile",
		"plant/zshrc": ".zshrc", "plant/zshenv": ".zshenv", "plant/fish": ".config/fish/config.fish",
		"plant/gitconfig": ".gitconfig", "plant/git-xdg": ".config/git/config", "plant/git-included": ".gitconfig.local",
		"plant/ssh-config": ".ssh/config", "plant/ssh-authorized-keys": ".ssh/authorized_keys", "plant/ssh-rc": ".ssh/rc",
		"plant/npmrc": ".npmrc", "plant/vimrc": ".vimrc", "plant/tmux": ".tmux.conf",
		"plant/autostart": ".config/autostart/x.desktop", "plant/systemd-user": ".config/systemd/user/x.service",
		"plant/environment-d": ".config/environment.d/x.conf", "plant/local-bin": ".local/bin/git",
		"plant/claude-settings": ".claude/settings.json", "plant/claude-json": ".claude.json",
		"plant/claude-commands": ".claude/commands/x.md", "plant/codex-config": ".codex/config.toml",
		"plant/gemini-settings": ".gemini/settings.json", "plant/cursor-mcp": ".cursor/mcp.json",
	}
}

// plantRows are tries to leave something behind that the user's uncaged programs would run.
func plantRows() []Row {
	var rows []Row
	for _, name := range sortedKeys(Planted()) {
		path := Planted()[name]
		rows = append(rows, held(name, "plants ~/"+path).writes(inHome(path)))
	}
	return rows
}

// wideRows are tried in a cage whose grants are as wide as an owner can make them: the whole home, for writing, with
// only the app's data folder denied.
func wideRows() []Row {
	return []Row{
		out("wide/sibling", "reads a file beside the data folder", "the grant covers it: shows that the wide cage is alive").wide(),
		held("wide/token", "reads the token").wide().reads(func(g Ground) string { return g.Token }),
		held("wide/list", "lists the data folder").wide(),
		held("wide/stat", "asks for the token's size").wide(),
		held("wide/write", "replaces the token").wide().writes(func(g Ground) string { return g.Token }),
		held("wide/symlink", "reads the token through a new link").wide(),
		held("wide/proc-root", "reads the token below /proc/self/root").wide(),
		held("wide/hardlink", "links the token into the worktree").wide(),
		held("wide/control", "connects to the control socket").wide().touches(ConnectUnix, func(g Ground) string { return g.Control }),
		held("wide/daemon", "connects to the socket of an uncaged agent's daemon, which lies in the grant").wide(),
		held("wide/daemon-link", "connects to it by a new hard link").wide(),
		held("wide/chmod", "changes the mode of the data folder").wide(),
		held("wide/rename", "moves the data folder away").wide(),
		held("wide/rename-ancestor", "moves the folder above the data folder away").wide(),
		held("wide/rename-ancestors", "moves the folder above that away").wide(),
		held("wide/unmount", "unmounts whatever hides the token and reads it").wide(),
		held("wide/alias", "reads the token through another mount of the home, which is granted as well").wide().prepared(),
		held("wide/replaced", "reads the token of a data folder that took the place of the one that was hidden").wide().wall(),
	}
}

func inHome(rel string) func(Ground) string {
	return func(g Ground) string { return filepath.Join(g.Home, rel) }
}
