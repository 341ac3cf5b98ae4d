package cage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/inside"
	"termic/sandbox/cage/wire"
)

// Monitor watches one program that is in no cage, and everything that it starts.
//
// It stops nothing, with one exception that lies in the kernel: a program without privileges may watch only what can gain
// none. Programs that work by their owner's rights (sudo, su, ping, fusermount) run without them. And when the app is
// killed while the program lives, the watched calls of the program fail with ENOSYS.
//
// One goroutine belongs to it, which waits for the program to send its listener; Close ends it and waits. The watcher that
// follows ends with the last watched process.
type Monitor struct {
	prefix   []string
	listener *net.UnixListener
	path     string
	begun    chan struct{}

	mu      sync.Mutex // guards the following
	watcher *watcher
	closed  chan struct{}
}

// NewMonitor prepares to watch. dir is a folder that only this user can enter; helperPath is as in Spec. Event.Refused says
// what a cage of view, with a network of its own if ownNet is set, would refuse.
func NewMonitor(dir, helperPath string, w Watch, view View, ownNet bool) (*Monitor, error) {
	if w.On == nil || w.What == WatchNothing {
		return nil, errors.New("there is nothing to watch")
	}
	if helperPath == "" {
		helperPath = ownHelper()
	}
	if helperPath == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the helper of cages: %w", err)
		}
		helperPath = self
	}
	m := &Monitor{path: filepath.Join(dir, "w-"+rand.Text()[:12]), begun: make(chan struct{}), closed: make(chan struct{})}
	var err error
	if m.listener, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: m.path, Net: "unixpacket"}); err != nil {
		return nil, fmt.Errorf("listen for a watched program: %w", err)
	}
	m.prefix = append([]string{helperPath}, inside.WatchArgs(w.What == WatchAll, m.path)...)
	go m.accept(w, view, ownNet)
	return m, nil
}

// Prefix goes before the arguments of the program. The helper becomes the program; process id, terminal, folder and
// environment are as without it.
func (m *Monitor) Prefix() []string { return append([]string(nil), m.prefix...) }

// Begun is closed when the program is being watched. A program that ends without that ran unobserved.
func (m *Monitor) Begun() <-chan struct{} { return m.begun }

// Unseen counts events that were lost because Watch.On was slow.
func (m *Monitor) Unseen() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watcher == nil {
		return 0
	}
	return m.watcher.unseen.Load()
}

// Close stops waiting for a program, and waits for the watcher of one that ended. It is for after its end: while a watched
// process lives, it goes on being watched.
func (m *Monitor) Close() {
	_ = m.listener.Close() // removes the socket too
	<-m.closed
	m.mu.Lock()
	w := m.watcher
	m.mu.Unlock()
	if w != nil {
		w.wait()
	}
}

// accept takes one listener from a process of this user.
func (m *Monitor) accept(w Watch, view View, ownNet bool) {
	defer close(m.closed)
	defer m.listener.Close()
	for {
		conn, err := m.listener.AcceptUnix()
		if err != nil {
			return
		}
		fd, err := receiveListener(conn)
		_ = conn.Close()
		if err != nil {
			continue // somebody else; the folder lets only this user in
		}
		m.mu.Lock()
		m.watcher = newWatcher(fd, w.On, judgeBy(view, ownNet))
		m.mu.Unlock()
		close(m.begun)
		return
	}
}

func receiveListener(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	var peer *unix.Ucred
	var err2 error
	if err := raw.Control(func(fd uintptr) { peer, err2 = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return -1, err
	}
	if err2 != nil || int(peer.Uid) != os.Getuid() {
		return -1, errors.Join(err2, errors.New("a process of another user"))
	}
	l := &link{conn: conn}
	l.receiver = wire.NewReceiver(l)
	m, fds, err := l.receive()
	if err != nil {
		return -1, err
	}
	if b, ok := m.(*wire.Built); !ok || !b.Watched || len(fds) != 1 {
		closeAll(fds)
		return -1, errors.New("not a listener")
	}
	return fds[0], nil
}
