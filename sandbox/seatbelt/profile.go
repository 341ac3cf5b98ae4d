package seatbelt

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Spec is what a profile is made from. All paths are canonical, since the system judges what a path really is. Nothing in
// it depends on the order of its lists.
type Spec struct {
	Read  []string // may be read, with everything below
	Write []string // may be read and written
	Hide  []string // hidden inside the two
	Pins  []string // read-only inside Write, whether they exist or not

	// Own are folders of the task itself: writable even where a hidden folder or a pin lies above them.
	Own []string
	// Home is the private home, one of Own. Sockets of the programs inside may be there, and only there.
	Home string
	Dir  string // working folder: the folders above it may be listed, since programs ask for its real name
	Data string // Termic's data folder, hidden but for Home

	AllHosts bool  // the network is open, but for unix sockets
	Doors    []int // with a network of its own: the loopback ports that may be connected to
	Inbound  []int // the loopback ports that a server inside may listen on

	Sockets []string // Termic's own sockets
}

// basics is what every process needs: to start others, to know itself, the terminal, and system services by name. Launch
// services are not among them: with them a program outside could be started. Descriptions of the names are public; none
// was tried here.
var basics = []rule{
	allow("process-exec process-fork"),
	allow("signal process-info* mach-priv-task-port", "(target same-sandbox)"),
	allow("sysctl-read"),
	allow("ipc-posix-sem ipc-posix-shm*"),
	allow("system-socket"),
	allow("mach-lookup", each(mach, []string{
		"com.apple.SecurityServer", "com.apple.SystemConfiguration.configd", "com.apple.bsd.dirhelper",
		"com.apple.cfprefsd.agent", "com.apple.cfprefsd.daemon", "com.apple.logd", "com.apple.securityd.xpc",
		"com.apple.system.logger", "com.apple.system.notification_center", "com.apple.system.opendirectoryd.libinfo",
		"com.apple.system.opendirectoryd.membership", "com.apple.trustd.agent",
	})...),
	allow("pseudo-tty"),
	allow("file-read-metadata file-test-existence"), // links such as /tmp must be readable; names leak, contents do not
	allow("file-map-executable"),
	allow("file-read-data", literal("/"), subpath("/dev/fd")),
	allow("file-read* file-write-data file-ioctl", literal("/dev/null"), literal("/dev/zero"), literal("/dev/tty"), literal("/dev/ptmx"),
		literal("/dev/random"), literal("/dev/urandom"), literal("/dev/dtracehelper")),
	// The terminal that was handed over is used by its descriptor: modes are set on it, it is not opened. A terminal made
	// inside carries the mark of this sandbox.
	allow("file-ioctl", regex(`^/dev/ttys[0-9]+$`)),
	allow("file-read* file-write-data", all(regex(`^/dev/ttys[0-9]+$`), `(extension "com.apple.sandbox.pty")`)),
}

// Text is the profile. It is an error if the spec contradicts itself.
func Text(s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	s = s.sorted()
	rules := slices.Concat(basics, s.files(), s.network())
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n")
	for _, r := range rules {
		b.WriteString(r.String() + "\n")
	}
	return b.String(), nil
}

func (s Spec) check() error {
	if s.Data == "" || s.Home == "" || !slices.Contains(s.Own, s.Home) {
		return errors.New("write a profile: the data folder and a private home among the task's own folders are needed")
	}
	for _, p := range slices.Concat(s.Read, s.Write, s.Hide, s.Pins, s.Own, s.Sockets, []string{s.Data, s.Dir}) {
		if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
			return fmt.Errorf("write a profile: %q is not a canonical path", p)
		}
	}
	for _, p := range slices.Concat(s.Doors, s.Inbound) {
		if p < 1 || p > 65535 { // the system refuses a rule for port 0
			return fmt.Errorf("write a profile: %d is not a port", p)
		}
	}
	for _, p := range s.Own {
		if p != s.Home && (within(p, s.Data) || within(s.Data, p)) {
			return fmt.Errorf("write a profile: %q is the task's own and lies in the data folder, or around it", p)
		}
	}
	return nil
}

