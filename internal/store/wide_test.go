package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"termic/internal/fault"
)

// Rows that go in together are the rows that would have gone in one by one: all of them, each once, in their order, with their chain.
func TestLedgerTakesGroupsOfEverySize(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	n := 0
	for _, size := range []int{1, ledgerWidth - 1, ledgerWidth, ledgerWidth + 1, 2 * ledgerWidth, 3*ledgerWidth + 7, 2} {
		var rows []LedgerRow
		for range size {
			rows = append(rows, row(n))
			n++
		}
		if err := s.Append(ctx, rows...); err != nil {
			t.Fatalf("%d rows: %v", size, err)
		}
	}
	wantRows(t, s, n)
}

// wantRows compares the whole ledger with row(0) to row(n-1).
func wantRows(t *testing.T, s *Store, n int) {
	t.Helper()
	seq := n
	if err := s.EachLedger(t.Context(), LedgerFilter{}, func(got LedgerRow) error {
		want := row(seq - 1)
		want.Seq, want.Time, want.PrevHash, want.Hash = int64(seq), got.Time, got.PrevHash, got.Hash
		if got != want {
			return fmt.Errorf("row %+v, want %+v", got, want)
		}
		seq--
		return nil
	}); err != nil || seq != 0 {
		t.Errorf("%d rows of %d are missing, %v", seq, n, err)
	}
	wantChain(t, s, 0, ChainWhole)
}

// What fails half way leaves nothing behind in what is kept between two groups.
func TestLedgerAfterAGroupThatFailed(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	broken := errors.New("broken")
	many := func(from, n int) (rows []LedgerRow) {
		for i := range n {
			rows = append(rows, row(from+i))
		}
		return rows
	}
	bad := many(0, ledgerWidth+9)
	bad[ledgerWidth+5].Phase = "x"
	wantCode(t, s.Append(ctx, bad...), fault.Internal)
	wantRows(t, s, 0)
	for _, r := range many(0, 2*ledgerWidth+3) {
		if err := s.AppendGrouped(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	n := 2*ledgerWidth + 3
	for range 2 { // the grouped rows wait on, in front of those that come now
		if err := s.AppendWith(ctx, row(n), func(*Tx) error { return broken }); !errors.Is(err, broken) {
			t.Fatalf("a change that failed: %v", err)
		}
		if err := s.AppendGrouped(ctx, row(n)); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if err := s.Append(ctx, row(n)); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, n+1)
}

// BenchmarkAppendGrouped is the ledger's part of a read call.
func BenchmarkAppendGrouped(b *testing.B) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "termic.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }() // only its speed is asked for
	b.ReportAllocs()
	for b.Loop() {
		if err := s.AppendGrouped(ctx, LedgerRow{Phase: PhaseDone, Time: time.Now(), Call: "01KBC1S0M4S7RC2W8Q6Y3T5VZX", Principal: "outside", Face: "mcp",
			Verb: "task_agents", Outcome: "ok"}); err != nil {
			b.Fatal(err)
		}
	}
}
