package store

import (
	"context"
	"database/sql"
	"errors"

	"termic/internal/fault"
)

// LookupKey returns what k was tied to within the last KeyLife. Another digest is a conflict.
func (r Reader) LookupKey(ctx context.Context, k IdempotencyKey) (ref string, found bool, err error) {
	var digest string
	err = r.q.QueryRowContext(ctx, `SELECT digest, ref FROM idempotency
		WHERE face = ? AND principal = ? AND verb = ? AND key = ? AND created > ?`,
		k.Face, k.Principal, k.Verb, k.Key, stamp(r.now().Add(-KeyLife))).Scan(&digest, &ref)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, wrap(err, "look up the key")
	case digest != k.Digest:
		return "", false, fault.New(fault.Conflict, "The idempotency key was used with other arguments").
			WithHint("Take a new key for a new call.")
	}
	return ref, true, nil
}

// ClaimKey ties k to ref, unless it is tied already: then it returns what to, and joined. Another digest is a conflict.
// In one transaction with what ref names, it makes a repeat impossible.
func (t *Tx) ClaimKey(ctx context.Context, k IdempotencyKey, ref string) (have string, joined bool, err error) {
	if err := firstError(limit("idempotency key", k.Key, MaxName), limit("principal", k.Principal, MaxName)); err != nil {
		return "", false, err
	}
	if have, found, err := t.LookupKey(ctx, k); err != nil || found {
		return have, found, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT OR REPLACE INTO idempotency (face, principal, verb, key, digest, ref, created)
		VALUES (?,?,?,?,?,?,?)`, k.Face, k.Principal, k.Verb, k.Key, k.Digest, ref, stamp(t.now()))
	return ref, false, err
}

// MoveKey ties a key that is tied already to another ref.
func (t *Tx) MoveKey(ctx context.Context, k IdempotencyKey, ref string) error {
	_, err := t.q.ExecContext(ctx, `UPDATE idempotency SET ref = ?, created = ? WHERE face = ? AND principal = ? AND verb = ? AND key = ?`,
		ref, stamp(t.now()), k.Face, k.Principal, k.Verb, k.Key)
	return err
}

// DropKey frees a key.
func (t *Tx) DropKey(ctx context.Context, k IdempotencyKey) error {
	_, err := t.q.ExecContext(ctx, `DELETE FROM idempotency WHERE face = ? AND principal = ? AND verb = ? AND key = ?`, k.Face, k.Principal, k.Verb, k.Key)
	return err
}
