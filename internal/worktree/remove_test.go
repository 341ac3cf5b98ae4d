package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

func kinds(losses []api.Loss) string {
	var out []string
	for _, l := range losses {
		out = append(out, l.Kind)
	}
	return strings.Join(out, ",")
}

func TestW20NothingIsLostWithoutConsent(t *testing.T) {
	for _, c := range []struct {
		name, kinds string
		work        func(w *world, dir string)
		check       func(t *testing.T, w *world, main, ref string)
	}{
		{"dirty", "dirty", func(w *world, dir string) { w.write(dir, "a.txt", "precious\n") },
			func(t *testing.T, w *world, main, ref string) {
				same(t, "kept", w.run(main, "show", ref+":a.txt"), "precious")
			}},
		{"staged", "staged,dirty", func(w *world, dir string) {
			w.write(dir, "a.txt", "staged\n")
			w.run(dir, "add", "a.txt")
			w.write(dir, "a.txt", "precious\n")
		}, func(t *testing.T, w *world, main, ref string) {
			same(t, "kept", w.run(main, "show", ref+":a.txt")+w.run(main, "show", ref+"^2:a.txt"), "preciousstaged")
		}},
		{"untracked", "untracked", func(w *world, dir string) { w.write(dir, "new \"file\"\n.txt", "precious\n") },
			func(t *testing.T, w *world, main, ref string) {
				same(t, "kept", w.run(main, "show", ref+":new \"file\"\n.txt"), "precious")
			}},
		{"hidden from status", "dirty", func(w *world, dir string) {
			w.run(dir, "update-index", "--assume-unchanged", "a.txt")
			w.run(dir, "update-index", "--skip-worktree", "c.txt")
			w.write(dir, "a.txt", "precious\n")
			w.write(dir, "c.txt", "precious too\n")
		}, func(t *testing.T, w *world, main, ref string) {
			same(t, "kept", w.run(main, "show", ref+":a.txt")+w.run(main, "show", ref+":c.txt"), "preciousprecious too")
		}},
		{"ignored", "ignored", func(w *world, dir string) { w.write(dir, "secrets.env", "precious\n") }, nil},
		{"unpushed", "unpushed", func(w *world, dir string) {
			w.write(dir, "a.txt", "precious\n")
			w.commit(dir, "work")
		}, func(t *testing.T, w *world, main, ref string) {
			same(t, "kept", w.run(main, "show", ref+":a.txt"), "precious")
		}},
		{"detached", "unpushed", func(w *world, dir string) {
			w.run(dir, "checkout", "-q", "--detach")
			w.write(dir, "a.txt", "precious\n")
			w.commit(dir, "work")
		}, func(t *testing.T, w *world, main, ref string) {
			same(t, "kept", w.run(main, "log", "-1", "--format=%s", ref+"^1"), "work")
		}},
		{"stash", "stash", func(w *world, dir string) {
			w.write(dir, "a.txt", "precious\n")
			w.run(dir, "stash", "-q")
		}, func(t *testing.T, w *world, main, ref string) {
			w.run(main, "stash", "clear")
			parents := strings.Fields(w.run(main, "log", "-1", "--format=%P", ref+"^2"))
			same(t, "kept", w.run(main, "show", parents[len(parents)-1]+":a.txt"), "precious")
		}},
		{"mid-rebase", "dirty,unpushed,rebase", func(w *world, dir string) {
			w.write(dir, "a.txt", "ours\n")
			w.commit(dir, "ours")
			w.run(dir, "checkout", "-q", "-b", "other", "HEAD~1")
			w.write(dir, "a.txt", "theirs\n")
			w.commit(dir, "theirs")
			w.run(dir, "checkout", "-q", "feature/t")
			_, _ = w.try(dir, "rebase", "other")
		}, func(t *testing.T, w *world, main, ref string) {
			if !strings.Contains(w.run(main, "show", ref+":a.txt"), "<<<<<<<") {
				t.Error("the file with its conflict marks is not in the backup")
			}
			if !strings.Contains(w.run(main, "log", "--format=%s", ref), "ours") {
				t.Error("the commit that is being rebased is not in the backup")
			}
		}},
		{"locked", "locked", func(w *world, dir string) { w.run(dir, "worktree", "lock", "--reason", "on a stick", dir) }, nil},
		{"nested repository", "repository", func(w *world, dir string) {
			w.write(dir, "nested/x", "x\n")
			w.run(filepath.Join(dir, "nested"), "init", "-q")
			w.commit(filepath.Join(dir, "nested"), "x")
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			main := w.repo("r")
			w.write(main, ".gitignore", "*.env\nbuild/\n")
			w.commit(main, "ignore")
			r := w.open(main)
			task := w.task(r, "t")
			losses, err := r.Losses(ctx, task.Path, task.Branch, true)
			w.must(err)
			same(t, "losses of an untouched tree", kinds(losses), "")
			c.work(w, task.Path)
			before := w.tree(task.Path)
			o := RemoveOptions{Path: task.Path, Branch: task.Branch, ID: "01TASK", DeleteBranch: true, ParentsUpTo: w.dir}
			_, err = r.Remove(ctx, o)
			f := wantCode(t, err, fault.NeedsConsent)
			same(t, "losses", kinds(f.Data["losses"].([]api.Loss)), c.kinds)
			same(t, "tree after the refusal", w.tree(task.Path), before)

			o.Consent = true
			removed, err := r.Remove(ctx, o)
			w.must(err)
			if _, err := os.Lstat(filepath.Join(w.dir, "tasks")); err == nil {
				t.Error("folder or empty parent left behind")
			}
			same(t, "worktrees", strings.Count(w.run(main, "worktree", "list", "--porcelain"), "worktree "), 1)
			if !removed.BranchDeleted {
				t.Errorf("branch kept: %v", removed.Warnings)
			}
			if c.check == nil {
				same(t, "backup", removed.BackupRef, "")
				return
			}
			same(t, "backup", removed.BackupRef, "refs/termic/backup/01TASK-1")
			w.run(main, "gc", "-q", "--prune=now")
			c.check(t, w, main, removed.BackupRef)
		})
	}
}

