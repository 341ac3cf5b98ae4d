package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
)

// Namespace is what a signature of a feed is made for: `ssh-keygen -Y sign -n termic-feed`. Checksums of packages are signed for another
// one, so neither signature passes for the other.
const Namespace = "termic-feed"

// The only kind of key, in the words of OpenSSH. build/package/sign.sh refuses others.
const keyKind = "ssh-ed25519"

// Key is the public half of the key that signs. Its zero value verifies nothing.
type Key struct{ public ed25519.PublicKey }

// ParseKey reads a key as it stands in a file that ends in .pub: "ssh-ed25519 AAAA… comment".
func ParseKey(text string) (Key, error) {
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != keyKind {
		return Key{}, errors.New(`it must be a public key of ssh that begins with "` + keyKind + `"`)
	}
	blob, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		return Key{}, errors.New("the key is cut off or has characters that none has")
	}
	return keyOf(blob)
}

// keyOf reads a key in the form that ssh has on the wire.
func keyOf(blob []byte) (Key, error) {
	r := reader{rest: blob}
	kind, public := r.text(), r.text()
	if r.bad || len(r.rest) > 0 || string(kind) != keyKind || len(public) != ed25519.PublicKeySize {
		return Key{}, errors.New("the key is no " + keyKind + " key, or is cut off")
	}
	return Key{ed25519.PublicKey(public)}, nil
}

// ID names the key: other keys have other ids. It is no secret.
func (k Key) ID() string {
	sum := sha256.Sum256(k.public)
	return hex.EncodeToString(sum[:16])
}

// errSignature is all that is said of a signature that does not hold: which part of it is wrong helps nobody but a forger.
var errSignature = errors.New("the signature does not hold")

// Verify looks whether signature, in the form that ssh-keygen writes, is one of k over message, made for [Namespace].
func (k Key) Verify(message, signature []byte) error {
	block, rest := pem.Decode(signature)
	if block == nil || block.Type != "SSH SIGNATURE" || len(bytes.TrimSpace(rest)) > 0 || len(k.public) == 0 {
		return errSignature
	}
	// PROTOCOL.sshsig of OpenSSH: magic, version, key, namespace, reserved, digest, signature.
	r := reader{rest: block.Bytes}
	magic, version := r.bytes(len(magicWord)), r.number()
	by, namespace, reserved, digest, signed := r.text(), r.text(), r.text(), r.text(), r.text()
	inner := reader{rest: signed}
	kind, sig := inner.text(), inner.text()
	if r.bad || inner.bad || len(r.rest) > 0 || len(inner.rest) > 0 || string(magic) != magicWord || version != 1 || string(kind) != keyKind || string(namespace) != Namespace {
		return errSignature
	}
	if signer, err := keyOf(by); err != nil || !signer.public.Equal(k.public) {
		return errSignature
	}
	var sum []byte
	switch string(digest) {
	case "sha512":
		s := sha512.Sum512(message)
		sum = s[:]
	case "sha256":
		s := sha256.Sum256(message)
		sum = s[:]
	default:
		return errSignature
	}
	about := []byte(magicWord)
	for _, part := range [][]byte{namespace, reserved, digest, sum} {
		about = append(binary.BigEndian.AppendUint32(about, uint32(len(part))), part...)
	}
	if !ed25519.Verify(k.public, about, sig) {
		return errSignature
	}
	return nil
}

const magicWord = "SSHSIG"

// reader takes a message of ssh apart. What it is asked for beyond the end is empty, and bad is set.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) number() uint32 {
	b := r.bytes(4)
	if r.bad {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

func (r *reader) text() []byte {
	n := r.number()
	if uint64(n) > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	return r.bytes(int(n))
}
