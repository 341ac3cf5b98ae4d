package core

import (
	"context"
	"net"
	"strings"
	"time"

	"termic/internal/secret"
	"termic/internal/shellenv"
	"termic/sandbox"
	"termic/sandbox/proxy"
)

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
	auth := secret.Mint()
	p := proxy.New(proxy.Options{Rules: policy.Hosts(), Mode: proxy.Record, OnDecision: c.hearHosts(l), Own: c.ownAddresses,
		Upstream: upstreamOf(base, c), Auth: auth, Log: c.log})
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

// upstreamOf is the user's own proxy.
func upstreamOf(base shellenv.Base, c *Core) sandbox.Upstream {
	up, err := proxy.UpstreamFrom(pairs(base.Env))
	if err != nil {
		c.log.Warn("the user's own proxy is not used", "err", err)
		return nil
	}
	return up
}

// pairs is an environment as NAME=value.
func pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}
