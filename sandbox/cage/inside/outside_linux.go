package inside

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// exitNotFound is what a shell answers for a program that is not there.
const exitNotFound = 127

// watchOutside becomes the program in the arguments, under a filter that tells of its acts and stops none. What is to be
// observed is never kept from running: without a listener it runs unobserved, and the app, which got none, knows.
func watchOutside(all bool) int {
	if len(os.Args) < 6 {
		return exitUsage
	}
	_ = sendListener(all, os.Args[4])
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	argv, env := os.Args[5:], os.Environ()
	path, err := look(&wire.Run{Argv: argv, Env: env, Dir: dir})
	if err == nil {
		err = syscall.Exec(path, argv, env)
	}
	_, _ = os.Stderr.WriteString(argv[0] + ": " + err.Error() + "\n")
	return exitNotFound
}

// sendListener installs the filter and sends its listener to a socket of the app. The connect comes first: the filter would
// tell of it, with nobody there yet to answer.
func sendListener(all bool, path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	listener, err := installWatch(all)
	if err != nil {
		return err
	}
	if err := newSocket(fd).send(&wire.Built{Watched: true}, listener); err != nil {
		return errors.Join(err, unix.Close(listener)) // with its end closed, watched calls fail; the app is gone anyway
	}
	return unix.Close(listener)
}
