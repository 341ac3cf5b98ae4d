package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// This file keeps how the window shows what there is. Nothing else depends on it: a layout or a look that is lost or does not
// parse is one that was never made. What is in them is for whoever stores them to say.

// MaxLook is how many bytes a layout or a look may have.
const MaxLook = 64 << 10

// Layouts returns the layout of each task that has one, by task id.
func (r Reader) Layouts(ctx context.Context) (map[string]string, error) {
	type row struct{ task, layout string }
	rows, err := many(ctx, r, func(s scanner) (v row, err error) { return v, s.Scan(&v.task, &v.layout) }, `SELECT task_id, layout FROM layouts`)
	out := make(map[string]string, len(rows))
	for _, v := range rows {
		out[v.task] = v.layout
	}
	return out, err
}

// SetLayout stores the layout of a task; an empty one takes it back.
func (t *Tx) SetLayout(ctx context.Context, taskID, layout string) error {
	if err := limit("layout", layout, MaxLook); err != nil {
		return err
	}
	if _, err := t.Task(ctx, taskID); err != nil {
		return err
	}
	if layout == "" {
		_, err := t.q.ExecContext(ctx, `DELETE FROM layouts WHERE task_id = ?`, taskID)
		return err
	}
	_, err := t.q.ExecContext(ctx, `INSERT INTO layouts (task_id, layout) VALUES (?,?)
		ON CONFLICT (task_id) DO UPDATE SET layout = excluded.layout`, taskID, layout)
	return err
}

// Look returns what was stored of the window; empty when nothing was.
func (r Reader) Look(ctx context.Context) (string, error) {
	var look string
	err := r.q.QueryRowContext(ctx, `SELECT look FROM window WHERE id = 1`).Scan(&look)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return look, wrap(err, "read its state")
}

// SetLook stores what there is to know of the window.
func (t *Tx) SetLook(ctx context.Context, look string) error {
	if err := limit("window", look, MaxLook); err != nil {
		return err
	}
	_, err := t.q.ExecContext(ctx, `INSERT INTO window (id, look) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET look = excluded.look`, look)
	return err
}

// PlaceTabs gives the tabs of a task the positions 1, 2, ... in the order in which they are named.
func (t *Tx) PlaceTabs(ctx context.Context, ids []string) error {
	return t.place(ctx, `UPDATE tabs SET position = ? WHERE id = ?`, noTab(), ids)
}

// PlaceTasks gives tasks the positions 1, 2, ... in the order in which they are named. It leaves their revisions alone.
func (t *Tx) PlaceTasks(ctx context.Context, ids []string) error {
	return t.place(ctx, `UPDATE tasks SET position = ? WHERE id = ?`, noTask(), ids)
}

// PlaceProjects gives projects the positions 1, 2, ... in the order in which they are named.
func (t *Tx) PlaceProjects(ctx context.Context, ids []string) error {
	return t.place(ctx, `UPDATE projects SET position = ? WHERE id = ?`, noProject(), ids)
}

func (t *Tx) place(ctx context.Context, query string, missing error, ids []string) error {
	for i, id := range ids {
		if err := t.changed(ctx, missing, query, i+1, id); err != nil {
			return fmt.Errorf("place %s: %w", id, err)
		}
	}
	return nil
}

// SetLayout is Tx.SetLayout as one transaction.
func (s *Store) SetLayout(ctx context.Context, taskID, layout string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.SetLayout(ctx, taskID, layout) })
}
