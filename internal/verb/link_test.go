package verb

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// TestALinkNeedsAWindow: without one nothing is kept that a later window would show unasked.
func TestALinkNeedsAWindow(t *testing.T) {
	w := newWorld(t)
	for link, code := range map[string]fault.Code{"termic://new?name=x": fault.Unavailable, "termic://open/T": fault.Unavailable, "nonsense": fault.InvalidArgument} {
		w.refused(t, code, "window_link", map[string]any{"link": link}) // what no window could follow is told as that
	}
	if s := window[api.WindowState](t, w, "window_state", nil); s.Link != nil || s.Focus != "" {
		t.Errorf("kept: %+v, %q", s.Link, s.Focus)
	}
}

// TestOnlyTheOwnerFollowsLinks: a task must not open dialogs in front of the person.
func TestOnlyTheOwnerFollowsLinks(t *testing.T) {
	w := newWorld(t)
	if _, f := w.call(t, grant.Caller{Principal: "outside", Face: grant.MCP, Class: grant.Full}, "window_link", map[string]any{"link": "termic://new"}); f == nil {
		t.Error("an MCP client opened a link")
	}
}

// TestTheLedgerHasNothingOfALink: only that there was one, and how long.
func TestTheLedgerHasNothingOfALink(t *testing.T) {
	raw, err := json.Marshal(map[string]string{"link": "termic://new?prompt=hunter2"})
	check(t, err)
	if got := shapeOfText(t, raw, must(t, "window_link")); strings.Contains(got, "hunter2") || got != "link:string(27)" {
		t.Errorf("the ledger would have %q", got)
	}
}
