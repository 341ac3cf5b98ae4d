package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/inlet"
	"termic/internal/verb"
)

// read reads a resource as a caller and returns the members of the answer.
func (r *rig) readResource(g grant.Grant, uri string) map[string]json.RawMessage {
	r.t.Helper()
	quoted := string(inlet.JSON(uri))
	if strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.t.Fatalf("%q cannot stand in a header", uri)
	}
	req := r.request("resources/read", "", `"uri":`+quoted+`,`)
	req.Header.Set(headerName, uri)
	req.Header.Set("Authorization", "Bearer "+r.mint(g).Reveal())
	var out map[string]json.RawMessage
	check(r.t, json.Unmarshal([]byte(r.do(req).body), &out))
	return out
}

// whoReads says who may read what, by hand from decision 51: readonly, operator and approve, the full class, and the agent of a
// caged task.
const whoReads = `
tasks              named full
approvals/pending  named full
events/recent      named full
health             named full
tasks/{id}         named full scoped
tasks/{id}/log     named full scoped
tasks/{id}/drift   named full
jobs/{id}          named full
jobs/{id}/log      named full
`

// TestWhoReadsResources: every kind of address with a token of every class calls its verb with that id and nothing else, or
// none.
func TestWhoReadsResources(t *testing.T) {
	var called string
	r := newRig(t, backendFunc(func(_ context.Context, _ grant.Caller, verb string, params json.RawMessage) (json.RawMessage, error) {
		called = verb + " " + string(params)
		return json.RawMessage(`{"ok":true}`), nil
	}), Limits{})
	r.offers.Store(true)
	id := ids.New()
	for _, line := range strings.Split(strings.TrimSpace(whoReads), "\n") {
		words := strings.Fields(line)
		known := false
		for _, res := range resources {
			known = known || res.path == words[0]
		}
		if !known {
			t.Errorf("there is no resource %s", words[0])
		}
		for class, name := range map[grant.Class]string{grant.ReadOnly: "named", grant.Operator: "named", grant.Approve: "named", grant.Full: "full", grant.Scoped: "scoped"} {
			called = ""
			uri := resourceScheme + strings.ReplaceAll(words[0], "{id}", id)
			got := r.readResource(grant.Grant{Principal: "p", Class: class, Task: id}, uri)
			may := strings.Contains(line, " "+name)
			if (got["result"] != nil) != may || (called != "") != may {
				t.Errorf("%s as %s: %s, called %q", uri, class, got, called)
			}
			if may && strings.Contains(words[0], "{id}") && !strings.Contains(called, `:"`+id+`"}`) {
				t.Errorf("%s calls %s", uri, called)
			}
		}
	}
	if n := len(strings.Split(strings.TrimSpace(whoReads), "\n")); n != len(resources) {
		t.Errorf("%d kinds of addresses, the table here has %d", len(resources), n)
	}
}

// TestResourcesOnlyRead: no address leads to a verb that changes anything, or that MCP does not offer.
func TestResourcesOnlyRead(t *testing.T) {
	for _, r := range resources {
		v, ok := verb.Lookup(r.verb)
		if !ok || v.Effect.Kind != verb.Reads || !v.On(grant.MCP) || v.Local || v.Streams {
			t.Errorf("%s calls %s: there is one: %v", r.path, r.verb, ok)
		}
		if r.param != "" && !strings.Contains(r.path, "{id}") {
			t.Errorf("%s has no id", r.path)
		}
	}
}

