package core

import (
	"testing"

	"termic/internal/fault"
)

// TestBoundCallsLookAgain: an act that is bound to a state does nothing when any part of that is another one, whatever was found before
// its locks were taken.
func TestBoundCallsLookAgain(t *testing.T) {
	call := &Call{bound: boundTo{partTask + "1": "as it was"}}
	if err := call.still(partTask+"1", "as it was"); err != nil {
		t.Error(err)
	}
	for part, now := range map[string]string{partTask + "1": "another", partTask + "2": "as it was", partTree + "1": "as it was", partApply + "1": ""} {
		err := call.still(part, now)
		if part == partApply+"1" { // nothing was shown, and nothing is there
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v", part, err)
		}
	}
	if err := (&Call{}).still(partTask+"1", "anything"); err != nil {
		t.Errorf("a call that is not bound: %v", err)
	}
}
