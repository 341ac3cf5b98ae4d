package attack

import (
	"os"
	"path/filepath"
	"strings"
)

// gitChecks start the user's own git, uncaged and plain, and look whether a planted command ran; or look at the files
// that it would trust.
func gitChecks() map[string]check {
	m := map[string]check{}
	main := func(g Ground) string { return g.Repo }
	own := func(g Ground) string { return g.Worktree }
	other := func(g Ground) string { return g.Other }
	for name, runs := range map[string]struct {
		dir  func(Ground) string
		args string
	}{
		"git/pointer-write": {own, "status"}, "git/pointer-replace": {own, "status"}, "git/pointer-remove": {own, "status"}, "git/pointer-later": {own, "status"}, "git/config-later": {main, "status"},
		"git/fsmonitor": {main, "status"}, "git/config-replace": {main, "status"}, "git/config-include": {main, "status"},
		"git/commondir-main": {main, "status"}, "git/config-worktree-main": {main, "status"},
		"git/hooks-path": {main, "commit --allow-empty -m x"}, "git/hook-new": {main, "commit --allow-empty -m x"},
		"git/hook-overwrite": {main, "commit --allow-empty -m x"}, "git/hooks-replace": {main, "commit --allow-empty -m x"},
		"git/filter": {own, "add x.fire"}, "git/diff-driver": {main, "diff"}, "git/alias": {main, "st"},
		"git/ssh-command": {main, "fetch attack"}, "git/config-worktree-own": {own, "status"},
		"git/commondir-own": {own, "status"}, "git/admin-replace": {own, "status"},
		"git/config-worktree-other": {other, "status"}, "git/commondir-other": {other, "status"},
		"git/rebase-todo": {main, "rebase --continue"},
	} {
		m[name] = func(h *host, r Report) bool {
			if strings.HasSuffix(r.Name, "/rebase-todo") {
				h.run(h.g.Repo, "checkout", "-q", "--", ".") // it goes on only where nothing is changed
			}
			_, _ = h.tryGit(runs.dir(h.g), strings.Fields(runs.args)...) // what it says does not matter: did the command run?
			return exists(h.g.Mark(r.Name))
		}
	}
	for name, file := range map[string]struct{ rel, text string }{
		"git/info-attributes": {"info/attributes", "filter=theirs"}, "git/info-replace": {"info/attributes", "filter=theirs"},
		"git/gitdir-own": {"worktrees/a/gitdir", "planted"}, "git/head-other": {"worktrees/b/HEAD", "planted"},
		"git/index-other": {"worktrees/b/index", planted}, "git/alternates": {"objects/info/alternates", "planted"},
		"git/module-config": {"modules/sub/config", "fsmonitor"}, "git/module-hook": {"modules/sub/hooks/post-checkout", "touch"},
		"git/module-new": {"modules/new/hooks/post-checkout", "touch"}, "git/sequencer": {"sequencer/todo", "pick"},
		"git/legacy-remote": {"remotes/planted", "planted"}, "git/packed-refs": {"packed-refs", "refs/heads/planted"},
		"git/head-log": {"logs/HEAD", "planted"}, "git/head-log-replace": {"logs/HEAD", "planted"},
		"git/shallow": {"shallow", "0"}, "git/grafts": {"info/grafts", "0"},
	} {
		m[name] = func(h *host, _ Report) bool {
			data, err := os.ReadFile(filepath.Join(h.g.Common, file.rel))
			return err == nil && (strings.Contains(string(data), file.text) || file.text == "0" && len(data) > 30)
		}
	}
	for name, rel := range map[string]string{"git/log-link": "logs/refs/heads/main", "git/log-folder-link": "logs/refs/heads/linked",
		"git/ref-folder-link": "refs/heads/linked", "git/message-link": "worktrees/a/COMMIT_EDITMSG", "git/object-pipe": "objects/pipe"} {
		m[name] = func(h *host, _ Report) bool { // git outside follows it, or waits for it
			at := filepath.Join(h.g.Common, rel)
			st, err := os.Lstat(at)
			planted := err == nil && st.Mode()&(os.ModeSymlink|os.ModeNamedPipe) != 0
			if planted {
				_ = os.Remove(at) // the next rows use this repository
			}
			return planted
		}
	}
	m["git/admin-other-remove"] = func(h *host, _ Report) bool { return !exists(filepath.Join(h.g.OtherAdmin, "HEAD")) }
	m["git/worktree-prune"] = func(h *host, _ Report) bool { return !exists(filepath.Join(h.g.OtherAdmin, "gitdir")) }
	m["git/replace"] = func(h *host, _ Report) bool {
		out, err := h.tryGit(h.g.Repo, "replace", "-l")
		return err == nil && strings.TrimSpace(out) != ""
	}
	m["git/branch-other"] = func(h *host, _ Report) bool {
		out, err := h.tryGit(h.g.Repo, "rev-list", "--count", "theirs")
		return err == nil && strings.TrimSpace(out) != "1"
	}
	m["git/objects-tamper"] = func(h *host, _ Report) bool {
		out, err := h.tryGit(h.g.Repo, "show", "main:tampered.txt")
		return err == nil && strings.Contains(out, planted)
	}
	m["place/git-replace"] = m["git/fsmonitor"]
	for _, r := range placeRows() {
		if c := m["git/"+r.Name[len("place/"):]]; c != nil {
			m[r.Name] = c
		}
	}
	return m
}
