package attack

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// gitProbes plant something for a git that runs later. Most use plain file calls, as an attacker would who knows that
// git itself may refuse.
func gitProbes() map[string]probe {
	common := func(rel string) func(*Ground, string) string {
		return func(g *Ground, _ string) string { return filepath.Join(g.Common, rel) }
	}
	m := map[string]probe{
		"git/commit":          gitCommit,
		"git/pointer-write":   gitPointer(func(at, text string) error { return os.WriteFile(at, []byte(text), 0o600) }),
		"git/pointer-replace": gitPointer(replace),
		"git/pointer-remove":  gitPointerRemove,
		"git/fsmonitor":       gitConfig("config", "[core]\n\tfsmonitor = \"%s; false\"\n"),
		"git/config-later":    gitConfig("config", "[core]\n\tfsmonitor = \"%s; false\"\n"),
		"git/pointer-later":   gitPointer(func(at, text string) error { return os.WriteFile(at, []byte(text), 0o600) }),
		"git/hooks-path":      gitHooksPath,
		"git/config-replace":  gitConfigReplace,
		"git/config-include":  gitInclude,
		"git/filter":          gitFilter,
		"git/diff-driver":     gitConfig("config", "[diff]\n\texternal = \"%s; true\"\n"),
		"git/alias":           gitConfig("config", "[alias]\n\tst = \"!%s\"\n"),
		"git/ssh-command":     gitConfig("config", "[core]\n\tsshCommand = \"%s; false\"\n[remote \"attack\"]\n\turl = ssh://127.0.0.1:1/x\n"),
		"git/hook-new":        gitHook(common("hooks/post-commit")),
		"git/hook-overwrite":  gitHook(common("hooks/pre-commit")),
		"git/hooks-replace":   gitHooksReplace,
		"git/info-attributes": puts(common("info/attributes"), "*.txt filter=theirs\n"),
		"git/info-replace":    gitInfoReplace,
		"git/commondir-main":  gitCommondir(func(g *Ground) string { return g.Common }),
		"git/commondir-own":   gitCommondir(func(g *Ground) string { return g.Admin }),
		"git/commondir-other": gitCommondir(func(g *Ground) string { return g.OtherAdmin }),
		"git/gitdir-own": puts(func(g *Ground, _ string) string { return filepath.Join(g.Admin, "gitdir") },
			"/planted/.git\n"),
		"git/admin-replace": gitAdminReplace,
		"git/head-other": puts(func(g *Ground, _ string) string { return filepath.Join(g.OtherAdmin, "HEAD") },
			"ref: refs/heads/planted\n"),
		"git/index-other":        puts(func(g *Ground, _ string) string { return filepath.Join(g.OtherAdmin, "index") }, planted),
		"git/admin-other-remove": func(g *Ground, _ string) (string, error) { return "", os.RemoveAll(g.OtherAdmin) },
		"git/worktree-prune":     gitPrune,
		"git/alternates":         puts(common("objects/info/alternates"), "/planted\n"),
		"git/shallow":            gitShallow("shallow"),
		"git/grafts":             gitShallow("info/grafts"),
		"git/replace":            gitReplace,
		"git/module-config":      gitConfig("modules/sub/config", "[core]\n\tfsmonitor = \"%s; false\"\n"),
		"git/module-hook":        gitHook(common("modules/sub/hooks/post-checkout")),
		"git/module-new":         gitHook(common("modules/new/hooks/post-checkout")),
		"git/rebase-todo":        gitRebase,
		"git/sequencer":          puts(common("sequencer/todo"), "pick HEAD\n"),
		"git/legacy-remote":      puts(common("remotes/planted"), "URL: /planted\n"),
		"git/branch-other": func(g *Ground, _ string) (string, error) {
			return "", runGit(g, "update-ref", "refs/heads/theirs", "HEAD")
		},
		"git/log-link":        links(common("logs/refs/heads/main"), ".bashrc"),
		"git/log-folder-link": links(common("logs/refs/heads/linked"), ""),
		"git/ref-folder-link": links(common("refs/heads/linked"), ""),
		"git/message-link":    links(func(g *Ground, _ string) string { return filepath.Join(g.Admin, "COMMIT_EDITMSG") }, ".bashrc"),
		"git/object-pipe": func(g *Ground, _ string) (string, error) {
			return "", unix.Mkfifo(filepath.Join(g.Common, "objects/pipe"), 0o600)
		},
		"git/head-log": puts(common("logs/HEAD"), plantedLog),
		"git/head-log-replace": func(g *Ground, _ string) (string, error) {
			return "", replace(filepath.Join(g.Common, "logs/HEAD"), plantedLog)
		},
		"git/packed-refs":    gitPackedRefs,
		"git/objects-tamper": gitTamper,
	}
	for name, dir := range map[string]func(*Ground) string{
		"git/config-worktree-main":  func(g *Ground) string { return g.Common },
		"git/config-worktree-own":   func(g *Ground) string { return g.Admin },
		"git/config-worktree-other": func(g *Ground) string { return g.OtherAdmin },
	} {
		m[name] = func(g *Ground, name string) (string, error) {
			return "", write(filepath.Join(dir(g), "config.worktree"), fmt.Sprintf("[core]\n\tfsmonitor = \"%s; false\"\n", g.Fire(name)))
		}
	}
	return m
}

