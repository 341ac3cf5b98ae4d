package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"termic/internal/api"
	"termic/internal/atomicfile"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/mcp"
	"termic/settings"
)

// outside is the principal of the token in the file: whoever can read that.
const outside = "outside"

// endpoint binds the MCP server as the settings say, and keeps its advertisement true: the token file is there exactly
// while the port is ours.
//
// The port stays the same over restarts, since clients keep it in their configuration. If another program has it,
// nothing is served and no other port is taken: a client that knows the old address would hand its token to whoever
// answers there. The token is a new one for each bind, so that none is older than the hold on its port; so are those of
// terminals, which mcp_tokens.go makes.
//
// It owns one goroutine for each listener that it bound or was given; closing the server stops them, close waits.
type endpoint struct {
	dir      *datadir.Dir
	settings *settings.File
	tokens   *grant.Registry
	version  string
	log      *slog.Logger

	backend mcp.Backend   // set by start
	names   namesFunc     // set by start; the named tokens that there are
	changed func()        // set by start; tells who watches the status
	tried   chan struct{} // closed once the app has first tried to serve, or knows that it shall not

	act sync.Mutex // held while something is bound, renewed or closed; guards the following
	// server is what serves, nil for nothing.
	server *mcp.Server
	revoke func() bool            // ends the token in the file; nil for none
	named  map[string]func() bool // end the tokens in the files of names, by name without regard to case
	port   int                    // the one that is kept; 0 for none yet
	binds  uint64                 // how many there were
	ended  bool
	wg     sync.WaitGroup // grows only while something serves, and while it is not ended

	mu     sync.Mutex // guards the following, and is never held for long
	status api.MCPResult
	live   *mcp.Server // as server, for its counter
	now    serving     // the zero value while nothing serves
}

func newEndpoint(dir *datadir.Dir, file *settings.File, tokens *grant.Registry, version string, log *slog.Logger) *endpoint {
	return &endpoint{dir: dir, settings: file, tokens: tokens, named: map[string]func() bool{}, version: version, log: log, tried: make(chan struct{})}
}

// start takes up the setting, now and whenever it changes, until the returned function is called.
func (e *endpoint) start(ctx context.Context, backend mcp.Backend, names namesFunc, changed func()) (stop func()) {
	e.backend, e.names, e.changed = backend, names, changed
	e.act.Lock()
	e.port = e.rememberedPort()
	e.follow(ctx, e.settings.Get().MCP.Enabled)
	e.act.Unlock()
	close(e.tried)
	return e.settings.Subscribe(func(settings.Settings) {
		e.act.Lock()
		defer e.act.Unlock()
		// What the subscription brings may be older than what was done while it waited for its turn: a switch that was
		// turned off meanwhile must not come on again.
		if on := e.settings.Get().MCP.Enabled; !e.ended && on != e.Status().Enabled {
			e.follow(context.WithoutCancel(ctx), on)
		}
	})
}

// Status tells what is.
func (e *endpoint) Status() api.MCPResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.status
	if e.live != nil {
		s.Denied = e.live.Failures()
	}
	return s
}

// Enable writes the setting and binds. An endpoint that could not serve tries again.
func (e *endpoint) Enable(ctx context.Context, newPort bool) error {
	e.act.Lock()
	defer e.act.Unlock()
	if err := e.write(ctx, true); err != nil {
		return err
	}
	if newPort {
		e.unbind()
		e.port = 0
	}
	e.follow(ctx, true)
	return nil
}

// Disable writes the setting, ends every call and takes the token away. The port stays remembered.
func (e *endpoint) Disable(ctx context.Context) error {
	e.act.Lock()
	defer e.act.Unlock()
	if err := e.write(ctx, false); err != nil {
		return err
	}
	e.follow(ctx, false)
	return nil
}

// write changes the setting. e.act must be held, so that the change is taken up here and not by the subscription.
func (e *endpoint) write(ctx context.Context, on bool) error {
	if e.ended {
		return fault.New(fault.Unavailable, "Termic is ending")
	}
	return e.settings.Patch(ctx, map[string]any{"mcp.enabled": on})
}

