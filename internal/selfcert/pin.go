package selfcert

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"termic/internal/fault"
)

// pinPrefix is curl's own: `curl --pinnedpubkey` takes a pin as it is.
const pinPrefix = "sha256//"

// Pin is the fingerprint of a certificate's public key: SHA-256 over its SubjectPublicKeyInfo, in base64 after "sha256//".
func Pin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return pinPrefix + base64.StdEncoding.EncodeToString(sum[:])
}

// ParsePin takes a pin in the form of Pin, or as 64 hexadecimal digits with or without colons, which is how browsers show it.
func ParsePin(s string) (string, error) {
	if b64, ok := strings.CutPrefix(s, pinPrefix); ok {
		if b, err := base64.StdEncoding.Strict().DecodeString(b64); err == nil && len(b) == sha256.Size {
			return s, nil
		}
	} else if b, err := hex.DecodeString(strings.NewReplacer(":", "", " ", "").Replace(s)); err == nil && len(b) == sha256.Size {
		return pinPrefix + base64.StdEncoding.EncodeToString(b), nil
	}
	return "", fault.New(fault.InvalidArgument, "%q is no fingerprint", s).
		WithHint("It is printed when `termic serve --web-addr` starts, and begins with %s.", pinPrefix)
}

// ErrPin is in the chain of the error of a connection whose other end has another key than the one that was pinned.
var ErrPin = errors.New("the key is not the one that was pinned")

// Pinned is a TLS configuration for a client that takes exactly one key, whoever signed for it and whatever it is called by.
func Pinned(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection below decides: the key itself is the identity
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(Pin(s.PeerCertificates[0])), []byte(pin)) != 1 {
				return ErrPin
			}
			return nil
		},
	}
}
