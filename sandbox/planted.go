package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// This file is about what programs of earlier cages may have left for the next start to fall for.

// findRoots finds the folders that cages may write, and so put links into.
func (c *composer) findRoots() {
	c.roots = []string{c.w.Worktree, c.w.HomeDir}
	for _, l := range append(slices.Clone(c.w.Layers), Layer{Write: c.w.Written}) {
		for _, e := range l.Write {
			// One that cannot be found is told of later, and a grant around the home grants nothing of it.
			if real, _, err := c.find(l, e); err == nil && !covers(real, c.w.Home) {
				c.roots = append(c.roots, real)
			}
		}
	}
	c.roots = sorted(c.roots)
}

// pinFiles keeps files of the worktree as they are.
func (c *composer) pinFiles() {
	for _, name := range c.w.Pinned {
		path := filepath.Join(c.w.Worktree, name)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
			c.pinned = append(c.pinned, path)
		}
	}
}

// writable reports whether an earlier program of this cage could have made what is at a path.
func (c *composer) writable(path string) bool { return coveredBy(path, c.roots) }

// planted reports whether one of the links on the way to real stands where a cage writes, and leads out of there: an earlier
// program of this cage may have made it, to be shown on its next start what nobody granted.
func (c *composer) planted(real string, links []Link) bool {
	return slices.ContainsFunc(links, func(l Link) bool {
		return slices.ContainsFunc(c.roots, func(root string) bool { return covers(root, filepath.Dir(l.Path)) && !covers(root, real) })
	})
}
