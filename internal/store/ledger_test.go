package store

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"termic/internal/fault"
)

func row(n int) LedgerRow {
	return LedgerRow{Phase: PhaseDone, Call: fmt.Sprint("call", n), Principal: "owner", Face: "cli", Verb: "task_list",
		Target: fmt.Sprint("t", n%3), Outcome: "ok", Duration: time.Duration(n) * time.Millisecond, Shape: "{project:text}"}
}

func wantChain(t *testing.T, s *Store, newest int64, want string) {
	t.Helper()
	if got, err := s.VerifyChain(t.Context(), newest); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("VerifyChain(%d) = %q, %v; want %q", newest, got, err, want)
	}
}

func TestLedger(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	wantChain(t, s, 0, ChainWhole)
	for n := range 10 {
		if err := s.Append(ctx, row(n)); err != nil {
			t.Fatal(err)
		}
	}
	rows, total, err := s.Ledger(ctx, LedgerFilter{Target: "t1", Limit: 2})
	if err != nil || total != 3 || len(rows) != 2 || rows[0].Seq != 8 || rows[1].Seq != 5 {
		t.Errorf("rows %+v of %d, %v", rows, total, err)
	}
	rows, total, err = s.Ledger(ctx, LedgerFilter{Target: "t1", Before: 5})
	if err != nil || total != 3 || len(rows) != 1 || rows[0].Seq != 2 {
		t.Errorf("older rows %+v of %d, %v", rows, total, err)
	}
	want := row(1)
	want.Seq, want.Time, want.PrevHash, want.Hash = 2, rows[0].Time, rows[0].PrevHash, rows[0].Hash
	if diff := cmp.Diff(want, rows[0]); diff != "" || len(rows[0].Hash) != 64 {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if rows, _, _ := s.Ledger(ctx, LedgerFilter{Principal: "other"}); len(rows) != 0 {
		t.Errorf("rows of another principal: %+v", rows)
	}
	wantChain(t, s, 0, ChainWhole)
	wantChain(t, s, 3, ChainWhole)
	wantCode(t, s.Append(ctx, LedgerRow{Phase: "x"}), fault.Internal)
	big := row(1)
	big.Shape = strings.Repeat("x", maxShape+1)
	wantCode(t, s.Append(ctx, row(2), big), fault.InvalidArgument)
	if _, total, _ := s.Ledger(ctx, LedgerFilter{}); total != 10 {
		t.Errorf("a refused append left %d rows", total)
	}
}

func TestGroupedRowsAreCommitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	other := func() int {
		var n int
		if err := raw(t, path).QueryRow(`SELECT count(*) FROM ledger`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	s, ctx := openAt(t, path, Options{GroupDelay: time.Hour}), t.Context()
	group := func(n int) {
		t.Helper()
		for i := range n {
			if err := s.AppendGrouped(ctx, row(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	group(groupMost)
	if n := other(); n != 0 {
		t.Errorf("%d rows were not grouped", n)
	}
	group(1)
	if n := other(); n != groupMost+1 {
		t.Errorf("a full group: %d rows", n)
	}
	group(2)
	if err := s.Append(ctx, row(9)); err != nil {
		t.Fatal(err)
	}
	rows, total, err := s.Ledger(ctx, LedgerFilter{Limit: 1})
	if err != nil || total != groupMost+4 || rows[0].Call != "call9" {
		t.Errorf("a writing call's row comes after what was grouped before it: %+v of %d, %v", rows, total, err)
	}
	group(3)
	if _, total, _ := s.Ledger(ctx, LedgerFilter{}); total != groupMost+7 {
		t.Errorf("a reader sees %d rows", total)
	}
	group(5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := other(); n != groupMost+12 {
		t.Errorf("after Close: %d rows", n)
	}

	s = openAt(t, path, Options{GroupDelay: time.Millisecond})
	group(1)
	deadline := time.Now().Add(20 * time.Second)
	for other() != groupMost+13 {
		if time.Now().After(deadline) {
			t.Fatal("a grouped row was never committed")
		}
		time.Sleep(time.Millisecond)
	}
	wantChain(t, s, 0, ChainWhole)
}

func TestTheLedgerRefusesChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	s := openAt(t, path, Options{})
	for n := range 3 {
		if err := s.Append(t.Context(), row(n)); err != nil {
			t.Fatal(err)
		}
	}
	db := raw(t, path)
	for _, query := range []string{
		`UPDATE ledger SET verb = 'x' WHERE seq = 2`, `DELETE FROM ledger WHERE seq = 2`, `DELETE FROM ledger`,
		`INSERT INTO ledger SELECT 0, time, phase, call, principal, face, verb, target, outcome, duration_ms, shape, prev_hash, hash FROM ledger WHERE seq = 2`,
		`INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE seq = 2`, `DELETE FROM ledger_anchor`,
		`UPDATE ledger_anchor SET seq = 2, hash = 'x'`, `UPDATE ledger_anchor SET seq = 9, hash = NULL`,
		`UPDATE ledger_anchor SET seq = 0`, `UPDATE ledger_anchor SET seq = -1`,
	} {
		if _, err := db.Exec(query); err == nil {
			t.Errorf("%s was taken", query)
		}
	}
	wantChain(t, s, 0, ChainWhole)
}

func TestTamperingShows(t *testing.T) {
	for _, tt := range []struct{ name, query, want string }{
		{"a changed row", `UPDATE ledger SET outcome = 'x' WHERE seq = 4`, "broken at row 4"},
		{"a changed time", `UPDATE ledger SET time = time + 1 WHERE seq = 4`, "broken at row 4"},
		{"a row with a hash of its own", `UPDATE ledger SET hash = hex(zeroblob(32)) WHERE seq = 4`, "broken at row 4"},
		{"a missing row", `DELETE FROM ledger WHERE seq = 4`, "broken at row 4"},
		{"a missing first row", `DELETE FROM ledger WHERE seq = 1`, "broken at row 1"},
		{"missing last rows", `DELETE FROM ledger WHERE seq >= 8`, "broken at row 8"},
		{"a row too many", `INSERT INTO ledger SELECT 11, time, phase, call, principal, face, verb, target, outcome, duration_ms, shape, hash, hash FROM ledger WHERE seq = 10`, "broken at row 11"},
		{"swapped rows", `UPDATE ledger SET call = CASE seq WHEN 4 THEN 'call4' ELSE 'call3' END WHERE seq IN (4, 5)`, "broken at row 4"},
		{"another end", `UPDATE ledger_anchor SET tip_hash = 'x'`, "broken at row 10"},
		{"nothing", `SELECT 1`, ChainWhole},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "termic.db")
			s := openAt(t, path, Options{})
			for n := range 10 {
				if err := s.Append(t.Context(), row(n)); err != nil {
					t.Fatal(err)
				}
			}
			db := raw(t, path)
			for _, query := range []string{`DROP TRIGGER ledger_no_update`, `DROP TRIGGER ledger_no_delete`, tt.query} {
				if _, err := db.Exec(query); err != nil {
					t.Fatal(err)
				}
			}
			wantChain(t, s, 0, tt.want)
			if tt.want != ChainWhole {
				wantCode(t, s.Check(t.Context()), fault.Unavailable)
			}
		})
	}
}

func TestPruningKeepsTheChain(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	archive := filepath.Join(dir, "ledger.jsonl")
	s := openAt(t, filepath.Join(dir, "termic.db"), Options{Now: c.now, LedgerRows: 8, LedgerAge: time.Hour, LedgerArchive: archive})
	ctx := t.Context()
	add := func(n int) {
		t.Helper()
		for i := range n {
			if err := s.Append(ctx, row(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune := func(want int64) {
		t.Helper()
		if n, err := s.PruneLedger(ctx); err != nil || n != want {
			t.Errorf("PruneLedger = %d, %v; want %d", n, err, want)
		}
		wantChain(t, s, 0, ChainWhole)
		wantChain(t, s, 2, ChainWhole)
	}
	prune(0)
	add(10)
	prune(2) // by number
	c.move(59 * time.Minute)
	add(3)
	prune(3)
	c.move(2 * time.Minute)
	prune(5) // by age: the rest of the first ten
	c.move(2 * time.Hour)
	prune(3) // all
	add(2)
	prune(0)
	rows, total, err := s.Ledger(ctx, LedgerFilter{})
	if err != nil || total != 2 || rows[0].Seq != 15 {
		t.Errorf("left: %+v of %d, %v", rows, total, err)
	}
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("archive: %v, %v", st.Mode(), err)
	}
	lines := bufio.NewScanner(f)
	prev := strings.Repeat("0", 64)
	n := 0
	for ; lines.Scan(); n++ {
		var v map[string]any
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil || v["seq"] != float64(n+1) || v["prev_hash"] != prev {
			t.Fatalf("archived row %d: %s, %v", n+1, lines.Text(), err)
		}
		prev, _ = v["hash"].(string)
	}
	if n != 13 || rows[1].PrevHash != prev {
		t.Errorf("%d rows in the archive; its chain goes on in the database: %v", n, rows[1].PrevHash == prev)
	}
}

func TestPruningALotGoesInPieces(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "termic.db"), Options{LedgerRows: 10})
	many := make([]LedgerRow, pruneChunk+500)
	for n := range many {
		many[n] = row(n)
	}
	if err := s.Append(t.Context(), many...); err != nil {
		t.Fatal(err)
	}
	if n, err := s.PruneLedger(t.Context()); err != nil || n != pruneChunk+490 {
		t.Errorf("PruneLedger = %d, %v", n, err)
	}
	wantChain(t, s, 0, ChainWhole)
}

// TestRowsOfDifferentContentDiffer is the law behind the hash: no two rows have the same bytes.
func TestRowsOfDifferentContentDiffer(t *testing.T) {
	text := rapid.StringMatching(`[ab]{0,3}`)
	gen := rapid.Custom(func(t *rapid.T) LedgerRow {
		return LedgerRow{Seq: rapid.Int64Range(1, 2).Draw(t, "seq"), Time: time.Unix(0, rapid.Int64Range(1, 2).Draw(t, "time")), Phase: text.Draw(t, "phase"),
			Call: text.Draw(t, "call"), Principal: text.Draw(t, "principal"), Face: text.Draw(t, "face"), Verb: text.Draw(t, "verb"),
			Target: text.Draw(t, "target"), Outcome: text.Draw(t, "outcome"), Shape: text.Draw(t, "shape"), PrevHash: text.Draw(t, "prev"),
			Duration: time.Duration(rapid.IntRange(0, 1).Draw(t, "ms")) * time.Millisecond}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		if cmp.Equal(a, b) != (a.sum() == b.sum()) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

// TestAReaderSeesItsOwnRow: also when somebody else is committing it at that moment.
func TestAReaderSeesItsOwnRow(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	taken := func() bool {
		s.group.mu.Lock()
		defer s.group.mu.Unlock()
		return len(s.group.rows) == 0
	}
	for n := range 100 {
		v := row(n)
		v.Principal = fmt.Sprint("reader", n)
		if err := s.AppendGrouped(ctx, v); err != nil {
			t.Fatal(err)
		}
		flushed := make(chan error, 1)
		go func() { flushed <- s.flush(ctx) }() // as the timer does
		for !taken() {
			runtime.Gosched()
		}
		rows, _, err := s.Ledger(ctx, LedgerFilter{Principal: v.Principal})
		if err != nil || len(rows) != 1 {
			t.Fatalf("row %d: %d rows, %v", n, len(rows), err)
		}
		if err := <-flushed; err != nil {
			t.Fatal(err)
		}
	}
}
