package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"termic/sandbox/hosts"
)

// route is a judged way to a target: exactly these addresses, or the user's own proxy.
type route struct {
	target   target
	rule     hosts.Rule
	byNet    bool // no rule allows the name: its addresses must be in a netgroup
	addrs    []netip.AddrPort
	upstream *url.URL
}

// objection is why a request is refused, or in Record would be.
type objection struct {
	reason Reason
	detail string // a clause that begins with the host
}

// errNoAddress is an answer of a resolver without an error and without an address.
var errNoAddress = errors.New("the name has no address")

// judge decides once and resolves once. In Enforce an objection ends it at once; in Record the way is found all the
// same. The error is of the resolver. The method and the decision's time are the caller's.
func (p *Proxy) judge(ctx context.Context, scheme string, t target) (route, *objection, error) {
	r := route{target: t}
	no := p.listed(&r)
	if no != nil && p.o.Mode == Enforce {
		return r, no, nil
	}
	if p.o.Upstream != nil {
		up, err := p.o.Upstream(&url.URL{Scheme: scheme, Host: t.authority()})
		if err != nil {
			return r, no, fmt.Errorf("choose the user's proxy: %w", err)
		}
		if r.upstream = up; up != nil {
			return r, first(no, first(p.ownByPort(t), p.netsByName(r))), nil
		}
	}
	if t.addr.IsValid() {
		r.addrs = []netip.AddrPort{netip.AddrPortFrom(t.addr, t.port)}
	} else {
		found, err := p.o.Resolver.LookupNetIP(ctx, "ip", t.host)
		if err == nil && len(found) == 0 {
			err = errNoAddress
		}
		if err != nil {
			return r, no, err
		}
		for _, a := range found {
			r.addrs = append(r.addrs, netip.AddrPortFrom(a.Unmap(), t.port))
		}
	}
	return r, first(no, p.reachable(r)), nil
}

// listed looks for the rule.
func (p *Proxy) listed(r *route) *objection {
	t := r.target
	if t.bad != "" {
		return &objection{BadHost, fmt.Sprintf("%s is not a host: %s", t.host, t.bad)}
	}
	rule, ok := p.o.Rules.Allows(t.host, t.port)
	if r.byNet = !ok && !p.o.Nets.At(t.port).Empty(); r.byNet {
		return nil
	}
	if !ok {
		return &objection{NotListed, fmt.Sprintf("%s is not on this task's list of hosts", p.named(t))}
	}
	r.rule = rule
	return nil
}

// named tells the host alone, or with its port where the port is what stands in the way.
func (p *Proxy) named(t target) string {
	for _, usual := range []uint16{443, 80} {
		if _, ok := p.o.Rules.Allows(t.host, usual); ok {
			return fmt.Sprintf("port %d of %s", t.port, t.host)
		}
	}
	return t.host
}

// reachable looks at every address of a route: one that may not be reached spoils all, since the next answer of the
// same resolver could hold that one alone.
func (p *Proxy) reachable(r route) *objection {
	own := p.own()
	for _, a := range r.addrs {
		if OwnAddress(own, a) {
			return &objection{OwnPort, fmt.Sprintf("%s is a port of Termic itself", r.target.authority())}
		}
	}
	for _, a := range r.addrs {
		if p.o.Refused.Contains(a.Addr()) {
			return &objection{RefusedAddress, fmt.Sprintf("%s leads to %s, which this task's list of hosts takes out", r.target.host, a.Addr())}
		}
	}
	if r.byNet && !p.o.Nets.Allowed(r.target.port, r.addrs) {
		return &objection{NotListed, fmt.Sprintf("%s is not on this task's list of hosts, and not all of its addresses are in its netgroups", p.named(r.target))}
	}
	if r.rule.Private() {
		return nil
	}
	for _, a := range r.addrs {
		if what := hosts.Range(a.Addr()); what != "" {
			return &objection{PrivateAddress, fmt.Sprintf("%s leads to %s, an address of %s", r.target.host, a.Addr(), what)}
		}
	}
	return nil
}

func (p *Proxy) own() []netip.AddrPort {
	if p.o.Own == nil {
		return nil
	}
	return p.o.Own()
}

// netsByName is what addresses decide where another proxy resolves: nothing can be allowed by them, and where some are taken out,
// only what is an address itself can be seen not to be one of them.
func (p *Proxy) netsByName(r route) *objection {
	t := r.target
	switch {
	case p.o.Refused.Empty() && !r.byNet:
		return nil
	case t.addr.IsValid():
		r.addrs = []netip.AddrPort{netip.AddrPortFrom(t.addr, t.port)}
		return p.reachable(r)
	case r.byNet:
		return &objection{NotListed, fmt.Sprintf("%s is not on this task's list of hosts, and the user's proxy would look its address up", p.named(t))}
	}
	return &objection{RefusedAddress, fmt.Sprintf("%s could lead to an address that this task's list of hosts takes out, and the user's proxy would look it up", t.host)}
}

// ruleText is the rule of a decision, or the netgroups that decided instead.
func (p *Proxy) ruleText(r route) string {
	if r.byNet {
		return p.o.Nets.Names(r.target.port)
	}
	return r.rule.String()
}

// ownByPort is the check where another proxy resolves: the port alone is known.
func (p *Proxy) ownByPort(t target) *objection {
	for _, o := range p.own() {
		if o.Port() == t.port {
			return &objection{OwnPort, fmt.Sprintf("%s has the number of a port of Termic itself, and the user's proxy could lead there", t.authority())}
		}
	}
	return nil
}

// OwnAddress tells whether connecting to a reaches one of Termic's listeners. The unspecified address connects to this
// machine, and a listener on it is reached by every address of this machine. Zones do not count: for an address of its own the
// kernel takes any.
func OwnAddress(own []netip.AddrPort, a netip.AddrPort) bool {
	ip := a.Addr().Unmap().WithZone("")
	for _, o := range own {
		if o.Port() != a.Port() {
			continue
		}
		at := o.Addr().Unmap().WithZone("")
		if ip == at || ip.IsUnspecified() || at.IsUnspecified() && (ip.IsLoopback() || isLocal(ip)) {
			return true
		}
	}
	return false
}

// isLocal tells whether an interface of this machine has the address; when that cannot be known, it has.
func isLocal(ip netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}

func first(a, b *objection) *objection {
	if a != nil {
		return a
	}
	return b
}

// tell reports a decision.
func (p *Proxy) tell(method string, r route, v Verdict, why Reason, detail string) {
	if p.o.OnDecision == nil {
		return
	}
	p.o.OnDecision(Decision{At: time.Now(), Method: printable(method), Host: r.target.host, Port: r.target.port, Verdict: v,
		Reason: why, Rule: p.ruleText(r), Detail: detail})
}

// tellReached reports a request that went through, or that Record let through.
func (p *Proxy) tellReached(method string, r route, no *objection) {
	if no != nil {
		p.tell(method, r, WouldBlock, no.reason, no.detail)
		return
	}
	p.tell(method, r, Allowed, "", "")
}

// tellFailed reports a request that nothing was refused of, and that failed all the same. What Record would have
// refused stays the news.
func (p *Proxy) tellFailed(method string, r route, no *objection, err error) Reason {
	why := Unreachable
	var dns *net.DNSError
	if errors.As(err, &dns) || errors.Is(err, errNoAddress) {
		why = Unresolved
	}
	if no != nil {
		p.tell(method, r, WouldBlock, no.reason, no.detail)
	} else {
		p.tell(method, r, Failed, why, clause(r, why, err))
	}
	return why
}
