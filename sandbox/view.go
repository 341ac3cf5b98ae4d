package sandbox

import (
	"cmp"
	"slices"
	"strings"
)

// A View is the file tree of a cage: what there is, what of it is hidden, and what of it is read-only. All paths are
// canonical. It is plain data, for the mechanism of the system.
type View struct {
	Mounts []Mount // a parent before what lies in it; where two cover a path, the deeper one counts
	Links  []Link  // to be made where no mount brings them; sorted
	Covers []string
	Pins   []string

	Home    string // the value of $HOME inside
	DataDir string
	Sockets []string // Termic's own, wherever they are
}

// A Mount is a file or folder of the host that is there in the cage.
type Mount struct {
	Source string // on the host
	Target string // in the cage; differs from Source for the private home alone
	Write  bool
	Plain  bool // no link, pipe or device can be made there
}

// View is the tree that the cage shall have. It is empty when no cage is to be built.
func (p Policy) View() View {
	if !p.Caged() {
		return View{}
	}
	v := View{Links: slices.Clone(p.links), Home: p.home, DataDir: p.dataDir, Sockets: slices.Clone(p.termic)}
	if p.gitView != nil {
		v.Mounts = slices.Clone(p.gitView.mounts)
	}
	for _, g := range p.grants {
		if p.gitView != nil && covers(p.gitView.common, g.path) {
			continue
		}
		m := Mount{Source: g.path, Target: g.path, Write: g.write}
		if g.path == p.homeDir && p.goos == "linux" {
			m.Target = p.home
		}
		v.Mounts = append(v.Mounts, m)
	}
	slices.SortFunc(v.Mounts, func(a, b Mount) int { return cmp.Compare(pathKey(a.Target), pathKey(b.Target)) })
	if p.goos == "darwin" {
		v.Home = p.homeDir
	}
	for _, path := range sorted(slices.Concat(p.deny, p.sockets)) {
		if source(v.Mounts, path) != nil {
			v.Covers = append(v.Covers, path)
		}
	}
	for _, path := range p.pinned {
		if m := source(v.Mounts, path); m != nil && m.Write {
			v.Pins = append(v.Pins, path)
		}
	}
	return v
}

// Reads reports whether a file or folder of the host, by its canonical path, can be read in the cage at the same path. In
// the private home there is another file at that place, or none.
func (p Policy) Reads(path string) bool {
	if !p.Caged() {
		return true
	}
	v := p.View()
	var at *Mount // which brings what is at that path in the cage
	for i, m := range v.Mounts {
		if covers(m.Target, path) && (at == nil || len(m.Target) > len(at.Target)) {
			at = &v.Mounts[i]
		}
	}
	return at != nil && at.Source == at.Target && !coveredBy(path, v.Covers)
}

// source returns the mount that brings a path of the host into the cage, nil where none does.
func source(mounts []Mount, path string) *Mount {
	var best *Mount
	for i, m := range mounts {
		if covers(m.Source, path) && (best == nil || len(m.Source) > len(best.Source)) {
			best = &mounts[i]
		}
	}
	return best
}

// pathKey orders paths so that a folder stands right before what is in it.
func pathKey(p string) string { return strings.ReplaceAll(p, "/", "\x00") }
