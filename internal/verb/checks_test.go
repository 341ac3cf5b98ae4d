package verb

import (
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// TestWhoMayWhatOfChecks: a token that is kept to projects has no checks and no netgroups; commands are the owner's alone; what
// cages are made of is the owner's to change.
func TestWhoMayWhatOfChecks(t *testing.T) {
	w := newWorld(t)
	owner := grant.OwnerOn(grant.CLI)
	op := grant.Grant{Principal: "client:op", Class: grant.Operator, Everywhere: true}.Caller(grant.MCP)
	reader := grant.Grant{Principal: "client:r", Class: grant.ReadOnly, Everywhere: true}.Caller(grant.MCP)
	kept := grant.Grant{Principal: "client:kept", Class: grant.Operator, Projects: []string{w.a.ID}}.Caller(grant.MCP)
	do[api.CheckResult](t, w, owner, "check_add", map[string]any{"name": "cmd", "kind": "command", "targets": []string{"true"}})
	do[api.CheckResult](t, w, op, "check_add", map[string]any{"name": "port", "kind": "tcp", "targets": []string{"192.0.2.1:1"}})
	do[api.NetgroupResult](t, w, op, "netgroup_add", map[string]any{"name": "office", "members": []string{"203.0.113.0/24"}})
	if got := do[api.CheckResult](t, w, reader, "check_get", map[string]any{"name": "port"}); got.Check.CreatedBy != "client:op" {
		t.Errorf("created by %q", got.Check.CreatedBy)
	}
	refuse := func(c grant.Caller, verb string, params map[string]any, words string) {
		t.Helper()
		if _, f := w.call(t, c, verb, params); f == nil || f.Code != fault.Forbidden || !strings.Contains(f.Message, words) {
			t.Errorf("%s %v as %s: %v, want %q", verb, params, c.Principal, f, words)
		}
	}
	for verb, params := range map[string]map[string]any{"check_list": {}, "check_get": {"name": "port"}, "check_probe": {"name": "port"}, "netgroup_list": {},
		"check_add": {"name": "x", "kind": "tcp", "targets": []string{"192.0.2.1:1"}}, "check_update": {"name": "port", "retries": 1},
		"check_set_enabled": {"name": "port", "to": "off"}, "check_delete": {"name": "port"}, "check_snooze": {"name": "port"},
		"netgroup_add": {"name": "x", "members": []string{"192.0.2.1"}}, "netgroup_update": {"name": "office", "note": "x"}, "netgroup_delete": {"name": "office"}} {
		refuse(kept, verb, params, "kept to some projects")
	}
	for _, c := range []grant.Caller{op, full} {
		refuse(c, "check_add", map[string]any{"name": "mine", "kind": "command", "targets": []string{"id"}}, "the owner's alone")
		refuse(c, "check_update", map[string]any{"name": "cmd", "targets": []string{"id"}}, "the owner's alone")
		refuse(c, "check_set_enabled", map[string]any{"name": "cmd", "to": "on"}, "the owner's alone")
		refuse(c, "check_snooze", map[string]any{"name": "cmd"}, "the owner's alone")
		refuse(c, "check_delete", map[string]any{"name": "cmd"}, "the owner's alone")
		refuse(c, "check_probe", map[string]any{"name": "cmd"}, "the owner's alone")
	}
	do[api.NetgroupResult](t, w, op, "netgroup_update", map[string]any{"name": "office", "members": []string{"203.0.113.0/25"}})
	_, err := w.store.UpdateProject(t.Context(), w.a.ID, func(p *store.Project) error { p.SandboxHosts = []string{"@Office:443"}; return nil })
	check(t, err)
	refuse(op, "netgroup_update", map[string]any{"name": "office", "members": []string{"0.0.0.0/0"}}, "the owner's to change")
	do[api.NetgroupResult](t, w, op, "netgroup_update", map[string]any{"name": "office", "note": "the house"})
	do[api.NetgroupResult](t, w, owner, "netgroup_update", map[string]any{"name": "office", "members": []string{"203.0.113.0/26"}})
	refuse(op, "netgroup_delete", map[string]any{"name": "office"}, "the owner's to change")
	// A name that a list has already, or that of an archived task has, is no more an operator's to fill.
	_, err = w.store.UpdateProject(t.Context(), w.b.ID, func(p *store.Project) error { p.SandboxHosts = []string{"@later", "!@never"}; return nil })
	check(t, err)
	refuse(op, "netgroup_add", map[string]any{"name": "Later", "members": []string{"0.0.0.0/0"}}, "the owner's to change")
	refuse(op, "netgroup_add", map[string]any{"name": "never", "members": []string{"203.0.113.9"}}, "the owner's to change")
	old, _ := w.task(t, w.a, "old", func(t *store.Task) { t.SandboxHosts = []string{"@past"} })
	check(t, w.store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.UpdateTask(t.Context(), old.ID, func(t *store.Task) error { t.ArchivedAt = t.Created; return nil })
		return err
	}))
	refuse(op, "netgroup_add", map[string]any{"name": "past", "members": []string{"0.0.0.0/0"}}, "the owner's to change")
	do[api.NetgroupResult](t, w, owner, "netgroup_add", map[string]any{"name": "past", "members": []string{"203.0.113.9"}})
	do[api.NetgroupDeleteResult](t, w, owner, "netgroup_delete", map[string]any{"name": "past"})
	if _, f := w.call(t, owner, "netgroup_delete", map[string]any{"name": "office"}); f == nil || f.Code != fault.Conflict || !strings.Contains(f.Hint, w.a.Name) {
		t.Errorf("%v", f)
	}
}

// TestProbeWritesItsLedgerRowAlone: a probe moves no state, tells no event, and is one row of the ledger.
func TestProbeWritesItsLedgerRowAlone(t *testing.T) {
	w := newWorld(t)
	reader := grant.Grant{Principal: "client:r", Class: grant.ReadOnly, Everywhere: true}.Caller(grant.MCP)
	do[api.CheckResult](t, w, grant.OwnerOn(grant.CLI), "check_add", map[string]any{"name": "port", "kind": "tcp", "targets": []string{"127.0.0.1:1", "127.0.0.1:2"}})
	do[api.CheckResult](t, w, grant.OwnerOn(grant.CLI), "check_set_enabled", map[string]any{"name": "port", "to": "off"})
	before, err := w.store.CheckByName(t.Context(), "port")
	check(t, err)
	rows := len(w.ledger(t))
	got := do[api.CheckProbeResult](t, w, reader, "check_probe", map[string]any{"name": "port", "target": "127.0.0.1:2"})
	if len(got.Results) != 1 || got.Results[0].Up || got.Results[0].Target != "127.0.0.1:2" {
		t.Errorf("%+v", got)
	}
	after, err := w.store.CheckByName(t.Context(), "port")
	check(t, err)
	if len(before.Targets) != 2 || after.Targets[1] != before.Targets[1] || !after.Updated.Equal(before.Updated) {
		t.Errorf("%+v became %+v", before, after)
	}
	if new := w.ledger(t)[rows:]; len(new) != 1 || new[0].Verb != "check_probe" {
		t.Errorf("%+v", new)
	}
	if events := do[api.EventListResult](t, w, reader, "event_list", map[string]any{}); len(events.Events) != 0 {
		t.Errorf("%+v", events)
	}
}
