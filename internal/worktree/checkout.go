package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// checkout has git register the folder and fill it. A filter that fails (LFS without its program, a key that is not
// there) is no reason to give up: the tree is then checked out without filters, and the user is told.
func (b *builder) checkout(ctx context.Context) error {
	r := b.repo
	if b.guarded {
		off, err := r.neutral(ctx, r.here())
		if err != nil {
			return err
		}
		return b.add(ctx, off)
	}
	if isDir(filepath.Join(r.common, "git-crypt")) {
		return b.addLocked(ctx)
	}
	first := b.add(ctx, nil)
	if exitOf(first) < 0 {
		return first // done, or git did not even get to an end
	}
	off, err := r.neutral(ctx, r.here())
	if err != nil || len(off) == 0 {
		return first
	}
	if err := os.Mkdir(b.path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return first // git took our folder away, and it cannot be made again
	}
	if err := b.add(ctx, off); err != nil {
		return first
	}
	b.warn("A filter of this repository failed, so some files are as they are stored (%s)", said(first))
	return nil
}

// add is `git worktree add` with its hook left for later.
func (b *builder) add(ctx context.Context, config []setting, flags ...string) error {
	r := b.repo
	args := append([]string{"worktree", "add"}, flags...)
	what := b.branch
	if what == "" {
		args, what = append(args, "--detach"), b.commit
	}
	_, err := r.git.run(ctx, command{
		at: r.here(), args: append(args, "--", b.path, what), config: config, writes: true,
		timeout: r.git.createTimeout, onLine: b.progress, started: b.begin,
	})
	if exitOf(err) >= 0 {
		return fault.Wrap(err, fault.Conflict, "git could not create the worktree").WithHint("git says: %s", said(err))
	}
	return err
}

// addLocked creates a worktree of a git-crypt repository. Its filter looks for the keys in the git folder of the
// checkout, where a worktree has none: they are linked before the first file is written.
func (b *builder) addLocked(ctx context.Context) error {
	r := b.repo
	if err := b.add(ctx, nil, "--no-checkout"); err != nil {
		return err
	}
	at, err := r.in(b.path)
	if err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(r.common, "git-crypt"), filepath.Join(at.gitDir, "git-crypt")); err != nil {
		b.warn("The keys of git-crypt could not be linked into the worktree (%v)", err)
	}
	fill := command{at: at, args: []string{"reset", "--hard", "--quiet"}, writes: true, timeout: r.git.createTimeout, onLine: b.progress}
	_, err = r.git.run(ctx, fill)
	if exitOf(err) < 0 {
		return err
	}
	first := err
	if fill.config, err = r.neutral(ctx, at); err != nil {
		return err
	}
	if _, err := r.git.run(ctx, fill); err != nil {
		return fault.Wrap(first, fault.Conflict, "git could not fill the worktree").WithHint("git says: %s", said(first))
	}
	b.warn("The repository is locked by git-crypt, so its secret files are as they are stored (%s)", said(first))
	return nil
}

// finish does what makes a fresh checkout usable. Nothing of it can fail the creation any more.
func (b *builder) finish(ctx context.Context, o outlook) {
	at, err := b.repo.in(b.path)
	if err != nil {
		b.warn("The new worktree could not be set up further (%s)", reason(err))
		return
	}
	b.submodules(ctx, at)
	if !b.guarded && !o.noHook {
		b.hook(ctx)
	}
	if !o.noPointers {
		b.pointers(ctx, at)
	}
}

// submodules fills submodules, whose folders git leaves empty in a new worktree.
func (b *builder) submodules(ctx context.Context, at place) {
	if _, err := os.Lstat(filepath.Join(b.path, ".gitmodules")); err != nil {
		return
	}
	if b.guarded {
		b.warn("Submodules are left empty, because the start of this worktree is not trusted")
		return
	}
	b.say("Filling submodules")
	r := b.repo
	env, err := r.sshEnv(ctx)
	if err == nil {
		_, err = r.git.run(ctx, command{
			at: at, args: []string{"submodule", "--quiet", "update", "--init", "--recursive"}, writes: true, env: env,
			timeout: r.git.createTimeout, onLine: b.progress,
		})
	}
	if err != nil {
		b.warn("Some submodules could not be filled (%s); try `git submodule update --init` in the worktree", reason(err))
	}
}

// hook runs the user's post-checkout hook as `git worktree add` would: with the old commit as zeros and the flag of a
// branch checkout. It is run apart from the checkout so that its time is its own: one that fails or hangs leaves a warning.
func (b *builder) hook(ctx context.Context) {
	g := b.repo.git
	c := childproc.Cmd{
		Path: g.bin, Dir: b.path, Env: g.plainEnv(), Timeout: g.hookTimeout, OnLine: b.progress,
		Args: []string{"hook", "run", "--ignore-missing", "post-checkout", "--", b.repo.zeros, b.commit, "1"},
	}
	if !g.version.atLeast(2, 36) { // `git hook` is newer
		where, err := childproc.Run(ctx, childproc.Cmd{Path: g.bin, Args: []string{"rev-parse", "--path-format=absolute", "--git-path", "hooks/post-checkout"},
			Dir: b.path, Env: g.plainEnv(), Timeout: g.timeout})
		path := string(where.Stdout)
		if err != nil || where.Code != 0 || len(path) < 2 {
			return
		}
		c.Path, c.Args = path[:len(path)-1], c.Args[5:]
		if st, err := os.Stat(c.Path); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
			return
		}
	}
	res, err := childproc.Run(ctx, c)
	switch {
	case res.TimedOut:
		b.warn("The post-checkout hook did not finish in %s and was ended; the worktree is there", g.hookTimeout)
	case err != nil:
		b.warn("The post-checkout hook could not be run; the worktree is there")
	case res.Code != 0:
		b.warn("The post-checkout hook failed with exit code %d; the worktree is there (%s)", res.Code, said(&gitError{stderr: res.Stderr}))
	}
}

// lfsPointer begins every file that Git LFS keeps elsewhere.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// pointers tells when files that attributes give to LFS were left as pointers. It looks at the files and at nothing else,
// so that a repository without LFS is never told about it.
func (b *builder) pointers(ctx context.Context, at place) {
	names, err := b.repo.git.records(ctx, command{at: at, env: []string{"GIT_LITERAL_PATHSPECS=0"},
		args: []string{"ls-files", "-z", "--", ":(top,attr:filter=lfs)"}})
	if err != nil || len(names) == 0 {
		return
	}
	root, err := os.OpenRoot(b.path)
	if err != nil {
		return
	}
	defer root.Close()
	count := 0
	for _, name := range names[:min(len(names), 1000)] {
		f, err := openFile(root, name)
		if err != nil {
			continue
		}
		head := make([]byte, len(lfsPointer))
		n, _ := f.Read(head)
		f.Close()
		if string(head[:n]) == lfsPointer {
			count++
		}
	}
	if count > 0 {
		b.warn("%d files are kept by Git LFS and are only pointers here; install git-lfs and run `git lfs pull` in the worktree", count)
	}
}
