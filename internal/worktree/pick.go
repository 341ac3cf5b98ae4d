package worktree

import (
	"context"
	"strings"

	"termic/internal/fault"
)

// pick finds the changed files that a choice names and that an act can do something about; why says for one that is named
// and that it can do nothing about what keeps it from that. The files are sorted by path.
func (c *change) pick(ctx context.Context, o Choice, can func(*changedFile) bool, why func(*changedFile) error) ([]*changedFile, error) {
	if o.All && len(o.Paths) > 0 || !o.All && len(o.Paths) == 0 {
		return nil, fault.New(fault.InvalidArgument, "Either files or all of them")
	}
	if o.Seen != nil && len(o.Seen) != len(o.Paths) {
		return nil, fault.New(fault.InvalidArgument, "There must be as many %q as %q", "seen", "paths")
	}
	take, err := c.named(ctx, o, can, why)
	if err != nil {
		return nil, err
	}
	var out []*changedFile
	for _, name := range c.names {
		if f := c.files[name]; take[name] || o.All && can(f) {
			out = append(out, f)
		}
	}
	return out, nil
}

func (c *change) named(ctx context.Context, o Choice, can func(*changedFile) bool, why func(*changedFile) error) (map[string]bool, error) {
	take := map[string]bool{}
	var renames map[string]string
	for i, given := range o.Paths {
		p, err := c.inTree(given)
		if err != nil {
			return nil, err
		}
		if o.Seen != nil && o.Seen[i] != "" {
			if err := c.sameAs(p, o.Seen[i]); err != nil {
				return nil, err
			}
		}
		exact, some := c.files[p], false
		if exact != nil && can(exact) {
			take[p], some = true, true
		}
		if exact != nil && exact.head.mode == "0" {
			if renames == nil {
				if renames, err = c.renames(ctx); err != nil {
					return nil, err
				}
			}
			if old := c.files[renames[p]]; old != nil && can(old) {
				take[old.path], some = true, true
			}
		}
		for _, name := range c.names {
			if inFolder(name, p) && can(c.files[name]) {
				take[name], some = true, true
			}
		}
		switch {
		case some:
		case exact != nil:
			return nil, why(exact)
		default:
			return nil, c.nothingAt(ctx, p, why)
		}
	}
	return take, nil
}

// renames are the former names of files that the index has under another one now.
func (c *change) renames(ctx context.Context) (map[string]string, error) {
	st, err := steady(ctx, func() (Status, error) { return c.r.statusBy(ctx, c.at, c.index) })
	out := map[string]string{}
	for _, f := range st.files {
		if f.OldPath != "" && (f.Index == 'R' || f.Worktree == 'R') {
			out[f.Path] = f.OldPath
		}
	}
	return out, err
}

// nothingAt says why a path names no change.
func (c *change) nothingAt(ctx context.Context, p string, why func(*changedFile) error) error {
	for _, name := range c.names {
		if inFolder(name, p) {
			return why(c.files[name])
		}
	}
	if p == "." {
		return fault.New(fault.Conflict, "Nothing has changed in the worktree")
	}
	st, err := lstat(c.root, p)
	if err != nil || st == nil {
		return fault.New(fault.NotFound, "There is no file %s in the worktree, and none was deleted", printable(p, 200))
	}
	for _, dir := range parents(p) {
		if f := c.files[dir]; f != nil && f.nested {
			return why(f)
		}
	}
	ignored, lerr := c.r.git.records(ctx, command{at: c.at, index: c.index,
		args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", p}})
	if lerr == nil && len(ignored) > 0 {
		what := "The file " + printable(p, 200) + " is"
		if st.IsDir() {
			what = "The files of the folder " + printable(p, 200) + " are"
		}
		return fault.New(fault.Conflict, "%s ignored by git", what).WithHint("Take the rule out of .gitignore first, or use git in a terminal of the task.")
	}
	return fault.New(fault.Conflict, "%s has no change", printable(p, 200))
}

// sameAs refuses a path that is not as somebody saw it.
func (c *change) sameAs(p, seen string) error {
	f := c.files[p]
	now := ""
	if f != nil {
		now = c.sign(f, kindOf(seen))
	}
	if now == seen {
		return nil
	}
	return fault.New(fault.Conflict, "%s changed since it was shown, so it was left as it is", printable(p, 200)).
		WithHint("Look at it again, and repeat it if that is still meant.").WithData("path", p).WithData("changed", true)
}

// inTheWay names an entry that stands where others are to be put into an index: a file where a folder would be, or the
// reverse. moving are the paths that change anyway.
func inTheWay(add []entry, have, moving map[string]bool) (name, other string) {
	for _, e := range add {
		if e.mode == "0" {
			continue
		}
		for _, dir := range parents(e.path) {
			if have[dir] && !moving[dir] {
				return e.path, dir
			}
		}
	}
	for h := range have {
		if moving[h] {
			continue
		}
		for _, dir := range parents(h) {
			for _, e := range add {
				if e.mode != "0" && e.path == dir {
					return dir, h
				}
			}
		}
	}
	return "", ""
}

func blockedBy(name, other string) error {
	return fault.New(fault.Conflict, "%s is in the place of %s", printable(other, 200), printable(name, 200)).
		WithHint("Name both of them.").WithData("files", []string{other})
}

func pathsOf(files []*changedFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.path
	}
	return out
}

func nulls(names []string) *strings.Reader {
	return strings.NewReader(strings.Join(names, "\x00") + "\x00")
}

func nestedRefused(f *changedFile) error {
	return fault.New(fault.Unsupported, "%s is a repository of its own", printable(f.path, 200)).WithHint("Use git in that folder.")
}

func submoduleRefused(f *changedFile) error {
	return fault.New(fault.Unsupported, "%s is a submodule, and Termic does not enter those", printable(f.path, 200)).
		WithHint("Use git in a terminal of the task.")
}