func (s Spec) sorted() Spec {
	for _, l := range []*[]string{&s.Read, &s.Write, &s.Hide, &s.Pins, &s.Own, &s.Sockets} {
		*l = slices.Compact(slices.Sorted(slices.Values(*l)))
	}
	s.Inbound = slices.Compact(slices.Sorted(slices.Values(s.Inbound)))
	return s
}

// files are the file rules, the denial of the data folder last.
func (s Spec) files() []rule {
	var out []rule
	if up := above(s.Dir); len(up) > 0 {
		out = append(out, allow("file-read-data", each(literal, up)...))
	}
	if len(s.Read) > 0 {
		out = append(out, allow("file-read*", each(subpath, s.Read)...))
	}
	out = append(out, allow("file-read* file-write*", each(subpath, slices.Concat(s.Write, s.Own))...))
	out = append(out, s.pins()...)
	for _, p := range s.Hide {
		if p != s.Data {
			out = append(out, deny("file-read* file-write*", s.except(p)))
		}
	}
	if moved := s.ancestors(); len(moved) > 0 { // or a rename would take what is forbidden to another name
		out = append(out, deny("file-write-unlink file-write-create file-link", each(literal, moved)...))
	}
	way := s.wayToHome()
	hidden := []string{subpath(s.Data), not(subpath(s.Home))}
	for _, p := range way {
		hidden = append(hidden, not(literal(p)))
	}
	if len(way) > 0 { // their names can be asked for, since programs ask for the home's real name
		out = append(out, deny("file-read-data file-read-xattr file-write*", each(literal, way)...))
	}
	return append(out, deny("file-read* file-write*", all(hidden...)))
}

// pins denies writing, from the outermost on, and allows it again in the task's own folders below.
func (s Spec) pins() []rule {
	var out []rule
	for _, p := range s.Pins { // sorted: a folder before what lies in it
		out = append(out, deny("file-write*", s.except(p)))
	}
	return out
}

// except is a folder without the task's own folders below it.
func (s Spec) except(p string) string {
	parts := []string{subpath(p)}
	for _, o := range s.Own {
		if o != p && within(o, p) {
			parts = append(parts, not(subpath(o)))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return all(parts...)
}

// ancestors are the folders inside writable grants on the way to what is hidden or pinned.
func (s Spec) ancestors() []string {
	var out []string
	writable := slices.Concat(s.Write, s.Own)
	for _, p := range slices.Concat(s.Hide, s.Pins, []string{s.Data}) {
		for _, up := range above(p) {
			if slices.ContainsFunc(writable, func(w string) bool { return within(up, w) }) {
				out = append(out, up)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// wayToHome are the data folder and what lies between it and the private home.
func (s Spec) wayToHome() []string {
	if !within(s.Home, s.Data) {
		return nil
	}
	out := []string{s.Data}
	for _, up := range above(s.Home) {
		if up != s.Data && within(up, s.Data) {
			out = append(out, up)
		}
	}
	return out
}

// network are the network rules, the denial of Termic's own sockets last.
func (s Spec) network() []rule {
	var out []rule
	if s.AllHosts {
		out = append(out, allow("network*"), deny("network-outbound", remoteUnix(subpath("/"))), // a socket may lead to anything
			allow("network-outbound", remoteUnix(pathLiteral("/private/var/run/mDNSResponder")))) // it resolves names
	} else {
		out = append(out, deny("network*"))
		for _, p := range s.Doors {
			out = append(out, allow("network-outbound", remoteTCP(p)))
		}
		for _, p := range s.Inbound {
			out = append(out, allow("network-bind network-inbound", localTCP(p)))
		}
	}
	out = append(out, deny("network-outbound", remoteUnix(subpath(s.Data))),
		allow("network-outbound", remoteUnix(subpath(s.Home))), allow("network-bind network-inbound", localUnix(subpath(s.Home))))
	if len(s.Sockets) > 0 {
		out = append(out, deny("network-outbound", each(func(p string) string { return remoteUnix(pathLiteral(p)) }, s.Sockets)...))
	}
	return out
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// above returns the folders above a path, from the outermost, without the root.
func above(p string) []string {
	var out []string
	for i, c := range p {
		if c == '/' && i > 0 {
			out = append(out, p[:i])
		}
	}
	return out
}
