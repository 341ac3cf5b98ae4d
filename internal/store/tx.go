package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"termic/internal/fault"
)

// querier is what a pool and a connection have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// Reader has the reading methods. On a Store they see what was committed; on a Tx also what the transaction did so far.
type Reader struct {
	q   querier
	now func() time.Time
}

// Tx is one writing transaction. It is used by the function given to Write alone, and not after it returned.
type Tx struct {
	Reader
	portFree func(port int) bool
	ledger   *ledgerInsert
}

// Write runs fn in one transaction, alone among writers, and commits. When fn returns an error or panics, nothing
// changed. The context bounds the wait for the other writers; once fn runs, the transaction is finished whatever
// happens to the context, so that nil means durable and an error means unchanged. fn must use tx only: a writing method
// of the Store would wait for fn itself.
func (s *Store) Write(ctx context.Context, fn func(tx *Tx) error) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.lock }()
	return s.writeLocked(context.WithoutCancel(ctx), fn)
}

// take waits for the write lock, which the caller gives back by receiving from lock.
func (s *Store) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The call was stopped before anything was written")
	}
	select {
	case <-s.stop:
		return errClosed()
	default:
	}
	select {
	case s.lock <- struct{}{}:
		return nil
	case <-s.stop:
		return errClosed()
	case <-ctx.Done():
		return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The call was stopped before anything was written")
	}
}

func errClosed() error {
	return fault.New(fault.Unavailable, "Termic is quitting, so nothing more is written")
}

// writeLocked needs the write lock.
func (s *Store) writeLocked(ctx context.Context, fn func(tx *Tx) error) error {
	if _, err := s.w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return wrap(err, "begin to write")
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// After some failures SQLite has rolled back by itself, and says here that there is nothing to roll back.
		if _, err := s.w.ExecContext(ctx, "ROLLBACK"); err != nil && sqliteCode(err) != 1 {
			s.o.Log.Error("store: roll back", "err", err)
		}
	}()
	if err := fn(&Tx{Reader{q: s.w, now: s.o.Now}, s.o.PortFree, &s.ledger}); err != nil {
		return wrap(err, "write its state")
	}
	if _, err := s.w.ExecContext(ctx, "COMMIT"); err != nil {
		return wrap(err, "write its state")
	}
	committed = true
	return nil
}

// write1 runs one writing method as a transaction of its own.
func write1[T any](ctx context.Context, s *Store, fn func(tx *Tx) (T, error)) (T, error) {
	var v T
	err := s.Write(ctx, func(tx *Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// one reads a single row; missing is the error for none.
func one[T any](ctx context.Context, r Reader, scan func(scanner) (T, error), missing error, query string, args ...any) (T, error) {
	v, err := scan(r.q.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return v, missing
	}
	return v, wrap(err, "read its state")
}

// many reads all rows of a query.
func many[T any](ctx context.Context, r Reader, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap(err, "read its state")
	}
	defer func() { _ = rows.Close() }() // a failed read is in rows.Err
	list := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, wrap(err, "read its state")
		}
		list = append(list, v)
	}
	return list, wrap(rows.Err(), "read its state")
}

// changed runs a statement that must touch exactly one row.
func (t *Tx) changed(ctx context.Context, missing error, query string, args ...any) error {
	res, err := t.q.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("count changed rows: %w", err)
	}
	if n == 0 {
		return missing
	}
	return nil
}

// exists reports whether a query finds a row.
func (r Reader) exists(ctx context.Context, query string, args ...any) (bool, error) {
	var found bool
	err := r.q.QueryRowContext(ctx, "SELECT EXISTS ("+query+")", args...).Scan(&found)
	return found, err
}

// stamp is how a time is stored: nanoseconds since 1970, UTC; 0 for the zero time.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// list is a []string stored as JSON; nil is null.
type list []string

func (l list) text() (string, error) {
	b, err := json.Marshal([]string(l))
	if err != nil {
		return "", fmt.Errorf("write list: %w", err)
	}
	if err := limit("list", string(b), MaxText); err != nil {
		return "", err
	}
	return string(b), nil
}

func unlist(text string) ([]string, error) {
	var l []string
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	return l, nil
}

// listTexts is text for each of some lists.
func listTexts(of ...[]string) ([]string, error) {
	out := make([]string, len(of))
	for i, l := range of {
		var err error
		if out[i], err = list(l).text(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lists are texts and where the lists in them belong.
type lists []struct {
	text string
	to   *[]string
}

func unlists(l lists) error {
	for _, v := range l {
		var err error
		if *v.to, err = unlist(v.text); err != nil {
			return err
		}
	}
	return nil
}

// marks are as many placeholders as there are arguments.
func marks(args []any) string { return strings.TrimSuffix(strings.Repeat("?,", len(args)), ",") }

// nullable stores the empty string as NULL, for references.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}
