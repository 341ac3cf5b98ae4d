package store

import (
	"bytes"
	"testing"

	"termic/internal/fault"
)

// TestWebDigests: a digest is kept with its token and goes with it; the same token later has none.
func TestWebDigests(t *testing.T) {
	s := openAt(t, fixture(t, 11), Options{})
	kept := must[map[string][]byte](t)(s.WebDigests(t.Context()))
	if len(kept) != 1 || len(kept["page"]) != 32 || kept["page"][31] != 0x1f {
		t.Fatalf("of the fixture: %v", kept)
	}
	digest := bytes.Repeat([]byte{7}, 32)
	if err := s.Write(t.Context(), func(tx *Tx) error {
		if _, err := tx.AddToken(t.Context(), Token{Name: "Mixed", Scope: "readonly", Everywhere: true}); err != nil {
			return err
		}
		return tx.SetWebDigest(t.Context(), "mixed", digest)
	}); err != nil {
		t.Fatal(err)
	}
	if kept = must[map[string][]byte](t)(s.WebDigests(t.Context())); !bytes.Equal(kept["mixed"], digest) {
		t.Errorf("kept: %v", kept)
	}
	for _, bad := range [][]byte{nil, digest[:31]} {
		if err := s.Write(t.Context(), func(tx *Tx) error { return tx.SetWebDigest(t.Context(), "page", bad) }); err == nil {
			t.Errorf("%d bytes were kept", len(bad))
		}
	}
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.SetWebDigest(t.Context(), "nobody", digest) }); err == nil {
		t.Error("a digest of no token was kept")
	}
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.DeleteToken(t.Context(), "MIXED") }); err != nil {
		t.Fatal(err)
	}
	if kept = must[map[string][]byte](t)(s.WebDigests(t.Context())); kept["mixed"] != nil {
		t.Error("it outlives its token")
	}
	if _, err := s.Token(t.Context(), "mixed"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}
