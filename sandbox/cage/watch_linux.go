package cage

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/inside"
)

// Bounds of a watcher.
const (
	watchQueue  = 512             // events that wait for On
	watchRepeat = 2 * time.Second // an act that comes again in this time is left out
	watchRecent = 1024            // acts that are remembered for that
	watchEnd    = 2 * time.Second // for the goroutines of a watcher to end
	maxWatched  = 4096            // bytes of a path: PATH_MAX
)

// notice and reply are seccomp_notif and seccomp_notif_resp of linux/seccomp.h.
type notice struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type reply struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// watcher hears what the programs under a filter are about to do, and lets them.
//
// Two goroutines belong to it. listen, on a thread of its own, takes a notice, reads what it is about, answers, and puts it
// into a queue; it never waits for anybody but the kernel. tell judges and calls On. Both end when no process is left under
// the filter; close waits for that.
type watcher struct {
	fd     int
	on     func(Event)
	judge  func(Event) bool
	calls  map[int32][]inside.WatchedCall
	queue  chan Event
	unseen atomic.Uint64
	done   chan struct{}
}

// newWatcher takes over the listener fd. judge tells whether an act is refused.
func newWatcher(fd int, on func(Event), judge func(Event) bool) *watcher {
	w := &watcher{fd: fd, on: on, judge: judge, calls: map[int32][]inside.WatchedCall{}, queue: make(chan Event, watchQueue), done: make(chan struct{})}
	for _, c := range inside.WatchedCalls() {
		w.calls[int32(c.Nr)] = append(w.calls[int32(c.Nr)], c)
	}
	// Both sides on one processor: an answer is four times as quick. Linux 6.6.
	_ = unix.IoctlSetInt(fd, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	go w.listen()
	go w.tell()
	return w
}

// wait returns when both goroutines have ended, which they do after the last process, or after a time: a kernel before 6.11
// may leave listen asleep when a program was killed at the wrong moment.
func (w *watcher) wait() {
	select {
	case <-w.done:
	case <-time.After(watchEnd):
	}
}

func (w *watcher) listen() {
	runtime.LockOSThread() // ends with the goroutine
	defer close(w.queue)
	defer unix.Close(w.fd)
	for {
		// The wait is here and not in the receiving call, which older kernels leave sleeping when the last process is gone.
		p := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if p[0].Revents&unix.POLLIN == 0 {
			if p[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
				return
			}
			continue
		}
		var n notice
		if err := ioctl(w.fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			continue // it was killed meanwhile, or a signal came
		}
		events := w.read(&n)
		r := reply{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		// The check that the notice is still open comes with the answer: if it fails, what was read may be another process's.
		if err := ioctl(w.fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)); err != nil {
			continue
		}
		for _, e := range events {
			select {
			case w.queue <- e:
			default:
				w.unseen.Add(1)
			}
		}
	}
}

func ioctl(fd int, request uint, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// read says what a notice is about. What cannot be read is left out.
func (w *watcher) read(n *notice) []Event {
	var out []Event
	for _, c := range w.calls[n.nr] {
		e := Event{Pid: int(n.pid)}
		ok := false
		switch c.Op {
		case inside.OpConnect:
			e.Op = "connect"
			ok = readAddress(&e, n.args[c.Path], n.args[2])
		default:
			e.Op, ok = w.opName(c, n)
			if ok {
				e.Path, ok = readPath(int(n.pid), c, n)
			}
		}
		if ok {
			out = append(out, e)
		}
	}
	return out
}

func (w *watcher) opName(c inside.WatchedCall, n *notice) (string, bool) {
	switch c.Op {
	case inside.OpWrite:
		return "write", true
	case inside.OpRemove:
		return "remove", true
	case inside.OpMake:
		return "make", true
	}
	var flags uint64
	if c.Flags >= 0 {
		flags = n.args[c.Flags]
	} else { // openat2: they are the first word behind the third argument
		var b [8]byte
		if readMemory(int(n.pid), n.args[2], b[:]) != len(b) {
			return "", false
		}
		flags = binary.NativeEndian.Uint64(b[:])
	}
	if flags&inside.WritingFlags != 0 {
		return "write", true
	}
	return "read", true
}

// readPath reads a path of a process and makes it absolute.
func readPath(pid int, c inside.WatchedCall, n *notice) (string, bool) {
	text, ok := readString(pid, n.args[c.Path])
	if !ok {
		return "", false
	}
	if strings.HasPrefix(text, "/") {
		return filepath.Clean(text), true
	}
	link := "cwd"
	if c.Dir >= 0 && int32(n.args[c.Dir]) != unix.AT_FDCWD {
		link = "fd/" + strconv.Itoa(int(int32(n.args[c.Dir])))
	}
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/" + link)
	if err != nil || !strings.HasPrefix(dir, "/") {
		return "", false
	}
	return filepath.Join(dir, text), true
}

// readString reads up to the first zero byte, a page at a time: the next page may not be there.
func readString(pid int, at uint64) (string, bool) {
	var text []byte
	page := uint64(os.Getpagesize())
	for len(text) < maxWatched {
		buf := make([]byte, min(page-at%page, 512))
		n := readMemory(pid, at, buf)
		if n <= 0 {
			return "", false
		}
		if i := slices.Index(buf[:n], 0); i >= 0 {
			return string(append(text, buf[:i]...)), true
		}
		text = append(text, buf[:n]...)
		at += uint64(n)
	}
	return "", false
}

// readMemory reads from a process and returns how much; 0 if it may not or the process is gone.
func readMemory(pid int, at uint64, buf []byte) int {
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(buf)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

// readAddress reads where a connect goes: an IP address and port, or the path of a socket. Other families are left out.
func readAddress(e *Event, at, size uint64) bool {
	buf := make([]byte, min(size, 128))
	if len(buf) < 2 || readMemory(e.Pid, at, buf) != len(buf) {
		return false
	}
	switch family := binary.NativeEndian.Uint16(buf); {
	case family == unix.AF_INET && len(buf) >= 8:
		e.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte(buf[4:8])), binary.BigEndian.Uint16(buf[2:])).String()
	case family == unix.AF_INET6 && len(buf) >= 24:
		e.Address = netip.AddrPortFrom(netip.AddrFrom16([16]byte(buf[8:24])).Unmap(), binary.BigEndian.Uint16(buf[2:])).String()
	case family == unix.AF_UNIX && len(buf) > 2 && buf[2] == '/':
		text, _, _ := strings.Cut(string(buf[2:]), "\x00")
		e.Path = filepath.Clean(text)
	default:
		return false
	}
	return true
}

// tell hands events on, without repetitions.
func (w *watcher) tell() {
	defer close(w.done)
	type act struct{ op, what string }
	recent := map[act]time.Time{}
	for e := range w.queue {
		key, now := act{e.Op, e.Path + e.Address}, time.Now()
		if at, ok := recent[key]; ok && now.Sub(at) < watchRepeat {
			continue
		}
		if len(recent) >= watchRecent {
			clear(recent)
		}
		recent[key] = now
		e.Refused = w.judge(e)
		w.on(e)
	}
}

// judgeBy tells whether the cage of a spec refuses an act. A path that looks refused is looked at once more with its links
// followed in the cage's own root: the program may have come through a link to something granted.
func judgeBy(v View, ownNet bool) func(Event) bool {
	return func(e Event) bool {
		if e.Op == "connect" && e.Path == "" {
			return ownNet && !reachable(e.Address)
		}
		write := e.Op != "read" && e.Op != "connect"
		if v.allows(e.Path, write) {
			return false
		}
		real, ok := followed(e.Pid, e.Path)
		return !ok || !v.allows(real, write)
	}
}

// followed gives what a path leads to in the root of a process: the file, or the folder that it would be made in.
func followed(pid int, p string) (string, bool) {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer unix.Close(root)
	rest := ""
	for {
		fd, err := unix.Openat2(root, p, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
		if err == nil {
			real, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			_ = unix.Close(fd)
			return filepath.Join(real, rest), err == nil
		}
		if !errors.Is(err, unix.ENOENT) || p == "/" || rest != "" {
			return "", false
		}
		rest, p = filepath.Base(p), filepath.Dir(p)
	}
}
