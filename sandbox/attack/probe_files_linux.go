package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// fileProbes read what was not granted.
func fileProbes() map[string]probe {
	m := map[string]probe{
		"file/worktree": func(g *Ground, name string) (string, error) {
			if err := os.WriteFile(g.In(name), []byte(did("kept")), 0o600); err != nil {
				return "", err
			}
			return read(g.In(name))
		},
		"file/tool":               func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.Tool, "bin/readable")) },
		"file/absolute":           func(g *Ground, name string) (string, error) { return read(g.Secret(name)) },
		"file/relative":           fileRelative,
		"file/dotdot":             fileDotDot,
		"file/dirfd":              fileDirFD,
		"file/proc-self-root":     func(g *Ground, name string) (string, error) { return read("/proc/self/root" + g.Secret(name)) },
		"file/proc-self-cwd":      fileProcCwd,
		"file/proc-thread-root":   func(g *Ground, name string) (string, error) { return read("/proc/thread-self/root" + g.Secret(name)) },
		"file/proc-any-root":      fileAnyRoot,
		"file/symlink-new":        fileSymlink,
		"file/symlink-planted":    func(g *Ground, name string) (string, error) { return read(g.In(name)) },
		"file/hardlink-new":       fileHardLink,
		"file/hardlink-old":       func(g *Ground, name string) (string, error) { return read(g.In(name)) },
		"file/alias":              func(g *Ground, name string) (string, error) { return read(g.aliased(g.Secret(name))) },
		"file/rename-ancestor":    fileRenameAncestor,
		"file/replaced-dir":       fileReplacedDir,
		"file/swap-race":          fileSwapRace,
		"file/mmap-exec":          fileMap,
		"file/sendfile":           fileSend,
		"file/exec-cat":           func(g *Ground, name string) (string, error) { return output("cat", g.Secret(name)) },
		"file/script-interpreter": fileInterpreter,
		"file/other-worktree":     func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.Other, "secret")) },
		"file/main-checkout":      func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.Repo, ".env")) },
		"file/token":              func(g *Ground, _ string) (string, error) { return read(g.Token) },
		"file/data-dir-list":      func(g *Ground, _ string) (string, error) { return list(g.DataDir, filepath.Base(g.Token)) },
		"file/other-home":         func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.OtherHome, "secret")) },
		"file/home-list":          func(g *Ground, _ string) (string, error) { return list(g.Home, ".aws") },
		"file/ssh-key":            homeFile(".ssh/id_ed25519"),
		"file/cloud-credentials":  homeFile(".aws/credentials"),
		"file/agent-login":        homeFile(".claude/.credentials.json"),
		"file/shell-history":      homeFile(".bash_history"),
		"file/browser-profile":    homeFile(".mozilla/firefox/p/cookies.sqlite"),
		"file/tmp":                func(g *Ground, _ string) (string, error) { return read(filepath.Join("/tmp", g.Shared)) },
		"file/var-tmp":            func(g *Ground, _ string) (string, error) { return read(filepath.Join("/var/tmp", g.Shared)) },
		"file/dev-shm":            func(g *Ground, _ string) (string, error) { return read(filepath.Join("/dev/shm", g.Shared)) },
		"file/runtime":            func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.Runtime, "secret")) },
		"file/shadow":             opens("/etc/shadow"),
		"file/sudoers":            opens("/etc/sudoers"),
		"file/etc-private":        func(g *Ground, _ string) (string, error) { return read(g.EtcSecret) },
		"file/ssh-host-key":       opens("/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key"),
		"file/root-home":          func(*Ground, string) (string, error) { return anyEntry("/root") },
		"file/var-lib":            func(*Ground, string) (string, error) { return anyEntry("/var/lib") },
		"file/handle":             fileHandle,
		"file/inherited":          fileInherited,
		"file/inherited-dir":      fileInheritedDir,
	}
	return m
}

func homeFile(rel string) probe {
	return func(g *Ground, _ string) (string, error) { return read(filepath.Join(g.Home, rel)) }
}

// opens succeeds when one of the paths opens for reading and gives a byte.
func opens(paths ...string) probe {
	return func(*Ground, string) (string, error) {
		err := errNot
		for _, path := range paths {
			var got string
			if got, err = read(path); err == nil && got != "" {
				return did("read %s", path), nil
			}
		}
		return "", err
	}
}

func fileRelative(g *Ground, name string) (string, error) {
	if err := os.Chdir(g.Worktree); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(g.Worktree, g.Secret(name))
	if err != nil {
		return "", err
	}
	return read(rel)
}

func fileDotDot(g *Ground, name string) (string, error) {
	up := strings.Repeat("/..", strings.Count(g.Worktree, "/"))
	return read(g.Worktree + up + g.Secret(name))
}