// links puts a link to something of the user's home in the place of whatever is there.
func links(at func(*Ground, string) string, to string) probe {
	return func(g *Ground, name string) (string, error) {
		_ = os.RemoveAll(at(g, name))
		return "", os.Symlink(filepath.Join(g.Home, to), at(g, name))
	}
}

func runGit(g *Ground, args ...string) error {
	_, err := gitOut(g, args...)
	return err
}

func gitOut(g *Ground, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", g.Worktree, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	data, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %.300s", args[0], err, complaint.String())
	}
	return strings.TrimSpace(string(data)), nil
}

func gitCommit(g *Ground, name string) (string, error) {
	if err := os.WriteFile(filepath.Join(g.Worktree, "work.txt"), []byte("work\n"), 0o600); err != nil {
		return "", err
	}
	return done(errors.Join(runGit(g, "add", "work.txt"), runGit(g, "commit", "-q", "-m", "work"), runGit(g, "status")))
}

// replace puts a file in the place of another by renaming both.
func replace(at, text string) error {
	if err := os.Rename(at, at+".old"); err != nil {
		// Over it, then: that needs no leave to move the old one.
		if errW := os.WriteFile(at+".new", []byte(text), 0o600); errW != nil {
			return errors.Join(err, errW)
		}
		return errors.Join(err, os.Rename(at+".new", at))
	}
	return os.WriteFile(at, []byte(text), 0o600)
}

// evilGit makes a repository whose config fires, and returns its git folder.
func evilGit(g *Ground, name string) (string, error) {
	dir := g.In(name) + ".git"
	if out, err := exec.Command("git", "init", "-q", "--bare", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	text := fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"%s; false\"\n", g.Fire(name))
	return dir, os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600)
}

func gitPointer(put func(at, text string) error) probe {
	return func(g *Ground, name string) (string, error) {
		evil, err := evilGit(g, name)
		if err != nil {
			return "", err
		}
		return "", put(filepath.Join(g.Worktree, ".git"), "gitdir: "+evil+"\n")
	}
}

func gitPointerRemove(g *Ground, name string) (string, error) {
	at := filepath.Join(g.Worktree, ".git")
	if err := os.Remove(at); err != nil {
		return "", err
	}
	evil, err := evilGit(g, name)
	if err != nil {
		return "", err
	}
	return "", os.Rename(evil, at)
}