// Rotate replaces the token.
func (e *endpoint) Rotate(context.Context) error {
	e.act.Lock()
	defer e.act.Unlock()
	if e.server == nil {
		return fault.New(fault.Conflict, "The MCP endpoint does not serve, so it has no token").
			WithHint("`termic mcp enable` switches it on; each start makes a new token anyway.")
	}
	old := e.revoke
	if err := e.mint(); err != nil {
		e.unbind() // a token that no file tells serves nobody
		e.tell(true, err)
		return err
	}
	old()
	e.server.TokenChanged()
	e.log.Info("mcp: the token was replaced")
	return nil
}

// close ends the endpoint and waits for it. The token file goes, the port stays remembered.
func (e *endpoint) close() {
	e.act.Lock()
	e.ended = true
	e.unbind()
	e.act.Unlock()
	e.wg.Wait()
}

// follow makes what is bound agree with the setting, and says how it went in the status. e.act must be held.
func (e *endpoint) follow(ctx context.Context, enabled bool) {
	var err error
	switch {
	case !enabled:
		e.unbind()
	case e.server == nil:
		if err = e.bind(ctx); err != nil {
			e.unbind() // the advertisement of a port that is not ours must not stay
			e.log.Error("mcp: the endpoint does not serve", "err", err)
		}
	}
	e.tell(enabled, err)
}

// tell sets the status. e.act must be held.
func (e *endpoint) tell(enabled bool, err error) {
	s := api.MCPResult{Enabled: enabled, Port: e.port}
	if e.server != nil {
		s.URL, s.TokenFile = urlOf(e.port), e.dir.File(datadir.MCPTokenFile)
	}
	if f := fault.From(err); f != nil {
		s.Error, s.Hint = f.Message, f.Hint
	}
	e.mu.Lock()
	e.status, e.live = s, e.server
	e.mu.Unlock()
	e.changed()
}

