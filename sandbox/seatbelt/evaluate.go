package seatbelt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Request is one operation that a program in the cage tries.
type Request struct {
	Op   string // such as "file-read-data", "network-outbound"
	Path string // of a file operation; canonical

	Host string // of a TCP operation: an address, or "localhost"
	Port int
	Unix string // path of a unix socket; then Host and Port are empty

	Name       string   // of a service, for mach-lookup
	SameCage   bool     // the other process of a signal or the like is in the cage
	Extensions []string // marks that the file carries
}

// A Profile is the text of a profile, read.
type Profile struct {
	fallback bool
	rules    []line
}

type line struct {
	allow   bool
	ops     []string
	filters []filter // any; none = always
}

type filter func(Request) bool

// operations are the operations that are known, by what a request names. A rule may name all that begin alike with a star.
var operations = strings.Fields(`file-read-data file-read-metadata file-read-xattr file-test-existence file-map-executable file-ioctl
	file-link file-write-data file-write-create file-write-unlink file-write-mode file-write-times file-write-owner
	file-write-xattr file-write-flags file-write-setugid
	network-outbound network-inbound network-bind system-socket mach-lookup mach-priv-task-port pseudo-tty
	process-exec process-fork process-info-pidinfo process-info-listpids signal sysctl-read ipc-posix-sem
	ipc-posix-shm-read-data ipc-posix-shm-write-data`)

// Parse reads a profile. What it does not know is an error: a rule that is not understood could mean anything.
func Parse(text string) (*Profile, error) {
	list, err := readAll(text)
	if err != nil {
		return nil, fmt.Errorf("read a profile: %w", err)
	}
	p := &Profile{}
	version, base := false, false
	for _, e := range list {
		switch {
		case e.head() == "version" && len(e.list) == 2 && e.list[1].text == "1" && !version:
			version = true
		case (e.head() == "allow" || e.head() == "deny") && len(e.list) == 2 && e.list[1].text == "default" && !base:
			base, p.fallback = true, e.head() == "allow"
		case e.head() == "allow" || e.head() == "deny":
			l, err := readLine(e)
			if err != nil {
				return nil, fmt.Errorf("read a profile: %w", err)
			}
			p.rules = append(p.rules, l)
		default:
			return nil, fmt.Errorf("read a profile: unknown expression (%s ...)", e.head())
		}
	}
	if !version || !base {
		return nil, fmt.Errorf("read a profile: version given: %v, default given: %v", version, base)
	}
	return p, nil
}

func readLine(e expr) (line, error) {
	l := line{allow: e.head() == "allow"}
	for _, item := range e.list[1:] {
		if item.kind == wordExpr && len(l.filters) == 0 {
			if !slices.ContainsFunc(operations, func(op string) bool { return matchesOp(item.text, op) }) {
				return line{}, fmt.Errorf("unknown operation %q", item.text)
			}
			l.ops = append(l.ops, item.text)
			continue
		}
		f, err := readFilter(item)
		if err != nil {
			return line{}, err
		}
		l.filters = append(l.filters, f)
	}
	if len(l.ops) == 0 {
		return line{}, fmt.Errorf("a rule without an operation")
	}
	return l, nil
}

// matchesOp reports whether a rule's word names an operation.
func matchesOp(word, op string) bool {
	if begin, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(op, begin)
	}
	return word == op
}

func readFilter(e expr) (filter, error) {
	args := func(kinds ...exprKind) bool {
		return len(e.list) == 1+len(kinds) && slices.EqualFunc(e.list[1:], kinds, func(a expr, k exprKind) bool { return a.kind == k })
	}
	switch head := e.head(); {
	case head == "literal" && args(stringExpr):
		want := e.list[1].text
		return func(r Request) bool { return r.Path == want }, nil
	case head == "subpath" && args(stringExpr):
		want := e.list[1].text
		return func(r Request) bool { return r.Path != "" && within(r.Path, want) }, nil
	case head == "regex" && args(regexExpr):
		re, err := regexp.Compile(e.list[1].text)
		if err != nil {
			return nil, err
		}
		return func(r Request) bool { return r.Path != "" && re.MatchString(r.Path) }, nil
	case head == "extension" && args(stringExpr):
		want := e.list[1].text
		return func(r Request) bool { return slices.Contains(r.Extensions, want) }, nil
	case head == "global-name" && args(stringExpr):
		want := e.list[1].text
		return func(r Request) bool { return r.Name == want }, nil
	case head == "target" && args(wordExpr) && e.list[1].text == "same-sandbox":
		return func(r Request) bool { return r.SameCage }, nil
	case (head == "remote" || head == "local") && args(wordExpr, stringExpr) && e.list[1].text == "tcp":
		return tcpFilter(e.list[2].text, head == "remote")
	case (head == "remote" || head == "local") && args(wordExpr, listExpr) && e.list[1].text == "unix-socket":
		return unixFilter(e.list[2], head == "remote")
	case head == "require-all" || head == "require-not":
		return combined(e)
	}
	return nil, fmt.Errorf("unknown filter (%s ...)", e.head())
}

// combined reads require-all and require-not.
func combined(e expr) (filter, error) {
	var parts []filter
	for _, item := range e.list[1:] {
		f, err := readFilter(item)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	if e.head() == "require-not" {
		if len(parts) != 1 {
			return nil, fmt.Errorf("require-not of %d filters", len(parts))
		}
		return func(r Request) bool { return !parts[0](r) }, nil
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("require-all of nothing")
	}
	return func(r Request) bool {
		return !slices.ContainsFunc(parts, func(f filter) bool { return !f(r) })
	}, nil
}

// tcpFilter reads "localhost:PORT". The system takes no other host but a star, and refuses port 0.
func tcpFilter(text string, remote bool) (filter, error) {
	host, number, ok := strings.Cut(text, ":")
	port, err := strconv.Atoi(number)
	if !ok || host != "localhost" || err != nil || port < 1 || port > 65535 {
		return nil, fmt.Errorf("%q is not localhost and a port", text)
	}
	return func(r Request) bool {
		side := r.Op == "network-outbound" == remote
		return side && r.Unix == "" && r.Port == port && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, r.Host)
	}, nil
}

// unixFilter reads the filter of a unix socket, in which path-literal and subpath speak of the socket's path.
func unixFilter(e expr, remote bool) (filter, error) {
	f, err := readUnix(e)
	if err != nil {
		return nil, err
	}
	return func(r Request) bool {
		return r.Op == "network-outbound" == remote && r.Unix != "" && f(Request{Path: r.Unix})
	}, nil
}

func readUnix(e expr) (filter, error) {
	if e.head() == "path-literal" {
		e.list = slices.Clone(e.list)
		e.list[0].text = "literal"
	}
	return readFilter(e)
}

// Allows judges a request: the last rule that matches decides. An operation that is not known is an error.
func (p *Profile) Allows(r Request) (bool, error) {
	if !slices.Contains(operations, r.Op) {
		return false, fmt.Errorf("judge %q: unknown operation", r.Op)
	}
	verdict := p.fallback
	for _, l := range p.rules {
		named := slices.ContainsFunc(l.ops, func(word string) bool { return matchesOp(word, r.Op) })
		if named && (len(l.filters) == 0 || slices.ContainsFunc(l.filters, func(f filter) bool { return f(r) })) {
			verdict = l.allow
		}
	}
	return verdict, nil
}
