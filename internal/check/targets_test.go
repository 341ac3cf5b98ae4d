package check

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// authority signs certificates for the servers of one test, and is trusted in it.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = sign(t, nil, nil, "authority", time.Now().Add(-time.Hour), time.Now().AddDate(10, 0, 0))
	file := filepath.Join(t.TempDir(), "roots.pem")
	err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	return a
}

// sign makes a certificate for a name; without a parent it signs itself.
func sign(t *testing.T, parent *x509.Certificate, by *ecdsa.PrivateKey, name string, from, until time.Time) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		BasicConstraintsValid: true, IsCA: parent == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// serve answers handshakes with a certificate for a name, and returns where.
func (a *authority) serve(name string, from, until time.Time, byItself bool) string {
	a.t.Helper()
	parent, by := a.cert, a.key
	if byItself {
		parent, by = nil, nil
	}
	cert, key := sign(a.t, parent, by, name, from, until)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = l.Close() })
	go func() { // until the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = c.(*tls.Conn).Handshake(); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

// silent is a port that takes connections and never says a word.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // until the listener is closed
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				t.Cleanup(func() { _ = c.Close() })
			}
		}
	}()
	return l.Addr().String()
}

// nobody is a port where nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// resolver answers for the names that it is given, with addresses; other names do not exist, and "slow.test." gets no answer.
func resolver(t *testing.T, names map[string][]string) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() { // until the socket is closed
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var q dnsmessage.Message
			if q.Unpack(buf[:n]) != nil || len(q.Questions) != 1 || q.Questions[0].Name.String() == "slow.test." {
				continue
			}
			if text, err := answer(q, names).Pack(); err == nil {
				_, _ = conn.WriteTo(text, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func answer(q dnsmessage.Message, names map[string][]string) *dnsmessage.Message {
	ask := q.Questions[0]
	out := &dnsmessage.Message{Header: dnsmessage.Header{ID: q.ID, Response: true, RecursionAvailable: true}, Questions: q.Questions}
	list, known := names[ask.Name.String()]
	if !known {
		out.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range list {
		a := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: ask.Name, Class: dnsmessage.ClassINET, TTL: 1}
		switch {
		case a.Is4() && ask.Type == dnsmessage.TypeA:
			h.Type = dnsmessage.TypeA
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && ask.Type == dnsmessage.TypeAAAA:
			h.Type = dnsmessage.TypeAAAA
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return out
}