// TestAddressesAreExact: there is one way to write each address, and what is not one calls nothing.
func TestAddressesAreExact(t *testing.T) {
	r := newRig(t, backendFunc(func(_ context.Context, _ grant.Caller, verb string, params json.RawMessage) (json.RawMessage, error) {
		t.Errorf("called %s %s", verb, params)
		return nil, fault.New(fault.Internal, "called")
	}), Limits{})
	r.offers.Store(true)
	id := ids.New()
	for _, uri := range []string{"tasks", "termic-res:", "termic-res://", "termic-res:///tasks", "termic-res://tasks/", "termic-res://Tasks", "TERMIC-RES://tasks",
		"termic-res://tasks?x=1", "termic-res://tasks#x", "termic-res://tasks%2f" + id, "termic-res://tasks/%7Bid%7D", "termic-res://tasks/{id}", "termic-res://tasks/{id}/log",
		"termic-res://tasks//" + id, "termic-res://tasks/" + id + "/", "termic-res://tasks/" + id + "/log/", "termic-res://tasks/" + id + "/../" + id, "termic-res://tasks/./" + id,
		"termic-res://tasks/" + id[1:], "termic-res://tasks/" + id + "x", "termic-res://tasks/name", "termic-res://health/" + id, "termic-res://approvals/" + id, "termic-res://jobs",
		"termic-res://jobs/" + id + "/drift", "termic-res://user@tasks", "termic-res://tasks:80", "termic://tasks", "file:///etc/passwd", "http://127.0.0.1/tasks",
		`termic-res://tasks/x","task":"` + id, "termic-res://" + strings.Repeat("a/", 3000)} {
		got := r.readResource(grant.Grant{Principal: "p", Class: grant.Full}, uri)
		var e struct{ Code int }
		if got["error"] == nil || json.Unmarshal(got["error"], &e) != nil || e.Code != codeParams {
			t.Errorf("%.80q: %s", uri, got)
		}
	}
}

// TestResourceIsTheVerb: what a resource holds is what the tool gives, byte for byte, whatever is in it.
func TestResourceIsTheVerb(t *testing.T) {
	result := json.RawMessage(`{"job":{"a":"<b>&amp;\u2028 \"q\" ü 😀","n":1e400,"big":12345678901234567890}}`)
	r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		return result, nil
	}), Limits{})
	r.offers.Store(true)
	got := r.readResource(grant.Grant{Principal: "p", Class: grant.ReadOnly}, "termic-res://jobs/"+ids.New())
	var read struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	check(t, json.Unmarshal(got["result"], &read))
	if len(read.Contents) != 1 || read.Contents[0].Text != string(result) || read.Contents[0].MIMEType != "application/json" {
		t.Errorf("%+v", read)
	}
	req := r.request("tools/call", "job_get", `"arguments":{"job":"x"},`)
	req.Header.Set("Authorization", "Bearer "+r.mint(grant.Grant{Principal: "p", Class: grant.ReadOnly}).Reveal())
	if a := r.do(req); !strings.Contains(a.body, `"structuredContent":`+string(result)) {
		t.Error(a.body)
	}
}

// TestHiddenResource: what is missing, what is forbidden and what is no address answer alike; what went wrong says so.
func TestHiddenResource(t *testing.T) {
	var give error
	r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		return nil, give
	}), Limits{})
	r.offers.Store(true)
	full := grant.Grant{Principal: "p", Class: grant.Full}
	uri := "termic-res://tasks/" + ids.New()
	var first string
	for _, give = range []error{fault.New(fault.NotFound, "There is no task %q", "x").WithHint("task_list"), fault.New(fault.Forbidden, "Not yours"), fault.New(fault.InvalidArgument, "odd")} {
		got := fmt.Sprint(string(r.readResource(full, uri)["error"]))
		if first == "" {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" || !strings.Contains(got, "There is no such resource") || !strings.Contains(got, uri) {
			t.Errorf("%v: %s", give, got)
		}
	}
	give = fault.New(fault.Unavailable, "The disk is full").WithHint("Make room, then `termic list`.")
	got := string(r.readResource(full, uri)["error"])
	if !strings.Contains(got, "-32603") || !strings.Contains(got, "The disk is full") || !strings.Contains(got, "task_list") {
		t.Error(got)
	}
}

// TestSwitchOfResources: with the switch off there is no method and no capability; it works at once, both ways.
func TestSwitchOfResources(t *testing.T) {
	r := newRig(t, ok, Limits{})
	full := grant.Grant{Principal: "p", Class: grant.Full}
	for _, on := range []bool{false, true, false} {
		r.offers.Store(on)
		got := r.readResource(full, "termic-res://health")
		if (got["result"] != nil) != on || !on && !strings.Contains(string(got["error"]), "-32601") {
			t.Errorf("on %v: %s", on, got)
		}
		req := r.request("server/discover", "", "")
		req.Header.Set("Authorization", "Bearer "+r.full.Reveal())
		if a := r.do(req); strings.Contains(a.body, `"resources":{}`) != on {
			t.Errorf("on %v: %s", on, a.body)
		}
	}
}
