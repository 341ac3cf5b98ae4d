package core

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"termic/sandbox"
)

// Bounds of the doors into a cage.
const (
	inboundConns = 64              // connections at once through one port
	inboundDial  = 5 * time.Second // for a server in the cage to take a connection
)

// openInbound lets the person's browser reach servers that the agent starts on the ports of its task: what connects to
// the port outside is connected to the same port inside. A port that another program has outside is left alone, and the owner
// is told: the browser would show that program's pages.
func (c *Core) openInbound(l *liveTab, pr *sandbox.Provisioned) {
	var left []string
	for _, port := range l.walls.policy.Inbound() {
		outside, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			c.log.Info("a port of a caged task is not reachable from outside", "task", l.task.ID, "port", port, "err", err)
			left = append(left, strconv.Itoa(port))
			continue
		}
		l.walls.onClose(func() { _ = outside.Close() }) // serveInbound sees it, and ends
		if !c.spawn(func() { c.serveInbound(outside, pr, port) }) {
			_ = outside.Close()
		}
	}
	if len(left) > 0 {
		l.walls.mu.Lock()
		l.walls.notes = append(l.walls.notes, portsLeft(left, len(l.walls.policy.Inbound())))
		l.walls.mu.Unlock()
	}
}

// portsLeft says which ports of a task lead somewhere else.
func portsLeft(left []string, of int) string {
	subject, verb, it := "The port "+left[0]+" of this task", "is", "it"
	if len(left) > 1 {
		subject, verb, it = "The ports "+strings.Join(left, ", ")+" of this task", "are", "them"
	}
	if len(left) == of {
		subject, verb, it = "All ports of this task, "+left[0]+" to "+left[of-1]+",", "are", "them"
	}
	return subject + " " + verb + " in use by another program or another agent of the task: a server that the agent starts on " + it +
		" does not open in your browser. End the other, and start the agent again."
}

// serveInbound carries what connects to a port outside to the same port in a cage, until the listener is closed. Each
// connection has one goroutine more than this; they end when either side does, and this one waits for them.
func (c *Core) serveInbound(outside net.Listener, pr *sandbox.Provisioned, port int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	room := make(chan struct{}, inboundConns)
	for {
		conn, err := outside.Accept()
		if err != nil {
			return
		}
		select {
		case room <- struct{}{}:
		default:
			_ = conn.Close() // too many: a browser tries again
			continue
		}
		wg.Go(func() {
			defer func() { <-room }()
			defer conn.Close()
			ctx, cancel := context.WithTimeout(c.ctx, inboundDial)
			inside, err := pr.Dial(ctx, port)
			cancel()
			if err != nil {
				return // nobody listens there: the browser sees the connection end
			}
			defer inside.Close()
			stop := context.AfterFunc(c.ctx, func() { _, _ = conn.Close(), inside.Close() })
			defer stop()
			carry(conn, inside)
		})
	}
}

// carry copies both ways until both directions have ended.
func carry(a, b net.Conn) {
	var wg sync.WaitGroup
	one := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // an error is an end
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = to.Close()
		}
	}
	wg.Go(func() { one(a, b) })
	one(b, a)
	wg.Wait()
}

// guardPins ends an agent when one of the files that its cage must not write was replaced outside, as a moved or repaired
// worktree does: from then on the cage could write the new one. Its person is told.
func (c *Core) guardPins(l *liveTab, pr *sandbox.Provisioned) error {
	watch, err := pr.Policy().WatchPins(func(path string) {
		pr.Kill() // at once; whatever else has to happen can wait
		c.log.Warn("a caged agent was ended: a file that its cage must not write was replaced outside", "task", l.task.ID, "path", path)
		c.notice("The agent of task %q was ended, since %s was replaced outside of its cage. Look at that file, and start the agent again.", l.task.Name, path)
	})
	if err != nil {
		return err
	}
	l.walls.onClose(func() { c.spawn(watch.Close) }) // its own goroutine may be the one that ends the cage
	return nil
}
