package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountProbes change what is mounted. All of them have an inner part, see inNamespace.
func mountProbes() map[string]probe {
	m := map[string]probe{}
	for name := range inners() {
		m[name] = inNamespace
	}
	return m
}

// an innerProbe may mount; free says that it is in namespaces of its own, where it first has to make the ground that
// the cage has.
type innerProbe func(g *Ground, name string, free bool) (string, error)

func inners() map[string]innerProbe {
	return map[string]innerProbe{
		"mount/tmpfs":   mountTmpfs,
		"mount/bind":    mountBind,
		"mount/remount": mountRemount,
		"mount/setattr": mountSetattr,
		"mount/umount":  mountUmount,
		"mount/move":    mountMove,
		"mount/open-tree": func(g *Ground, _ string, _ bool) (string, error) {
			_, err := unix.OpenTree(unix.AT_FDCWD, g.Worktree, unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE)
			return done(err)
		},
		"mount/fsopen": func(*Ground, string, bool) (string, error) {
			_, err := unix.Fsopen("tmpfs", 0)
			return done(err)
		},
		"mount/proc": func(g *Ground, name string, _ bool) (string, error) {
			return mountOn(g, name, "proc", "proc", 0, "")
		},
		"mount/pivot-root": mountPivot,
		"mount/chroot":     mountChroot,
		"mount/overlay":    mountOverlay,
		"mount/propagate": func(*Ground, string, bool) (string, error) {
			return done(unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""))
		},
		"mount/cgroup-release": mountCgroup,
	}
}

// mountOn mounts on a fresh folder of the worktree.
func mountOn(g *Ground, name, source, kind string, flags uintptr, data string) (string, error) {
	at := g.In(name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", err
	}
	if err := unix.Mount(source, at, kind, flags, data); err != nil {
		return "", fmt.Errorf("mount %s: %w", kind, err)
	}
	return did("mounted %s", kind), nil
}

func mountTmpfs(g *Ground, name string, _ bool) (string, error) {
	return mountOn(g, name, "none", "tmpfs", 0, "")
}

func mountBind(g *Ground, name string, _ bool) (string, error) {
	if _, err := mountOn(g, name, g.Spot(name), "", unix.MS_BIND, ""); err != nil {
		return "", err
	}
	return read(filepath.Join(g.In(name), "secret"))
}

// readOnlyTool makes the tool folder as it is in a cage.
func readOnlyTool(g *Ground, free bool) error {
	if !free {
		return nil
	}
	if err := unix.Mount(g.Tool, g.Tool, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("", g.Tool, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

func mountRemount(g *Ground, _ string, free bool) (string, error) {
	if err := readOnlyTool(g, free); err != nil {
		return "", err
	}
	if err := unix.Mount("", g.Tool, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return "", err
	}
	return done(write(filepath.Join(g.Tool, "bin/remounted"), planted))
}

func mountSetattr(g *Ground, _ string, free bool) (string, error) {
	if err := readOnlyTool(g, free); err != nil {
		return "", err
	}
	attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, g.Tool, 0, &attr); err != nil {
		return "", err
	}
	return done(write(filepath.Join(g.Tool, "bin/set"), planted))
}

// mountUmount unmounts something of its own where it is free, and in a cage whatever it can.
func mountUmount(g *Ground, name string, free bool) (string, error) {
	if free {
		if _, err := mountOn(g, name, "none", "tmpfs", 0, ""); err != nil {
			return "", err
		}
		return done(unix.Unmount(g.In(name), 0))
	}
	return unmountAny()
}

// unmountAny tries all mounts, the youngest first.
func unmountAny() (string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		at := strings.ReplaceAll(f[4], `\040`, " ")
		if err = unix.Unmount(at, unix.MNT_DETACH); err == nil {
			return did("unmounted %s", at), nil
		}
	}
	return "", err
}

func mountMove(g *Ground, name string, free bool) (string, error) {
	from, to := "/tmp", g.In(name)+".to"
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	if free {
		if _, err := mountOn(g, name, "none", "tmpfs", 0, ""); err != nil {
			return "", err
		}
		from = g.In(name)
	}
	err := unix.Mount(from, to, "", unix.MS_MOVE, "")
	if err != nil {
		err = errors.Join(err, unix.MoveMount(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0))
	}
	return done(err)
}

func mountPivot(g *Ground, name string, free bool) (string, error) {
	root := g.In(name)
	if free {
		if _, err := mountOn(g, name, "none", "tmpfs", 0, ""); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "old"), 0o700); err != nil {
		return "", err
	}
	return reached(unix.PivotRoot(root, filepath.Join(root, "old")), unix.EINVAL, unix.EBUSY)
}

