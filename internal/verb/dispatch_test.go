package verb

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/settings"
)

// rig is a dispatcher over a real core on a private profile.
type rig struct {
	*Dispatcher
	store *store.Store
	core  *core.Core
	host  *ptyhost.Host
	dir   string // of the profile, and the home
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, t.TempDir(), nil, "")
}

// newRigWith is newRig in a folder, with cages and settings.
func newRigWith(t *testing.T, dir string, cages core.Cages, toml string, clock ...core.Clock) *rig {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	t.Setenv("HOME", dir)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	if toml != "" {
		check(t, os.WriteFile(filepath.Join(dir, "settings.toml"), []byte(toml), 0o600))
	}
	file, err := settings.Open(filepath.Join(dir, "settings.toml"), settings.Options{Home: dir, Log: log})
	check(t, err)
	t.Cleanup(func() { check(t, file.Close()) })
	state, err := store.Open(t.Context(), filepath.Join(dir, "termic.db"), store.Options{Log: log})
	check(t, err)
	t.Cleanup(func() { check(t, state.Close()) })
	git, err := worktree.New(worktree.Options{Log: log, Env: os.Environ()})
	check(t, err)
	clock = append(clock, core.Clock{})
	host := ptyhost.New(ptyhost.Options{Log: log})
	c, err := core.New(t.Context(), core.Options{Clock: clock[0], Store: state, Settings: file, Git: git, Host: host,
		Shell: shellenv.NewProber([]string{"SHELL=/bin/sh", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}), Log: log, Home: dir, DataDir: filepath.Join(dir, "data"), Version: "test", Cages: cages})
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		check(t, c.Close(ctx))
	})
	d := NewDispatcher(c, log)
	check(t, c.StartRules(t.Context(), d))
	return &rig{d, state, c, host, dir}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// row is what a test compares of a ledger row.
type row struct{ Phase, Principal, Face, Verb, Target, Outcome, Shape string }

func (r *rig) ledger(t *testing.T) []row {
	t.Helper()
	rows, _, err := r.store.Ledger(t.Context(), store.LedgerFilter{Limit: 1000})
	check(t, err)
	var out []row
	for i := len(rows) - 1; i >= 0; i-- {
		x := rows[i]
		out = append(out, row{x.Phase, x.Principal, x.Face, x.Verb, x.Target, x.Outcome, x.Shape})
	}
	return out
}

var (
	owner  = grant.OwnerOn(grant.CLI)
	full   = grant.Caller{Principal: "outside", Face: grant.MCP, Class: grant.Full}
	scoped = grant.Caller{Principal: "task:x", Face: grant.MCP, Class: grant.Scoped, Task: "x"}
	nobody = grant.Caller{Principal: "client:x", Face: grant.MCP}
)

// TestHiddenAndMissingAnswerAlike: a verb that a caller may not use, that his face does not offer, or that the command
// line answers itself, and one that does not exist, differ only by the name that he gave.
func TestHiddenAndMissingAnswerAlike(t *testing.T) {
	r := newRig(t)
	answer := func(c grant.Caller, name string) string {
		_, err := r.Call(t.Context(), c, name, json.RawMessage(`{"bad":1}`), nil)
		f := fault.From(err)
		if f == nil || f.Code != fault.NotFound || f.Data != nil || f.Err != nil {
			t.Errorf("%s as %s on %s: %+v", name, c.Class, c.Face, f)
			return ""
		}
		return strings.ReplaceAll(f.Error(), name, "NAME") + "|" + f.Hint
	}
	want := answer(owner, "no_such_verb")
	for _, v := range All() {
		for _, c := range []grant.Caller{owner, grant.OwnerOn(grant.Window), full, scoped, nobody} {
			if v.On(c.Face) && !v.Local && c.Class.Covers(v.Class) {
				continue
			}
			if got := answer(c, v.Name); got != want {
				t.Errorf("%s as %q on %s: %q, a missing one: %q", v.Name, c.Class, c.Face, got, want)
			}
		}
	}
	for _, x := range r.ledger(t) {
		if x.Phase != "done" || x.Target != "" || x.Shape != "" || x.Outcome != "not_found" {
			t.Errorf("ledger: %+v", x)
		}
	}
}

