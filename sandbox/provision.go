package sandbox

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"termic/sandbox/cage"
	"termic/sandbox/proxy"
)

// A Launch is a program to start from a policy.
type Launch struct {
	Argv, Env []string
	Dir       string
	Terminal  *cage.Size  // a pseudo-terminal of the cage's own; nil: Stdio
	Stdio     [3]*os.File // the caller keeps its copies
	Limits    cage.Limits
	Helper    string // the program termic-cage; empty: found beside the app

	// OnDecision hears what the proxy let through and refused. Quick, and safe for concurrent use. May be nil.
	OnDecision func(proxy.Decision)
	// OnAct hears what programs of the cage try to do to files and addresses: connects and writing, and with Reads all
	// other opens too, which costs programs that open many files twice their time. As for OnDecision. May be nil.
	OnAct func(Act)
	Reads bool
	// Own are the addresses that Termic itself listens on: the proxy refuses them whatever the rules say.
	Own func() []netip.AddrPort
	// Upstream is the user's own proxy; nil for none.
	Upstream proxy.Upstream
	Log      *slog.Logger
}

// environment is the environment of a program whose only way out is the proxy of its cage: what steers programs to other
// proxies is gone.
func (p Policy) environment(env []string) []string {
	if !p.OwnNetwork() || p.proxy == 0 {
		return env
	}
	var out []string
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); !proxy.IsVariable(name) {
			out = append(out, v)
		}
	}
	return append(out, proxy.Environment(proxy.Child{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(p.proxy)), User: env})...)
}
