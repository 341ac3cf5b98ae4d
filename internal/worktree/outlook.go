package worktree

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"termic/internal/childproc"
)

// outlook is what is known of a checkout before it is there, so that what it does not need is not started afterwards. Where
// it knows nothing, everything is looked at.
type outlook struct {
	noHook     bool // there is no post-checkout hook
	noPointers bool // nothing is given to a filter, so nothing is a pointer of Git LFS
}

// lookAhead finds that out while git writes the files, from the moment when it runs: programs start one after the other, so that those
// of the look would hold it up. The caller must call the result, which waits for it.
func (b *builder) lookAhead(ctx context.Context) func() outlook {
	var o outlook
	var wg sync.WaitGroup
	begun := make(chan struct{})
	b.begin = sync.OnceFunc(func() { close(begun) })
	look := func(at func()) {
		wg.Go(func() {
			<-begun
			at()
		})
	}
	if !b.guarded {
		look(func() { o.noHook = b.hookless(ctx) })
	}
	look(func() { o.noPointers = b.unfiltered(ctx) })
	return func() outlook {
		b.begin() // if git was never started
		wg.Wait()
		return o
	}
}

// hooksInSettings is the first git that may find hooks in its configuration as well.
const hooksInSettings = 52 // 2.52, to be on the safe side

// hookless reports whether surely no post-checkout hook would run in the new worktree. A folder of hooks that lies in the tree,
// as a relative one does, is another one there.
func (b *builder) hookless(ctx context.Context) bool {
	r, g := b.repo, b.repo.git
	if r.main == "" || g.version.atLeast(minMajor, hooksInSettings) {
		return false
	}
	res, err := childproc.Run(ctx, childproc.Cmd{Path: g.bin, Dir: r.main, Env: g.plainEnv(), Timeout: g.timeout,
		Args: []string{"rev-parse", "--path-format=absolute", "--git-path", "hooks/post-checkout"}})
	if err != nil || res.Code != 0 || len(res.Stdout) < 2 {
		return false
	}
	path := filepath.FromSlash(string(res.Stdout[:len(res.Stdout)-1]))
	if canonical(path) != filepath.Join(r.common, "hooks", "post-checkout") && within(canonical(path), canonical(r.main)) {
		return false
	}
	_, err = os.Lstat(path)
	return os.IsNotExist(err)
}

// unfiltered reports whether no attribute file gives anything to a filter: none in the tree, and there are no others, but for one
// that core.attributesFile names (only a warning is at stake).
func (b *builder) unfiltered(ctx context.Context) bool {
	r := b.repo
	others := []string{filepath.Join(r.common, "info", "attributes"), "/etc/gitattributes"}
	for _, kv := range r.git.env {
		for name, below := range map[string]string{"HOME=": ".config/git/attributes", "XDG_CONFIG_HOME=": "git/attributes"} {
			if len(kv) > len(name) && kv[:len(name)] == name {
				others = append(others, filepath.Join(kv[len(name):], below))
			}
		}
	}
	for _, path := range others {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			return false
		}
	}
	what, fixed := b.commit, b.commit != "" && !b.reused
	if !fixed {
		what = "refs/heads/" + b.branch
	}
	if fixed && r.git.plain.has(what) {
		return true
	}
	_, err := r.git.run(ctx, command{at: r.here(), env: []string{"GIT_LITERAL_PATHSPECS=0"},
		args: []string{"grep", "-q", "-e", "filter", what, "--", ":(glob)**/.gitattributes"}})
	if exitOf(err) != 1 {
		return false
	}
	if fixed {
		r.git.plain.add(what)
	}
	return true
}

// plainTrees remembers commits whose trees give nothing to a filter, which stays so: tasks begin at the same commit again and again, and
// a program that need not run takes nothing from the one that writes the files. It is safe for concurrent use.
type plainTrees struct {
	mu      sync.Mutex // guards the following
	commits map[string]bool
}

// mostPlain is how many commits are remembered: more than anybody begins tasks at.
const mostPlain = 256

func (p *plainTrees) has(commit string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits[commit]
}

func (p *plainTrees) add(commit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.commits == nil || len(p.commits) >= mostPlain {
		p.commits = map[string]bool{}
	}
	p.commits[commit] = true
}
