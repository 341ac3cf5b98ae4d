package core

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/settings"
)

// project is somebody who publishes releases: a key, and an address on this machine.
type project struct {
	t       *testing.T
	dir     string
	key     string // its public half
	server  *httptest.Server
	mu      sync.Mutex
	files   map[string][]byte
	asked   int // requests for a feed
	touched int // connections
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("NOT TESTED: releases: there is no ssh-keygen to sign with")
	}
	p := &project{t: t, dir: t.TempDir(), files: map[string][]byte{}}
	p.newKey()
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.URL.Path == "/latest.json" {
			p.asked++
		}
		if text, ok := p.files[r.URL.Path]; ok {
			_, _ = w.Write(text)
			return
		}
		http.NotFound(w, r)
	}))
	p.server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.mu.Lock()
			p.touched++
			p.mu.Unlock()
		}
	}
	p.server.Start()
	t.Cleanup(p.server.Close)
	return p
}

func (p *project) newKey() {
	p.t.Helper()
	file := filepath.Join(p.dir, "key")
	for _, f := range []string{file, file + ".pub"} {
		_ = os.Remove(f) // the first time there is none
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file + ".pub")
	must(p.t, err)
	p.key = strings.TrimSpace(string(text))
}

// publish signs a feed and puts it where it is asked for.
func (p *project) publish(version string, made time.Time) {
	p.t.Helper()
	file := filepath.Join(p.dir, "latest.json")
	text := fmt.Appendf(nil, `{"format":1,"version":%q,"made":%q,"until":%q,"page":"https://example.com/%s"}`, version, made.Format(time.RFC3339), made.Add(180*24*time.Hour).Format(time.RFC3339), version)
	must(p.t, os.WriteFile(file, text, 0o600))
	_ = os.Remove(file + ".sig") // ssh-keygen would ask
	if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", filepath.Join(p.dir, "key"), "-n", "termic-feed", file).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	signature, err := os.ReadFile(file + ".sig")
	must(p.t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files["/latest.json"], p.files["/latest.json.sig"] = text, signature
}

func (p *project) change(path string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path] = text
}

func (p *project) counts() (asked, touched int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked, p.touched
}

// releaseApp is a core whose clock the test turns.
type releaseApp struct {
	*Core
	t     *testing.T
	file  *settings.File
	state *store.Store
	end   func()

	mu     sync.Mutex
	now    time.Time
	timers []chan time.Time
}

func openReleaseApp(t *testing.T, dir, version string, at time.Time, built Releases) *releaseApp {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	a := &releaseApp{t: t, now: at}
	var err error
	a.file, err = settings.Open(filepath.Join(dir, "settings.toml"), settings.Options{Home: dir, Log: log})
	must(t, err)
	a.state, err = store.Open(t.Context(), filepath.Join(dir, "termic.db"), store.Options{Log: log})
	must(t, err)
	git, err := worktree.New(worktree.Options{Log: log, Env: os.Environ()})
	must(t, err)
	clock := Clock{Wall: a.wall, Timer: func(time.Duration) (<-chan time.Time, func() bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		c := make(chan time.Time, 1)
		a.timers = append(a.timers, c)
		return c, func() bool { return true }
	}}
	a.Core, err = New(t.Context(), Options{Clock: clock, Store: a.state, Settings: a.file, Git: git, Host: ptyhost.New(ptyhost.Options{Log: log}), Releases: built,
		Shell: shellenv.NewProber([]string{"SHELL=/bin/sh", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}), Log: log, Home: dir, DataDir: filepath.Join(dir, "data"), Version: version})
	must(t, err)
	a.end = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		must(t, a.Close(ctx))
		must(t, a.state.Close())
		must(t, a.file.Close())
	})
	t.Cleanup(a.end)
	return a
}

func (a *releaseApp) wall() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

