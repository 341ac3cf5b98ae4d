package core

import (
	"context"
	"net"
	"strings"
	"time"

	"termic/internal/fault"
	"termic/internal/ptyhost"
	"termic/internal/secret"
	"termic/internal/shellenv"
	"termic/sandbox"
	"termic/sandbox/proxy"
)

// watch changes the plan of the start of a program that is only watched: by what passes the proxy of its environment, and,
// if the settings ask for it, by what it does to files and addresses.
func (c *Core) watch(ctx context.Context, l *liveTab, spec *ptyhost.Spec, base shellenv.Base) error {
	watched, err := c.watchHosts(l, base)
	if err != nil {
		return err
	}
	spec.Env = shellenv.Build(shellenv.Options{Base: base, Extra: merged(l.told, watched), Uncaged: true})
	s := c.settings.Get().Sandbox
	if !s.DeepMonitor {
		return nil
	}
	policy, err := c.wouldBe(ctx, l)
	if err != nil {
		return err
	}
	m, err := policy.Watch(c.dataDir, c.machine.Helper, s.RecordReads, c.hearActs(l, true))
	if err != nil {
		return err
	}
	// Not here: what the program has left behind is watched until it is ended, which comes after this.
	l.walls.onClose(func() { c.spawn(m.Close) })
	spec.Argv = append(m.Prefix(), spec.Argv...)
	return nil
}

// watchHosts gives a program that is only watched a proxy that lets everything pass and takes note of what a cage would
// refuse. It returns what its environment must say. The proxy ends with the program.
func (c *Core) watchHosts(l *liveTab, base shellenv.Base) (map[string]string, error) {
	policy, err := c.wouldBe(c.ctx, l)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	upstream, err := upstreamOf(base)
	if err != nil {
		c.log.Warn("a watched program goes past the proxy of the environment", "err", err)
	}
	auth := secret.Mint()
	p := proxy.New(proxy.Options{Rules: policy.Hosts(), Nets: policy.Nets(), Refused: policy.Refused(), Mode: proxy.Record, OnDecision: c.hearHosts(l), Own: c.ownAddresses,
		Upstream: upstream, Auth: auth, Log: c.log})
	ended := make(chan struct{})
	if !c.spawn(func() { defer close(ended); _ = p.Serve(listener) }) {
		_ = listener.Close()
		return nil, ending()
	}
	l.walls.onClose(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), time.Second)
		defer cancel()
		_ = p.Close(ctx) // what is still connected is cut
		<-ended
	})
	env := map[string]string{}
	for _, v := range proxy.Environment(proxy.Child{Addr: listener.Addr().String(), Auth: auth, Direct: true, User: pairs(base.Env)}) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return env, nil
}

// wouldBe is the policy that an enforcing cage of a watched program would have: its hosts are what the record is judged
// by.
func (c *Core) wouldBe(ctx context.Context, l *liveTab) (sandbox.Policy, error) {
	t := l.task
	t.Sandbox = string(sandbox.Enforce)
	return c.policyOf(ctx, t, l.kind.ID, "", 0)
}

// upstreamOf is the user's own proxy; nil for none. One that cannot be used is an error: a connection around it would go
// where the user's network does not want it.
func upstreamOf(base shellenv.Base) (sandbox.Upstream, error) {
	up, err := proxy.UpstreamFrom(pairs(base.Env))
	if err != nil {
		return nil, fault.Wrap(err, fault.Unsupported, "The proxy of your environment cannot be used by a cage: %s", err).
			WithHint("A cage can chain to an HTTP proxy. Change HTTPS_PROXY, or use the mode enforce-fs.")
	}
	return up, nil
}

// pairs is an environment as NAME=value.
func pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}
