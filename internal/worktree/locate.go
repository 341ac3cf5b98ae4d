package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"termic/internal/fault"
)

// location is what git finds at a folder.
type location struct {
	gitDir, common, top string // top = "" outside of a checkout
	bare, sha256        bool
}

// places remembers where main checkouts are, since every look at a task asks: what git says of one depends on its own folder
// and its configuration, and is asked again when either is another. Linked worktrees are asked for each time, since agents
// write the files that point from there. It is safe for use by several goroutines.
type places struct {
	mu    sync.Mutex
	known map[string]known // by the path that was asked for
}

type known struct {
	location
	at footing
}

// maxPlaces bounds what is remembered; a project is one.
const maxPlaces = 1000

// footing is what a location rests on.
type footing struct {
	folder           string // .git: which one it is
	config, worktree stamp  // its configuration, that for a single worktree
}

// locate is Git.locate, or what that said before where nothing has changed since.
func (p *places) locate(ctx context.Context, g *Git, dir string) (location, error) {
	before, ok := footingOf(dir)
	if ok {
		p.mu.Lock()
		k, is := p.known[dir]
		p.mu.Unlock()
		if is && k.at == before && k.top == canonical(dir) {
			return k.location, nil
		}
	}
	l, err := g.locate(ctx, dir)
	if err != nil || !ok || l.top != canonical(dir) || l.gitDir != l.common || l.common != canonical(filepath.Join(dir, ".git")) {
		return l, err
	}
	if after, still := footingOf(dir); still && after == before {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.known == nil || len(p.known) >= maxPlaces {
			p.known = map[string]known{}
		}
		p.known[dir] = known{l, before}
	}
	return l, nil
}

// footingOf looks at the main checkout in dir. What a configuration includes does not count: git takes where a repository is, and of
// which kind, from its own file alone.
func footingOf(dir string) (f footing, ok bool) {
	own := filepath.Join(dir, ".git")
	st, err := os.Lstat(own)
	if err != nil || !st.IsDir() {
		return f, false
	}
	who := stampOf(st)
	f.folder = stamp{mode: who.mode, number: who.number}.String()
	for _, c := range []struct {
		name string
		at   *stamp
	}{{"config", &f.config}, {"config.worktree", &f.worktree}} {
		st, err := os.Lstat(filepath.Join(own, c.name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil || !st.Mode().IsRegular() {
			return f, false
		}
		*c.at = stampOf(st)
	}
	return f, true
}

// locate asks git about the folder dir. Paths come one a line; a newline in one of them shows as surplus lines, and then
// each is asked for alone.
func (g *Git) locate(ctx context.Context, dir string) (location, error) {
	ask := func(what ...string) (string, error) {
		args := append([]string{"rev-parse", "--path-format=absolute"}, what...)
		return g.text(ctx, command{at: place{workTree: dir}, args: args})
	}
	questions := []string{"--git-dir", "--git-common-dir", "--is-bare-repository", "--is-inside-work-tree", "--show-object-format"}
	// Outside of a checkout git fails at the last question, and the others are asked alone.
	out, err := ask(append(questions, "--show-toplevel")...)
	lines := strings.Split(out, "\n")
	top := lines[len(lines)-1]
	if lines = lines[:len(lines)-1]; err != nil || len(lines) != len(questions) {
		top = ""
		out, err = ask(questions...)
		lines = strings.Split(out, "\n")
	}
	if err != nil && exitOf(err) < 0 {
		return location{}, err
	}
	if err != nil {
		return location{}, fault.Wrap(err, fault.Unsupported, "%s is not a git repository", printable(dir, 200)).
			WithHint("git says: %s", said(err)).WithData("path", dir)
	}
	if len(lines) != len(questions) {
		lines = make([]string, len(questions))
		for i, what := range questions {
			if lines[i], err = ask(what); err != nil {
				return location{}, err
			}
		}
	}
	l := location{gitDir: filepath.FromSlash(lines[0]), common: filepath.FromSlash(lines[1]), bare: lines[2] == "true", sha256: lines[4] == "sha256"}
	l.common, l.gitDir = canonical(l.common), canonical(l.gitDir)
	if lines[3] == "true" {
		if top == "" {
			if top, err = ask("--show-toplevel"); err != nil {
				return location{}, err
			}
		}
		l.top = canonical(filepath.FromSlash(top))
	}
	return l, nil
}
