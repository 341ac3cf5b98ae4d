package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A preparation is an empty file or folder that has to be there before a cage starts: what does not exist cannot be
// pinned, and what a cage could create in a repository, git outside would run.
type preparation struct {
	path string
	dir  bool
}

// Prepare makes the empty files and folders that pins need and that git leaves out: they mean nothing to git while they
// are empty. It must have succeeded before the cage is started.
func (p Policy) Prepare() error {
	for _, m := range p.prepare {
		if err := m.make(); err != nil {
			return fmt.Errorf("prepare a cage: %w", err)
		}
	}
	return nil
}

func (m preparation) make() error {
	if m.dir {
		return os.MkdirAll(m.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(m.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// git grants the repository and pins what git outside the cage would run or trust.
func (c *composer) git() error {
	if c.w.GitDir == "" || c.w.GitCommonDir == "" {
		return nil
	}
	for _, p := range []*string{&c.w.GitDir, &c.w.GitCommonDir} {
		real, links, err := resolve(*p)
		if err != nil {
			return fmt.Errorf("compose a cage: find the repository: %w", err)
		}
		c.links = append(c.links, links...)
		*p = real
	}
	common, admin := c.w.GitCommonDir, c.w.GitDir
	c.grants = append(c.grants, grant{common, true, project})
	c.pinFile(filepath.Join(common, "config"))
	c.pinFile(filepath.Join(common, "config.worktree"))
	c.pinFile(filepath.Join(common, "objects/info/alternates"))
	for _, dir := range []string{"hooks", "info", "modules", "worktrees", "refs/replace"} {
		c.pinDir(filepath.Join(common, dir))
	}
	c.pinPresent(filepath.Join(common, "shallow"))
	c.alternates(filepath.Join(common, "objects"))
	if admin == common {
		return nil
	}
	// The main checkout has private files in the common folder.
	c.pinPresent(filepath.Join(common, "HEAD"))
	c.pinPresent(filepath.Join(common, "index"))
	c.grants = append(c.grants, grant{admin, true, own})
	c.pinPresent(filepath.Join(c.w.Worktree, ".git"))
	c.pinFile(filepath.Join(admin, "config.worktree"))
	c.pinPresent(filepath.Join(admin, "commondir"))
	c.pinPresent(filepath.Join(admin, "gitdir"))
	c.submodules(filepath.Join(admin, "modules"))
	return nil
}

// pinFile makes a file read-only; where there is none, an empty one is made first.
func (c *composer) pinFile(p string) {
	if !exists(p) {
		c.prepare = append(c.prepare, preparation{path: p})
	}
	c.pinned = append(c.pinned, p)
}

// pinDir is pinFile for a folder.
func (c *composer) pinDir(p string) {
	if !exists(p) {
		c.prepare = append(c.prepare, preparation{path: p, dir: true})
	}
	c.pinned = append(c.pinned, p)
}

// pinPresent makes a path read-only if it is there. It is for files that git would misread when they are empty.
func (c *composer) pinPresent(p string) {
	if exists(p) {
		c.pinned = append(c.pinned, p)
	}
}

// submodules pins the settings and hooks of the submodules that are already there, at any depth.
func (c *composer) submodules(dir string) {
	for _, name := range children(dir) {
		at := filepath.Join(dir, name)
		if !exists(filepath.Join(at, "HEAD")) { // a submodule's name may have slashes in it
			if st, err := os.Lstat(at); err == nil && st.IsDir() {
				c.submodules(at)
			}
			continue
		}
		c.pinFile(filepath.Join(at, "config"))
		c.pinDir(filepath.Join(at, "hooks"))
		c.submodules(filepath.Join(at, "modules"))
	}
}

// alternates grants reading of the object folders that the repository borrows from.
func (c *composer) alternates(objects string) {
	text, err := os.ReadFile(filepath.Join(objects, "info/alternates"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		p := strings.TrimSpace(line)
		if p == "" || strings.HasPrefix(p, "#") {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(objects, p)
		}
		if real, links, err := resolve(p); err == nil && filepath.Base(real) == "objects" && !covers(c.w.DataDir, real) {
			c.links = append(c.links, links...)
			c.grants = append(c.grants, grant{real, false, project})
		}
	}
}
