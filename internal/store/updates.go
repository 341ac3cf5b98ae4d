package store

import (
	"context"
	"database/sql"
	"errors"
)

// maxUpdate is how many bytes may be kept of newer releases.
const maxUpdate = 16 << 10

// Update returns what was stored of newer releases; empty when nothing was. What is in it is for whoever stores it to say.
func (r Reader) Update(ctx context.Context) (string, error) {
	var known string
	err := r.q.QueryRowContext(ctx, `SELECT known FROM updates WHERE id = 1`).Scan(&known)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return known, wrap(err, "read what is known of newer releases")
}

// SetUpdate stores what is known of newer releases.
func (s *Store) SetUpdate(ctx context.Context, known string) error {
	return s.Write(ctx, func(tx *Tx) error {
		if err := limit("update", known, maxUpdate); err != nil {
			return err
		}
		_, err := tx.q.ExecContext(ctx, `INSERT INTO updates (id, known) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET known = excluded.known`, known)
		return err
	})
}
