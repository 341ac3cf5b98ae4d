package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// carriers are shell commands with which a caged agent leaves something behind that a git outside might run. $F is a program
// that leaves a mark in the user's home, which the cage cannot do itself.
var carriers = map[string][]string{
	"repositories in the tree": {
		// A repository in the tree.
		`git init -q sub && git -C sub config core.fsmonitor "$F sub" && git -C sub -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x`,
		// One that the index names.
		`git init -q linked && git -C linked config core.fsmonitor "$F linked" && git -C linked -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x && git add linked`,
		// A repository laid bare.
		`git init -q --bare bare && git -C bare config core.fsmonitor "$F bare" && git -C bare config core.bare false && git -C bare config core.worktree ..`,
		// A pointer to one.
		`mkdir pointed && git init -q --bare pointed/real && git -C pointed/real config core.bare false && git -C pointed/real config core.fsmonitor "$F pointed" && echo 'gitdir: real' > pointed/.git`,
		// A pointer to a pointer.
		`mkdir -p twice/in && git init -q --bare twice/real && git -C twice/real config core.bare false && git -C twice/real config core.fsmonitor "$F twice" && echo 'gitdir: ../real' > twice/in/.git && echo 'gitdir: in/.git' > twice/.git`,
		// A worktree in the worktree.
		`mkdir inner && git -C inner init -q && git -C inner config core.worktree /tmp && git -C inner config core.fsmonitor "$F inner"`,
	},
	"names": {
		// Another case.
		`mkdir -p case/.GIT && printf '[core]\n\tfsmonitor = %s\n' "$F case" > case/.GIT/config && mkdir .GIT .Git && cp case/.GIT/config .GIT/config`,
		// A blank behind the name.
		`mkdir -p 'blank/.git ' '.git ' && printf '[core]\n\tfsmonitor = %s\n' "$F blank" > 'blank/.git /config'`,
		// The short name.
		`mkdir -p short/git~1 git~1/hooks && printf '[core]\n\tfsmonitor = %s\n' "$F short" > short/git~1/config`,
		// A name with nothing in it.
		`d=$(printf '.g\342\200\214it'); mkdir -p "nothing/$d" "$d" && printf '[core]\n\tfsmonitor = %s\n' "$F nothing" > "nothing/$d/config"`,
		// Decomposed letters.
		`printf x > "$(printf 'e\314\201')" && printf y > "$(printf '\303\251')"`,
		// Names that look like options.
		`printf x > "-c"; printf x > "--upload-pack=$F"; printf x > "--output=fired"; printf x > ":(exclude)x"; printf x > '@{1}'`,
	},
	"files of git in the tree": {
		// Modules of its own.
		`mkdir -p .git-modules && printf '[submodule "m"]\n\tpath = m\n\turl = ext::%s\n\tupdate = !%s\n' "$F m" "$F update" > .gitmodules && printf '[submodule "m"]\n\tupdate = !%s\n' "$F m" > .GITMODULES`,
		// Attributes.
		`printf '* filter=fire diff=fire merge=fire text\n' > .gitattributes; printf '* filter=fire\n' > "$(git rev-parse --git-dir)/info/attributes" || true`,
	},
	"git's own folder": {
		// A half-done rebase.
		`d=$(git rev-parse --git-dir); mkdir -p "$d/rebase-merge" && printf 'exec %s\n' "$F rebase" > "$d/rebase-merge/git-rebase-todo" && git rev-parse HEAD > "$d/rebase-merge/onto" && echo refs/heads/x > "$d/rebase-merge/head-name"; echo x > "$d/MERGE_MSG"`,
		// Sparse checkout.
		`d=$(git rev-parse --git-dir); mkdir -p "$d/info" && echo '/*' > "$d/info/sparse-checkout"; mkdir -p "$d/hooks" && cp "$F" "$d/hooks/post-checkout" && cp "$F" "$d/hooks/post-index-change"; true`,
		// The socket of a file monitor.
		`d=$(git rev-parse --git-dir); python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.bind('$d/fsmonitor--daemon.ipc')" || true`,
		// A shared index.
		`git update-index --split-index --fsmonitor 2>/dev/null; true`,
		// Branches with hostile names.
		`git update-ref 'refs/heads/$(touch${IFS}fired)' HEAD; git update-ref 'refs/heads/-q' HEAD; git update-ref 'refs/tags/main' HEAD; git update-ref refs/heads/HEAD HEAD; true`,
		// A graph of commits of its own.
		`git commit-graph write --reachable`,
		// A merge with a planted message.
		`d=$(git rev-parse --git-dir); git rev-parse HEAD > "$d/MERGE_HEAD"; echo x > "$d/MERGE_MODE"; true`,
	},
}

