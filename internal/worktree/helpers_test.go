package worktree

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

// world is a home of its own with the user's git in it. Nothing of the machine's configuration is seen.
type world struct {
	t    testing.TB
	dir  string // canonical
	env  []string
	git  *Git
	opts Options
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	dir := canonical(t.TempDir())
	home := filepath.Join(dir, "home")
	config := "[user]\n\tname = A User\n\temail = user@example.invalid\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgSign = false\n[core]\n\tfsync = none\n"
	w := &world{t: t, dir: dir}
	w.must(os.MkdirAll(home, 0o755))
	w.must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644))
	w.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}
	w.opts = Options{Env: w.env, Timeout: 30 * time.Second}
	for _, f := range change {
		f(&w.opts)
	}
	g, err := New(w.opts)
	w.must(err)
	w.git = g
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v (%+v)", err, fault.From(err).Hint)
	}
}

// run runs the user's git in dir and returns what it printed.
func (w *world) run(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func (w *world) try(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, w.env
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

func (w *world) write(dir, name, text string) {
	w.t.Helper()
	p := filepath.Join(dir, name)
	w.must(os.MkdirAll(filepath.Dir(p), 0o755))
	w.must(os.WriteFile(p, []byte(text), 0o644))
}

func (w *world) read(dir, name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	w.must(err)
	return string(b)
}

// repo makes a repository with one commit: a.txt, dir/b.txt and c.txt.
func (w *world) repo(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	w.must(os.MkdirAll(dir, 0o755))
	w.run(dir, "init", "-q")
	w.write(dir, "a.txt", "one\ntwo\nthree\n")
	w.write(dir, "dir/b.txt", "b\n")
	w.write(dir, "c.txt", "c\n")
	w.commit(dir, "first")
	return dir
}

func (w *world) commit(dir, message string) string {
	w.t.Helper()
	w.run(dir, "add", "-A")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", message)
	return w.run(dir, "rev-parse", "HEAD")
}

func (w *world) open(dir string) *Repo {
	w.t.Helper()
	r, err := w.git.Open(context.Background(), dir)
	w.must(err)
	return r
}

// task makes a worktree named name beside the repositories, on a derived branch.
func (w *world) task(r *Repo, name string) Created {
	w.t.Helper()
	c, err := r.Create(context.Background(), CreateOptions{Path: filepath.Join(w.dir, "tasks", name), Branch: BranchFor("feature", name)})
	w.must(err)
	return c
}

// tree lists the files below dir with their kind, mode and content, without .git. It is what two trees are compared by.
func (w *world) tree(dir string) string {
	w.t.Helper()
	var lines []string
	w.must(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if rel == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			lines = append(lines, "L "+rel+" -> "+to)
		default:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			x := "-"
			if info.Mode()&0o100 != 0 {
				x = "x"
			}
			lines = append(lines, x+" "+rel+" = "+string(b))
		}
		return nil
	}))
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func wantCode(t testing.TB, err error, code fault.Code) *fault.Error {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("error %v (%q), want code %s", err, fault.CodeOf(err), code)
	}
	f := fault.From(err)
	if f == nil {
		return nil
	}
	if f.Message == "" {
		t.Fatalf("an error without a sentence: %v", err)
	}
	return f
}

func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}
