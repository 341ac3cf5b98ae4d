package app

import (
	"context"
	"errors"
	"net"

	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/mcp"
)

// serving is what tokens of terminals are made for.
type serving struct {
	server *mcp.Server
	port   int
	bind   uint64 // from 1
}

func (e *endpoint) setServing(s serving) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = s
}

// Bind is the number of the bind that serves; 0 for none.
func (e *endpoint) Bind() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now.bind
}

// Mint makes a token for a terminal. It holds what unbind needs to begin, so that no token is younger than the end of its
// bind.
func (e *endpoint) Mint(ctx context.Context, g grant.Grant) (core.Ticket, error) {
	select {
	case <-e.tried:
	case <-ctx.Done():
		return core.Ticket{}, context.Cause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now.bind == 0 {
		return core.Ticket{}, nil
	}
	token, err := e.tokens.Mint(g)
	if err != nil {
		return core.Ticket{}, fault.Wrap(err, fault.Unavailable, "No token could be made for the terminal").
			WithHint("End terminals that are no longer used.")
	}
	revoke := e.tokens.Revoker(token)
	return core.Ticket{URL: urlOf(e.now.port), Port: e.now.port, Token: token, Bind: e.now.bind, Revoke: func() { revoke() }}, nil
}

// Revoke ends every token that is chosen.
func (e *endpoint) Revoke(chosen func(grant.Grant) bool) {
	if n := e.tokens.Revoke(chosen); n > 0 {
		e.log.Debug("mcp: tokens were taken back", "count", n)
	}
}

// OpenDoor answers on the listener of one cage.
func (e *endpoint) OpenDoor(l net.Listener, name string) (shut func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now.bind == 0 {
		return nil, errors.Join(fault.New(fault.Conflict, "The MCP endpoint does not serve"), l.Close())
	}
	door, err := e.now.server.NewDoor(l, name)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	e.wg.Go(func() {
		if err := door.Serve(); err != nil && !errors.Is(err, net.ErrClosed) { // the end of a cage closes its listeners
			e.log.Error("mcp: the door of a cage failed", "err", err)
			door.Close()
		}
	})
	return door.Close, nil
}
