package attack

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ttyProbes try on terminals. Descriptor 0 is the terminal that the program was started on.
func ttyProbes() map[string]probe {
	return map[string]probe{
		"tty/other": func(g *Ground, name string) (string, error) {
			fd, err := unix.Open(g.Pty, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
			if err != nil {
				return "", err
			}
			_, err = unix.Write(fd, []byte(name+"\n"))
			return "", err
		},
		"tty/tiocsti":      func(*Ground, string) (string, error) { return typeIn(unix.TIOCSTI) },
		"tty/tiocsti-high": func(*Ground, string) (string, error) { return typeIn(1<<32 | unix.TIOCSTI) },
		"tty/tioclinux": func(*Ground, string) (string, error) {
			sub := [8]byte{2} // set the selection
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCLINUX, ptr(&sub))
			return reached(fromErrno(errno), unix.ENOTTY, unix.EINVAL, unix.EFAULT)
		},
		"tty/console": openAny(unix.O_RDWR, "/dev/console", "/dev/tty0"),
		"tty/vt":      openAny(unix.O_RDWR, "/dev/tty1", "/dev/tty63"),
	}
}

// typeIn puts a line end into the terminal's input: the reader of names skips empty lines.
func typeIn(request uintptr) (string, error) {
	c := [1]byte{'\n'}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, request, ptr(&c))
	if errors.Is(errno, unix.ENOTTY) {
		return "", errno
	}
	return done(fromErrno(errno))
}