// TestLedger: reads leave one row, writes two, refusals one; never a value.
func TestLedger(t *testing.T) {
	r := newRig(t)
	const secret = "do-not-write-me-down"
	for _, c := range []struct{ verb, params string }{
		{"project_list", ``},
		{"project_add", `{"path":"/nonexistent/` + secret + `"}`},
		{"task_archive", `{"task":"` + secret + `"}`},
		{"task_new", `{"name":"` + secret + `","nope":1}`},
		{secret, `{"task":"` + secret + `"}`},
	} {
		_, err := r.Call(t.Context(), owner, c.verb, json.RawMessage(c.params), nil)
		if (err == nil) != (c.verb == "project_list") {
			t.Errorf("%s: %v", c.verb, err)
		}
	}
	got := r.ledger(t)
	want := []row{
		{"done", "owner", "cli", "project_list", "", "ok", ""},
		{"asked", "owner", "cli", "project_add", "", "", "path:string(33)"},
		{"done", "owner", "cli", "project_add", "", "not_found", "path:string(33)"},
		{"done", "owner", "cli", "task_archive", "", "not_found", "task:string(20)"},
		{"done", "owner", "cli", "task_new", "", "invalid_argument", ""},
		{"done", "owner", "cli", "unknown", "", "not_found", ""},
	}
	for i := range got {
		if i < len(want) && got[i].Outcome != want[i].Outcome && got[i].Verb == "project_add" {
			want[i].Outcome = got[i].Outcome // which refusal it is belongs to the core's own tests
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ledger:\n%s", diff)
	}
	raw, err := json.Marshal(got)
	check(t, err)
	if strings.Contains(string(raw), secret) {
		t.Errorf("a value was written down: %s", raw)
	}
}

// TestSameBytesOnEveryFace: the same call gives the same result to the window, the command line and MCP.
func TestSameBytesOnEveryFace(t *testing.T) {
	r := newRig(t)
	var seen []string
	r.TestOnlySpy(func(c grant.Caller, verb string, params json.RawMessage) {
		seen = append(seen, verb+string(params))
	})
	for _, verb := range []string{"project_list", "task_list", "prompts"} {
		var first string
		for _, c := range []grant.Caller{owner, grant.OwnerOn(grant.Window), {Principal: "outside", Face: grant.MCP, Class: grant.Full}} {
			got, err := r.Call(t.Context(), c, verb, json.RawMessage(`{}`), nil)
			check(t, err)
			if first == "" {
				first = string(got)
			}
			if string(got) != first {
				t.Errorf("%s on %s: %s, before: %s", verb, c.Face, got, first)
			}
			if last := seen[len(seen)-1]; last != verb+"{}" {
				t.Errorf("the spy saw %s", last)
			}
		}
	}
}

// TestListsAreNeverNull: a list without elements is [], on every read that works on an empty profile.
func TestListsAreNeverNull(t *testing.T) {
	r := newRig(t)
	for _, verb := range []string{"task_list", "project_list", "task_agents", "prompts", "window_state", "ledger", "doctor", "settings_get"} {
		c := owner
		if verb == "window_state" {
			c = grant.OwnerOn(grant.Window)
		}
		got, err := r.Call(t.Context(), c, verb, nil, nil)
		check(t, err)
		if strings.Contains(string(got), "null") {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

func TestAttachIsNoOrdinaryCall(t *testing.T) {
	r := newRig(t)
	if _, err := r.Call(t.Context(), owner, "attach", json.RawMessage(`{"task":"x"}`), nil); err == nil {
		t.Error("attach was called")
	}
	if _, err := r.Attach(t.Context(), full, json.RawMessage(`{"task":"x"}`), core.AttachAs{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("attach as full: %v", err)
	}
}

// TestRevokedCallSaysSo: whatever a handler stumbles over once the token of its call was taken back, that is the reason it gives.
func TestRevokedCallSaysSo(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	v := &Verb{Name: "stumbles", Effect: reads}
	stumble := func(ctx context.Context) (any, error) {
		cancel(grant.ErrRevoked)
		_, err := r.core.NamedGrants(ctx)
		return nil, err
	}
	if _, err := r.run(ctx, v, &core.Call{}, store.LedgerRow{Call: "c", Principal: "client:x", Face: "mcp", Verb: "stumbles"}, nil, stumble); !errors.Is(err, grant.ErrRevoked) {
		t.Errorf("error %v", err)
	}
}

// TestPanicsEndOneCall: a handler that panics is an internal fault of its call, without its text.
func TestPanicsEndOneCall(t *testing.T) {
	d := NewDispatcher(nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	v := &Verb{Name: "broken"}
	_, err := d.guarded(v, &core.Call{}, func() (any, error) { panic("token=abc") })
	if f := fault.From(err); f.Code != fault.Internal || strings.Contains(f.Message+f.Hint, "abc") {
		t.Errorf("%+v", f)
	}
}
