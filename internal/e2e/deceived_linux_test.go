package e2e

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// TestMeasureIsNotDeceived: a caged agent writes into the objects of the repository. It cannot make the commits that its tree is
// measured against look as if they had had its files already.
func TestMeasureIsNotDeceived(t *testing.T) {
	r := newRig(t)
	r.write("src/a.txt", "a\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "second")
	c := r.cageTask("writer", "enforce-fs", nil)
	c.run("mkdir -p src/.claude && echo '{}' > src/.claude/settings.json")
	r.asksAbout("added src/.claude/settings.json", "task_sandbox", map[string]any{"task": c.id, "mode": "off"})

	// The folder as it was before, with one entry more.
	out := c.run("printf '100644 blob %s\\tsettings.json\\n' $(git hash-object -w src/.claude/settings.json) | git mktree")
	claude := strings.Fields(out)[0]
	out = c.run("{ git ls-tree HEAD:src; printf '040000 tree " + claude + "\\t.claude\\n'; } | git mktree && git rev-parse HEAD:src")
	forged, real := strings.Fields(out)[0], strings.Fields(out)[1]
	if len(forged) != 40 || len(real) != 40 || forged == real {
		t.Fatalf("folders: %q", out)
	}
	raw, err := r.tryGit(r.repo, "cat-file", "tree", forged)
	must(t, err)
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	fmt.Fprintf(z, "tree %d\x00%s", len(raw), raw)
	must(t, z.Close())
	must(t, os.WriteFile(filepath.Join(c.path, "forged"), buf.Bytes(), 0o600))
	at := "'" + strings.ReplaceAll(filepath.Join(r.repo, ".git/objects", real[:2], real[2:]), "'", `'\''`) + "'"
	if out := c.run("chmod u+w " + at + "; cat forged > " + at + " && rm forged"); !strings.Contains(out, "exit 0") {
		t.Fatalf("the object was not exchanged: %s", out)
	}
	if got := r.git(r.repo, "ls-tree", "-r", "--name-only", "HEAD"); !strings.Contains(got, ".claude/settings.json") {
		t.Fatalf("git is not deceived, so nothing is shown: %s", got)
	}
	for verb, params := range map[string]map[string]any{"task_sandbox": {"task": c.id, "mode": "off"}, "task_apply": {"task": c.id}} {
		_, err := try[api.TaskSandboxResult](r, verb, params)
		if code := fault.CodeOf(err); code != fault.Conflict && code != fault.NeedsConsent {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if d := r.live(c.id); d.Sandbox != "enforce-fs" {
		t.Errorf("it is in mode %s", d.Sandbox)
	}
}

// TestMeasuresAreReadOneByOne: a tree that is as the newest commit has it is compared with no other.
func TestMeasuresAreReadOneByOne(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("writer", "enforce-fs", nil)
	c.run("echo one > plain.txt")
	lists, err := filepath.Glob(filepath.Join(r.data, "trusted", "*"))
	must(t, err)
	if len(lists) != 1 {
		t.Fatalf("lists of commits: %v", lists)
	}
	commits := r.git(r.repo, "rev-parse", "HEAD") + "\n"
	for i := range 9 {
		r.git(r.repo, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
		commits += r.git(r.repo, "rev-parse", "HEAD") + "\n"
	}
	must(t, os.WriteFile(lists[0], []byte(commits), 0o600))
	reads := func() int { return strings.Count(r.log.String(), `args="[cat-file --batch]"`) }
	before := reads()
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": c.id, "mode": "off"})
	// A commit and its one folder, once before and once after the agent was ended.
	if n := reads() - before; n != 4 {
		t.Errorf("git was asked for objects %d times, want 4", n)
	}
}

// TestWhatArrivesIsAskedAbout: an agent makes a file that runs by itself come and go while its changes are applied. It is asked
// about, or does not arrive.
func TestWhatArrivesIsAskedAbout(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("flicker", "enforce", nil)
	c.run("echo more >> README.md; (setsid sh -c 'while [ ! -e ../stop -a ! -e .stop ]; do mkdir -p .vscode; echo 1 > .mcp.json; echo 1 > .vscode/tasks.json; git add .mcp.json; sleep 0.05; git rm -qf .mcp.json; rm -rf .vscode; sleep 0.4; done' >/dev/null 2>&1 &)")
	defer func() { _ = os.WriteFile(filepath.Join(c.path, ".stop"), nil, 0o600) }() // the cage ends with the app anyway
	asked, applied := 0, 0
	for round := 0; round < 25 && (round < 10 || asked == 0 || applied == 0); round++ {
		_, err := try[api.TaskApplyResult](r, "task_apply", map[string]any{"task": c.id})
		switch fault.CodeOf(err) {
		case "":
			applied++
		case fault.NeedsConsent:
			asked++
		}
		for _, name := range []string{".mcp.json", ".vscode/tasks.json"} {
			if _, err := os.Lstat(filepath.Join(r.repo, name)); err == nil {
				t.Fatalf("%s arrived unasked, after %d were applied and %d asked about", name, applied, asked)
			}
		}
		r.git(r.repo, "reset", "-q", "--hard")
		r.git(r.repo, "clean", "-qffdx")
	}
	if asked == 0 || applied == 0 {
		t.Errorf("%d were applied, %d asked about: nothing is shown", applied, asked)
	}
}
