// Package selfcert keeps the key and the self-signed certificate of a TLS listener in one file.
//
// The key is made once and stays, so that whoever pinned it goes on to connect; a certificate that runs out, or that does
// not name what it is called by any more, is made anew over the same key. The pin is the SHA-256 of the public key, in the
// form that curl takes: see Pin.
//
// It does not cover certificates that others sign.
package selfcert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// Lifetimes of a certificate. Browsers take none that is good for more than 398 days.
const (
	lifetime = 397 * 24 * time.Hour
	renewIn  = 30 * 24 * time.Hour // before its end
	early    = time.Hour           // it begins so long ago, for clients whose clocks are slow
)

// maxFile bounds what is read of the file.
const maxFile = 64 << 10

// Identity is a key with its present certificate. It is safe for concurrent use.
type Identity struct {
	path  string
	hosts []string
	made  func(until time.Time, first bool)
	now   func() time.Time
	key   *ecdsa.PrivateKey

	mu   sync.Mutex // guards the following
	cert tls.Certificate
}

// Open reads the file, or makes it, readable for its owner alone. hosts are the names and addresses that the certificate must
// hold. made hears of each certificate that is made; it may be nil. A file that others may read, or that holds no key, is a fault: a new key would
// silently be another identity.
func Open(path string, hosts []string, made func(until time.Time, first bool)) (*Identity, error) {
	return openAt(path, hosts, made, time.Now)
}

func openAt(path string, hosts []string, made func(time.Time, bool), now func() time.Time) (*Identity, error) {
	if made == nil {
		made = func(time.Time, bool) {}
	}
	i := &Identity{path: path, hosts: hosts, made: made, now: now}
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := i.parse(text); err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "The key of the browser face cannot be read from %s", path).
				WithHint("Put it back from a copy. Without it a new one must be made, and whoever pinned the old one must be told: move the file away for that.")
		}
	}
	if _, err := i.fresh(); err != nil {
		return nil, err
	}
	return i, nil
}

func read(path string) ([]byte, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 || st.Size() > maxFile {
		return nil, fault.New(fault.Forbidden, "The key of the browser face in %s is not the owner's alone", path).
			WithHint("Whoever could read it can pretend to be this Termic. Move the file away; a new key is made, and whoever pinned the old one must be told.")
	}
	return os.ReadFile(path)
}

// parse takes the key and, if it is there, the certificate out of the file.
func (i *Identity) parse(text []byte) error {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		switch block.Type {
		case "PRIVATE KEY":
			k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return err
			}
			i.key, _ = k.(*ecdsa.PrivateKey)
		case "CERTIFICATE":
			leaf, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return err
			}
			i.cert = tls.Certificate{Certificate: [][]byte{block.Bytes}, Leaf: leaf}
		}
	}
	if i.key == nil || i.key.Curve != elliptic.P256() {
		return errors.New("it holds no key that fits")
	}
	i.cert.PrivateKey = i.key
	return nil
}

// Certificate is for tls.Config: the present certificate, made anew where it is about to run out.
func (i *Identity) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) { return i.fresh() }

// Expires is when the present certificate runs out.
func (i *Identity) Expires() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cert.Leaf.NotAfter
}

// Fingerprint is the pin of the key.
func (i *Identity) Fingerprint() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return Pin(i.cert.Leaf)
}

func (i *Identity) fresh() (*tls.Certificate, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.good() {
		if err := i.renew(); err != nil {
			return nil, err
		}
	}
	c := i.cert
	return &c, nil
}

// good reports whether the certificate is the key's, names every host, and lasts. i.mu must be held.
func (i *Identity) good() bool {
	leaf, now := i.cert.Leaf, i.now()
	if leaf == nil || !i.key.PublicKey.Equal(leaf.PublicKey) || now.Before(leaf.NotBefore) || now.After(leaf.NotAfter.Add(-renewIn)) {
		return false
	}
	return !slices.ContainsFunc(i.hosts, func(h string) bool { return leaf.VerifyHostname(h) != nil })
}

// renew makes a certificate over the key and writes both down. i.mu must be held.
func (i *Identity) renew() error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := i.now()
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Termic"}, NotBefore: now.Add(-early), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	for _, h := range i.hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &i.key.PublicKey, i.key)
	if err != nil {
		return fmt.Errorf("sign a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := errors.Join(pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: key}), pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(i.path, b.Bytes(), 0o600, atomicfile.ExactMode()); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The key of the browser face could not be written to %s", i.path).
			WithHint("Check the free space and the permissions of the folder.")
	}
	i.made(leaf.NotAfter, i.cert.Leaf == nil)
	i.cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: i.key, Leaf: leaf}
	return nil
}
