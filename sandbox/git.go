package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// git grants the repository and protects what git outside the cage would run or trust.
//
// On Linux the common folder of a linked worktree is not mounted as it is: a mount that pins one file is dropped by the
// kernel when somebody outside replaces that file by renaming, as git does with its settings, and then the file could be
// written. Instead the cage gets a folder of its own in that place (see gitView). Where that cannot be, in the main
// checkout and on macOS, the files are pinned one by one.
func (c *composer) git() error {
	if c.w.GitDir == "" || c.w.GitCommonDir == "" {
		return nil
	}
	for _, p := range []*string{&c.w.GitDir, &c.w.GitCommonDir} {
		real, links, err := resolve(*p)
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "The cage cannot be built: the repository's folder %q cannot be found", *p)
		}
		c.links = append(c.links, links...)
		*p = real
	}
	common, admin := c.w.GitCommonDir, c.w.GitDir
	linked := admin != common
	c.grants = append(c.grants, grant{common, true, project})
	c.pinCommon(common, linked)
	c.alternates(filepath.Join(common, "objects"))
	if !linked {
		if c.w.GOOS == "linux" {
			c.warn("The task works in the project's own checkout. When git's settings change outside while its cage runs, the cage can write them until it ends.")
		}
		return nil
	}
	if c.w.GOOS == "linux" {
		c.gitView = c.viewOf(common, admin)
	}
	c.grants = append(c.grants, grant{admin, true, own})
	c.pinPresent(filepath.Join(c.w.Worktree, ".git"))
	c.pinFile(filepath.Join(admin, "config.worktree"))
	c.pinPresent(filepath.Join(admin, "commondir"))
	c.pinPresent(filepath.Join(admin, "gitdir"))
	c.submodules(filepath.Join(admin, "modules"))
	return nil
}

// pinCommon pins what lies in the common folder. What is not there could be created and would run, so an empty one is made
// first, unless the cage has a folder of its own in that place, in which creating it means nothing outside.
func (c *composer) pinCommon(common string, linked bool) {
	file, dir := c.pinFile, c.pinDir
	if linked && c.w.GOOS == "linux" {
		file, dir = c.pinPresent, c.pinPresent
	}
	file(filepath.Join(common, "config"))
	file(filepath.Join(common, "config.worktree"))
	for _, name := range []string{"hooks", "info", "modules", "worktrees"} {
		dir(filepath.Join(common, name))
	}
	c.pinFile(filepath.Join(common, "objects/info/alternates"))
	c.pinDir(filepath.Join(common, "refs/replace"))
	c.pinPresent(filepath.Join(common, "shallow")) // an empty one would make the repository a shallow one
	if linked {                                    // the main checkout has private files there
		c.pinPresent(filepath.Join(common, "HEAD"))
		c.pinPresent(filepath.Join(common, "index"))
	}
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
