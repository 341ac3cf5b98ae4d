package core

import (
	"context"
	"net"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/secret"
	"termic/internal/store"
)

// Endpoint is the MCP listener as its owner sees it. Whoever puts the app together makes it, since the listener leads back
// to the verbs.
type Endpoint interface {
	// Status tells what is, without waiting for anything.
	Status() api.MCPResult
	// Enable writes the setting and binds; newPort asks for another port than the remembered one. That it cannot serve
	// is no error but stands in the status.
	Enable(ctx context.Context, newPort bool) error
	// Disable writes the setting, ends every call, and takes the token away.
	Disable(ctx context.Context) error
	// Rotate replaces the token; the old one is worthless afterwards. It is fault.Conflict while nothing serves.
	Rotate(ctx context.Context) error
	// Bind is the number of the bind that serves now, from 1; 0 while nothing serves. What was made for an earlier bind
	// is worthless.
	Bind() uint64
	// Mint makes a token that is good until it is revoked, or until the endpoint no longer serves. While nothing serves
	// there is no token and no error: the ticket's Bind is 0. It waits until the app has first tried to serve.
	Mint(ctx context.Context, g grant.Grant) (Ticket, error)
	// Revoke ends every token whose grant is chosen, with the calls that it let in.
	Revoke(chosen func(grant.Grant) bool)
	// SetNamed makes what is served of a named token agree with its grant: a value in a file of its own for a new one, and
	// another grant behind the same value otherwise. While nothing serves it does nothing, since each bind makes the tokens
	// of all names.
	SetNamed(g NamedGrant) error
	// DropNamed ends a named token, with the calls that it let in, and removes its file.
	DropNamed(name string)
	// NamedFile is the file with the value of a named token; empty while there is none.
	NamedFile(name string) string
	// OpenDoor answers on a listener that only one cage can reach, for the tokens of that door alone, until close is
	// called or the endpoint no longer serves. The listener is closed in every case.
	OpenDoor(l net.Listener, door string) (close func(), err error)
}

// Ticket is a token that was minted for a terminal, and where it is good.
type Ticket struct {
	URL   string // of the endpoint
	Port  int    // of URL
	Token secret.String
	Bind  uint64 // that it was made for; 0 for no ticket
	// Revoke ends the token, with the calls that it let in. It may be called more than once; nil for no ticket.
	Revoke func()
}

// MCPStatus is the verb mcp_status.
func (c *Core) MCPStatus(_ context.Context, _ *Call, _ api.MCPStatusParams) (api.MCPResult, error) {
	return c.withEndpoint(func(Endpoint) error { return nil })
}

// MCPEnable is the verb mcp_enable.
func (c *Core) MCPEnable(ctx context.Context, _ *Call, p api.MCPEnableParams) (api.MCPResult, error) {
	return c.withEndpoint(func(e Endpoint) error { return e.Enable(ctx, p.NewPort) })
}

// MCPDisable is the verb mcp_disable.
func (c *Core) MCPDisable(ctx context.Context, _ *Call, _ api.MCPDisableParams) (api.MCPResult, error) {
	return c.withEndpoint(func(e Endpoint) error {
		if err := c.stopOutside(ctx, "The MCP endpoint was switched off, by whose token it was made."); err != nil {
			return err
		}
		return e.Disable(ctx)
	})
}

// MCPRotate is the verb mcp_rotate.
func (c *Core) MCPRotate(ctx context.Context, _ *Call, _ api.MCPRotateParams) (api.MCPResult, error) {
	return c.withEndpoint(func(e Endpoint) error {
		if e.Bind() != 0 { // otherwise nothing is replaced
			if err := c.stopOutside(ctx, "The token of the MCP endpoint was replaced, by which it was made."); err != nil {
				return err
			}
		}
		return e.Rotate(ctx)
	})
}

// stopOutside stops the rules of whoever had the file token, before that is worthless: somebody else may have the next one.
func (c *Core) stopOutside(ctx context.Context, why string) error {
	return c.stopRulesOf(ctx, why, func(by store.Creator) bool { return by.Principal == outside })
}

func (c *Core) withEndpoint(act func(Endpoint) error) (api.MCPResult, error) {
	if c.endpoint == nil {
		return api.MCPResult{}, fault.New(fault.Unsupported, "This app has no MCP endpoint")
	}
	if err := act(c.endpoint); err != nil {
		return api.MCPResult{}, err
	}
	return c.endpoint.Status(), nil
}

// EndpointChanged tells those who watch that the status of the endpoint is another one. What runs in a cage and lost its
// token with an earlier bind is started again; it returns at once.
func (c *Core) EndpointChanged() {
	c.beacon.change()
	c.spawn(c.lookAtClients)
	c.reconnectCaged()
}

// endpointNotices is what a person should see without asking.
func (c *Core) endpointNotices() []string {
	if c.endpoint == nil {
		return nil
	}
	s := c.endpoint.Status()
	if s.Error == "" {
		return nil
	}
	return []string{s.Error + ". " + s.Hint}
}

// endpointFinding is the endpoint's line of doctor.
func (c *Core) endpointFinding() api.Finding {
	f := api.Finding{Name: "mcp", Level: "ok", Detail: "off"}
	if c.endpoint == nil {
		return f
	}
	switch s := c.endpoint.Status(); {
	case s.Error != "":
		f.Level, f.Detail, f.Fix = "fail", s.Error, s.Hint
	case s.Enabled:
		f.Detail = s.URL
	}
	return f
}
