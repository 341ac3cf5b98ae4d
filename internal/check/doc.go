// Package check looks whether something answers as it should, once (Prober) or again and again (Runner).
//
// It promises that a look is bounded: in time, in what it reads, in what it tells. It sends no cookies and no credentials,
// asks no proxy, follows at most five redirects, and connects to nothing that Options.Refused names, wherever a name or a
// redirect leads. What it tells of an answer is one short line without control characters, and comes from whoever answered:
// untrusted text.
//
// It keeps nothing on disk and knows neither tasks nor callers; who may look at what is decided above it.
package check

import (
	"context"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"termic/internal/fault"
)

// Kind is what a check looks at.
type Kind string

// The kinds.
const (
	HTTP    Kind = "http"    // a page answers below 400 and, where Expect is set, holds that text
	TLS     Kind = "tls"     // a server shows a certificate that is trusted, for its name, and valid for MinDays more
	DNS     Kind = "dns"     // a name has an address, and ExpectAddr among them where that is set
	TCP     Kind = "tcp"     // a port takes connections
	Metric  Kind = "metric"  // a number on a page in Prometheus' text format compares with Value as Op says
	Command Kind = "command" // a program ends with 0
)

// Kinds are all of them, in the order in which they are shown.
func Kinds() []Kind { return []Kind{HTTP, TLS, DNS, TCP, Metric, Command} }

// Limits of a check. Shorter intervals would be a load, longer ones are no watch.
const (
	MinInterval     = 10 * time.Second
	MaxInterval     = 24 * time.Hour
	DefaultInterval = time.Minute
	DefaultTimeout  = 10 * time.Second
	MaxTimeout      = time.Minute
	MaxRetries      = 10
	MaxTargets      = 64
	MaxTarget       = 2048    // bytes of a target
	MaxText         = 1024    // bytes of Expect
	maxBody         = 1 << 20 // bytes of an answer that are read
	maxDetail       = 200     // bytes of Result.Detail
	maxRedirects    = 5
	maxTried        = 32
)

// Spec is what a check looks at, and how often. Fields of another kind are zero.
type Spec struct {
	Kind       Kind          `json:"kind"`
	Targets    []string      `json:"targets"`
	Interval   time.Duration `json:"interval"`
	Timeout    time.Duration `json:"timeout"`           // of one look at one target
	Retries    int           `json:"retries,omitempty"` // looks that may fail in a row before a target is down
	Expect     string        `json:"expect,omitempty"`
	MinDays    int           `json:"min_days,omitempty"`
	ExpectAddr string        `json:"expect_addr,omitempty"`
	Op         string        `json:"op,omitempty"`
	Value      string        `json:"value,omitempty"`
}

// Result is what one look at one target found.
type Result struct {
	Target   string
	Up       bool
	Duration time.Duration
	Addr     netip.Addr // that it connected to, or that a name led to; not valid where there is none
	// Tried are the addresses that it connected to or tried to, in that order, at most maxTried: whoever is there can bring the
	// result about.
	Tried  []netip.AddrPort
	Detail string // one line, at most 200 bytes, untrusted
}

// Options are what a Prober works with. The zero value looks at everything.
type Options struct {
	// Refused says in words why an address may not be connected to, such as a port of Termic's own; empty where it may.
	Refused func(netip.AddrPort) string
	// Environ is what a command gets for its environment; nil for nothing.
	Environ func(context.Context) []string
	Dir     string // where commands run
	Agent   string // how requests name the program that makes them
}

// Prober makes single looks. It keeps no connection between two of them.
type Prober struct {
	o     Options
	trust *trust
}

// New makes a Prober.
func New(o Options) *Prober {
	if o.Agent == "" {
		o.Agent = "Termic"
	}
	return &Prober{o: o, trust: &trust{}}
}

// Look looks at one target of a spec that Check took. It returns within the spec's timeout, or soon after for a program that does
// not end.
func (p *Prober) Look(ctx context.Context, s Spec, target string) Result {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	look := map[Kind]func(context.Context, Spec, string) (Result, error){
		HTTP: p.http, TLS: p.tls, DNS: p.dns, TCP: p.tcp, Metric: p.metric, Command: p.command,
	}[s.Kind]
	tried := &attempts{}
	ctx = context.WithValue(ctx, attemptsKey{}, tried)
	began := time.Now()
	var r Result
	err := error(fault.New(fault.InvalidArgument, "%q is no kind of check", s.Kind))
	if look != nil {
		r, err = look(ctx, s, target)
	}
	if r.Tried = tried.all(); !r.Addr.IsValid() && len(r.Tried) > 0 {
		r.Addr = r.Tried[len(r.Tried)-1].Addr()
	}
	r.Target, r.Duration, r.Up = target, time.Since(began), err == nil
	if err != nil {
		r.Detail = p.words(ctx, s, err)
	}
	r.Detail = line(r.Detail)
	return r
}

// line makes one short line of a text: no control characters, nothing that turns the direction of writing, at most maxDetail
// bytes, cut between characters.
func line(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	clean = strings.Join(strings.Fields(clean), " ")
	if len(clean) <= maxDetail {
		return clean
	}
	cut := maxDetail - len("...")
	for !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + "..."
}