// mountChroot keeps a folder open, changes the root below it, and walks up from there.
func mountChroot(g *Ground, name string, _ bool) (string, error) {
	jail := g.In(name)
	if err := os.MkdirAll(jail, 0o700); err != nil {
		return "", err
	}
	if err := unix.Chroot(jail); err != nil {
		return "", err
	}
	for range 40 {
		_ = unix.Chdir("..")
	}
	if err := unix.Chroot("."); err != nil {
		return "", err
	}
	return read(g.Secret(name))
}

func mountOverlay(g *Ground, name string, _ bool) (string, error) {
	base := g.In(name)
	for _, dir := range []string{"up", "work", "at"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			return "", err
		}
	}
	opts := fmt.Sprintf("lowerdir=%s,upperdir=%s/up,workdir=%s/work", g.Tool, base, base)
	return done(unix.Mount("none", filepath.Join(base, "at"), "overlay", 0, opts))
}

// mountCgroup mounts a hierarchy whose agent the kernel would run as root. It sets none.
func mountCgroup(g *Ground, name string, _ bool) (string, error) {
	if _, err := mountOn(g, name, "none", "cgroup", 0, "pids"); err != nil {
		if _, err := mountOn(g, name, "none", "cgroup", 0, "memory"); err != nil {
			return "", err
		}
	}
	return openOnly(filepath.Join(g.In(name), "release_agent"), unix.O_WRONLY)
}

// wideProbes try on the data folder in a cage whose grants surround it.
func wideProbes() map[string]probe {
	return map[string]probe{
		"wide/sibling": func(g *Ground, _ string) (string, error) {
			return read(filepath.Join(filepath.Dir(g.DataDir), "sibling"))
		},
		"wide/token":     func(g *Ground, _ string) (string, error) { return read(g.Token) },
		"wide/list":      func(g *Ground, _ string) (string, error) { return list(g.DataDir, filepath.Base(g.Token)) },
		"wide/stat":      func(g *Ground, _ string) (string, error) { _, err := os.Stat(g.Token); return done(err) },
		"wide/write":     plant(func(g *Ground, _ string) string { return g.Token }),
		"wide/proc-root": func(g *Ground, _ string) (string, error) { return read("/proc/self/root" + g.Token) },
		"wide/symlink": func(g *Ground, name string) (string, error) {
			if err := os.Symlink(g.Token, g.In(name)); err != nil {
				return "", err
			}
			return read(g.In(name))
		},
		"wide/hardlink": func(g *Ground, name string) (string, error) {
			if err := os.Link(g.Token, g.In(name)); err != nil {
				return "", err
			}
			return read(g.In(name))
		},
		"wide/control": dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.Control }),
		"wide/daemon":  dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.Daemon }),
		"wide/daemon-link": func(g *Ground, name string) (string, error) {
			if err := os.Link(g.Daemon, g.Daemon+".link"); err != nil {
				return "", err
			}
			return dialUnix(unix.SOCK_STREAM, g.Daemon+".link", name)
		},
		"wide/chmod":           func(g *Ground, _ string) (string, error) { return done(os.Chmod(g.DataDir, 0o700)) },
		"wide/rename":          func(g *Ground, _ string) (string, error) { return done(moveAway(g.DataDir)) },
		"wide/rename-ancestor": func(g *Ground, _ string) (string, error) { return done(moveAway(filepath.Dir(g.DataDir))) },
		"wide/rename-ancestors": func(g *Ground, _ string) (string, error) {
			return done(moveAway(filepath.Dir(filepath.Dir(g.DataDir))))
		},
		"wide/unmount": func(g *Ground, _ string) (string, error) {
			_, errU := unmountAbove(g)
			got, err := read(g.Token)
			return got, errors.Join(errU, err)
		},
		"wide/alias":    func(g *Ground, _ string) (string, error) { return read(g.aliased(g.Token)) },
		"wide/replaced": func(g *Ground, _ string) (string, error) { return read(g.Token) },
	}
}

// unmountAbove unmounts only what lies over the data folder or above it. Outside of a cage it stays within the ground: above that are mounts of
// the machine, such as a /tmp in memory, and root could take them away.
func unmountAbove(g *Ground) (string, error) {
	err, end := errNot, "/"
	if g.PidOne != 1 {
		end = filepath.Dir(g.Home)
	}
	for at := g.DataDir; at != end && at != "/"; at = filepath.Dir(at) {
		if err = unix.Unmount(at, unix.MNT_DETACH); err == nil {
			return did("unmounted %s", at), nil
		}
	}
	return "", err
}

// moveAway renames a folder and, if that worked, renames it back.
func moveAway(path string) error {
	if err := os.Rename(path, path+".moved"); err != nil {
		return err
	}
	return os.Rename(path+".moved", path)
}
