package attack

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// host is the machine of a user as it is before a cage starts: a home with secrets, a repository with worktrees, the
// app's data folder, services, and processes. One is made for each way of being started, since uncaged tries leave
// their marks.
type host struct {
	t      *testing.T
	g      Ground
	secret string
	net    *services
	procs  *victims
	git    string // copy of the git folder as it was
}

// newHost makes the ground below the prepared folder. Everything ends with the test.
func newHost(t *testing.T, p prepared) *host {
	t.Helper()
	short, root := "", ""
	for i := range 100 { // short, for the sake of the sockets' names
		short = strconv.Itoa(i)
		if root = filepath.Join(p.Root, short); os.Mkdir(root, 0o755) == nil {
			break
		}
	}
	h := &host{t: t, secret: p.Secret}
	home := filepath.Join(root, "home")
	data := filepath.Join(home, ".local/share/termic")
	h.g = Ground{
		Home: home, DataDir: data, Token: filepath.Join(data, "mcp-token"), Control: filepath.Join(data, "control.sock"),
		OtherHome: filepath.Join(data, "homes/b"),
		Repo:      filepath.Join(home, "app"), Common: filepath.Join(home, "app/.git"),
		Worktree: filepath.Join(home, "wt/a"), Admin: filepath.Join(home, "app/.git/worktrees/a"),
		Other: filepath.Join(home, "wt/b"), OtherAdmin: filepath.Join(home, "app/.git/worktrees/b"),
		Outside: filepath.Join(home, "doc"), Tool: filepath.Join(home, ".nvm"), Runtime: filepath.Join(root, "run"),
		Daemon: filepath.Join(home, ".local/agent/d.sock"),
		Shared: "ta-" + rand.Text()[:8], Setuid: p.Setuid, FileCaps: p.FileCaps, SysSocket: p.SysSocket, EtcSecret: p.EtcSecret, OptSocket: p.OptSocket, Fired: filepath.Join(root, "fired"),
	}
	if p.Alias != "" {
		h.g.Alias = filepath.Join(p.Alias, short, "home")
	}
	h.files(p)
	h.repository()
	h.ipc()
	h.leak()
	h.net = h.listen()
	h.procs = h.start()
	return h
}

func (h *host) fatal(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// put writes a file with the secret in it.
func (h *host) put(path string) {
	h.t.Helper()
	h.fatal(write(path, h.secret+"\n"))
	h.fatal(os.Chmod(path, 0o600))
}

// files fills the home.
func (h *host) files(p prepared) {
	g := h.g
	for _, dir := range []string{g.Fired, g.Runtime, filepath.Join(g.DataDir, "homes/a"), g.OtherHome} {
		h.fatal(os.MkdirAll(dir, 0o700))
	}
	for _, rel := range []string{".ssh/id_ed25519", ".aws/credentials", ".claude/.credentials.json", ".bash_history",
		".mozilla/firefox/p/cookies.sqlite"} {
		h.put(filepath.Join(g.Home, rel))
	}
	h.fatal(write(filepath.Join(g.Home, ".gitconfig"), "[user]\n\tname = u\n\temail = u@example.com\n[filter \"theirs\"]\n\tclean = cat\n"))
	for _, path := range []string{g.Token, filepath.Join(filepath.Dir(g.DataDir), "sibling"), filepath.Join(g.OtherHome, "secret"),
		filepath.Join(g.Runtime, "secret")} {
		h.put(path)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		path := filepath.Join(dir, g.Shared)
		h.put(path)
		h.t.Cleanup(func() { _ = os.Remove(path) })
	}
	for _, name := range []string{"readable", "node", "reopened"} {
		h.fatal(write(filepath.Join(g.Tool, "bin", name), did("a program")))
	}
	// What others than the probe itself need.
	h.spots("file/absolute", "file/handle", "file/hardlink-old", "file/inherited", "proc/cwd", "proc/fd")
	program, err := os.ReadFile(p.Program)
	h.fatal(err)
	h.fatal(os.WriteFile(filepath.Join(g.Tool, "bin/attack"), program, 0o755))
	if handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, g.Secret("file/handle"), 0); err == nil {
		h.g.Handle = fmt.Sprintf("%d:%x", handle.Type(), handle.Bytes())
	}
}

// spots makes the folders of probes.
func (h *host) spots(names ...string) {
	for _, name := range names {
		h.put(h.g.Secret(name))
		if err := os.Symlink(h.secret, filepath.Join(h.g.Spot(name), "link")); !errors.Is(err, fs.ErrExist) {
			h.fatal(err)
		}
		_ = unix.Setxattr(h.g.Secret(name), "user.attack", []byte(h.secret), 0) // a control tells where that cannot be
	}
}

