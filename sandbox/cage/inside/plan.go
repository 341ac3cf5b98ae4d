package inside

import (
	"slices"
	"strconv"
	"strings"

	"termic/sandbox/cage/wire"
)

// A fsMount is one line of mountinfo: the folder root of the file system dev is seen at point.
type fsMount struct{ dev, root, point string }

// parseMounts reads mountinfo, in its order. Lines that it does not understand are left out.
func parseMounts(text string) []fsMount {
	var out []fsMount
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 5 {
			out = append(out, fsMount{f[2], unescape(f[3]), unescape(f[4])})
		}
	}
	return out
}

// unescape undoes the octal of mountinfo.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// within tells whether path is dir or lies below it, and the rest of the way, without a slash at either end.
func within(path, dir string) (rest string, ok bool) {
	switch {
	case path == dir:
		return "", true
	case dir == "/":
		return path[1:], true
	case strings.HasPrefix(path, dir+"/"):
		return path[len(dir)+1:], true
	}
	return "", false
}

func join(dir, rest string) string {
	switch {
	case rest == "":
		return dir
	case dir == "/":
		return "/" + rest
	}
	return dir + "/" + rest
}

// comparePaths orders paths so that a folder comes right before what is below it.
func comparePaths(a, b string) int {
	return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

// A sight is a part of a file system that a source shows: the folder root of dev, seen at the way at below the source.
type sight struct{ dev, root, at string }

// locate finds what path is on its file system. Of mounts on the same point the last counts.
func locate(mounts []fsMount, path string) (dev, root string) {
	best := -1
	for i, m := range mounts {
		if _, ok := within(path, m.point); ok && (best < 0 || len(m.point) >= len(mounts[best].point)) {
			best = i
		}
	}
	if best < 0 {
		return "", ""
	}
	rest, _ := within(path, mounts[best].point)
	return mounts[best].dev, join(mounts[best].root, rest)
}

// sights lists all that a recursive bind of source shows. Mounts that others hide are in it too.
func sights(mounts []fsMount, source string) []sight {
	dev, root := locate(mounts, source)
	out := []sight{{dev, root, ""}}
	for _, m := range mounts {
		if rest, ok := within(m.point, source); ok && rest != "" {
			out = append(out, sight{m.dev, m.root, rest})
		}
	}
	return out
}

// A spot is a place in the cage where a denied path would be seen.
type spot struct {
	path  string // in the cage
	host  string // the denied path
	cover bool   // hidden; otherwise read-only
	grant int    // index of the mount that shows it
	exact bool   // it must be the very file or folder that host names
	must  bool   // it must be there; others may lie under another mount
}

// findSpots maps every cover and pin to all places where the grants would show it: under its own path, under the target of
// a grant, through another mount of the same file system, and where a submount shows a part of it.
func findSpots(s *wire.Setup, mounts []fsMount) ([]spot, error) {
	var out []spot
	for _, list := range []struct {
		paths []string
		cover bool
	}{{s.Covers, true}, {s.Pins, false}} {
		for _, host := range list.paths {
			dev, root := locate(mounts, host)
			for i, m := range s.Mounts {
				for _, v := range sights(mounts, m.Source) {
					if v.dev != dev {
						continue
					}
					p := spot{host: host, cover: list.cover, grant: i}
					if rest, ok := within(root, v.root); ok {
						p.path, p.exact = join(join(m.Target, v.at), rest), true
					} else if _, ok := within(v.root, root); ok && v.at != "" {
						p.path = join(m.Target, v.at)
					} else {
						continue
					}
					rest, direct := within(host, m.Source)
					p.must = direct && p.exact && p.path == join(m.Target, rest)
					if deepest(s.Mounts, p.path) != i {
						continue
					}
					if p.cover && p.path == m.Target {
						return nil, &wire.Failed{Step: wire.StepSpec, Path: host, Text: "it is granted, as " + m.Source + ", and hidden"}
					}
					out = append(out, p)
				}
			}
		}
	}
	return tidy(out), nil
}

// deepest is the index of the grant that shows path, or -1.
func deepest(mounts []wire.Mount, path string) int {
	best := -1
	for i, m := range mounts {
		if _, ok := within(path, m.Target); ok && (best < 0 || len(m.Target) > len(mounts[best].Target)) {
			best = i
		}
	}
	return best
}

// tidy orders spots and keeps one for each place: a cover beats a pin, one that must be there beats one that may.
func tidy(spots []spot) []spot {
	rank := func(p spot) int {
		n := 0
		if !p.cover {
			n += 2
		}
		if !p.must {
			n++
		}
		return n
	}
	slices.SortStableFunc(spots, func(a, b spot) int {
		if c := comparePaths(a.path, b.path); c != 0 {
			return c
		}
		return rank(a) - rank(b)
	})
	return slices.CompactFunc(spots, func(a, b spot) bool { return a.path == b.path })
}

// checkSetup refuses what contradicts itself: it guards the walk that follows from paths that are not clean.
func checkSetup(s *wire.Setup) error {
	bad := func(path, text string) error { return &wire.Failed{Step: wire.StepSpec, Path: path, Text: text} }
	seen := map[string]bool{}
	for _, m := range s.Mounts {
		if !clean(m.Source) || !clean(m.Target) {
			return bad(m.Source, "a grant needs absolute, clean paths")
		}
		for _, own := range []string{"/proc", "/dev"} {
			if _, ok := within(m.Target, own); ok {
				return bad(m.Target, own+" is made by the cage itself")
			}
		}
		if m.Target == "/" && s.Weak&wire.WeakView == 0 {
			return bad(m.Target, "the root itself cannot be granted")
		}
		if seen[m.Target] {
			return bad(m.Target, "two grants have one target")
		}
		seen[m.Target] = true
	}
	for _, path := range slices.Concat(s.Covers, s.Pins) {
		if !clean(path) {
			return bad(path, "a denial needs an absolute, clean path")
		}
	}
	for _, l := range s.Links {
		if !clean(l.Path) || l.Path == "/" || l.To == "" {
			return bad(l.Path, "a link needs an absolute, clean path")
		}
		if deepest(s.Mounts, l.Path) >= 0 {
			return bad(l.Path, "a link may not lie inside a grant")
		}
	}
	return nil
}

// clean tells whether path is absolute and holds no empty, "." or ".." component.
func clean(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}
