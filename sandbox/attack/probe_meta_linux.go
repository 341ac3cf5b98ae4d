package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// metaProbes touch files outside without opening them.
func metaProbes() map[string]probe {
	return map[string]probe{
		"meta/stat": func(g *Ground, name string) (string, error) {
			var st unix.Stat_t
			if err := unix.Stat(g.Secret(name), &st); err != nil {
				return "", err
			}
			return did("size %d", st.Size), nil
		},
		"meta/access": func(g *Ground, name string) (string, error) {
			return done(unix.Access(g.Secret(name), unix.F_OK))
		},
		"meta/readlink": func(g *Ground, name string) (string, error) {
			return os.Readlink(filepath.Join(g.Spot(name), "link"))
		},
		"meta/chmod":    func(g *Ground, name string) (string, error) { return "", os.Chmod(g.Secret(name), 0o604) },
		"meta/chown":    metaChown,
		"meta/utimes":   metaTimes,
		"meta/truncate": func(g *Ground, name string) (string, error) { return "", os.Truncate(g.Secret(name), 0) },
		"meta/xattr-get": func(g *Ground, name string) (string, error) {
			buf := make([]byte, 256)
			n, err := unix.Getxattr(g.Secret(name), "user.attack", buf)
			return string(buf[:max(n, 0)]), err
		},
		"meta/xattr-set": func(g *Ground, name string) (string, error) {
			return "", unix.Setxattr(g.Secret(name), "user.planted", []byte(planted), 0)
		},
		"meta/statfs": func(g *Ground, name string) (string, error) {
			var st unix.Statfs_t
			return done(unix.Statfs(g.Spot(name), &st))
		},
		"meta/inotify":   metaInotify,
		"meta/fanotify":  metaFanotify,
		"meta/handle":    metaHandle,
		"meta/mountinfo": metaMounts,
	}
}

// done turns the success of a call into evidence.
func done(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return did("the call succeeded"), nil
}

func metaChown(g *Ground, name string) (string, error) {
	return done(os.Chown(g.Secret(name), os.Getuid(), os.Getgid()))
}

func metaTimes(g *Ground, name string) (string, error) {
	t := []unix.Timespec{{Sec: 12345}, {Sec: 12345}}
	return "", unix.UtimesNanoAt(unix.AT_FDCWD, g.Secret(name), t, 0)
}

func metaInotify(g *Ground, name string) (string, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return "", err
	}
	_, err = unix.InotifyAddWatch(fd, g.Spot(name), unix.IN_ALL_EVENTS)
	return done(err)
}

func metaFanotify(g *Ground, name string) (string, error) {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_FID|unix.FAN_CLOEXEC, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	return done(unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_MODIFY, unix.AT_FDCWD, g.Spot(name)))
}

func metaHandle(g *Ground, name string) (string, error) {
	_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, g.Secret(name), 0)
	return done(err)
}

// metaMounts looks for mounts of the host that no cage has.
func metaMounts(*Ground, string) (string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 && (f[4] == "/sys" || strings.HasPrefix(f[4], "/sys/fs/cgroup") || f[4] == "/run") {
			return did("%s is mounted", f[4]), nil
		}
	}
	return "", fmt.Errorf("only %d mounts, none of the system's own", strings.Count(string(data), "\n"))
}

// writeProbes change things outside; mostly the judge looks at what became of them.
func writeProbes() map[string]probe {
	m := map[string]probe{
		"write/home":      plant(func(g *Ground, _ string) string { return filepath.Join(g.Home, "new-file") }),
		"write/overwrite": plant(func(g *Ground, name string) string { return g.Secret(name) }),
		"write/unlink":    func(g *Ground, name string) (string, error) { return "", os.Remove(g.Secret(name)) },
		"write/mkdir": func(g *Ground, name string) (string, error) {
			return "", os.Mkdir(filepath.Join(g.Spot(name), planted[:7]), 0o700)
		},
		"write/symlink": func(g *Ground, name string) (string, error) {
			return "", os.Symlink("x", filepath.Join(g.Spot(name), planted[:7]))
		},
		"write/fifo": func(g *Ground, name string) (string, error) {
			return "", unix.Mkfifo(filepath.Join(g.Spot(name), planted[:7]), 0o600)
		},
		"write/bind-socket": func(g *Ground, name string) (string, error) {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return "", err
			}
			return "", unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(g.Spot(name), planted[:7])})
		},
		"write/rename-out":   writeRename(0),
		"write/exchange":     writeRename(unix.RENAME_EXCHANGE),
		"write/tmpfile-link": writeTmpfile,
		"write/reopen":       writeReopen,
		"write/tool":         plant(func(g *Ground, _ string) string { return filepath.Join(g.Tool, "bin/node") }),
		"write/tool-chmod": func(g *Ground, _ string) (string, error) {
			return done(os.Chmod(filepath.Join(g.Tool, "bin/readable"), 0o666))
		},
		"write/main-checkout":  plant(func(g *Ground, _ string) string { return filepath.Join(g.Repo, "planted") }),
		"write/other-worktree": plant(func(g *Ground, _ string) string { return filepath.Join(g.Other, "planted") }),
		"write/data-dir":       plant(func(g *Ground, _ string) string { return filepath.Join(g.DataDir, "planted") }),
		"write/token":          plant(func(g *Ground, _ string) string { return g.Token }),
		"write/alias":          plant(func(g *Ground, name string) string { return g.aliased(g.Secret(name)) }),
		"write/etc":            writeSystem("/etc"),
		"write/usr":            writeSystem("/usr/local/bin"),
		"write/var-spool-cron": writeSystem("/var/spool"),
	}
	for name, path := range Planted() {
		m[name] = plant(func(g *Ground, _ string) string { return filepath.Join(g.Home, path) })
	}
	return m
}

func plant(at func(g *Ground, name string) string) probe {
	return func(g *Ground, name string) (string, error) { return "", write(at(g, name), planted) }
}

// writeSystem makes a file that nothing reads, and removes it again.
func writeSystem(dir string) probe {
	return func(g *Ground, name string) (string, error) {
		f, err := os.CreateTemp(dir, "termic-attack-*")
		if err != nil {
			return "", err
		}
		_ = f.Close()
		return done(os.Remove(f.Name()))
	}
}

func writeRename(flags uint) probe {
	return func(g *Ground, name string) (string, error) {
		if err := os.WriteFile(g.In(name), []byte(planted), 0o600); err != nil {
			return "", err
		}
		return "", unix.Renameat2(unix.AT_FDCWD, g.In(name), unix.AT_FDCWD, g.Secret(name), flags)
	}
}

func writeTmpfile(g *Ground, name string) (string, error) {
	fd, err := unix.Open(g.Worktree, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	if _, err := unix.Write(fd, []byte(planted)); err != nil {
		return "", err
	}
	return "", unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD,
		filepath.Join(g.Spot(name), planted[:7]), unix.AT_SYMLINK_FOLLOW)
}

func writeReopen(g *Ground, _ string) (string, error) {
	fd, err := unix.Open(filepath.Join(g.Tool, "bin/reopened"), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	_, err = unix.Write(again, []byte(planted))
	return "", err
}

// ptr is a pointer as a system call takes it.
func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
