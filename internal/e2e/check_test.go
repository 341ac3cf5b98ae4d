package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
)

// check waits until a check stands as it should.
func (r *rig) check(name, state string) api.Check {
	r.t.Helper()
	until := time.Now().Add(60 * time.Second)
	for {
		k := call[api.CheckResult](r, "check_get", map[string]any{"name": name}).Check
		if k.State == state {
			return k
		}
		if time.Now().After(until) {
			r.t.Fatalf("the check %s is %s, not %s: %+v\nlog:\n%s", name, k.State, state, k, r.tail())
		}
		time.Sleep(100 * time.Millisecond) // looks come by themselves
	}
}

// flipped waits until a check has told of n flips, since its state is shown a moment before, and returns them, newest first.
func (r *rig) flipped(name string, n int) []api.Happening {
	r.t.Helper()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if all := r.flips(name); len(all) >= n || time.Now().After(until) {
			return all
		}
	}
}

// flips are the events of a check, newest first.
func (r *rig) flips(name string) (out []api.Happening) {
	r.t.Helper()
	for _, e := range call[api.EventListResult](r, "event_list", map[string]any{"kind": "check_flip"}).Events {
		if e.Subject == name {
			out = append(out, e)
		}
	}
	return out
}

// TestCheckFlips: a page goes down, which the list, the window's stream and an event tell; the state outlives the app, and a start
// tells nothing twice.
func TestCheckFlips(t *testing.T) {
	r := newRig(t)
	var down atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer site.Close()
	call[api.NetgroupResult](r, "netgroup_add", map[string]any{"name": "here", "members": []string{"127.0.0.0/8"}})
	call[api.CheckResult](r, "check_add", map[string]any{"name": "aaa", "kind": "tcp", "targets": []string{site.Listener.Addr().String()}, "everyMs": 10000})
	call[api.CheckResult](r, "check_add", map[string]any{"name": "site", "kind": "http", "targets": []string{site.URL}, "everyMs": 10000})
	first := r.check("site", api.CheckUp)
	if len(first.Targets) != 1 || first.Targets[0].Netgroup != "here" || first.Targets[0].Detail != "200 OK" || len(r.flips("site")) != 0 {
		t.Errorf("%+v, events %v: the first look is no flip", first, r.flips("site"))
	}
	rev, _ := r.app.Core.Watch()
	down.Store(true)
	is := r.check("site", api.CheckDown)
	if now, _ := r.app.Core.Watch(); now == rev {
		t.Error("nobody was told that something changed")
	}
	if list := call[api.CheckListResult](r, "check_list", nil); list.Down != 1 || list.Checks[0].Name != "site" {
		t.Errorf("what is down comes first: %+v", list)
	}
	events := r.flipped("site", 1)
	if len(events) != 1 {
		t.Fatalf("%d events: %+v", len(events), events)
	}
	facts, _ := events[0].Facts.(map[string]any)
	if facts["target"] != site.URL || facts["up"] != false || facts["netgroup"] != "here" || facts["detail"] != "503 Service Unavailable" || len(events[0].Cages) != 0 {
		t.Errorf("%+v", events[0])
	}
	r.stop()
	r.start()
	again := call[api.CheckResult](r, "check_get", map[string]any{"name": "site"}).Check
	if again.State != api.CheckDown || again.Since != is.Since {
		t.Errorf("after a start it is %+v, was %+v", again, is)
	}
	down.Store(false)
	r.check("site", api.CheckUp)
	if events := r.flipped("site", 2); len(events) != 2 {
		t.Errorf("%d events after down and up: %+v", len(events), events)
	}
}

// TestChecksPage runs what docs/checks.md tells a reader to copy.
func TestChecksPage(t *testing.T) {
	runPage(t, newRig(t), "docs/checks.md", 4)
}

// TestOwnPortsOfIPv6AreNoTargets: an address with a zone is another name of the same port.
func TestOwnPortsOfIPv6AreNoTargets(t *testing.T) {
	r := newRig(t)
	face := r.web(app.WebOptions{Addr: "[::1]:0"})
	u, err := url.Parse(face.url)
	must(t, err)
	lead := httptest.NewServer(http.RedirectHandler("https://[::1%25lo]:"+u.Port()+"/", http.StatusFound))
	defer lead.Close()
	for i, target := range []string{face.url, "https://[::1%25lo]:" + u.Port() + "/", "https://[::1%257]:" + u.Port() + "/", "https://[::]:" + u.Port() + "/", lead.URL} {
		check := fmt.Sprint("face", i)
		call[api.CheckResult](r, "check_add", map[string]any{"name": check, "kind": "http", "targets": []string{target}, "everyMs": 3600000})
		got := call[api.CheckProbeResult](r, "check_probe", map[string]any{"name": check}).Results[0]
		if got.Up || !strings.Contains(got.Detail, "it is a port of Termic itself") {
			t.Errorf("%s: %+v", target, got)
		}
	}
}

// TestOwnPortsAreNoTargets: neither the endpoint nor the browser face is looked at, by number, by name, or by way of a redirect.
func TestOwnPortsAreNoTargets(t *testing.T) {
	r := newRig(t)
	face := r.web(app.WebOptions{})
	status := call[api.MCPResult](r, "mcp_enable", nil)
	for name, at := range map[string]string{"face": face.url, "endpoint": status.URL} {
		u, err := url.Parse(at)
		must(t, err)
		lead := httptest.NewServer(http.RedirectHandler(at, http.StatusFound))
		defer lead.Close()
		for i, target := range []string{at, "http://localhost:" + u.Port() + "/", "https://[::ffff:127.0.0.1]:" + u.Port() + "/", "http://0.0.0.0:" + u.Port() + "/", lead.URL} {
			check := fmt.Sprint(name, i)
			call[api.CheckResult](r, "check_add", map[string]any{"name": check, "kind": "http", "targets": []string{target}, "everyMs": 3600000})
			got := call[api.CheckProbeResult](r, "check_probe", map[string]any{"name": check}).Results[0]
			if got.Up || !strings.Contains(got.Detail, "it is a port of Termic itself") {
				t.Errorf("%s: %+v", target, got)
			}
		}
	}
}