// pass lets time go by, and every timer ring.
func (a *releaseApp) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(d)
	for _, c := range a.timers {
		select {
		case c <- a.now:
		default:
		}
	}
	a.timers = nil
}

func (a *releaseApp) set(values map[string]any) {
	a.t.Helper()
	must(a.t, a.file.Patch(a.t.Context(), values))
}

func (a *releaseApp) known() api.UpdateResult {
	a.t.Helper()
	r, err := a.UpdateCheck(a.t.Context(), nil, api.UpdateCheckParams{})
	must(a.t, err)
	return r
}

func (a *releaseApp) until(what string, ok func(api.UpdateResult) bool) api.UpdateResult {
	a.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r := a.known()
		if ok(r) {
			return r
		}
		if time.Now().After(end) {
			a.t.Fatalf("%s never came true: %+v", what, r)
		}
	}
}

// still gives a goroutine that would ask, wrongly, the time to do so.
func (p *project) still(why string, asked int) {
	p.t.Helper()
	time.Sleep(150 * time.Millisecond)
	if got, _ := p.counts(); got != asked {
		p.t.Fatalf("%s: it was asked %d times, want %d", why, got, asked)
	}
}

// TestReleasesOff: without the switch there is no connection at all, whoever asks for what.
func TestReleasesOff(t *testing.T) {
	p := newProject(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p.publish("9.9.9", at)
	a := openReleaseApp(t, t.TempDir(), "0.1.0", at, Releases{Address: p.server.URL + "/latest.json", Key: p.key})
	_, err := a.Doctor(t.Context(), nil, api.DoctorParams{})
	must(t, err)
	s, err := a.WindowState(t.Context(), nil, api.WindowStateParams{})
	must(t, err)
	if s.Updates.State != api.UpdatesOff || s.Updates.Latest != "" || s.Updates.Address != p.server.URL+"/latest.json" {
		t.Errorf("the window is told %+v", s.Updates)
	}
	if _, err := a.UpdateCheck(t.Context(), nil, api.UpdateCheckParams{Now: true}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("asking now: %v", err)
	}
	a.pass(100 * 24 * time.Hour)
	p.still("it is off", 0)
	if _, touched := p.counts(); touched != 0 {
		t.Errorf("%d connections", touched)
	}
	// Switched on and off again, it stops.
	a.set(map[string]any{"updates.check": true})
	a.until("an answer", func(r api.UpdateResult) bool { return r.State == api.UpdatesNewer })
	a.set(map[string]any{"updates.check": false})
	a.until("being off", func(r api.UpdateResult) bool { return r.State == api.UpdatesOff && r.Latest == "" })
	asked, _ := p.counts()
	a.pass(100 * 24 * time.Hour)
	p.still("it is off again", asked)
}

// TestReleasesWithoutAddress: switched on, a build that knows no address or no key asks nobody, and says so.
func TestReleasesWithoutAddress(t *testing.T) {
	p := newProject(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a := openReleaseApp(t, t.TempDir(), "0.1.0", at, Releases{})
	a.set(map[string]any{"updates.check": true})
	a.until("no address", func(r api.UpdateResult) bool {
		return r.State == api.UpdatesUnset && strings.Contains(r.Error, "names no address")
	})
	a.set(map[string]any{"updates.address": p.server.URL + "/latest.json"})
	a.until("no key", func(r api.UpdateResult) bool {
		return r.State == api.UpdatesUnset && strings.Contains(r.Error, "has no key")
	})
	if _, err := a.UpdateCheck(t.Context(), nil, api.UpdateCheckParams{Now: true}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("asking now: %v", err)
	}
	p.still("there is no key", 0)
}

// TestReleases: asked once a day, told of what is newer, and of nothing that is old, forged or of another key.
func TestReleases(t *testing.T) {
	p, dir := newProject(t), t.TempDir()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p.publish("0.2.0", at)
	a := openReleaseApp(t, dir, "0.2.0-rc.1", at, Releases{})
	a.set(map[string]any{"updates.check": true, "updates.address": p.server.URL + "/latest.json", "updates.key": p.key})
	r := a.until("an answer", func(r api.UpdateResult) bool { return r.State == api.UpdatesNewer })
	if r.Latest != "0.2.0" || r.Page != "https://example.com/0.2.0" || r.Error != "" || r.Found != "2026-11-30T12:00:00Z" {
		t.Errorf("told: %+v", r)
	}
	a.pass(23 * time.Hour)
	p.still("a day has not passed", 1)
	a.pass(6 * time.Hour) // and the jitter
	a.until("the next day", func(r api.UpdateResult) bool { return r.Found == "2026-12-01T17:00:00Z" })

	// What does not hold leaves what is known as it was, and is told of.
	fails := func(name, want string) {
		t.Helper()
		_, err := a.UpdateCheck(t.Context(), nil, api.UpdateCheckParams{Now: true})
		if r := a.known(); err == nil || !strings.Contains(err.Error(), want) || r.State != api.UpdatesNewer || r.Latest != "0.2.0" || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	p.publish("0.3.0", at.Add(-time.Hour))
	fails("an older one", "was seen already")
	p.publish("0.3.0", at.Add(time.Hour))
	p.change("/latest.json", []byte(`{"format":1,"version":"6.6.6"}`))
	fails("a forged one", "not signed by the key of the project")
	p.change("/latest.json.sig", []byte("nothing"))
	fails("no signature", "not signed by the key of the project")
	good := p.key
	p.newKey()
	p.publish("0.3.0", at.Add(time.Hour))
	fails("another key", "not signed by the key of the project")
	asked, _ := p.counts()
	a.pass(3 * time.Hour)
	p.still("it failed not long ago", asked)

	// An app that is started again knows what it knew, and does not ask anew.
	a.end()
	a = openReleaseApp(t, dir, "0.2.0", a.wall(), Releases{})
	if r := a.known(); r.State != api.UpdatesCurrent || r.Page != "" || r.Latest != "0.2.0" {
		t.Errorf("after a start: %+v", r)
	}
	p.still("it was asked not long ago", asked)

	// With the other key, what the first one signed counts for nothing, and the order of its feeds begins anew.
	p.publish("0.1.5", at.Add(-time.Hour))
	a.set(map[string]any{"updates.key": p.key})
	if r, err := a.UpdateCheck(t.Context(), nil, api.UpdateCheckParams{Now: true}); err != nil || r.Latest != "0.1.5" || r.State != api.UpdatesCurrent {
		t.Errorf("with another key: %+v, %v", r, err)
	}
	a.set(map[string]any{"updates.key": good})
	if r := a.until("the key", func(r api.UpdateResult) bool { return r.State == api.UpdatesUnasked }); r.Latest != "" {
		t.Errorf("with the first key again: %+v", r)
	}
	rows, _, err := a.state.Ledger(t.Context(), store.LedgerFilter{Limit: 100})
	must(t, err)
	for _, row := range rows {
		if row.Verb == "update_check" && row.Principal == byTermic {
			return
		}
	}
	t.Error("no look is in the ledger")
}

// TestBuildsWithoutAVersion are told what the newest release is, and that it cannot be compared.
func TestBuildsWithoutAVersion(t *testing.T) {
	p := newProject(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p.publish("0.2.0", at)
	a := openReleaseApp(t, t.TempDir(), "dev", at, Releases{Address: p.server.URL + "/latest.json", Key: p.key})
	a.set(map[string]any{"updates.check": true})
	a.until("an answer", func(r api.UpdateResult) bool { return r.State == api.UpdatesUnknown && r.Latest == "0.2.0" })
	if f := a.updateFinding(); f.Level != "note" || !strings.Contains(f.Detail, "0.2.0") {
		t.Errorf("doctor says %+v", f)
	}
}
