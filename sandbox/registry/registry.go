// Package registry finds the hosts from which this person's package tools install: npm, Go, pip and cargo are each
// asked for the index in effect, and the index is followed to where it keeps its files. That is the preset "package
// registries" of a cage's hosts.
//
// It promises that no host is known to Termic itself: what a tool does not say stays empty, with a reason for the
// person who may fill it in. It promises that nothing of a repository has a say: the tools run in a folder that the
// caller owns. It never reads or keeps a password.
//
// It does not cover tools beyond these four, nor code that a package fetches from elsewhere while it installs.
package registry

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/childproc"
	"termic/sandbox/hosts"
)

// Limits of one reading.
const (
	toolTime = 30 * time.Second // for one run of one tool; a busy machine takes ten for what usually takes one
	maxHosts = 16               // hosts of one tool; an index that names more is cut, and says so
)

// Resolver turns a name into addresses; net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options say for whom and where to read.
type Options struct {
	// Env is the user's environment, as NAME=VALUE; the tools are found by its PATH.
	Env []string
	// Dir is where the tools run. It must be a folder of the caller's own whose parents nobody else can write: a tool
	// takes settings from its working folder and those above it.
	Dir      string
	Resolver Resolver // nil is the system's
}

// Index is what one tool installs from.
type Index struct {
	Tool    string   `json:"tool"`              // npm, go, pip or cargo
	Rules   []string `json:"rules"`             // host rules, in canonical form; empty when nothing could be read
	Sources []string `json:"sources,omitempty"` // the indexes in effect, without user names and passwords
	Note    string   `json:"note,omitempty"`    // one sentence without its full stop: what could not be read, and why
}

// Read asks all four tools at once and returns one Index for each, in a fixed order. It takes as long as the slowest
// tool, some seconds where an index has to be asked; its results are meant to be kept for a while.
func Read(ctx context.Context, o Options) []Index {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	readers := []struct {
		tool string
		read func(context.Context, *asking)
	}{{"npm", readNpm}, {"go", readGo}, {"pip", readPip}, {"cargo", readCargo}}
	out := make([]Index, len(readers))
	var all sync.WaitGroup
	for i, r := range readers {
		all.Go(func() {
			a := &asking{o: o, index: Index{Tool: r.tool, Rules: []string{}}}
			r.read(ctx, a)
			out[i] = a.done(ctx)
		})
	}
	all.Wait()
	return out
}

// Set joins the rules of all indexes.
func Set(indexes []Index) (hosts.Set, error) {
	var list []string
	for _, i := range indexes {
		list = append(list, i.Rules...)
	}
	return hosts.Parse(list)
}

// asking collects what one tool says.
type asking struct {
	o     Options
	index Index
	urls  []found
}

// found is one URL, and whether the user's own settings name it, or an index that they name.
type found struct {
	url     *url.URL
	byIndex bool
}

// source notes an index that the tool's settings name.
func (a *asking) source(text string) *url.URL {
	u := a.add(text, false)
	if u != nil {
		shown := *u
		shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
		if s := shown.String(); !slices.Contains(a.index.Sources, s) {
			a.index.Sources = append(a.index.Sources, s)
		}
	}
	return u
}

// files notes where an index keeps its files.
func (a *asking) files(text string) { a.add(text, true) }

func (a *asking) add(text string, byIndex bool) *url.URL {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	a.urls = append(a.urls, found{u, byIndex})
	return u
}

// note keeps the first reason.
func (a *asking) note(format string, args ...any) {
	if a.index.Note == "" {
		a.index.Note = fmt.Sprintf(format, args...)
	}
}

// done makes rules of what was found.
func (a *asking) done(ctx context.Context) Index {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	// An index in a private network keeps its files there; a public one has no business pointing into it.
	private := map[string]bool{}
	inside := false
	for _, f := range a.urls {
		if !f.byIndex && a.private(ctx, f.url.Hostname()) {
			private[f.url.Hostname()], inside = true, true
		}
	}
	var rules []hosts.Rule
	for _, f := range a.urls {
		name := f.url.Hostname()
		if f.byIndex && inside && a.private(ctx, name) {
			private[name] = true
		}
		rule, err := ruleOf(f.url, private[name])
		switch {
		case err != nil:
			a.note("%s is no host that a rule can name", name)
		case loopback(rule):
			a.note("%s is on this machine itself, which a cage cannot reach by that name", name)
		case len(rules) == maxHosts:
			a.note("the index names more than %d hosts; the first ones were taken", maxHosts)
		case !slices.ContainsFunc(rules, func(r hosts.Rule) bool { return r.String() == rule.String() }):
			rules = append(rules, rule)
		}
	}
	a.index.Rules = append(a.index.Rules, hosts.Of(rules...).Strings()...)
	if len(rules) == 0 {
		a.note("%s names no index that is reached over the network", a.index.Tool)
	}
	return a.index
}

func ruleOf(u *url.URL, private bool) (hosts.Rule, error) {
	name := u.Hostname()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	text := name + ":" + port
	if private {
		text += "+private"
	}
	return hosts.ParseRule(text)
}

// loopback tells whether a rule leads to the loopback, which is the cage's own inside the cage.
func loopback(r hosts.Rule) bool {
	name, _, _ := strings.Cut(r.String(), ":")
	return r.Address().IsLoopback() || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// private tells whether a name leads to an address that is not public. What cannot be resolved now is taken as public:
// the proxy looks again.
func (a *asking) private(ctx context.Context, name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return false // an address is its own rule
	}
	addrs, err := a.o.Resolver.LookupNetIP(ctx, "ip", name)
	return err == nil && slices.ContainsFunc(addrs, func(ip netip.Addr) bool { return !hosts.Public(ip) })
}

// run starts one of the names, whichever is found first, and returns both outputs as one. The second result is false
// when none is there or it could not run; its exit code is the caller's to judge by what it printed.
func (a *asking) run(ctx context.Context, names []string, args []string, env ...string) (string, bool) {
	for _, name := range names {
		path := lookPath(a.o.Env, name)
		if path == "" {
			continue
		}
		r, err := childproc.Run(ctx, childproc.Cmd{Path: path, Args: args, Dir: a.o.Dir, Env: append(slices.Clip(a.o.Env), env...),
			Timeout: toolTime, MaxOutput: 8 << 20})
		if err != nil {
			a.note("%s did not answer", name)
			return "", false
		}
		return string(r.Stdout) + "\n" + r.Stderr, true
	}
	a.note("%s is not installed", names[0])
	return "", false
}

// lookPath finds a program by the PATH of an environment; entries that are not absolute are left out.
func lookPath(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if fi, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
				return path
			}
		}
		return ""
	}
	return ""
}
