package core

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"termic/sandbox"
)

// Bounds of the doors into a cage.
const (
	inboundConns = 64              // connections at once through one port
	inboundDial  = 5 * time.Second // for a server in the cage to take a connection
)

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