func TestIgnoredFilesAreListed(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	w.write(main, ".gitignore", "*.env\nnode_modules/\ndata\n")
	w.commit(main, "ignore")
	w.write(main, "copied.env", "A=1\n")
	r := w.open(main)
	c := w.task(r, "t")
	w.write(c.Path, "copied.env", "A=1\n") // the main checkout has it too
	w.must(os.Symlink(main, filepath.Join(c.Path, "data")))
	losses, err := r.Losses(ctx, c.Path, c.Branch, true)
	w.must(err)
	same(t, "copies and links", kinds(losses), "")
	w.write(c.Path, "node_modules/a/x.js", strings.Repeat("x", 3000))
	w.write(c.Path, "node_modules/b/y.js", "y")
	w.write(c.Path, "own.env", "B=2\n")
	losses, err = r.Losses(ctx, c.Path, c.Branch, true)
	w.must(err)
	same(t, "kinds", kinds(losses), "ignored")
	same(t, "count", losses[0].Count, 3)
	same(t, "items", strings.Join(losses[0].Items, "\n"), "node_modules/ (2 files, 2.9 KiB; not kept by the backup)\nown.env (4 B; not kept by the backup)")
}

func TestUnpushedMeansNowhereElse(t *testing.T) {
	w := newWorld(t)
	w.repo("src")
	w.run(w.dir, "clone", "-q", "--bare", "src", "up.git")
	w.run(w.dir, "clone", "-q", "up.git", "r")
	main := filepath.Join(w.dir, "r")
	r := w.open(main)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "x\n")
	w.commit(c.Path, "work")
	want := func(s string) {
		t.Helper()
		losses, err := r.Losses(ctx, c.Path, c.Branch, true)
		w.must(err)
		same(t, "losses", kinds(losses), s)
	}
	want("unpushed")
	w.run(c.Path, "push", "-q", "origin", "HEAD")
	want("")
	w.write(c.Path, "a.txt", "y\n")
	w.commit(c.Path, "more")
	want("unpushed")
	w.run(main, "branch", "copy", c.Branch)
	want("")
}

