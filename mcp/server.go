package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/inlet"
)

// Backend is the one way in to the verbs.
type Backend interface {
	// Call runs a verb for a caller and returns the JSON of its result.
	Call(ctx context.Context, caller grant.Caller, verb string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error)
	// Refused records calls that were stopped before they came to a verb, times of them.
	Refused(ctx context.Context, caller grant.Caller, err error, times int)
}

// Options say what a server serves. Backend, Authorize and Log are required.
type Options struct {
	Backend Backend
	// Authorize turns a bearer into what it gives; false for one that is not known, or not through that door (empty for
	// the server's own address). It is the only source of identity.
	Authorize func(bearer, door string) (grant.Held, bool)
	Version   string // of the app
	// Toolsets says which sets of tools callers of the class full are shown beside the core; nil for none.
	Toolsets func() []string
	// Resources says whether the owner offers resources; nil for never.
	Resources func() bool
	Log       *slog.Logger
	Limits    Limits // zero fields take their defaults
}

// Limits bound what clients can take. Tests shorten them.
type Limits struct {
	Connections int           // at the same time, refusals and doors not counted; 64
	Door        int           // connections of each door, its refusals not counted, and calls of each terminal; 16
	Head        time.Duration // from the first moment to the end of the head; 10 s
	Body        time.Duration // from there to the end of the body; 10 s
	Idle        time.Duration // between two requests; 2 minutes
	Write       time.Duration // of an answer; 30 s
	BodyBytes   int64         // 4 MiB
}

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if l.Connections == 0 {
		l.Connections = 64
	}
	if l.Door == 0 {
		l.Door = 16
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = 4 << 20
	}
	set(&l.Head, 10*time.Second)
	set(&l.Body, 10*time.Second)
	set(&l.Idle, 2*time.Minute)
	set(&l.Write, 30*time.Second)
	return l
}

// headBytes is the longest head, request line included: 16 KiB. net/http reads 4 KiB more than it is told.
const headBytes = 16<<10 - 4<<10

// closeGrace is how long answers under way may take while the server closes.
const closeGrace = time.Second

// errClosing is the cause of calls that end because the server ends.
var errClosing = errors.New("the MCP endpoint is closing")

// Server answers on its listeners. It owns one goroutine for the ledger; the HTTP server in it owns those of connections.
// Close stops them all and waits for them.
type Server struct {
	o          Options
	http       *http.Server
	conns      *inlet.Conns
	calls      *inlet.Calls
	backoff    *inlet.Backoff
	refusals   *refusals
	tools      map[grant.Class]toolset
	full       sync.Map // toolsets of the class full by the sets in them, a bit for each of allSets, made when they are first asked for
	serverInfo []byte
	discovery  map[discoveryKey][]byte // the members of the result of server/discover

	ctx  context.Context // ends at Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup
}

type (
	listenerKey struct{}
	connKey     struct{}
)

// New makes a server without a listener.
func New(o Options) *Server {
	o.Limits = o.Limits.withDefaults()
	s := &Server{o: o, conns: inlet.NewConns(o.Limits.Connections, o.Log), calls: inlet.NewCalls(o.Limits.Door), backoff: inlet.NewBackoff(o.Log, "mcp", nil), tools: map[grant.Class]toolset{}, discovery: map[discoveryKey][]byte{}}
	for _, class := range []grant.Class{grant.Full, grant.Scoped} {
		s.tools[class] = makeTools(class, nil)
	}
	for _, class := range []grant.Class{grant.ReadOnly, grant.Operator, grant.Approve} {
		s.tools[class] = makeTools(class, allSets)
	}
	s.serverInfo = inlet.JSON(struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}{ServerName, o.Version})
	for _, d := range []discoveryKey{{}, {resources: true}, {operations: true}, {true, true}} {
		s.discovery[d] = discovery(d)
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.refusals = newRefusals(func(c grant.Caller, err error, times int) {
		o.Backend.Refused(context.WithoutCancel(s.ctx), c, err, times)
	})
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: o.Limits.Head, IdleTimeout: o.Limits.Idle, WriteTimeout: o.Limits.Write,
		MaxHeaderBytes:               headBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		BaseContext:                  func(l net.Listener) context.Context { return context.WithValue(s.ctx, listenerKey{}, l) },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, inlet.ConnOf(c))
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if k := inlet.ConnOf(c); k != nil && state == http.StateIdle {
				k.End() // the answer is out
			}
		},
	}
	s.wg.Go(func() { s.refusals.run(s.ctx) })
	return s
}

// Serve answers on a listener until Close, or until it fails: nil after Close. The Host of requests must be its address.
// It closes the listener.
func (s *Server) Serve(l net.Listener) error { return s.serve(l, ownListener{}) }

// Refuse answers every request on a listener with 403, until Close. It is for an address that must not be anybody
// else's.
func (s *Server) Refuse(l net.Listener) error { return s.serve(l, ownListener{closed: true}) }

// ownListener is a listener whose connections are counted, and who knows by which name it may be called.
type ownListener struct {
	inlet.Listener
	host   string // what the Host header must be
	door   string // of a cage: the only tokens that are taken are those for it; empty for the server's own address
	closed bool   // every request is refused
}

// serve answers on l as own says. A listener without connections of its own shares the server's.
func (s *Server) serve(l net.Listener, own ownListener) error {
	own.Listener.Listener, own.host = l, l.Addr().String()
	if own.Conns == nil {
		own.Conns = s.conns
	}
	err := s.http.Serve(&own)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every call, gives answers under way a second, closes listeners and connections, and waits.
func (s *Server) Close() error {
	s.stop(errClosing)
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.wg.Wait()
	return err
}

// TokenChanged says that there is a new token, so that clients with the old one are not slowed down at once.
func (s *Server) TokenChanged() { s.backoff.Clear("") }

// Failures is how many requests came without a right token.
func (s *Server) Failures() uint64 { return s.backoff.Count() }

// serveRPC answers the body of a caller. What it asks for runs as long as its token lives. What panics ends its own
// request, without a word of why.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, k *inlet.Conn, held grant.Held, body []byte) {
	caller := held.Caller(grant.MCP)
	x := &exchange{header: r.Header, resources: s.o.Resources != nil && s.o.Resources()}
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("mcp: a request panicked", "method", x.method, "panic", p, "stack", string(debug.Stack()))
			s.answer(w, http.StatusInternalServerError, errorFrame(x.id, refuse(0, codeInternal, "Something went wrong inside Termic")))
		}
	}()
	var e *rpcError
	if x.request, e = decode(body); e == nil {
		if x.id == nil {
			inlet.Bare(w, http.StatusAccepted) // a notification; none means anything here
			return
		}
		e = x.check()
	}
	var result members
	if e == nil {
		ctx, done := r.Context(), func() {}
		if x.run.lasts {
			ctx, done = held.Bind(ctx)
		}
		result, e = x.run.run(s, ctx, caller, x)
		done()
	}
	switch {
	case r.Context().Err() != nil && s.ctx.Err() == nil:
		return // the client went away
	case e != nil:
		s.refusals.note(caller, e)
		s.answer(w, e.status, errorFrame(x.id, e))
	default:
		s.answerResult(w, k, x.id, result)
	}
}
