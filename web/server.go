package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
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
	// Watch returns the current revision of everything, and a channel that closes at the next one.
	Watch() (rev uint64, changed <-chan struct{})
}

// Options say what a server serves. Backend, Authorize and Log are required.
type Options struct {
	Backend Backend
	// Authorize turns a bearer into what it gives; false for one that is not known. It is the only source of identity.
	Authorize func(bearer string) (grant.Held, bool)
	Hooks     Hooks    // takes signed requests in; nil: none are
	Page      fs.FS    // the built page; nil: none is served
	Hosts     []string // by which a proxy in front is called, each with a port where that is not the usual one
	// Certificate is that of the listener. Nil serves plain HTTP: then every request must be to one of Hosts, whose proxy is
	// expected to speak TLS with the world.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Version     string // of the app
	Log         *slog.Logger
	Limits      Limits // zero fields take their defaults
}

// Limits bound what clients can take. Tests shorten them.
type Limits struct {
	Connections int           // at the same time; 256
	Calls       int           // and streams of each token at the same time; 48
	Head        time.Duration // handshake and head; 10 s
	Body        time.Duration // 30 s
	Idle        time.Duration // between two requests; 2 minutes
	Write       time.Duration // of an answer, or of one event of a stream; 30 s
	BodyBytes   int64         // 4 MiB
	Login       time.Duration // how long a login lasts; 12 h
	Beat        time.Duration // between two signs of life of a stream; 15 s
	Pause       time.Duration // in which changes gather; 1 s
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		of *time.Duration
		to time.Duration
	}{{&l.Head, 10 * time.Second}, {&l.Body, 30 * time.Second}, {&l.Idle, 2 * time.Minute}, {&l.Write, 30 * time.Second},
		{&l.Login, 12 * time.Hour}, {&l.Beat, 15 * time.Second}, {&l.Pause, time.Second}} {
		if *d.of == 0 {
			*d.of = d.to
		}
	}
	if l.Connections == 0 {
		l.Connections = 256
	}
	if l.Calls == 0 {
		l.Calls = 48
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = 4 << 20
	}
	return l
}

// headBytes is the longest head, request line included: 16 KiB. net/http reads 4 KiB more than it is told.
const headBytes = 16<<10 - 4<<10

// closeGrace is how long answers under way may take while the server closes.
const closeGrace = time.Second

// Server answers on its listener. Its goroutines are those of the HTTP server in it; Close stops them all and waits.
type Server struct {
	o       Options
	http    *http.Server
	mux     *http.ServeMux
	files   http.Handler
	conns   *inlet.Conns
	calls   *inlet.Calls
	backoff *inlet.Backoff
	logins  *logins
	hosts   map[string]bool // in lower case

	ctx  context.Context // ends at Close
	stop context.CancelFunc
	busy sync.WaitGroup // requests under way
}

type connKey struct{}

// New makes a server without a listener.
func New(o Options) *Server {
	o.Limits = o.Limits.withDefaults()
	s := &Server{o: o, conns: inlet.NewConns(o.Limits.Connections, o.Log), calls: inlet.NewCalls(o.Limits.Calls),
		backoff: inlet.NewBackoff(o.Log, "web", inlet.Host), logins: newLogins(o.Limits.Login), hosts: map[string]bool{}}
	for _, h := range o.Hosts {
		s.hosts[strings.ToLower(h)] = true
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.files = s.page()
	s.routes()
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: o.Limits.Head, IdleTimeout: o.Limits.Idle, WriteTimeout: o.Limits.Write,
		MaxHeaderBytes:               headBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		TLSNextProto:                 map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1.1 alone: one request of a connection at a time
		BaseContext:                  func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, inlet.ConnOf(c))
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if k := inlet.ConnOf(c); k != nil && state == http.StateIdle {
				k.End() // the answer is out
			}
		},
	}
	return s
}

// Serve answers on a listener until Close, or until it fails: nil after Close. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	var counted net.Listener = &inlet.Listener{Listener: l, Conns: s.conns}
	if s.o.Certificate != nil {
		counted = tls.NewListener(counted, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.o.Certificate, NextProtos: []string{"http/1.1"}})
	}
	if err := s.http.Serve(counted); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends every call and stream, gives answers under way a second, closes the listener and the connections, and waits.
func (s *Server) Close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.busy.Wait()
	return err
}

// Failures is how many requests came without a right token.
func (s *Server) Failures() uint64 { return s.backoff.Count() }
