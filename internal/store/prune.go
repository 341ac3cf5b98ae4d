package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// pruneChunk is how many ledger rows one transaction drops, so that writers never wait long.
const pruneChunk = 10_000

// prune drops what is too old: ended jobs and approvals, finished prompts, closed tabs, idempotency keys, ledger rows.
func (s *Store) prune(ctx context.Context) error {
	now := s.o.Now()
	err := s.Write(ctx, func(tx *Tx) error {
		for _, drop := range []struct {
			query  string
			before time.Time
		}{
			{`DELETE FROM idempotency WHERE created <= ?`, now.Add(-KeyLife)},
			{`DELETE FROM jobs WHERE state NOT IN ('running', 'waiting') AND ended <= ?`, now.Add(-KeepEnd)},
			{`DELETE FROM approvals WHERE state <> 'pending' AND decided <= ?`, now.Add(-KeepEnd)},
			{`DELETE FROM prompts WHERE state NOT IN ('queued', 'delivering') AND updated <= ?`, now.Add(-KeepEnd)},
			{`DELETE FROM events WHERE time <= ?`, now.Add(-KeepEvents)},
			{`DELETE FROM firings WHERE outcome NOT IN ('waiting', 'acting') AND time <= ?`, now.Add(-KeepEvents)},
			{`DELETE FROM tabs WHERE closed_at > 0 AND closed_at <= ?`, now.Add(-KeepEnd)},
		} {
			if _, err := tx.q.ExecContext(ctx, drop.query, stamp(drop.before)); err != nil {
				return fmt.Errorf("drop old rows: %w", err)
			}
		}
		return tx.pruneEvents(ctx)
	})
	if err != nil {
		return err
	}
	_, err = s.PruneLedger(ctx)
	return err
}

// PruneLedger drops rows from the beginning of the ledger that are older or more than the options allow, after
// appending them to the archive if there is one. It returns how many. The store does so by itself at Open and a few
// times a day.
func (s *Store) PruneLedger(ctx context.Context) (int64, error) {
	var dropped int64
	for {
		n, err := s.pruneSome(ctx)
		dropped += n
		if err != nil || n == 0 {
			return dropped, err
		}
	}
}

func (s *Store) pruneSome(ctx context.Context) (n int64, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		var anchor, tip int64
		if err := tx.q.QueryRowContext(ctx, `SELECT seq, tip_seq FROM ledger_anchor`).Scan(&anchor, &tip); err != nil {
			return err
		}
		// The first row that is young enough stops the pruning, even if the clock was wrong for a later one.
		var young sql.NullInt64
		if err := tx.q.QueryRowContext(ctx, `SELECT MIN(seq) FROM ledger WHERE time > ?`, stamp(s.o.Now().Add(-s.o.LedgerAge))).Scan(&young); err != nil {
			return err
		}
		last := tip
		if young.Valid {
			last = young.Int64 - 1
		}
		last = min(max(last, tip-s.o.LedgerRows), anchor+pruneChunk)
		if last <= anchor {
			return nil
		}
		if err := s.archive(ctx, tx, last); err != nil {
			return err
		}
		if _, err := tx.q.ExecContext(ctx, `UPDATE ledger_anchor SET seq = ?1, hash = (SELECT hash FROM ledger WHERE seq = ?1)`, last); err != nil {
			return err
		}
		res, err := tx.q.ExecContext(ctx, `DELETE FROM ledger WHERE seq <= ?`, last)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// archive appends the rows up to last to the archive and makes them durable.
func (s *Store) archive(ctx context.Context, tx *Tx, last int64) (err error) {
	if s.o.LedgerArchive == "" {
		return nil
	}
	rows, err := many(ctx, tx.Reader, scanLedger, `SELECT `+ledgerColumns+` FROM ledger WHERE seq <= ? ORDER BY seq`, last)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.o.LedgerArchive, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the ledger's archive: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var lines []byte
	for _, v := range rows {
		line, err := json.Marshal(map[string]any{"seq": v.Seq, "time": v.Time.Format(time.RFC3339Nano), "phase": v.Phase, "call": v.Call,
			"principal": v.Principal, "face": v.Face, "verb": v.Verb, "target": v.Target, "outcome": v.Outcome,
			"duration_ms": v.Duration.Milliseconds(), "shape": v.Shape, "prev_hash": v.PrevHash, "hash": v.Hash})
		if err != nil {
			return fmt.Errorf("write the ledger's archive: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if _, err := f.Write(lines); err != nil {
		return fmt.Errorf("write the ledger's archive: %w", err)
	}
	return f.Sync()
}
