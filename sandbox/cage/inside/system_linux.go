package inside

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// What every cage has of its own: /dev, /proc, terminals.

const attrDevice = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC

func (b *builder) mountDev() error {
	dev, err := b.mountNew("/dev", "tmpfs", attrDevice, "mode=0755", "size=64k")
	if err != nil {
		return failed(wire.StepDev, "/dev", err)
	}
	defer unix.Close(dev)
	for i, name := range nodes {
		fd, err := b.point("/dev/"+name, false)
		if err == nil {
			err = place(b.devices[i], fd)
			_ = unix.Close(fd)
		}
		if err != nil {
			return failed(wire.StepDev, "/dev/"+name, err)
		}
		_ = unix.Close(b.devices[i])
	}
	for _, l := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}} {
		if err := unix.Symlinkat(l[1], dev, l[0]); err != nil {
			return failed(wire.StepDev, "/dev/"+l[0], err)
		}
	}
	pts, err := b.mountNew("/dev/pts", "devpts", attrDevice, ptsOptions[:]...)
	if err != nil {
		return failed(wire.StepDev, "/dev/pts", err)
	}
	return unix.Close(pts)
}

// ptsOptions let everybody in the cage open a terminal, and keep others' from being written to.
var ptsOptions = [...]string{"ptmxmode=0666", "mode=0620"}

// closeDev makes /dev itself read-only, once all that lies in it is there.
func (b *builder) closeDev() error {
	fd, err := b.lookup("/dev")
	if err == nil {
		err = restrict(fd, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY, false)
		_ = unix.Close(fd)
	}
	if err != nil {
		return failed(wire.StepDev, "/dev", err)
	}
	return nil
}

// mountProc mounts a /proc of the cage's processes. It comes while the host's is still there: the kernel gives one only to
// who sees one whole.
func (b *builder) mountProc() error {
	fd, err := b.mountNew("/proc", "proc", attrPlain|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return failed(wire.StepProc, "/proc", err)
	}
	defer unix.Close(fd)
	return settleProc(b.s, fd)
}

// settleProc sets what is set once, before the capabilities go.
func settleProc(s *wire.Setup, proc int) error {
	// The count is that of our own user namespace; zero ends all further ones.
	if err := writeControl(proc, "sys/user/max_user_namespaces", "0"); err != nil {
		return failed(wire.StepNested, "", err)
	}
	if s.PidMax > 0 {
		if err := writeControl(proc, "sys/kernel/pid_max", strconv.FormatInt(s.PidMax, 10)); err != nil {
			s.PidMax = 0 // told in Built
		}
	}
	if os.Getuid() != 0 {
		return nil
	}
	// Many controls of the kernel ask only whether the writer is root, and root we are, whatever capabilities we lack: a new
	// core_pattern would run a program outside.
	if err := restrict(proc, unix.MOUNT_ATTR_RDONLY, true); err != nil {
		return failed(wire.StepProc, "/proc", err)
	}
	return nil
}

// writeControl writes a control of the kernel, which must be there.
func writeControl(dirfd int, path, value string) error {
	fd, err := unix.Openat(dirfd, path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(value))
	return err
}

// PidMaxIsOurs tells whether the bound on process ids is one of each pid namespace: since Linux 6.14. Before, writing it
// would change the host.
func PidMaxIsOurs() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	major, rest, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && (a > 6 || a == 6 && b >= 14)
}

// keepHost keeps the host's tree, for a test that shows what the built one is good for.
func (b *builder) keepHost() error {
	for path, kind := range map[string]string{"/proc": "proc", "/dev/pts": "devpts"} {
		options := ptsOptions[:]
		if kind == "proc" {
			options = nil
		}
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return failed(wire.StepProc, path, err)
		}
		tree, err := newMount(kind, 0, options...)
		if err == nil {
			err = place(tree, fd)
		}
		if err == nil && kind == "proc" {
			err = settleProc(b.s, tree)
		}
		if err != nil {
			return failed(wire.StepProc, path, err)
		}
		_, _ = unix.Close(fd), unix.Close(tree)
	}
	return nil
}

// openTerminal opens a terminal of the cage and returns both ends.
func openTerminal(cols, rows uint16) (master, slave int, err error) {
	master, err = unix.Open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, failed(wire.StepDev, "/dev/pts/ptmx", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}
	if err == nil {
		slave, err = unix.Open("/dev/pts/"+strconv.Itoa(number), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		_ = unix.Close(master)
		return -1, -1, failed(wire.StepDev, "/dev/pts", err)
	}
	return master, slave, nil
}
