package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ChainWhole is what VerifyChain says of a ledger in which nothing was changed, inserted or left out.
const ChainWhole = "whole"

// VerifyChain checks the newest rows of the ledger, all when newest is 0 or less: every row's hash over its content and
// the hash of the row before, the numbers without a gap, from the anchor that pruning left to the end that the last
// append left. It answers ChainWhole, or "broken at row N: why" with the first row that does not fit; the error is for
// a ledger that cannot be read. A million rows take some ten seconds; a caller that shows rows checks those that it shows.
func (s *Store) VerifyChain(ctx context.Context, newest int64) (verdict string, err error) {
	tx, err := s.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one view, while others append and prune
	if err != nil {
		return "", wrap(err, "read the ledger")
	}
	defer func() { err = errors.Join(err, wrap(tx.Rollback(), "read the ledger")) }()
	var c chain
	var tipSeq int64
	var tipHash string
	if err := tx.QueryRowContext(ctx, `SELECT seq, hash, tip_seq, tip_hash FROM ledger_anchor`).Scan(&c.seq, &c.hash, &tipSeq, &tipHash); err != nil {
		return "", wrap(err, "read the ledger")
	}
	from := c.seq
	if newest > 0 && tipSeq-newest > from {
		// The row before the first one that is checked is taken at its word.
		from = tipSeq - newest
		err := tx.QueryRowContext(ctx, `SELECT seq, hash FROM ledger WHERE seq = ?`, from).Scan(&c.seq, &c.hash)
		if errors.Is(err, sql.ErrNoRows) {
			return broken(from, "it is missing"), nil
		}
		if err != nil {
			return "", wrap(err, "read the ledger")
		}
	}
	if newest <= 0 {
		from = 0 // rows before the anchor must not be there
	}
	if why, err := c.walk(ctx, tx, from); why != "" || err != nil {
		return why, wrap(err, "read the ledger")
	}
	if c.seq < tipSeq {
		return broken(c.seq+1, "it is missing"), nil
	}
	if c.hash != tipHash {
		return broken(c.seq, "it is not the row that was written last"), nil
	}
	return ChainWhole, nil
}

func broken(seq int64, why string) string { return fmt.Sprintf("broken at row %d: %s", seq, why) }

// chain is the last row that fitted.
type chain struct {
	seq  int64
	hash string
}

// walk checks all rows after from, and says what does not fit, if anything.
func (c *chain) walk(ctx context.Context, q querier, from int64) (why string, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+ledgerColumns+` FROM ledger WHERE seq > ? ORDER BY seq`, from)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scanLedger(rows)
		if err != nil {
			return "", err
		}
		switch {
		case v.Seq <= c.seq:
			return broken(v.Seq, "it should have been pruned"), nil
		case v.Seq != c.seq+1:
			return broken(c.seq+1, "it is missing"), nil
		case v.PrevHash != c.hash:
			return broken(v.Seq, "it does not follow the row before"), nil
		case v.Hash != v.sum():
			return broken(v.Seq, "its content was changed"), nil
		}
		c.seq, c.hash = v.Seq, v.Hash
	}
	return "", rows.Err()
}
