package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/fault"
)

// Bounds of the ledger.
const (
	groupMost    = 512  // grouped rows that may wait; the caller that finds them full commits them itself
	ledgerMost   = 1000 // rows that one reading returns
	ledgerUsual  = 100  // rows that one reading returns when none is named
	maxShape     = 4096 // bytes of a row's shape
	maxLedgerKey = 512  // bytes of each other text of a row
	ledgerWidth  = 64   // rows that one statement appends: more were no quicker, and took more memory
)

const ledgerColumns = `seq, time, phase, call, principal, face, verb, target, outcome, duration_ms, shape, prev_hash, hash`

// group holds ledger rows that wait to be committed together.
type group struct {
	mu     sync.Mutex  // guards the following
	rows   []LedgerRow // at most groupMost
	under  int         // of them were taken out and are being committed
	spare  []LedgerRow // empty: memory for the next ones
	closed bool

	kick chan struct{} // there are rows
}

func scanLedger(row scanner) (LedgerRow, error) {
	var v LedgerRow
	var at, ms int64
	err := row.Scan(&v.Seq, &at, &v.Phase, &v.Call, &v.Principal, &v.Face, &v.Verb, &v.Target, &v.Outcome, &ms, &v.Shape, &v.PrevHash, &v.Hash)
	v.Time, v.Duration = unstamp(at), time.Duration(ms)*time.Millisecond
	return v, err
}

// Append adds rows to the end of the ledger, as part of the transaction. Seq, PrevHash and Hash are made here; the
// duration is kept in whole milliseconds.
func (t *Tx) Append(ctx context.Context, rows ...LedgerRow) error {
	if len(rows) == 0 {
		return nil
	}
	var seq int64
	var prev string
	if err := t.q.QueryRowContext(ctx, `SELECT tip_seq, tip_hash FROM ledger_anchor`).Scan(&seq, &prev); err != nil {
		return fmt.Errorf("read the end of the ledger: %w", err)
	}
	t.ledger.values = t.ledger.values[:0] // a row that was refused may have left some
	for some := range slices.Chunk(rows, ledgerWidth) {
		for _, v := range some {
			seq++
			v.Seq, v.PrevHash, v.Duration = seq, prev, v.Duration.Truncate(time.Millisecond)
			if v.Time.IsZero() {
				v.Time = t.now()
			}
			if err := checkRow(v); err != nil {
				return err
			}
			v.Hash = v.sum()
			prev = v.Hash
			t.ledger.add(&v)
		}
		if err := t.ledger.run(ctx, t.q, len(some)); err != nil {
			return fmt.Errorf("append to the ledger: %w", err)
		}
	}
	if _, err := t.q.ExecContext(ctx, `UPDATE ledger_anchor SET tip_seq = ?, tip_hash = ?`, seq, prev); err != nil {
		return fmt.Errorf("move the end of the ledger: %w", err)
	}
	return nil
}

// ledgerInsert appends rows, several with one statement: that takes less of the processor, and so does keeping the statement. It is
// of whoever holds the write lock.
type ledgerInsert struct {
	values []any
	wide   *sql.Stmt // of ledgerWidth rows; nil until there were as many
}

func (i *ledgerInsert) add(v *LedgerRow) {
	i.values = append(i.values, v.Seq, stamp(v.Time), v.Phase, v.Call, v.Principal, v.Face, v.Verb, v.Target, v.Outcome,
		v.Duration.Milliseconds(), v.Shape, v.PrevHash, v.Hash)
}

// run appends the rows that were added, of which there are n.
func (i *ledgerInsert) run(ctx context.Context, q querier, n int) (err error) {
	values := i.values
	i.values = i.values[:0]
	if n == ledgerWidth && i.wide != nil {
		_, err = i.wide.ExecContext(ctx, values...)
		return err
	}
	query := `INSERT INTO ledger (` + ledgerColumns + `) VALUES ` + strings.TrimSuffix(strings.Repeat(`(?,?,?,?,?,?,?,?,?,?,?,?,?),`, n), ",")
	if n < ledgerWidth {
		_, err = q.ExecContext(ctx, query, values...)
		return err
	}
	if i.wide, err = q.PrepareContext(ctx, query); err != nil {
		return err
	}
	_, err = i.wide.ExecContext(ctx, values...)
	return err
}

