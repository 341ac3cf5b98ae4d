package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wire is a request in parts, so that faults can be put into it one beside another.
type wire struct {
	verb, path, host string
	header           map[string]string
	body             map[string]any
	spoil            func(string) string // of the body's text
}

// faultCase is one thing that is wrong with a request, and how it is answered: an HTTP status and a code of JSON-RPC, 0 for
// an answer without a frame.
type faultCase struct {
	name   string
	status int
	code   int
	put    func(*wire)
}

// faults stand in the order in which they have to be found; the page of the protocol's facts has it as item 39.
var faults = []faultCase{
	{"path", 404, 0, func(w *wire) { w.path = "/other" }},
	{"host", 403, 0, func(w *wire) { w.host = "evil.example" }},
	{"origin", 403, 0, func(w *wire) { w.header["Origin"] = "null" }},
	{"verb", 405, 0, func(w *wire) { w.verb = "PUT" }},
	{"token", 401, 0, func(w *wire) { w.header["Authorization"] = "Bearer x" }},
	{"media", 415, 0, func(w *wire) { w.header["Content-Type"] = "text/plain" }},
	{"size", 413, 0, func(w *wire) { w.body["large"] = strings.Repeat("x", 20_000) }},
	{"syntax", 400, codeParse, func(w *wire) { w.spoil = func(s string) string { return s + "}" } }},
	{"repeated name", 400, codeRequest, func(w *wire) {
		w.spoil = func(s string) string { return strings.Replace(s, "{", `{"jsonrpc":"2.0",`, 1) }
	}},
	{"id", 400, codeRequest, func(w *wire) { w.body["id"] = 1.5 }},
	{"jsonrpc", 400, codeRequest, func(w *wire) { w.body["jsonrpc"] = "1.0" }},
	{"no id", 400, codeRequest, func(w *wire) { delete(w.body, "id") }},
	{"no version header", 400, codeHeader, func(w *wire) { delete(w.header, headerVersion) }},
	{"no version in _meta", 400, codeParams, func(w *wire) { delete(metaOf(w), metaVersion) }},
	{"versions differ", 400, codeHeader, func(w *wire) { metaOf(w)[metaVersion] = "2025-11-25" }},
	{"version not spoken", 400, codeUnsupported, func(w *wire) { w.header[headerVersion], metaOf(w)[metaVersion] = "2099-01-01", "2099-01-01" }},
	{"no capabilities", 400, codeParams, func(w *wire) { delete(metaOf(w), metaCapabilities) }},
	{"level", 400, codeParams, func(w *wire) { metaOf(w)[metaLogLevel] = "loud" }},
	{"no method header", 400, codeHeader, func(w *wire) { delete(w.header, headerMethod) }},
	{"unknown method", 404, codeMethod, func(w *wire) { w.body["method"], w.header[headerMethod] = "no/such", "no/such" }},
	{"no name header", 400, codeHeader, func(w *wire) { delete(w.header, headerName) }},
	{"unknown tool", 200, codeParams, func(w *wire) { w.header[headerName], paramsOf(w)["name"] = "x", "x" }},
}

func paramsOf(w *wire) map[string]any { return w.body["params"].(map[string]any) }
func metaOf(w *wire) map[string]any   { return paramsOf(w)["_meta"].(map[string]any) }

func (r *rig) goodWire() *wire {
	return &wire{verb: "POST", path: Path, host: r.host,
		header: map[string]string{"Authorization": "Bearer " + r.full.Reveal(), "Content-Type": "application/json",
			headerVersion: Revision, headerMethod: "tools/call", headerName: "project_list"},
		body: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "project_list",
			"_meta": map[string]any{metaVersion: Revision, metaCapabilities: map[string]any{}}}},
		spoil: func(s string) string { return s }}
}

// text is the request as it is sent.
func (w *wire) text(t testing.TB) string {
	b, err := json.Marshal(w.body)
	check(t, err)
	body := w.spoil(string(b))
	s := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", w.verb, w.path, w.host, len(body))
	for name, value := range w.header {
		s += name + ": " + value + "\r\n"
	}
	return s + "\r\n" + body
}

// TestOrderOfRefusals puts every fault, and every two of them, into a request: the first in the list is the one that is
// answered. Two faults that undo one another are left out.
func TestOrderOfRefusals(t *testing.T) {
	r := newRig(t, ok, Limits{BodyBytes: 10_000})
	if a := r.exchange(r.goodWire().text(t)); a.status != 200 || a.code() != 0 {
		t.Fatalf("a good request: %+v", a)
	}
	for i, first := range faults {
		for _, second := range faults[i:] {
			w := r.goodWire()
			first.put(w)
			second.put(w)
			if undone(first.name, second.name) {
				continue
			}
			r.backoff.Clear("")
			if a := r.exchange(w.text(t)); a.status != first.status || a.code() != first.code || (a.body != "") != (first.code != 0) {
				t.Errorf("%s and %s: %d %d %q, want %d %d", first.name, second.name, a.status, a.code(), a.body, first.status, first.code)
			}
		}
	}
}

// undone reports whether the second fault takes the first one away, or makes another request of it.
func undone(first, second string) bool {
	switch first + ", " + second {
	case "repeated name, jsonrpc", // it changes which of the two is read, not whether there are two
		"syntax, repeated name", // one text can be spoilt once
		"no version header, version not spoken", "no version in _meta, versions differ", "no version in _meta, version not spoken",
		"versions differ, version not spoken", "id, no id",
		"no method header, unknown method", "no name header, unknown tool":
		return true
	}
	return false
}

// exchange sends a text on a connection of its own.
func (r *rig) exchange(text string) answered {
	r.t.Helper()
	c := r.dial()
	defer func() { _ = c.Close() }() // it was read to the end
	r.send(c, text)
	return r.receive(c)
}
