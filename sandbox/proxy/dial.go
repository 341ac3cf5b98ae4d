package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// stagger is the time that one address gets before the next is tried beside it (RFC 8305, 5: "Connection Attempt
// Delay", recommended 250 ms), and maxAddrs is how many are tried.
const (
	stagger  = 250 * time.Millisecond
	maxAddrs = 8
)

// dial connects a tunnel by its route. early are bytes of the far end that came with the answer of the user's proxy.
func (p *Proxy) dial(ctx context.Context, r route) (conn net.Conn, early []byte, err error) {
	if r.upstream != nil {
		return p.dialUpstream(ctx, r)
	}
	conn, err = p.dialAddrs(ctx, r.addrs)
	return conn, nil, err
}

// dialAddrs connects to the first address that answers, IPv6 and IPv4 in turn. It returns when every attempt has ended,
// so nothing is left behind.
func (p *Proxy) dialAddrs(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	addrs = interleave(addrs)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	attempt := func(a netip.AddrPort) {
		conn, err := p.o.Dial(ctx, "tcp", a.String())
		results <- result{conn, err}
	}
	var (
		won     net.Conn
		errs    []error
		started int
		ended   int
	)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ended < started || started < len(addrs) && won == nil {
		select {
		case <-timer.C:
			if started < len(addrs) && won == nil {
				go attempt(addrs[started])
				started++
				timer.Reset(stagger)
			}
		case got := <-results:
			ended++
			switch {
			case got.err != nil:
				errs = append(errs, got.err)
				timer.Reset(0)
			case won != nil:
				_ = got.conn.Close()
			default:
				won = got.conn
				cancel()
			}
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, errors.Join(errs...)
}

// interleave orders addresses by family in turn, the family of the first one first, and cuts the list.
func interleave(addrs []netip.AddrPort) []netip.AddrPort {
	var same, other []netip.AddrPort
	for _, a := range addrs {
		if a.Addr().Is4() == addrs[0].Addr().Is4() {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	out := make([]netip.AddrPort, 0, len(addrs))
	for i := range max(len(same), len(other)) {
		if i < len(same) {
			out = append(out, same[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out[:min(len(out), maxAddrs)]
}

// dialUpstream asks the user's own proxy for a tunnel.
func (p *Proxy) dialUpstream(ctx context.Context, r route) (conn net.Conn, early []byte, err error) {
	raw, err := p.o.Dial(ctx, "tcp", upstreamAddress(r.upstream))
	if err != nil {
		return nil, nil, fmt.Errorf("reach the user's proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil { // the time was up at the last moment, and the deadline is spoilt
			err = context.Cause(ctx)
		}
		if err != nil {
			_ = raw.Close()
		}
	}()
	conn = raw
	if r.upstream.Scheme == "https" {
		conn = tls.Client(raw, &tls.Config{ServerName: r.upstream.Hostname(), MinVersion: tls.VersionTLS12})
	}
	head := "CONNECT " + r.target.authority() + " HTTP/1.1\r\nHost: " + r.target.authority() + "\r\n"
	if u := r.upstream.User; u != nil {
		password, _ := u.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, nil, fmt.Errorf("ask the user's proxy: %w", err)
	}
	if early, err = readAnswer(conn); err != nil {
		return nil, nil, err
	}
	return conn, early, nil
}

// readAnswer reads the answer to a CONNECT and returns what came after it.
func readAnswer(conn net.Conn) ([]byte, error) {
	limited := &io.LimitedReader{R: conn, N: maxHead}
	br := bufio.NewReaderSize(limited, 4096)
	resp, err := http.ReadResponse(br, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("read the answer of the user's proxy: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("the user's proxy answered %s", printable(resp.Status))
	}
	early := make([]byte, br.Buffered())
	_, err = io.ReadFull(br, early)
	return early, err
}

// upstreamAddress is host and port of the user's proxy.
func upstreamAddress(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