func fileDirFD(g *Ground, name string) (string, error) {
	dir, err := unix.Open(g.Worktree, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	fd, err := unix.Openat(dir, strings.Repeat("../", 40)+strings.TrimPrefix(g.Secret(name), "/"), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	return readFD(fd)
}

func fileProcCwd(g *Ground, name string) (string, error) {
	if err := os.Chdir(g.Worktree); err != nil {
		return "", err
	}
	return read("/proc/self/cwd/" + strings.Repeat("../", 40) + g.Secret(name))
}

func fileAnyRoot(g *Ground, name string) (string, error) {
	return anyProcess(func(pid int) (string, error) {
		return first(
			func() (string, error) { return read(fmt.Sprintf("/proc/%d/root%s", pid, g.Secret(name))) },
			func() (string, error) {
				return read(fmt.Sprintf("/proc/%d/cwd/%s%s", pid, strings.Repeat("../", 40), g.Secret(name)))
			})
	})
}

func fileSymlink(g *Ground, name string) (string, error) {
	if err := os.Symlink(g.Secret(name), g.In(name)); err != nil {
		return "", err
	}
	return read(g.In(name))
}

func fileHardLink(g *Ground, name string) (string, error) {
	if err := os.Link(g.Secret(name), g.In(name)); err != nil {
		return "", err
	}
	return read(g.In(name))
}

func fileRenameAncestor(g *Ground, name string) (string, error) {
	if err := os.Rename(g.Spot(name), g.In(name)); err != nil {
		return "", err
	}
	return read(filepath.Join(g.In(name), "secret"))
}

func fileReplacedDir(g *Ground, name string) (string, error) {
	dir := g.In(name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		return "", err
	}
	if err := os.Symlink(g.Spot(name), dir); err != nil {
		return "", err
	}
	return read(filepath.Join(dir, "secret"))
}

// fileSwapRace reads through a name that changes under it between a folder and a link to the outside.
func fileSwapRace(g *Ground, name string) (string, error) {
	dir, link, at := g.In(name)+".d", g.In(name)+".l", g.In(name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Symlink(g.Spot(name), link); err != nil {
		return "", err
	}
	if err := os.Rename(dir, at); err != nil {
		return "", err
	}
	var swaps atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				if unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE) == nil {
					swaps.Add(1)
				}
			}
		}
	}()
	defer func() { close(stop); <-done }()
	err := errNot
	start := time.Now() // a busy machine gets longer, until both have run
	for time.Since(start) < 100*time.Millisecond || swaps.Load() < 500 && time.Since(start) < 3*time.Second {
		var got string
		if got, err = read(filepath.Join(at, "secret")); err == nil {
			return got, nil
		}
	}
	return "", err
}

func fileMap(g *Ground, name string) (string, error) {
	fd, err := unix.Open(g.Secret(name), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	data, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return "", err
	}
	return string(data[:200]), nil
}

func fileSend(g *Ground, name string) (string, error) {
	from, err := unix.Open(g.Secret(name), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	to, err := unix.Open(g.In(name), unix.O_RDWR|unix.O_CREAT, 0o600)
	if err != nil {
		return "", err
	}
	if _, err := unix.CopyFileRange(from, nil, to, nil, 100, 0); err != nil {
		if _, err := unix.Sendfile(to, from, nil, 100); err != nil {
			return "", err
		}
	}
	return read(g.In(name))
}

func fileInterpreter(g *Ground, name string) (string, error) {
	// A shell that is given the secret as a script complains about its first word.
	data, err := exec.Command("/bin/sh", g.Secret(name)).CombinedOutput()
	return string(data), err
}

func fileHandle(g *Ground, _ string) (string, error) {
	kind, hexed, ok := strings.Cut(g.Handle, ":")
	if !ok {
		return "", errNot
	}
	k, err := strconv.Atoi(kind)
	if err != nil {
		return "", err
	}
	data, err := unhex(hexed)
	if err != nil {
		return "", err
	}
	at, err := unix.Open(g.Worktree, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	fd, err := unix.OpenByHandleAt(at, unix.NewFileHandle(int32(k), data), unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	return readFD(fd)
}

// fileInherited reads all descriptors but those of the terminal.
func fileInherited(*Ground, string) (string, error) {
	return anyFD(func(fd int) (string, error) {
		buf := make([]byte, 256)
		n, err := unix.Pread(fd, buf, 0)
		if err != nil {
			return "", err
		}
		return string(buf[:max(n, 0)]), nil
	})
}

func fileInheritedDir(g *Ground, name string) (string, error) {
	return anyFD(func(fd int) (string, error) {
		in, err := unix.Openat(fd, strings.Repeat("../", 40)+g.Secret(name)[1:], unix.O_RDONLY, 0)
		if err != nil {
			return "", err
		}
		return readFD(in)
	})
}