func TestW25LinksAreNotFollowed(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	shared := filepath.Join(w.dir, "shared")
	w.write(shared, "deep/settings.json", "{}\n")
	r := w.open(main)
	c := w.task(r, "t")
	w.must(os.Symlink("../../shared", filepath.Join(c.Path, ".claude")))
	w.must(os.Mkdir(filepath.Join(c.Path, "locked"), 0o755))
	w.must(os.Symlink(shared, filepath.Join(c.Path, "locked", "abs")))
	w.must(os.Chmod(filepath.Join(c.Path, "locked"), 0o555))
	before := w.tree(shared)
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	same(t, "what the links lead to", w.tree(shared), before)
	back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	to, err := os.Readlink(filepath.Join(back.Path, ".claude"))
	w.must(err)
	same(t, "restored link", to, "../../shared")
	same(t, "what the links lead to", w.tree(shared), before)

	// The worktree itself replaced by a link: what it leads to is not ours to delete.
	w.must(os.Rename(back.Path, back.Path+"-aside"))
	w.must(os.Symlink(shared, back.Path))
	_, err = r.Remove(ctx, RemoveOptions{Path: back.Path, Branch: c.Branch, Consent: true})
	wantCode(t, err, fault.Conflict)
	same(t, "what the link leads to", w.tree(shared), before)
}

func TestW15DeletedBehindOurBack(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	c := w.task(r, "t")
	away := w.task(r, "on-a-stick")
	w.write(c.Path, "a.txt", "x\n")
	tip := w.commit(c.Path, "work")
	m, err := r.Missing(ctx, c.Path)
	w.must(err)
	same(t, "before", m, Absence{Registered: true, Branch: c.Branch, Head: tip})
	for _, p := range []string{c.Path, away.Path} {
		w.must(os.Rename(p, p+"-aside"))
	}
	m, err = r.Missing(ctx, c.Path)
	w.must(err)
	same(t, "after", m, Absence{Gone: true, Registered: true, Branch: c.Branch, Head: tip})
	_, err = r.Status(ctx, c.Path)
	f := wantCode(t, err, fault.NotFound)
	same(t, "data.missing", f.Data["missing"], any(true))
	_, err = r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	wantCode(t, err, fault.NotFound)

	back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch})
	w.must(err)
	same(t, "recreated", back.Path+" "+w.read(back.Path, "a.txt"), c.Path+" x\n")
	w.must(os.Rename(away.Path+"-aside", away.Path)) // the other one is back, and git still knows it
	_, err = r.Status(ctx, away.Path)
	w.must(err)

	w.must(os.RemoveAll(c.Path))
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch})
	w.must(err)
	same(t, "head", removed.Head, tip)
	same(t, "the branch stays", w.run(main, "rev-parse", c.Branch), tip)
	w.must(r.Forget(ctx, c.Path))
	same(t, "worktrees", strings.Count(w.run(main, "worktree", "list", "--porcelain"), "worktree "), 2)
	_, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, DeleteBranch: true})
	wantCode(t, err, fault.NeedsConsent)
	removed, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, DeleteBranch: true, Consent: true})
	w.must(err)
	same(t, "backup", w.run(main, "rev-parse", removed.BackupRef), tip)
	back, err = r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	same(t, "restored", w.run(back.Path, "rev-parse", "HEAD")+" "+back.Branch, tip+" "+c.Branch)
}

