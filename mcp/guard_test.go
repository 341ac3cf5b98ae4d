package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termic/internal/grant"
	"termic/internal/inlet"
)

// TestARefusalIsTheEnd: whatever is wrong with a request, it reaches no verb: a status that says no is not all that there is to it.
func TestARefusalIsTheEnd(t *testing.T) {
	var calls atomic.Int64
	counted := backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		calls.Add(1)
		return json.RawMessage(`{}`), nil
	})
	r := newRig(t, counted, Limits{BodyBytes: 10_000})
	if a := r.exchange(r.goodWire().text(t)); a.status != 200 || calls.Load() != 1 {
		t.Fatalf("a good request: %+v, %d calls", a, calls.Load())
	}
	for _, f := range faults {
		w := r.goodWire()
		f.put(w)
		r.backoff.Clear("")
		if a := r.exchange(w.text(t)); a.status != f.status || calls.Load() != 1 {
			t.Errorf("%s: status %d, and %d calls reached a verb", f.name, a.status, calls.Load()-1)
		}
	}
	closed := newRig(t, counted, Limits{})
	other, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	done := make(chan error, 1)
	go func() { done <- closed.Refuse(other) }()
	w := closed.goodWire()
	w.host = other.Addr().String()
	closed.host = w.host
	if a := closed.exchange(w.text(t)); a.status != 403 || calls.Load() != 1 {
		t.Errorf("an address that is nobody's: status %d, %d calls", a.status, calls.Load()-1)
	}
	check(t, closed.Close())
	check(t, <-done)
}

// TestARefusedBodyIsToldOnce: the ledger hears of a body that was refused once, in the words of its status.
func TestARefusedBodyIsToldOnce(t *testing.T) {
	for want, put := range map[string]func(*wire){
		"Unsupported Media Type":   func(w *wire) { w.header["Content-Type"] = "text/plain" },
		"Request Entity Too Large": func(w *wire) { w.body["large"] = strings.Repeat("x", 20_000) },
	} {
		r := newRig(t, ok, Limits{BodyBytes: 10_000})
		w := r.goodWire()
		put(w)
		r.exchange(w.text(t))
		check(t, r.Close()) // what was counted is told
		if told := r.refused.told(); len(told) != 1 || told[0] != "outside "+want+" x1" {
			t.Errorf("%q, want %q once", told, want)
		}
	}
}

// TestPagesAreToldByTheirHeaders: a browser puts an Origin on every POST; what says that it comes from nowhere or from here is no page of
// others.
func TestPagesAreToldByTheirHeaders(t *testing.T) {
	for _, c := range []struct {
		origin, site []string
		want         bool
	}{
		{nil, nil, false}, {[]string{"null"}, nil, true}, {[]string{""}, nil, true}, {[]string{"http://127.0.0.1"}, []string{"same-origin"}, true},
		{nil, []string{"none"}, false}, {nil, []string{"same-origin"}, false}, {nil, []string{"same-site"}, true}, {nil, []string{"cross-site"}, true}, {nil, []string{""}, true},
		{nil, []string{"none", "cross-site"}, true}, {nil, []string{"cross-site", "none"}, true}, {nil, []string{"none", "same-origin"}, false},
	} {
		h := http.Header{}
		if c.origin != nil {
			h["Origin"] = c.origin
		}
		if c.site != nil {
			h["Sec-Fetch-Site"] = c.site
		}
		if got := fromPage(h); got != c.want {
			t.Errorf("origin %q, site %q: %v", c.origin, c.site, got)
		}
	}
}

// TestBearerOfEither: the header of our own goes before the usual one, and neither may stand twice.
func TestBearerOfEither(t *testing.T) {
	for _, c := range []struct {
		own, usual []string
		want       string
	}{
		{nil, nil, ""}, {nil, []string{"Bearer a"}, "a"}, {[]string{"b"}, nil, "b"}, {[]string{"b"}, []string{"Bearer a"}, "b"},
		{[]string{"b", "b"}, []string{"Bearer a"}, ""}, {[]string{""}, []string{"Bearer a"}, ""}, {[]string{}, []string{"Bearer a"}, ""},
	} {
		h := http.Header{}
		if c.own != nil {
			h[TokenHeader] = c.own
		}
		if c.usual != nil {
			h["Authorization"] = c.usual
		}
		if got := bearer(h); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.own, c.usual, got, c.want)
		}
	}
}

