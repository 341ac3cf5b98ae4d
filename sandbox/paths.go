package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the links of one path, as the kernel does.
const maxLinks = 40

// A Link is a symbolic link of the host on the way to a grant. It has to exist in the cage too, where its folder is not
// itself part of a grant.
type Link struct {
	Path string // where it stands; its folder is canonical
	To   string // what it says, as written
}

// covers reports whether p is dir or lies below it. Both are clean; the comparison is by component.
func covers(dir, p string) bool {
	if dir == p || dir == "/" {
		return true
	}
	return len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// above reports whether p lies strictly below dir.
func above(dir, p string) bool { return dir != p && covers(dir, p) }

// overlap returns the deeper of two paths of which one covers the other.
func overlap(a, b string) (string, bool) {
	switch {
	case covers(a, b):
		return b, true
	case covers(b, a):
		return a, true
	}
	return "", false
}

// coveredBy reports whether one of the folders covers p.
func coveredBy(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return covers(d, p) })
}

// sorted returns a sorted copy without duplicates.
func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// outermost returns the sorted paths that no other one of the list covers.
func outermost(list []string) []string {
	list = sorted(list)
	var out []string
	for _, p := range list {
		if !slices.ContainsFunc(list, func(q string) bool { return above(q, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// resolve walks an absolute path by component, and returns what it really names and the links on the way. Every
// component must exist; a missing one is an fs.ErrNotExist.
func resolve(p string) (string, []Link, error) {
	if !filepath.IsAbs(p) {
		return "", nil, fmt.Errorf("%q is not absolute", p)
	}
	var links []Link
	rest := splitPath(filepath.Clean(p))
	at := "/"
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		st, err := os.Lstat(next)
		if err != nil {
			return "", nil, err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		if links = append(links, Link{Path: next, To: to}); len(links) > maxLinks {
			return "", nil, fmt.Errorf("%q has too many links", p)
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(splitPath(to), rest...) // not cleaned: a .. behind a link means the folder that the link names
	}
	return at, links, nil
}

// splitPath returns the components of a path without empty ones and dots.
func splitPath(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." })
}

// missing reports whether the error says that a path does not exist.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// exists reports whether something is there, whatever it is.
func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
