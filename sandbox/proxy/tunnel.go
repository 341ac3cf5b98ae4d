package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"termic/sandbox/hosts"
)

const established = "HTTP/1.1 200 Connection Established\r\n\r\n" // without a length: clients take one for a body

// unrecognizedName is a fatal TLS alert (RFC 8446, 6.2), which every client shows in words.
var unrecognizedName = [...]byte{0x15, 3, 3, 0, 2, 2, 112}

// connect is a tunnel: judged, connected, answered, then moved byte by byte.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	t, wrong := parseTarget(r.RequestURI, 0)
	if wrong != "" {
		p.malformed(w, r, t, wrong)
		return
	}
	// Not the request's context: it also ends when the client has only ended its own direction.
	ctx, cancel := context.WithTimeout(p.ctx, connectTime)
	defer cancel()
	way, no, err := p.judge(ctx, "https", t)
	if err == nil && no != nil && p.o.Mode == Enforce {
		p.refuse(w, r, way, no)
		return
	}
	var server net.Conn
	var early []byte
	if err == nil {
		server, early, err = p.dial(ctx, way)
	}
	if err != nil {
		p.unreachable(w, r, way, no, err)
		return
	}
	defer server.Close()
	client, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.o.Log.Debug("take a connection over", "err", err)
		return
	}
	defer client.Close()
	sent := make([]byte, buf.Reader.Buffered()) // the client did not wait for the answer
	_, _ = io.ReadFull(buf.Reader, sent)
	p.tellReached(r.Method, way, no)
	_ = client.SetDeadline(time.Now().Add(headerTime))
	if _, err := client.Write(append([]byte(established), early...)); err != nil {
		return
	}
	tunnel := newPair(client, server, p.o.Idle)
	tunnel.relay(func() error { return p.greet(way, tunnel, sent) })
}

// errOtherServer ends a tunnel whose TLS greeting names another server.
var errOtherServer = errors.New("the TLS greeting names another server")

// greet passes the client's first bytes on after looking at them: a TLS greeting must name the host of the tunnel, or
// one allowed name on a shared address would open all others there. Bytes that are not TLS pass, and so does everything
// to a literal address, which no greeting can name. Record lets everything pass unseen.
func (p *Proxy) greet(way route, t *pair, head []byte) error {
	if p.o.Mode == Enforce && !way.target.addr.IsValid() {
		var err error
		if head, err = p.checkHello(way, t, head); err != nil {
			return err
		}
	}
	_ = t.server.SetWriteDeadline(time.Now().Add(2 * t.tick))
	_, err := t.server.Write(head)
	return err
}

// checkHello reads until it knows, and returns all that it read.
func (p *Proxy) checkHello(way route, t *pair, head []byte) ([]byte, error) {
	chunk := make([]byte, 4096)
	var late time.Time // when a greeting that has begun must be whole
	for {
		server, state := readHello(head)
		switch state {
		case helloNone:
			return head, nil
		case helloServer:
			if name, err := hosts.Norm(server); err == nil && name == way.target.host {
				return head, nil
			}
			return nil, p.otherServer(way, t.client, server)
		case helloBad:
			return nil, p.otherServer(way, t.client, "")
		}
		deadline := time.Now().Add(t.tick)
		if len(head) > 0 {
			if late.IsZero() {
				late = time.Now().Add(helloTime)
			}
			deadline = late
		}
		_ = t.client.SetReadDeadline(deadline)
		n, err := t.client.Read(chunk)
		head = append(head, chunk[:n]...)
		switch {
		case n > 0 || err == nil:
		case len(head) > 0:
			return nil, err // cut in the middle of a greeting
		case errors.Is(err, io.EOF):
			return nil, nil // nothing was said; the end is handed on
		case !errors.Is(err, os.ErrDeadlineExceeded) || t.silent():
			return nil, err
		}
	}
}

// otherServer tells the client by the means of its protocol, and the owner by a decision.
func (p *Proxy) otherServer(way route, client net.Conn, server string) error {
	detail := "the TLS greeting names no server"
	if server != "" {
		detail = fmt.Sprintf("the TLS greeting names %s", printable(server))
	}
	p.tell(http.MethodConnect, way, Blocked, OtherServer, detail+", while the tunnel is for "+way.target.host)
	_ = client.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := client.Write(unrecognizedName[:]); err == nil {
		farewell(client)
	}
	return errOtherServer
}