// TestCarriers: whatever a caged agent leaves in its tree and in its own folder of the repository, the app's git runs nothing of
// it; nor does the user's git in the main checkout, before and after the changes were applied.
func TestCarriers(t *testing.T) {
	r := newRig(t)
	// The user has programs that a name in the tree could switch on, and a file monitor's default.
	fire := filepath.Join(r.home, "fire")
	must(t, os.WriteFile(fire, []byte("#!/bin/sh\n: > \"$HOME/fired-$1\" 2>/dev/null\ncat\n"), 0o755))
	global, err := os.OpenFile(filepath.Join(r.home, ".gitconfig"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = fmt.Fprintf(global, "[filter \"users\"]\n\tclean = %s users\n\tsmudge = %s users\n", fire, fire)
	must(t, err)
	must(t, global.Close())
	fired := func(when string) {
		t.Helper()
		marks, err := filepath.Glob(filepath.Join(r.home, "fired-*"))
		must(t, err)
		for _, m := range marks {
			t.Errorf("%s: a planted command ran: %s", when, filepath.Base(m))
			must(t, os.Remove(m))
		}
	}
	users := func(when string) {
		t.Helper()
		for _, args := range []string{"status", "diff", "diff --stat HEAD", "add -A -n", "stash list", "log --all --oneline -3", "branch -a", "fetch -q --all", "worktree list", "submodule status", "gc --auto", "fsck", "ls-files -o", "clean -n -d"} {
			_, _ = r.tryGit(r.repo, strings.Fields(args)...) // what it says does not matter: did a command run?
		}
		fired(when)
	}
	for name, plants := range carriers {
		c := r.cageTask(name, "enforce", nil)
		for _, plant := range plants {
			must(t, os.WriteFile(filepath.Join(c.path, "plant.sh"), []byte("F='"+fire+"'; echo changed >> README.md; "+plant), 0o600))
			if out := c.run("sh ./plant.sh; s=$?; rm plant.sh; exit $s"); !strings.Contains(out, "exit 0") {
				t.Errorf("%s: it was not planted: %s: %s", name, plant, out)
			}
		}
		call[json.RawMessage](r, "task_status", map[string]any{"task": c.id})
		if _, err := try[json.RawMessage](r, "task_diff", map[string]any{"task": c.id, "full": true}); fault.CodeOf(err) == fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
		call[json.RawMessage](r, "task_list", nil)
		fired(name + ": looked at")
		users(name + ": the user's git")
		_, err := try[api.TaskApplyResult](r, "task_apply", map[string]any{"task": c.id})
		asked := fault.CodeOf(err) == fault.NeedsConsent
		if asked {
			_, err = try[api.TaskApplyResult](r, "task_apply", map[string]any{"task": c.id, "acceptFiles": true})
		}
		t.Logf("%s: asked %v, applied %v", name, asked, err)
		fired(name + ": applied")
		for _, path := range []string{".GIT", ".Git", ".git ", "git~1", "case/.GIT", "blank/.git ", "short/git~1", "sub/.git", "linked/.git", "pointed/.git", "twice/.git", "inner/.git", "sub/.git/config"} {
			if _, err := os.Lstat(filepath.Join(r.repo, path)); err == nil && !asked {
				t.Errorf("%s: %q arrived unasked", name, path)
			} else if err == nil {
				t.Logf("%s: %q arrived with consent", name, path)
			}
		}
		users(name + ": the user's git afterwards")
		call[json.RawMessage](r, "task_archive", map[string]any{"task": c.id, "discard": true})
		fired(name + ": archived")
		if _, err := try[json.RawMessage](r, "task_restore", map[string]any{"task": c.id}); err != nil {
			t.Logf("%s: restored: %v", name, err)
		}
		fired(name + ": restored")
		call[json.RawMessage](r, "task_archive", map[string]any{"task": c.id, "discard": true})
		r.git(r.repo, "reset", "-q", "--hard")
		r.git(r.repo, "clean", "-qffdx")
	}
}

// TestProjectThatACageMade: a repository in the tree or in the home of a caged agent is no project, since git would run what
// its settings name where no cage is. A clone of it may be one.
func TestProjectThatACageMade(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("maker", "enforce", nil)
	const plant = `git init -q $D && cd $D && echo '* filter=fire' > .gitattributes && echo x > x && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm x && git config filter.fire.process "touch $HOME/fired"`
	for place, at := range map[string]string{"nested": filepath.Join(c.path, "nested"), "$HOME/nested": filepath.Join(r.data, "homes", c.id, "nested")} {
		if out := c.run("D=" + place + "; " + plant); !strings.Contains(out, "exit 0") {
			t.Fatalf("it was not planted: %s", out)
		}
		if f := refused(r, fault.Conflict, "project_add", map[string]any{"path": at, "name": "planted"}); !strings.Contains(f.Hint, "git clone") {
			t.Errorf("%s: %v, hint %q", place, f, f.Hint)
		}
		refused(r, fault.Conflict, "project_add", map[string]any{"path": at, "name": "plain", "nonGit": false})
	}
	copied := filepath.Join(r.home, "copied")
	r.git(r.home, "clone", "-q", filepath.Join(c.path, "nested"), copied)
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": copied, "name": "copied"})
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": r.repo}) // the main checkout is where the task came from
	if _, err := os.Lstat(filepath.Join(r.home, "fired")); err == nil {
		t.Error("what was planted ran")
	}
}