func TestRemoveLeavesWhatIsNotOurs(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	dir := filepath.Join(w.dir, "somewhere")
	w.write(dir, "precious.txt", "x\n")
	_, err := r.Remove(ctx, RemoveOptions{Path: dir, Consent: true})
	wantCode(t, err, fault.NotFound)
	_, err = r.Remove(ctx, RemoveOptions{Path: main, Consent: true})
	wantCode(t, err, fault.Unsupported)
	same(t, "file", w.read(dir, "precious.txt"), "x\n")
	same(t, "file", w.read(main, "c.txt"), "c\n")

	// A worktree whose .git was damaged is still removed whole, and its neighbour is not touched.
	c, other := w.task(r, "t"), w.task(r, "u")
	w.write(c.Path, ".git", "gitdir: "+filepath.Join(main, ".git/worktrees/u")+"\n")
	_, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true, ParentsUpTo: w.dir})
	w.must(err)
	if _, err := os.Lstat(c.Path); err == nil {
		t.Error("the damaged worktree is still there")
	}
	same(t, "the neighbour", w.run(other.Path, "status", "--porcelain"), "")
}

func TestRestore(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	work := func(name string) (Created, Removed) {
		c := w.task(r, name)
		w.write(c.Path, "a.txt", "uncommitted\n")
		removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, ID: name, Consent: true})
		w.must(err)
		return c, removed
	}
	t.Run("path is taken", func(t *testing.T) {
		c, removed := work("taken")
		w.write(c.Path, "other.txt", "x\n")
		back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
		w.must(err)
		same(t, "path", back.Path, c.Path+"-2")
		same(t, "content", w.read(back.Path, "a.txt"), "uncommitted\n")
		same(t, "warnings", len(back.Warnings), 1)
	})
	t.Run("branch moved", func(t *testing.T) {
		c, removed := work("moved")
		w.run(main, "branch", "-f", c.Branch, w.commit(main, "later"))
		back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
		w.must(err)
		same(t, "content", w.read(back.Path, "a.txt"), "one\ntwo\nthree\n")
		if len(back.Warnings) != 1 || !strings.Contains(back.Warnings[0], removed.BackupRef) {
			t.Errorf("warnings %q", back.Warnings)
		}
		w.run(back.Path, "stash", "apply", "-q", "--index", removed.BackupRef)
		same(t, "by hand", w.read(back.Path, "a.txt"), "uncommitted\n")
	})
	t.Run("branch is gone", func(t *testing.T) {
		c, removed := work("gone")
		tip := w.run(main, "rev-parse", c.Branch)
		w.run(main, "branch", "-q", "-D", c.Branch)
		back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
		w.must(err)
		same(t, "branch", w.run(back.Path, "symbolic-ref", "--short", "HEAD")+" "+w.run(back.Path, "rev-parse", "HEAD"), c.Branch+" "+tip)
		same(t, "content", w.read(back.Path, "a.txt"), "uncommitted\n")
	})
	t.Run("branch is elsewhere", func(t *testing.T) {
		c, removed := work("elsewhere")
		w.run(main, "worktree", "add", "-q", filepath.Join(w.dir, "held"), c.Branch)
		_, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
		wantCode(t, err, fault.Conflict)
		if _, err := os.Lstat(c.Path); err == nil {
			t.Error("a refused restore left a folder")
		}
	})
	t.Run("nothing left", func(t *testing.T) {
		_, err := r.Restore(ctx, RestoreOptions{Path: filepath.Join(w.dir, "tasks", "none"), Branch: "never-there"})
		wantCode(t, err, fault.NotFound)
		_, err = r.Restore(ctx, RestoreOptions{Path: filepath.Join(w.dir, "tasks", "none"), Branch: "b", BackupRef: "refs/termic/backup/none-1"})
		wantCode(t, err, fault.NotFound)
		_, err = r.Restore(ctx, RestoreOptions{Path: filepath.Join(w.dir, "tasks", "none"), Branch: "b", BackupRef: "HEAD"})
		wantCode(t, err, fault.InvalidArgument)
	})
	t.Run("commit alone", func(t *testing.T) {
		c := w.task(r, "plain")
		removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, DeleteBranch: true})
		w.must(err)
		same(t, "backup", removed.BackupRef, "")
		back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, Commit: removed.Head})
		w.must(err)
		same(t, "branch", back.Branch, c.Branch)
	})
}

