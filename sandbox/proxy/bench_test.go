package proxy

import (
	"context"
	"io"
	"net"
	"sort"
	"testing"
	"time"

	"termic/sandbox/hosts"
)

// BenchmarkTunnel compares bytes through a CONNECT with the same bytes straight over the loopback, in pairs, and
// reports the median of the ratios. Nothing is gated here: a busy machine moves both.
func BenchmarkTunnel(b *testing.B) {
	const size = 64 << 20
	chunk := make([]byte, 256<<10)
	source, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	go func() { // ends with its listener
		for {
			c, err := source.Accept()
			if err != nil {
				return
			}
			go func() { // ends with its bytes or its reader
				defer c.Close()
				for range size / len(chunk) {
					if _, err := c.Write(chunk); err != nil {
						return
					}
				}
			}()
		}
	}()
	tunnel := benchTunnel(b, source.Addr().String())
	buf := make([]byte, 256<<10)
	read := func(c net.Conn) time.Duration {
		defer c.Close()
		start := time.Now()
		n := 0
		for {
			k, err := c.Read(buf)
			if n += k; err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		if n != size {
			b.Fatalf("%d bytes", n)
		}
		return time.Since(start)
	}
	var ratios []float64
	for b.Loop() {
		direct, err := net.Dial("tcp", source.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		straight := read(direct)
		ratios = append(ratios, straight.Seconds()/read(tunnel()).Seconds())
	}
	sort.Float64s(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "of-direct")
}

// benchTunnel returns what opens a tunnel to a listener.
func benchTunnel(b *testing.B, to string) func() net.Conn {
	set, err := hosts.Parse([]string{"a.test"})
	if err != nil {
		b.Fatal(err)
	}
	p := New(Options{Rules: set, Resolver: resolver(func(string) {}), Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	b.Cleanup(func() { _ = p.Close(context.Background()); <-served })
	return func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := io.ReadFull(c, make([]byte, len(established))); err != nil {
			b.Fatal(err)
		}
		return c
	}
}