func (i *ledgerInsert) close() error {
	if i.wide == nil {
		return nil
	}
	return i.wide.Close()
}

func checkRow(v LedgerRow) error {
	if v.Phase != PhaseAsked && v.Phase != PhaseDone {
		return fault.New(fault.Internal, "A ledger row has no phase")
	}
	return firstError(limit("shape", v.Shape, maxShape), limit("call", v.Call, maxLedgerKey), limit("principal", v.Principal, maxLedgerKey),
		limit("face", v.Face, maxLedgerKey), limit("verb", v.Verb, maxLedgerKey), limit("target", v.Target, maxLedgerKey),
		limit("outcome", v.Outcome, maxLedgerKey))
}

// sum is the hash of a row: SHA-256 over a name for the format, then each field with its length before it, so that no
// two rows have the same bytes.
func (v *LedgerRow) sum() string {
	b := make([]byte, 0, 512) // most rows have no more
	b = append(b, "termic ledger 1\n"...)
	for _, number := range [...]int64{v.Seq, stamp(v.Time), v.Duration.Milliseconds()} {
		b = binary.BigEndian.AppendUint64(b, uint64(number))
	}
	for _, text := range [...]string{v.Phase, v.Call, v.Principal, v.Face, v.Verb, v.Target, v.Outcome, v.Shape, v.PrevHash} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Append commits rows, and the grouped ones that came before them, before it returns. It is for writing calls.
func (s *Store) Append(ctx context.Context, rows ...LedgerRow) error {
	return s.commitRows(ctx, rows, nil)
}

// AppendWith is Append of one row and a change of the state, in one transaction.
func (s *Store) AppendWith(ctx context.Context, row LedgerRow, fn func(*Tx) error) error {
	return s.commitRows(ctx, []LedgerRow{row}, fn)
}

// AppendGrouped is for rows of reading calls: they are committed together, at the latest after a quarter of a second,
// with groupMost rows, before the next row of a writing call, or at Close. A crash may lose them. An error means that
// the row was not taken.
func (s *Store) AppendGrouped(ctx context.Context, row LedgerRow) error {
	if row.Time.IsZero() {
		row.Time = s.o.Now()
	}
	if err := checkRow(row); err != nil {
		return err
	}
	s.group.mu.Lock()
	full, closed := len(s.group.rows) >= groupMost, s.group.closed
	if !full && !closed {
		s.group.rows = append(s.group.rows, row)
	}
	s.group.mu.Unlock()
	if closed {
		return errClosed()
	}
	if full {
		return s.commitRows(ctx, []LedgerRow{row}, nil)
	}
	select {
	case s.group.kick <- struct{}{}:
	default:
	}
	return nil
}

// flush commits what is grouped.
func (s *Store) flush(ctx context.Context) error { return s.commitRows(ctx, nil, nil) }

// commitRows commits the grouped rows, then rows, then what fn changes; fn may be nil. When that fails, the grouped ones wait on.
func (s *Store) commitRows(ctx context.Context, rows []LedgerRow, fn func(*Tx) error) error {
	s.group.mu.Lock()
	idle := len(rows) == 0 && len(s.group.rows) == 0 && s.group.under == 0 // what is being committed is waited for, like the rest
	s.group.mu.Unlock()
	if idle {
		return nil
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.lock }()
	return s.flushLocked(context.WithoutCancel(ctx), rows, fn)
}

// flushLocked needs the write lock.
func (s *Store) flushLocked(ctx context.Context, rows []LedgerRow, fn func(*Tx) error) error {
	s.group.mu.Lock()
	taken := s.group.rows
	s.group.rows, s.group.spare, s.group.under = s.group.spare, nil, len(taken)
	s.group.mu.Unlock()
	rows = append(taken, rows...)
	if len(rows) == 0 {
		return nil
	}
	err := s.writeLocked(ctx, func(tx *Tx) error {
		if err := tx.Append(ctx, rows...); err != nil || fn == nil {
			return err
		}
		return fn(tx)
	})
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	if s.group.under = 0; err != nil && len(taken) > 0 {
		s.group.rows = append(taken, s.group.rows...)
		return err
	}
	clear(rows)
	s.group.spare = rows[:0]
	return err
}

// LedgerRefused stands in a filter for every outcome of an ended call but ok.
const LedgerRefused = "refused"

// LedgerCounted is how many matching rows are counted at most, where they have to be counted one by one.
const LedgerCounted = 10_000

// Ledger returns the rows that f picks, newest first, and how many match without Before and Limit: exactly where nothing is
// picked, and up to LedgerCounted+1 otherwise. Grouped rows are committed first, so that a caller sees its own.
func (s *Store) Ledger(ctx context.Context, f LedgerFilter) (rows []LedgerRow, total int64, err error) {
	if err := s.flush(ctx); err != nil {
		return nil, 0, err
	}
	where, args := f.where()
	count, counted := `SELECT count(*) FROM (SELECT 1 FROM ledger WHERE `+where+` LIMIT ?)`, append(args[:len(args):len(args)], LedgerCounted+1)
	if !f.Picks() {
		count, counted = `SELECT tip_seq - seq FROM ledger_anchor`, nil // a million rows need not be counted
	}
	if err := s.q.QueryRowContext(ctx, count, counted...).Scan(&total); err != nil {
		return nil, 0, wrap(err, "read the ledger")
	}
	rows, err = s.ledgerPage(ctx, f)
	return rows, total, err
}

func (r Reader) ledgerPage(ctx context.Context, f LedgerFilter) ([]LedgerRow, error) {
	where, args := f.where()
	if f.Before > 0 {
		where, args = where+` AND seq < ?`, append(args, f.Before)
	}
	most := f.Limit
	if most <= 0 {
		most = ledgerUsual
	}
	return many(ctx, r, scanLedger, `SELECT `+ledgerColumns+` FROM ledger WHERE `+where+` ORDER BY seq DESC LIMIT ?`,
		append(args, min(most, ledgerMost))...)
}

// Picks reports whether the filter leaves any row out, Before and Limit apart.
func (f *LedgerFilter) Picks() bool {
	where, _ := f.where()
	return where != `1`
}

// where is the condition on the rows that a filter picks, Before and Limit apart.
func (f *LedgerFilter) where() (string, []any) {
	where, args := `1`, []any{}
	for _, c := range []struct{ column, value string }{{"target", f.Target}, {"principal", f.Principal}, {"verb", f.Verb}, {"face", f.Face}} {
		if c.value != "" {
			where, args = where+` AND `+c.column+` = ?`, append(args, c.value)
		}
	}
	if f.Target != "" {
		where += ` AND target <> ''` // which follows, but the index of targets is only used where it is said
	}
	switch f.Outcome {
	case "":
	case "ok":
		where += ` AND outcome = 'ok'`
	case LedgerRefused:
		where += ` AND outcome NOT IN ('', 'ok')`
	default:
		// Said twice, so that the index of what was refused is seen to hold it.
		where, args = where+` AND outcome NOT IN ('', 'ok') AND outcome = ?`, append(args, f.Outcome)
	}
	return where, args
}

// EachLedger calls fn for every row that f picks, newest first, in pages: a reader that takes its time holds nobody up. Before
// and Limit of f are not looked at. The first error ends it.
func (s *Store) EachLedger(ctx context.Context, f LedgerFilter, fn func(LedgerRow) error) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	f.Before, f.Limit = 0, ledgerMost
	for {
		rows, err := s.ledgerPage(ctx, f)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := fn(row); err != nil {
				return err
			}
			f.Before = row.Seq
		}
		if len(rows) < f.Limit {
			return nil
		}
	}
}
