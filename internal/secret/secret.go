// Package secret holds bearer tokens so that they cannot be printed by accident, and compares them without leaking
// how much of a guess was right.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
)

const redacted = "[secret]"

// String is a secret value. Printing, logging or marshalling it shows only a placeholder; Reveal gives the value.
type String struct{ v string }

// Of wraps a value.
func Of(v string) String { return String{v} }

// Mint makes a 256-bit token from the system's random source, as 64 hexadecimal characters.
func Mint() String {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // crypto/rand never fails on supported systems
	}
	return String{hex.EncodeToString(b[:])}
}

// Reveal returns the value. Its callers are the few places that hand a secret to its owner.
func (s String) Reveal() string { return s.v }

// Empty reports whether there is no value.
func (s String) Empty() bool { return s.v == "" }

// Equal compares in constant time. An empty secret equals nothing, not even another empty one.
func (s String) Equal(guess string) bool {
	if s.v == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(s.v)), sha256.Sum256([]byte(guess))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String, GoString, Format and the marshallers never show the value.
func (s String) String() string               { return redacted }
func (s String) GoString() string             { return redacted }
func (s String) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (s String) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (s String) LogValue() slog.Value         { return slog.StringValue(redacted) }
