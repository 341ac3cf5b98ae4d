package mcp

import (
	"errors"
	"net"
	"sync"

	"termic/internal/inlet"
)

// Door is an entrance of one cage: a listener that nobody but that cage can reach. It takes only tokens that were made
// for it, and those come through no other entrance. It has a small number of connections of its own, so that a cage
// cannot take those of others.
type Door struct {
	server *Server
	name   string
	l      net.Listener
	conns  *inlet.Conns
	once   sync.Once
	closed chan struct{}
}

// NewDoor makes a door of a listener. The name is what grants for it hold, and is not empty.
func (s *Server) NewDoor(l net.Listener, name string) (*Door, error) {
	if name == "" {
		return nil, errors.New("a door needs a name")
	}
	return &Door{server: s, name: name, l: l, conns: inlet.NewConns(s.o.Limits.Door, s.o.Log), closed: make(chan struct{})}, nil
}

// Serve answers until the door or the server is closed: then it returns nil. It closes the listener. The Host of
// requests must be the listener's address.
func (d *Door) Serve() error {
	err := d.server.serve(d.l, ownListener{Listener: inlet.Listener{Conns: d.conns}, door: d.name})
	select {
	case <-d.closed:
		return nil
	default:
		return err
	}
}

// Close ends the listener and every connection that came through it, with the calls on them. It does not wait for
// Serve. To close again does nothing.
func (d *Door) Close() {
	d.once.Do(func() {
		close(d.closed)
		_ = d.l.Close() // Serve has closed it, or finds out
		d.conns.CloseAll()
	})
}
