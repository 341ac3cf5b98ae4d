// Package ids makes and checks the identifiers of everything that is stored. An id is a ULID: 26 characters, sortable
// by time of birth, unique across profiles, and safe as a path segment, a branch part and an environment value.
package ids

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

var (
	mu      sync.Mutex // guards entropy: the monotonic reader is not safe for concurrent use
	entropy = ulid.Monotonic(rand.Reader, 0)
)

// New returns a fresh id. Ids made by one process sort in the order in which they were made.
func New() string {
	mu.Lock()
	defer mu.Unlock()
	return ulid.MustNew(ulid.Timestamp(time.Now()), entropy).String()
}

// Valid reports whether s has the form of an id.
func Valid(s string) bool {
	_, err := ulid.ParseStrict(s)
	return err == nil && len(s) == ulid.EncodedSize
}
