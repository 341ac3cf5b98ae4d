package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

// TestWhatIsElsewhereIsNoLoss: a main checkout that has a file just so keeps that file, and commits whose every file it has
// were applied. Neither makes an archive ask; what the folder held comes back all the same.
func TestWhatIsElsewhereIsNoLoss(t *testing.T) {
	for _, c := range []struct {
		name, kinds string
		work        func(w *world, main, dir string)
	}{
		{"commits on the branch", "unpushed", func(w *world, _, dir string) {
			w.write(dir, "a.txt", "x\n")
			w.commit(dir, "work")
		}},
		{"commits that were applied", "", func(w *world, main, dir string) {
			w.write(dir, "a.txt", "x\n")
			w.write(dir, "new/file", "y\n")
			w.commit(dir, "work")
			w.must(os.Remove(filepath.Join(dir, "c.txt")))
			w.commit(dir, "more work")
			w.write(main, "a.txt", "x\n")
			w.write(main, "new/file", "y\n")
			w.must(os.Remove(filepath.Join(main, "c.txt")))
			w.commit(main, "applied")
		}},
		{"commits that were applied in part", "unpushed", func(w *world, main, dir string) {
			w.write(dir, "a.txt", "x\n")
			w.write(dir, "new/file", "y\n")
			w.commit(dir, "work")
			w.write(main, "a.txt", "x\n")
			w.commit(main, "applied")
		}},
		{"commits that were applied, on no branch", "unpushed", func(w *world, main, dir string) {
			w.run(dir, "checkout", "-q", "--detach")
			w.write(dir, "a.txt", "x\n")
			w.commit(dir, "work")
			w.write(main, "a.txt", "x\n")
		}},
		{"commits on no branch", "unpushed", func(w *world, _, dir string) {
			w.run(dir, "checkout", "-q", "--detach")
			w.write(dir, "a.txt", "x\n")
			w.commit(dir, "work")
		}},
		{"applied", "", func(w *world, main, dir string) {
			for _, d := range []string{main, dir} {
				w.write(d, "a.txt", "x\n")
				w.write(d, "new/file", "y\n")
				w.must(os.Remove(filepath.Join(d, "c.txt")))
				w.must(os.Symlink("a.txt", filepath.Join(d, "link")))
			}
		}},
		{"applied and committed", "", func(w *world, main, dir string) {
			w.write(dir, "a.txt", "x\n")
			w.run(dir, "add", "a.txt")
			w.write(main, "a.txt", "x\n")
			w.commit(main, "applied")
		}},
		{"other content", "dirty", func(w *world, main, dir string) {
			w.write(dir, "a.txt", "x\n")
			w.write(main, "a.txt", "y\n")
		}},
		{"only the deletion differs", "dirty", func(w *world, main, dir string) { w.must(os.Remove(filepath.Join(dir, "a.txt"))) }},
		{"another mode", "untracked", func(w *world, main, dir string) {
			w.write(dir, "run", "x\n")
			w.write(main, "run", "x\n")
			w.must(os.Chmod(filepath.Join(dir, "run"), 0o755))
		}},
		{"another link", "untracked", func(w *world, main, dir string) {
			w.must(os.Symlink("a.txt", filepath.Join(dir, "link")))
			w.must(os.Symlink("c.txt", filepath.Join(main, "link")))
		}},
		{"a third version in the index", "staged,dirty", func(w *world, main, dir string) {
			w.write(dir, "a.txt", "staged\n")
			w.run(dir, "add", "a.txt")
			for _, d := range []string{main, dir} {
				w.write(d, "a.txt", "x\n")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			main := w.repo("r")
			r := w.open(main)
			task := w.task(r, "t")
			c.work(w, main, task.Path)
			losses, err := r.Losses(ctx, task.Path, task.Branch, false)
			w.must(err)
			same(t, "losses", kinds(losses), c.kinds)
			o := RemoveOptions{Path: task.Path, Branch: task.Branch}
			before := w.run(task.Path, "status", "--porcelain")
			if c.kinds != "" {
				_, err := r.Remove(ctx, o)
				wantCode(t, err, fault.NeedsConsent)
				return
			}
			removed, err := r.Remove(ctx, o)
			w.must(err)
			same(t, "a backup of what was uncommitted", strings.HasPrefix(removed.BackupRef, BackupPrefix), before != "")
			back, err := r.Restore(ctx, RestoreOptions{Path: task.Path, Branch: task.Branch, BackupRef: removed.BackupRef, Commit: removed.Head})
			w.must(err)
			same(t, "status after the restore", w.run(back.Path, "status", "--porcelain"), before)
		})
	}
}
