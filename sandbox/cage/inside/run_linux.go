package inside

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// run is the last part: the first process of the cage while the program lives. All its threads are behind the walls.
func run(c *socket) error {
	if os.Getpid() != 1 {
		return failed(wire.StepSelfExec, "", errors.New("not the first process of a pid namespace"))
	}
	hard := len(os.Args) > 3 && os.Args[3] == partRun // false only when a test build left the second execution out
	if hard {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return failed(wire.StepSelfExec, "", err)
		}
	}
	// Taken and dropped: the program may send its first process what it likes. Ignoring them would be inherited.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM)

	m, fds, err := c.receiver.Receive()
	if err != nil {
		return failed(wire.StepSpec, "", err)
	}
	r, ok := m.(*wire.Run)
	if !ok {
		return failed(wire.StepSpec, "", fmt.Errorf("expected a program, got %T", m))
	}
	makeThreads()
	pid, err := start(r, fds)
	if err != nil {
		return err
	}
	if err := c.send(&wire.Started{Pid: pid}); err != nil {
		return err
	}
	// Both end with the process: whichever is first, the kernel ends every other process of the namespace after it.
	done := make(chan struct{}, 2)
	go func() {
		reap(c, pid)
		done <- struct{}{}
	}()
	go func() {
		serve(c)
		done <- struct{}{}
	}()
	<-done
	return nil
}

// spareThreads are what run needs besides the thread that it is on: one waits for children, one for the app, one for signals,
// one runs what is there to run, and one is in reserve.
const spareThreads = 5

// makeThreads makes threads before there is a program: the runtime ends a process in which it can make none, and a program
// that uses up the cage's processes would so end the cage. Threads that have nothing to do are kept.
func makeThreads() {
	var here, gone sync.WaitGroup
	leave := make(chan struct{})
	for range spareThreads {
		here.Add(1)
		gone.Go(func() {
			runtime.LockOSThread() // all at once, so that none can take the thread of another
			here.Done()
			<-leave
			runtime.UnlockOSThread() // or the thread would end with this
		})
	}
	here.Wait()
	close(leave)
	gone.Wait() // or they would not be free yet when the program is there
}

// start executes the program on the terminal, or on the descriptors that came along.
func start(r *wire.Run, fds []int) (int, error) {
	files, sys := make([]uintptr, 3), &syscall.SysProcAttr{Setsid: true}
	switch len(fds) {
	case 0:
		unix.CloseOnExec(ttyFD)
		files[0], files[1], files[2] = ttyFD, ttyFD, ttyFD
		sys.Setctty = true // Ctty is descriptor 0 of the program
		fds = []int{ttyFD}
	case 3:
		for i, fd := range fds {
			files[i] = uintptr(fd)
		}
	default:
		return 0, failed(wire.StepStdio, "", fmt.Errorf("%d descriptors", len(fds)))
	}
	path, err := look(r)
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(path, r.Argv, &syscall.ProcAttr{Dir: r.Dir, Env: r.Env, Files: files, Sys: sys})
	if err != nil {
		return 0, failed(wire.StepExec, path, err)
	}
	for _, fd := range fds {
		_ = unix.Close(fd) // or its end would never be seen
	}
	return pid, nil
}

// look checks the working folder and finds the program as a shell would. Relative entries of PATH are skipped: the working
// folder belongs to the program.
func look(r *wire.Run) (string, error) {
	fd, err := unix.Open(r.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", failed(wire.StepDir, r.Dir, err)
	}
	_ = unix.Close(fd)
	if len(r.Argv) == 0 {
		return "", failed(wire.StepLook, "", unix.EINVAL)
	}
	name := r.Argv[0]
	if strings.HasPrefix(name, "/") {
		return name, check(name)
	}
	if strings.ContainsRune(name, '/') {
		return r.Dir + "/" + name, check(r.Dir + "/" + name)
	}
	path := ""
	for _, entry := range r.Env {
		if v, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = v
		}
	}
	found := failed(wire.StepLook, name, unix.ENOENT)
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		err := check(dir + "/" + name)
		if err == nil {
			return dir + "/" + name, nil
		}
		var f *wire.Failed
		if errors.As(err, &f) && f.Errno == int(unix.EACCES) {
			found = f
		}
	}
	return "", found
}

// check tells whether path is a file that may be executed.
func check(path string) error {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = unix.EACCES
	}
	if err == nil {
		err = unix.Access(path, unix.X_OK)
	}
	if err != nil {
		return failed(wire.StepLook, path, err)
	}
	return nil
}

// reap collects every process that ends, and returns when the program did.
func reap(c *socket, pid int) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR || err == nil && got != pid:
			continue
		case err != nil:
			return // no child left, which cannot be: the program was ours
		}
		e := &wire.Exited{Code: status.ExitStatus()}
		if status.Signaled() {
			e.Code, e.Signal = -1, int(status.Signal())
		}
		_ = c.send(e) // if nobody listens, the end is all the same
		return
	}
}

// serve does what the app asks for, until the app is gone.
func serve(c *socket) {
	for {
		m, fds, err := c.receiver.Receive()
		if err != nil {
			return
		}
		for _, fd := range fds {
			_ = unix.Close(fd) // nothing that is asked for brings one
		}
		switch m := m.(type) {
		case *wire.Signal:
			_ = unix.Kill(-1, unix.Signal(m.Number)) // nobody left to signal is fine
		case *wire.Dial:
			answer := &wire.Dialed{ID: m.ID}
			fd, err := dial(m.Port, m.Six)
			if err != nil {
				var no syscall.Errno
				if errors.As(err, &no) {
					answer.Errno = int(no)
				}
				_ = c.send(answer)
				continue
			}
			_ = c.send(answer, fd)
			_ = unix.Close(fd)
		}
	}
}
