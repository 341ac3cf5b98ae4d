//go:build unix

package worktree

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// nobody is a user without rights, for whom the permissions of files hold.
const nobody = 65534

// asNobody runs a test of this package again as a user without rights, where this process is root, and reports whether the
// caller is that other run, or an ordinary user already.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "worktree.test")
	if err := os.WriteFile(bin, text, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{tmp, dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(bin, "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Dir, c.Env = tmp, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "HOME=" + tmp}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as a user: %v\n%s", err, out)
	}
	return false
}

// TestUnreadableFolder: what lies in a folder that cannot be read may be work. git does not see it, and the removal of a
// worktree gives itself the permission to delete it; so it is a loss.
func TestUnreadableFolder(t *testing.T) {
	if !asNobody(t) {
		return
	}
	w := newWorld(t)
	r := w.open(w.repo("repo"))
	c := w.task(r, "one")
	w.write(c.Path, "work/deeper/precious", "x")
	locked := filepath.Join(c.Path, "work")
	w.must(os.Chmod(locked, 0))
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	_, err := r.Remove(context.Background(), RemoveOptions{Path: c.Path, Branch: c.Branch})
	losses, _ := fault.From(err).Data["losses"].([]api.Loss)
	if fault.CodeOf(err) != fault.NeedsConsent || len(losses) != 1 || losses[0].Kind != LossUnread || losses[0].Count != 1 || !strings.HasPrefix(losses[0].Items[0], "work/") {
		t.Fatalf("it is removed with %v, losses %+v", err, losses)
	}
	w.must(os.Chmod(locked, 0o700))
	w.must(os.Chmod(filepath.Join(locked, "deeper/precious"), 0))
	_, err = r.Remove(context.Background(), RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	if f := fault.From(err); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(f.Message, "precious") || !strings.Contains(f.Hint, "chmod") {
		t.Errorf("a file that cannot be read: %v, hint %q", err, fault.From(err).Hint)
	}
	if _, err := r.Discard(context.Background(), c.Path, DiscardOptions{Choice: Choice{Paths: []string{"work"}}}); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.From(err).Message, "precious") {
		t.Errorf("it is discarded: %v", err)
	}

}

// TestFolderTooDeep: a folder so deep that no path leads there is one that cannot be looked into.
func TestFolderTooDeep(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("repo"))
	c := w.task(r, "one")
	root, err := os.OpenRoot(c.Path)
	w.must(err)
	at := root
	for range 100 {
		w.must(at.Mkdir(strings.Repeat("d", 50), 0o755))
		down, err := at.OpenRoot(strings.Repeat("d", 50))
		w.must(err)
		w.must(at.Close())
		at = down
	}
	w.must(at.WriteFile("precious", []byte("x"), 0o600))
	w.must(at.Close())
	_, err = r.Remove(context.Background(), RemoveOptions{Path: c.Path, Branch: c.Branch})
	losses, _ := fault.From(err).Data["losses"].([]api.Loss)
	if fault.CodeOf(err) != fault.NeedsConsent || len(losses) != 1 || losses[0].Kind != LossUnread {
		t.Fatalf("it is removed with %v, losses %+v", err, losses)
	}
	if _, err = r.Remove(context.Background(), RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true}); err != nil {
		t.Errorf("with consent: %v", err)
	}
}

// TestStageWeighs: a file of a terabyte that holds nothing is not stored.
func TestStageWeighs(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("repo"))
	c := w.task(r, "one")
	if err := os.Truncate(filepath.Join(c.Path, "a.txt"), 1<<40); err != nil {
		t.Skipf("NOT TESTED: this file system holds no file of a terabyte: %v", err)
	}
	_, err := r.Stage(context.Background(), c.Path, Choice{Paths: []string{"a.txt"}})
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(fault.From(err).Message, "a.txt") {
		t.Errorf("it is staged: %v", err)
	}
}

// TestDiffOfWhatCannotBeCompared: one file that git cannot open, that is a pipe or a socket by now, or that would be read for
// an hour does not take the diff of all others away. It is listed.
func TestDiffOfWhatCannotBeCompared(t *testing.T) {
	if !asNobody(t) {
		return
	}
	for what, spoil := range map[string]func(path string) error{
		"a pipe":     func(p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o600)) },
		"unreadable": func(p string) error { return os.Chmod(p, 0) },
		"huge":       func(p string) error { return os.Truncate(p, 1<<40) },
		"a socket": func(p string) error {
			short, err := os.MkdirTemp("/tmp", "s") // a socket's path has a bound of its own
			if err != nil {
				return err
			}
			defer os.RemoveAll(short)
			l, err := net.Listen("unix", filepath.Join(short, "s"))
			if err != nil {
				return err
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			return errors.Join(l.Close(), os.Rename(filepath.Join(short, "s"), p))
		},
	} {
		t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Timeout = 5 * time.Second })
			r := w.open(w.repo("repo"))
			c := w.task(r, "one")
			w.write(c.Path, "c.txt", "c\nd\n")
			w.write(c.Path, "a.txt", "changed\n")
			w.write(c.Path, "new", "n\n")
			for _, name := range []string{"a.txt", "new"} {
				if err := spoil(filepath.Join(c.Path, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, stat := range []bool{true, false} {
				d, err := r.Diff(context.Background(), c.Path, "main", DiffOptions{Patch: !stat, StatOnly: stat})
				if err != nil {
					t.Fatalf("%v: %s", err, fault.From(err).Hint)
				}
				if d.Stat.FilesChanged < 2 || d.Stat.Insertions != 1 || !d.Truncated {
					t.Errorf("stat %+v, truncated %v", d.Stat, d.Truncated)
				}
				if stat {
					continue
				}
				at := d.byPath()
				if i, ok := at["a.txt"]; !ok || !d.Files[i].Unstaged || !strings.Contains(string(d.Patch), "+d\n") {
					t.Errorf("files %+v, patch\n%s", d.Files, d.Patch)
				}
			}
		})
	}
}