// repository makes a main checkout with two worktrees, a hook, and the setting that makes config.worktree count.
func (h *host) repository() {
	g := h.g
	h.run("", "init", "-q", "--template=", "-b", "main", g.Repo)
	for name, text := range map[string]string{"a.txt": "a\n", "tampered.txt": "good\n", ".gitignore": ".env\n"} {
		h.fatal(os.WriteFile(filepath.Join(g.Repo, name), []byte(text), 0o600))
	}
	h.run(g.Repo, "config", "extensions.worktreeConfig", "true")
	h.run(g.Repo, "add", ".")
	h.run(g.Repo, "commit", "-q", "-m", "one")
	h.run(g.Repo, "commit", "-q", "--allow-empty", "-m", "two")
	h.run(g.Repo, "branch", "theirs", "HEAD~1")
	h.run(g.Repo, "worktree", "add", "-q", "-b", "a", g.Worktree)
	h.run(g.Repo, "worktree", "add", "-q", "-b", "b", g.Other)
	h.put(filepath.Join(g.Repo, ".env"))
	h.put(filepath.Join(g.Other, "secret"))
	h.fatal(os.WriteFile(filepath.Join(g.Repo, "a.txt"), []byte("changed\n"), 0o600))
	h.fatal(write(filepath.Join(g.Common, "hooks/pre-commit"), "#!/bin/sh\n"))
	h.fatal(write(filepath.Join(g.Common, "info/attributes"), "# none\n"))
	h.fatal(write(filepath.Join(g.Common, "modules/sub/HEAD"), "ref: refs/heads/main\n"))
	h.fatal(write(filepath.Join(g.Common, "modules/sub/config"), "[core]\n\tbare = false\n"))
	h.fatal(os.MkdirAll(filepath.Join(g.Common, "modules/sub/hooks"), 0o700))
	h.fatal(os.Symlink(g.Secret("file/symlink-planted"), g.In("file/symlink-planted")))
	h.fatal(os.Link(g.Secret("file/hardlink-old"), g.In("file/hardlink-old")))
	h.git = filepath.Join(filepath.Dir(g.Home), "git")
	h.fatal(os.CopyFS(h.git, os.DirFS(g.Common)))
}

// restoreGit puts the repository back as it was, after an uncaged try.
func (h *host) restoreGit() {
	h.t.Helper()
	h.fatal(os.RemoveAll(h.g.Common))
	h.fatal(os.CopyFS(h.g.Common, os.DirFS(h.git)))
	at := filepath.Join(h.g.Worktree, ".git")
	h.fatal(os.RemoveAll(at))
	h.fatal(os.WriteFile(at, []byte("gitdir: "+h.g.Admin+"\n"), 0o600))
}

// run is git as the user runs it.
func (h *host) run(dir string, args ...string) {
	h.t.Helper()
	if out, err := h.tryGit(dir, args...); err != nil {
		h.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (h *host) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if dir == "" {
		cmd.Dir = h.g.Home
	}
	cmd.Env = []string{"HOME=" + h.g.Home, "PATH=/usr/local/bin:/usr/bin:/bin", "GIT_EDITOR=true", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ipc puts the secret into System V shared memory and a message queue.
func (h *host) ipc() {
	var key [4]byte
	_, _ = rand.Read(key[:])
	h.g.ShmKey = int(key[0])<<16 | int(key[1])<<8 | int(key[2]) | 1<<28
	h.g.MsgKey = h.g.ShmKey
	id, err := unix.SysvShmGet(h.g.ShmKey, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	h.fatal(err)
	h.t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	data, err := unix.SysvShmAttach(id, 0, 0)
	h.fatal(err)
	copy(data, h.secret)
	h.fatal(unix.SysvShmDetach(data))

	q, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(h.g.MsgKey), unix.IPC_CREAT|unix.IPC_EXCL|0o600, 0)
	h.fatal(fromErrno(errno))
	h.t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MSGCTL, q, unix.IPC_RMID, 0) })
	var msg struct {
		kind int64
		text [256]byte
	}
	msg.kind = 1
	n := copy(msg.text[:], h.secret)
	_, _, errno = unix.Syscall6(unix.SYS_MSGSND, q, ptr(&msg), uintptr(n), 0, 0, 0)
	h.fatal(fromErrno(errno))
}

// leak opens a secret and the root folder without close-on-exec, as a careless library would.
func (h *host) leak() {
	for _, path := range []string{h.g.Secret("file/inherited"), "/"} {
		fd, err := unix.Open(path, unix.O_RDONLY, 0)
		h.fatal(err)
		h.t.Cleanup(func() { _ = unix.Close(fd) })
	}
}
