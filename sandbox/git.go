package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// protectedNames are what lies in the common folder of a repository and is not for a task to change: what git runs
// (settings, hooks, submodules' settings), what makes it look elsewhere (commondir), what changes how files and history are
// read, and the private files of other worktrees. Those that do not exist must not come into being either.
var protectedNames = []string{"config", "config.worktree", "commondir", "hooks", "info", "modules", "worktrees", "shallow",
	"objects/info/alternates", "refs/replace"}

// macShared are the only names in the common folder that a linked worktree's cage writes on macOS, where rules speak of
// names. On Linux it is what gitView mounts.
var macShared = []string{"objects", "refs", "logs/refs", "lfs", "packed-refs", "packed-refs.lock", "packed-refs.new", "gc.pid", "gc.pid.lock"}

// refTables is where a repository that keeps its refs in reftable (git 2.45) lists its tables. In it is what cages of worktrees
// must not change, and what they have to.
const refTables = "reftable/tables.list"

// git grants the repository and protects what git outside the cage would run or trust.
//
// On Linux the common folder of a linked worktree is not mounted as it is: a mount that pins one file is dropped by the
// kernel when somebody outside replaces that file by renaming, as git does with its settings, and then the file could be
// written. Instead the cage gets a folder of its own in that place (see gitView). On macOS, where a rule forbids a name
// whatever is there, only the names that work needs are writable. In the main checkout, whose private files lie among
// what has to be protected, the whole folder is read-only.
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
	linux := c.w.GOOS == "linux"
	c.alternates(filepath.Join(common, "objects"))
	if admin == common {
		c.grants = append(c.grants, grant{common, false, project})
		c.pinned = append(c.pinned, common)
		c.warn("The task works in the project's own checkout, so its cage shows git's folder read-only: the agent can edit, and you commit.")
		return nil
	}
	if exists(filepath.Join(common, refTables)) {
		return fault.New(fault.Unsupported, "A repository that keeps its refs in reftable cannot be shared with a cage: %s", common).
			WithHint("All refs, the HEAD of your own checkout among them, are in one folder there that every worktree writes. "+
				"Bring it back with `git refs migrate --ref-format=files`, or give the task a clone.").WithData("path", common)
	}
	c.grants = append(c.grants, grant{common, linux, project}, grant{admin, true, own})
	if !linux {
		for _, name := range macShared {
			c.grants = append(c.grants, grant{filepath.Join(common, name), true, project})
		}
	}
	for _, name := range protectedNames {
		c.pinned = append(c.pinned, filepath.Join(common, name))
	}
	for _, name := range []string{"HEAD", "index"} { // of the main checkout
		c.pinned = append(c.pinned, filepath.Join(common, name))
	}
	for _, name := range []string{"commondir", "gitdir"} {
		c.pinned = append(c.pinned, filepath.Join(admin, name))
	}
	c.pinned = append(c.pinned, filepath.Join(c.w.Worktree, ".git"))
	if linux {
		c.gitView = c.viewOf(common, admin)
		c.prepare = append(c.prepare, preparation{root: common, path: "objects/info/alternates"},
			preparation{root: common, path: "refs/replace", dir: true})
	}
	c.pin(admin, "config.worktree", false)
	c.submodules(admin, "modules", maxModuleDepth)
	return nil
}

// pin makes a path below a folder read-only. Where a mount does it, there has to be something: an empty file means nothing
// to git.
func (c *composer) pin(root, path string, dir bool) {
	if c.w.GOOS == "linux" {
		c.prepare = append(c.prepare, preparation{root: root, path: path, dir: dir})
	}
	c.pinned = append(c.pinned, filepath.Join(root, path))
}

// maxModuleDepth bounds the way to a submodule's folder: a name may have slashes in it, and a submodule its own ones.
const maxModuleDepth = 16

// submodules pins the settings and hooks of the submodules that are already there. An earlier cage may have written
// there, so links are not followed.
func (c *composer) submodules(root, dir string, depth int) {
	for _, name := range children(filepath.Join(root, dir)) {
		at := filepath.Join(dir, name)
		if st, err := os.Lstat(filepath.Join(root, at)); depth == 0 || err != nil || !st.IsDir() {
			continue
		}
		if !exists(filepath.Join(root, at, "HEAD")) {
			c.submodules(root, at, depth-1)
			continue
		}
		c.pin(root, filepath.Join(at, "config"), false)
		c.pin(root, filepath.Join(at, "hooks"), true)
		c.submodules(root, filepath.Join(at, "modules"), depth-1)
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