// TestWhoGuessesWaits: the first wrong token is answered at once, the next one later, and nobody is asleep afterwards.
func TestWhoGuessesWaits(t *testing.T) {
	r := newRig(t, ok, Limits{})
	took := func() time.Duration {
		w := r.goodWire()
		w.header["Authorization"] = "Bearer x"
		start := time.Now()
		if a := r.exchange(w.text(t)); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" || a.header.Get("Connection") != "close" || a.body != "" {
			t.Errorf("%+v", a)
		}
		return time.Since(start)
	}
	took()
	if asleep := r.backoff.Asleep(); asleep != 0 {
		t.Errorf("after the first, %d are asleep", asleep)
	}
	if got := took(); got < inlet.FailStep {
		t.Errorf("the second one was answered after %v", got)
	}
	if asleep := r.backoff.Asleep(); asleep != 0 || r.Failures() != 2 {
		t.Errorf("after the second, %d are asleep and %d have failed", asleep, r.Failures())
	}
	if a := r.exchange(r.goodWire().text(t)); a.status != 200 {
		t.Errorf("a right token: %+v", a)
	}
	if got := r.backoff.Fail("x"); got != 0 {
		t.Errorf("after a right token, a wrong one waits %v", got)
	}
}

// TestOneTerminalHasItsShare: more calls at once than one terminal may have are told to come back, on a connection that ends, and others are
// served meanwhile.
func TestOneTerminalHasItsShare(t *testing.T) {
	under, goOn := make(chan struct{}), make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, c grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		if c.Terminal == "t" {
			under <- struct{}{}
			<-goOn
		}
		return json.RawMessage(`{}`), nil
	}), Limits{Door: 1})
	mine := r.mint(grant.Grant{Principal: "task:y", Class: grant.Full, Terminal: "t"})
	send := func() answered {
		w := r.goodWire()
		w.header["Authorization"] = "Bearer " + mine.Reveal()
		return r.exchange(w.text(t))
	}
	first := make(chan answered)
	go func() { first <- send() }()
	<-under
	if a := send(); a.status != 503 || a.header.Get("Retry-After") != "1" || a.header.Get("Connection") != "close" || a.body != "" {
		t.Errorf("the second call: %+v", a)
	}
	if a := r.exchange(r.goodWire().text(t)); a.status != 200 {
		t.Errorf("somebody else: %+v", a)
	}
	close(goOn)
	if a := <-first; a.status != 200 {
		t.Errorf("the first call: %+v", a)
	}
	go func() { <-under }()
	if a := send(); a.status != 200 {
		t.Errorf("after the first has ended: %+v", a)
	}
}

// TestSingle: a header that repeats the body stands there once and in what can be seen; a tab and a space can be within it.
func TestSingle(t *testing.T) {
	for _, c := range []struct {
		lines []string
		ok    bool
	}{
		{[]string{"tools/call"}, true}, {[]string{"a b"}, true}, {[]string{"a\tb"}, true}, {[]string{"~!"}, true}, {nil, false}, {[]string{""}, false}, {[]string{"a", "a"}, false},
		{[]string{"a\x1fb"}, false}, {[]string{"a\x00"}, false}, {[]string{"a\x7f"}, false}, {[]string{"a\n"}, false}, {[]string{"ü"}, false},
	} {
		h := http.Header{}
		if c.lines != nil {
			h[headerName] = c.lines
		}
		got, ok := single(h, headerName)
		if ok != c.ok || ok && got != c.lines[0] || !ok && got != "" {
			t.Errorf("%q: %q, %v", c.lines, got, ok)
		}
	}
}

func TestTrim(t *testing.T) {
	for text, want := range map[string]string{"{}": "{}", " {}": "{}", "\t\n\r {} ": "{} ", "": "", " \t\n\r": "", "\v{}": "\v{}"} {
		if got := string(trim([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCutOffJSON: a text that ends too early, or goes on where it should not, is no JSON, wherever that is.
func TestCutOffJSON(t *testing.T) {
	const whole = `{"a": [1, {"b": "c\n"}, true, null], "d": -1.5e+3}`
	for n := range len(whole) {
		if fields, err := scan([]byte(whole[:n])); !errors.Is(err, errSyntax) || fields != nil {
			t.Errorf("%q: %v, %v", whole[:n], fields, err)
		}
	}
	for _, text := range []string{`{"a":1 "b":2}`, `[1 2]`, `{"a":[}`, `{"a":{]}`, `[{"a"}]`, `{"a":[1}`, `[1,]`, `{"a":1,}`, `[,1]`, `{"a":tru}`, `{"a" 1}`, `{a:1}`, `[1}`, `{"a":1]`} {
		if fields, err := scan([]byte(text)); !errors.Is(err, errSyntax) || fields != nil {
			t.Errorf("%q: %v, %v", text, fields, err)
		}
	}
	if fields, err := scan([]byte(whole)); err != nil || len(fields) != 2 || string(get(fields, "d")) != "-1.5e+3" {
		t.Errorf("%v, %v", fields, err)
	}
}
