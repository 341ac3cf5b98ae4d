package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A boundSocket is a unix socket with a place in the file system.
type boundSocket struct {
	name string // as its maker gave it: a path, but perhaps one that only the maker understands, or an old one
	dev  uint64 // of the file system, as /proc/self/mountinfo tells it: major<<20 | minor
	ino  uint32 // the low half of the file's number
}

// foreignSockets returns the sockets that processes outside hold in what is granted: a cage could talk to them. A socket
// that is made later is not among them. On macOS sockets are denied by the profile instead.
//
// The kernel lists all sockets with the names that they were given, so a large tree costs nothing as long as the names
// are paths. Names need not be: a socket may have been moved since, or made by a relative name, through /proc/self/fd,
// through another mount or in a container. When some of those that are left are on the file system of a grant, the grant
// is searched.
func (c *composer) foreignSockets() []string {
	if c.w.GOOS != "linux" {
		return nil
	}
	bound, err := boundSockets()
	if err != nil {
		return c.searchGrants(nil, func(uint32) bool { return false }) // the kernel does not tell: all grants are searched
	}
	var out []string
	left := map[uint32]uint64{} // device by number
	hidden := map[uint32]bool{} // under one of its names, and so under all
	for _, s := range bound {
		real, ok := s.path()
		if !ok {
			left[s.ino] = s.dev
			continue
		}
		if c.grantsSocket(real) {
			out = append(out, real)
			hidden[s.ino] = true
		} else if coveredBy(real, c.deny) || covers(c.w.DataDir, real) {
			hidden[s.ino] = true
		}
	}
	devices := c.devices()
	for ino, dev := range left {
		if !devices[dev] {
			delete(left, ino)
		}
	}
	if len(left) > 0 {
		out = append(out, c.searchGrants(hidden, func(ino uint32) bool {
			delete(left, ino)
			return len(left) == 0
		})...)
	}
	return sorted(out)
}

// path is where the socket is, if its name tells.
func (s boundSocket) path() (string, bool) {
	if !filepath.IsAbs(s.name) {
		return "", false
	}
	real, _, err := resolve(filepath.Clean(s.name))
	if err != nil {
		return "", false
	}
	st, err := os.Lstat(real)
	return real, err == nil && st.Mode().Type() == fs.ModeSocket && uint32(inode(st)) == s.ino
}

func (c *composer) grantsSocket(path string) bool {
	return path != c.named && slices.ContainsFunc(c.grants, func(g grant) bool { return covers(g.path, path) }) && !coveredBy(path, c.deny)
}

// searchGrants returns every socket below the grants that is not hidden yet, and stops early when enough has been seen. The system's roots are
// left out: who may make a socket there has no need of strange names. What cannot be read is passed over, since the cage
// cannot read it either.
func (c *composer) searchGrants(hidden map[uint32]bool, enough func(ino uint32) bool) []string {
	var out []string
	for _, g := range c.grants {
		if slices.ContainsFunc(systemRoots[c.w.GOOS], func(root string) bool { return covers(root, g.path) }) {
			continue
		}
		err := filepath.WalkDir(g.path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type() != fs.ModeSocket {
				return nil
			}
			st, err := d.Info()
			if err != nil {
				return nil // gone meanwhile
			}
			ino := uint32(inode(st))
			if c.grantsSocket(path) && !hidden[ino] {
				out = append(out, path)
			}
			if enough(ino) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			continue
		}
	}
	return out
}

// devices are those of the file systems that the grants show.
func (c *composer) devices() map[uint64]bool {
	out := map[uint64]bool{}
	mounts := mountedDevices()
	for _, g := range c.grants {
		best := ""
		for at, dev := range mounts {
			switch {
			case covers(g.path, at):
				out[dev] = true
			case covers(at, g.path) && len(at) >= len(best):
				best = at
			}
		}
		if best != "" {
			out[mounts[best]] = true
		}
	}
	return out
}

// mountedDevices are the devices of /proc/self/mountinfo by mount point.
func mountedDevices() map[string]uint64 {
	out := map[string]uint64{}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		if dev, ok := parseDevice(f[2]); ok {
			out[unescapeMount(f[4])] = dev
		}
	}
	return out
}
