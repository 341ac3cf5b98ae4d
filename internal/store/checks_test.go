package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"termic/internal/fault"
)

// TestChecksAreKept: with their targets in order, unique by name, and gone with them.
func TestChecksAreKept(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	add := func(v Check) (Check, error) {
		return write1(ctx, s, func(tx *Tx) (Check, error) { return tx.AddCheck(ctx, v) })
	}
	one, err := add(Check{Name: "Site", Kind: "http", Spec: "{}", Enabled: true, CreatedBy: "owner", Targets: []CheckTarget{{Target: "b"}, {Target: "a"}}})
	ok(t, err)
	if _, err := add(Check{Name: "SITE", Kind: "tcp", Spec: "{}"}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("the same name: %v", err)
	}
	if _, err := add(Check{Name: "other", Kind: "ping", Spec: "{}"}); err == nil {
		t.Error("an unknown kind was stored")
	}
	at := time.Unix(1000, 5)
	ok(t, s.Write(ctx, func(tx *Tx) error {
		if err := tx.SetTarget(ctx, one.ID, CheckTarget{Target: "gone", State: TargetUp}); err != nil {
			return err
		}
		return tx.SetTarget(ctx, one.ID, CheckTarget{Target: "a", State: TargetDown, Since: at, Ran: at, Duration: time.Second, Netgroup: "office", Detail: "said"})
	}))
	got, err := s.CheckByName(ctx, "site")
	ok(t, err)
	want := CheckTarget{Target: "a", State: TargetDown, Since: at, Ran: at, Duration: time.Second, Netgroup: "office", Detail: "said"}
	if len(got.Targets) != 2 || got.Targets[0].Target != "b" || !got.Targets[1].Since.Equal(want.Since) || got.Targets[1].State != want.State || got.Targets[1].Duration != want.Duration || got.Targets[1].Netgroup != want.Netgroup {
		t.Errorf("%+v", got)
	}
	all, err := s.Checks(ctx)
	ok(t, err)
	if len(all) != 1 || len(all[0].Targets) != 2 || all[0].Targets[0].Target != "b" {
		t.Errorf("%+v", all)
	}
	ok(t, s.Write(ctx, func(tx *Tx) error { return tx.DeleteCheck(ctx, one.ID) }))
	if err := s.Write(ctx, func(tx *Tx) error { return tx.DeleteCheck(ctx, one.ID) }); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := add(Check{Name: "site", Kind: "http", Spec: "{}", Targets: []CheckTarget{{Target: "a"}}}); err != nil {
		t.Errorf("the name is free again: %v", err)
	}
}

// TestChecksAndNetgroupsAreBounded: one more than there may be is refused, with what to do.
func TestChecksAndNetgroupsAreBounded(t *testing.T) {
	s := openNew(t)
	ctx := context.Background()
	err := s.Write(ctx, func(tx *Tx) error {
		for i := range MaxChecks {
			if _, err := tx.AddCheck(ctx, Check{Name: fmt.Sprint("c", i), Kind: "tcp", Spec: "{}", Targets: []CheckTarget{{Target: "a"}}}); err != nil {
				return err
			}
		}
		for i := range MaxNetgroups {
			if _, err := tx.AddNetgroup(ctx, Netgroup{Name: fmt.Sprint("n", i), Members: []string{"192.0.2.1"}}); err != nil {
				return err
			}
		}
		return nil
	})
	ok(t, err)
	for what, more := range map[string]func(tx *Tx) error{
		"check": func(tx *Tx) error {
			_, err := tx.AddCheck(ctx, Check{Name: "more", Kind: "tcp", Spec: "{}"})
			return err
		},
		"netgroup": func(tx *Tx) error {
			_, err := tx.AddNetgroup(ctx, Netgroup{Name: "more", Members: []string{"192.0.2.1"}})
			return err
		},
	} {
		if err := s.Write(ctx, more); fault.CodeOf(err) != fault.Conflict || fault.From(err).Hint == "" {
			t.Errorf("one more %s: %v", what, err)
		}
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