// gitConfig appends to a config file; %s is the command that fires.
func gitConfig(rel, text string) probe {
	return func(g *Ground, name string) (string, error) {
		f, err := os.OpenFile(filepath.Join(g.Common, rel), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintf(f, text, g.Fire(name))
		return "", errors.Join(err, f.Close())
	}
}

func script(g *Ground, name string) string { return "#!/bin/sh\n" + g.Fire(name) + "\n" }

func gitHooksPath(g *Ground, name string) (string, error) {
	dir := g.In(name)
	if err := write(filepath.Join(dir, "post-commit"), script(g, name)); err != nil {
		return "", err
	}
	return gitConfig("config", "[core]\n\thooksPath = "+dir+"\n# %s\n")(g, name)
}

func gitConfigReplace(g *Ground, name string) (string, error) {
	at := filepath.Join(g.Common, "config")
	text, err := os.ReadFile(at)
	if err != nil {
		return "", err
	}
	return "", replace(at, string(text)+fmt.Sprintf("[core]\n\tfsmonitor = \"%s; false\"\n", g.Fire(name)))
}

func gitInclude(g *Ground, name string) (string, error) {
	at := g.In(name)
	if err := os.WriteFile(at, fmt.Appendf(nil, "[core]\n\tfsmonitor = \"%s; false\"\n", g.Fire(name)), 0o600); err != nil {
		return "", err
	}
	return "", runGit(g, "config", "include.path", at)
}

func gitFilter(g *Ground, name string) (string, error) {
	if err := os.WriteFile(filepath.Join(g.Worktree, ".gitattributes"), []byte("*.fire filter=fire\n"), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(g.Worktree, "x.fire"), []byte("x\n"), 0o600); err != nil {
		return "", err
	}
	return gitConfig("config", "[filter \"fire\"]\n\tclean = \"%s; cat\"\n")(g, name)
}

func gitHook(at func(*Ground, string) string) probe {
	return func(g *Ground, name string) (string, error) { return "", write(at(g, name), script(g, name)) }
}

// plantedLog is a line of a log by which "git checkout -" leads to a branch of the cage's choice.
const plantedLog = "0000000000000000000000000000000000000000 0000000000000000000000000000000000000000 a <a@b> 1 +0000\tcheckout: moving from planted to main\n"

func puts(at func(*Ground, string) string, text string) probe {
	return func(g *Ground, name string) (string, error) { return "", write(at(g, name), text) }
}

func gitHooksReplace(g *Ground, name string) (string, error) {
	at := filepath.Join(g.Common, "hooks")
	if err := os.Rename(at, at+".old"); err != nil {
		return "", err
	}
	return "", write(filepath.Join(at, "post-commit"), script(g, name))
}

func gitInfoReplace(g *Ground, name string) (string, error) {
	at := filepath.Join(g.Common, "info")
	if err := os.Rename(at, at+".old"); err != nil {
		return "", err
	}
	return "", write(filepath.Join(at, "attributes"), "*.txt filter=theirs\n")
}

// gitCommondir points a git folder at a repository whose config fires.
func gitCommondir(dir func(*Ground) string) probe {
	return func(g *Ground, name string) (string, error) {
		evil, err := evilGit(g, name)
		if err != nil {
			return "", err
		}
		at := filepath.Join(dir(g), "commondir")
		if _, err := os.Lstat(at); err == nil {
			if errW := os.WriteFile(at, []byte(evil+"\n"), 0o600); errW == nil {
				return "", nil
			}
			return "", replace(at, evil+"\n")
		}
		return "", os.WriteFile(at, []byte(evil+"\n"), 0o600)
	}
}

func gitAdminReplace(g *Ground, name string) (string, error) {
	if err := os.Rename(g.Admin, g.Admin+".old"); err != nil {
		return "", err
	}
	evil, err := evilGit(g, name)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(g.Admin, 0o700); err != nil {
		return "", err
	}
	return "", errors.Join(
		os.WriteFile(filepath.Join(g.Admin, "commondir"), []byte(evil+"\n"), 0o600),
		os.WriteFile(filepath.Join(g.Admin, "HEAD"), []byte("ref: refs/heads/x\n"), 0o600),
		os.WriteFile(filepath.Join(g.Admin, "gitdir"), []byte(filepath.Join(g.Worktree, ".git")+"\n"), 0o600))
}

// gitPrune needs git to believe that the other worktree is gone; in a cage that does not show it, it is.
func gitPrune(g *Ground, _ string) (string, error) {
	err := runGit(g, "worktree", "prune", "--expire=now")
	return "", errors.Join(err, os.Remove(filepath.Join(g.OtherAdmin, "gitdir")), runGit(g, "worktree", "prune", "--expire=now"))
}

func gitShallow(rel string) probe {
	return func(g *Ground, name string) (string, error) {
		head, err := gitOut(g, "rev-parse", "HEAD")
		if err != nil {
			return "", err
		}
		at := filepath.Join(g.Common, rel)
		if err := os.WriteFile(at, []byte(head+"\n"), 0o600); err != nil {
			return "", errors.Join(err, replace(at, head+"\n"))
		}
		return "", nil
	}
}

func gitReplace(g *Ground, _ string) (string, error) {
	tree, err := gitOut(g, "rev-parse", "refs/heads/main^{tree}")
	if err != nil {
		return "", err
	}
	other, err := gitOut(g, "commit-tree", "-m", "planted", tree)
	if err != nil {
		return "", err
	}
	main, err := gitOut(g, "rev-parse", "refs/heads/main")
	if err != nil {
		return "", err
	}
	return "", write(filepath.Join(g.Common, "refs/replace", main), other+"\n")
}

func gitRebase(g *Ground, name string) (string, error) {
	head, err := gitOut(g, "rev-parse", "refs/heads/main")
	if err != nil {
		return "", err
	}
	at := filepath.Join(g.Common, "rebase-merge")
	if err := os.Mkdir(at, 0o700); err != nil {
		// Made elsewhere and moved here, then.
		at = g.In(name)
		if errM := os.Mkdir(at, 0o700); errM != nil {
			return "", errors.Join(err, errM)
		}
	}
	for file, text := range map[string]string{
		"head-name": "refs/heads/main", "onto": head, "orig-head": head, "interactive": "", "git-rebase-todo": "exec " + g.Fire(name) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(at, file), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	if to := filepath.Join(g.Common, "rebase-merge"); to != at {
		return "", os.Rename(at, to)
	}
	return "", nil
}

func gitPackedRefs(g *Ground, _ string) (string, error) {
	head, err := gitOut(g, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(filepath.Join(g.Common, "packed-refs"), []byte(head+" refs/heads/planted\n"), 0o600)
}

// gitTamper gives a file of the main branch other contents under the same object name.
func gitTamper(g *Ground, _ string) (string, error) {
	id, err := gitOut(g, "rev-parse", "refs/heads/main:tampered.txt")
	if err != nil {
		return "", err
	}
	at := filepath.Join(g.Common, "objects", id[:2], id[2:])
	if err := unix.Chmod(at, 0o600); err != nil {
		return "", err
	}
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	if _, err := fmt.Fprintf(z, "blob %d\x00%s", len(planted), planted); err != nil {
		return "", err
	}
	return "", errors.Join(z.Close(), os.WriteFile(at, buf.Bytes(), 0o600))
}

// placeProbes are those on the repository, tried from inside the main checkout.
func placeProbes() map[string]probe {
	m := map[string]probe{"place/git-replace": func(g *Ground, name string) (string, error) {
		if err := os.Rename(g.Common, g.Common+".old"); err != nil {
			return "", err
		}
		evil, err := evilGit(g, name)
		if err != nil {
			return "", err
		}
		return "", os.Rename(evil, g.Common)
	}}
	m["place/work"] = func(g *Ground, name string) (string, error) { return done(write(g.In(name), planted)) }
	git := gitProbes()
	for _, r := range placeRows() {
		if p := git["git/"+r.Name[len("place/"):]]; p != nil {
			m[r.Name] = p
		}
	}
	return m
}