func urlOf(port int) string { return "http://" + loopback(port) + mcp.Path }

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// bind takes the port, then makes the token, then remembers the port, then serves. What fails undoes what came before;
// the token is taken away by the caller. e.act must be held.
func (e *endpoint) bind(ctx context.Context) error {
	listener, err := listen(ctx, "tcp4", loopback(e.port))
	if err != nil {
		return portFault(err, e.port)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	others, err := guards(ctx, port)
	if err != nil {
		return errors.Join(portFault(err, port), listener.Close())
	}
	if err = e.mint(); err == nil {
		err = e.mintNames(ctx)
	}
	if err == nil {
		err = e.rememberPort(port)
	}
	if err != nil {
		for _, l := range append(others, listener) {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	server := mcp.New(mcp.Options{Backend: e.backend, Version: e.version, Log: e.log, Authorize: e.tokens.Lookup,
		Toolsets: func() []string { return e.settings.MCP().Toolsets }, Resources: func() bool { return e.settings.MCP().Resources }})
	e.port, e.server = port, server
	e.binds++
	e.setServing(serving{server: server, port: port, bind: e.binds})
	e.wg.Go(func() { e.serve(server, server.Serve, listener) })
	for _, l := range others {
		e.wg.Go(func() { e.serve(server, server.Refuse, l) })
	}
	e.log.Info("mcp: serving", "address", loopback(port))
	return nil
}

// listen binds one address, without the multipath protocol that Go would choose: walls that know plain TCP do not see
// it.
func listen(ctx context.Context, network, address string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(ctx, network, address)
}

// guards binds what must not be anybody else's. Seatbelt's word for loopback means both families, so on macOS a cage
// that may reach our port may reach the same port of the other family too.
func guards(ctx context.Context, port int) ([]net.Listener, error) {
	if runtime.GOOS != "darwin" {
		return nil, nil
	}
	l, err := listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// portFault says in words why a port could not be bound.
func portFault(err error, port int) error {
	const hint = "`termic mcp enable --new-port` takes another one; clients that know the old address must be set up again then."
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.Wrap(err, fault.Conflict, "Port %d is taken by another program", port).WithHint("End that program and run `termic mcp enable`, or: " + hint)
	case errors.Is(err, syscall.EACCES):
		return fault.Wrap(err, fault.Forbidden, "Port %d may not be used by this user", port).WithHint(hint)
	}
	return fault.Wrap(err, fault.Unavailable, "The MCP endpoint could not be bound").WithHint("The log of the app has the cause.")
}

// serve runs one listener to its end. One that ends by itself takes the endpoint down.
func (e *endpoint) serve(server *mcp.Server, run func(net.Listener) error, l net.Listener) {
	err := run(l)
	if err == nil {
		return
	}
	e.act.Lock()
	defer e.act.Unlock()
	if e.server != server {
		return
	}
	e.log.Error("mcp: the listener failed", "err", err)
	e.unbind()
	e.tell(true, fault.Wrap(err, fault.Unavailable, "The MCP endpoint stopped serving").WithHint("`termic mcp enable` starts it again."))
}

// unbind takes the advertisement down, then the tokens of terminals, then the server. It also removes what a killed app
// left. e.act must be held.
func (e *endpoint) unbind() {
	e.setServing(serving{})
	e.Revoke(func(g grant.Grant) bool { return g.Task != "" })
	if err := os.Remove(e.dir.File(datadir.MCPTokenFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.log.Error("mcp: the token file could not be removed", "err", err)
	}
	if e.revoke != nil {
		e.revoke()
		e.revoke = nil
	}
	e.dropNames()
	if e.server == nil {
		return
	}
	if err := e.server.Close(); err != nil {
		e.log.Warn("mcp: closing", "err", err)
	}
	e.server = nil
	e.log.Info("mcp: no longer serving")
}

// mint makes a token and puts it into its file, which is a new file each time: a descriptor or a link to an old one
// shows nothing new. e.act must be held.
func (e *endpoint) mint() error {
	revoke, err := e.mintInto(e.dir.File(datadir.MCPTokenFile), grant.Grant{Principal: outside, Class: grant.Full})
	if err == nil {
		e.revoke = revoke
	}
	return err
}

// mintInto makes a token and puts it into a new file.
func (e *endpoint) mintInto(path string, g grant.Grant) (revoke func() bool, err error) {
	token, err := e.tokens.Mint(g)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "No token could be made for the MCP endpoint")
	}
	revoke = e.tokens.Revoker(token)
	if err = os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = atomicfile.WriteFile(path, []byte(token.Reveal()+"\n"), 0o600, atomicfile.ExactMode())
	}
	if err != nil {
		revoke()
		return nil, fault.Wrap(err, fault.Unavailable, "The token of the MCP endpoint could not be written to %s", path).
			WithHint("Check the free space and the permissions of the folder.")
	}
	return revoke, nil
}

func (e *endpoint) rememberPort(port int) error {
	path := e.dir.File(datadir.MCPPortFile)
	if err := atomicfile.WriteFile(path, fmt.Appendln(nil, port), 0o600, atomicfile.ExactMode(), atomicfile.KeepEqual()); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The port of the MCP endpoint could not be written to %s", path).
			WithHint("Check the free space and the permissions of the folder.")
	}
	return nil
}

// maxPortFile bounds what is read of the port file.
const maxPortFile = 64

// rememberedPort reads the last bound port; 0 for none, or for a file that holds no port.
func (e *endpoint) rememberedPort() int {
	f, err := os.Open(e.dir.File(datadir.MCPPortFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err == nil {
		defer func() { _ = f.Close() }() // only read from
		var b [maxPortFile]byte
		n, _ := f.Read(b[:]) // what was not read is no number
		if port, perr := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 16); perr == nil && port > 0 {
			return int(port)
		}
		err = errors.New("it holds no port")
	}
	e.log.Warn("mcp: the remembered port cannot be read; another one is taken", "err", err)
	return 0
}