func TestBackupsAndDropBranch(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	for n := range 9 {
		w.run(main, "update-ref", fmt.Sprintf("%s01A-%d", BackupPrefix, n+1), "HEAD")
	}
	for range 2 {
		c := w.task(r, "t")
		w.write(c.Path, "a.txt", "x\n")
		_, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, ID: "01A", Consent: true, DeleteBranch: true})
		w.must(err)
	}
	refs, err := r.Backups(ctx, "01A")
	w.must(err)
	same(t, "backups", len(refs), 11)
	same(t, "newest", refs[10], BackupPrefix+"01A-11")
	head := w.run(main, "rev-parse", "HEAD")
	w.run(main, "branch", "same")
	w.run(main, "branch", "moved", w.run(main, "commit-tree", "-m", "x", "-p", "HEAD", "HEAD^{tree}"))
	for _, name := range []string{"same", "moved", "main", "never"} {
		w.must(r.DropBranch(ctx, name, head))
	}
	same(t, "branches", w.run(main, "branch", "--format=%(refname:short)"), "main\nmoved")
}

// A filter whose program is gone must not keep a worktree from being removed, nor its files from the backup.
func TestRemoveWithABrokenFilter(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	w.write(main, ".gitattributes", "*.bin filter=big\n")
	w.write(main, "x.bin", "x\n")
	w.commit(main, "big")
	r := w.open(main).Plain()
	c := w.task(r, "t")
	w.write(c.Path, "x.bin", "y\n")
	w.run(main, "config", "filter.big.clean", "no-such-program")
	w.run(main, "config", "filter.big.required", "true")
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	same(t, "kept", w.run(main, "show", removed.BackupRef+":x.bin"), "y")
}

// A file that is mostly hole and of a terabyte, as a hostile agent may leave it, is neither written into the repository nor
// lost: it is named, and everything stays.
func TestRemoveDoesNotKeepTerabytes(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	c := w.task(r, "t")
	w.write(c.Path, "note.txt", "kept\n")
	w.write(c.Path, "huge.bin", "")
	w.must(os.Truncate(filepath.Join(c.Path, "huge.bin"), 1<<40))
	_, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	wantCode(t, err, fault.Conflict)
	if f := fault.From(err); !strings.Contains(f.Message, "huge.bin") || !strings.Contains(f.Hint, "8192 MiB") {
		t.Errorf("it says %q, %q", f.Message, f.Hint)
	}
	same(t, "the other file", w.read(c.Path, "note.txt"), "kept\n")
	w.must(os.Truncate(filepath.Join(c.Path, "huge.bin"), 1<<20))
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	same(t, "kept", w.run(w.dir+"/r", "show", removed.BackupRef+":note.txt"), "kept")
}

// A removal that is cut short leaves the worktree whole or gone: first it loses its name, then git's entry, then its
// files. The next Forget, or the next removal under the same name, deletes the rest.
func TestRemoveIsWholeOrNotAtAll(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "t")
	aside := asideOf(c.Path)
	w.must(os.Rename(c.Path, aside)) // killed right after the new name
	w.must(r.Forget(ctx, c.Path))
	if _, err := os.Lstat(aside); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
	if a, err := r.Missing(ctx, c.Path); err != nil || a.Registered {
		t.Errorf("%+v, %v", a, err)
	}

	c = w.task(r, "u")
	w.write(c.Path, "new.txt", "n\n")
	w.write(asideOf(c.Path), "rest", "of an earlier removal\n")
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	if left, _ := os.ReadDir(filepath.Dir(c.Path)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	_, err = r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	same(t, "restored", w.read(c.Path, "new.txt"), "n\n")

	// git refuses to forget it: everything stays where it is.
	entry := w.run(c.Path, "rev-parse", "--absolute-git-dir")
	w.must(os.WriteFile(filepath.Join(entry, "gitdir"), nil, 0o644))
	if _, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true}); err == nil {
		t.Fatal("an unreadable entry was removed")
	}
	same(t, "still there", w.read(c.Path, "new.txt"), "n\n")
}
