package store

import (
	"context"
	"time"

	"termic/internal/fault"
)

// maxHooks is how many hooks there may be.
const maxHooks = 256

// Hook is a name under which signed requests are taken. Its secret is not in the database.
type Hook struct {
	Name    string
	Created time.Time
}

func scanHook(row scanner) (Hook, error) {
	var v Hook
	var created int64
	err := row.Scan(&v.Name, &created)
	v.Created = unstamp(created)
	return v, err
}

// Hook returns a hook, without regard to ASCII case.
func (r Reader) Hook(ctx context.Context, name string) (Hook, error) {
	return one(ctx, r, scanHook, fault.New(fault.NotFound, "There is no hook %q", name), `SELECT name, created FROM hooks WHERE name = ?`, name)
}

// Hooks returns the hooks, by name.
func (r Reader) Hooks(ctx context.Context) ([]Hook, error) {
	return many(ctx, r, scanHook, `SELECT name, created FROM hooks ORDER BY name`)
}

// AddHook stores a hook. A name that another one has, and one too many, are conflicts.
func (t *Tx) AddHook(ctx context.Context, name string) (Hook, error) {
	have, err := t.Hooks(ctx)
	if err != nil {
		return Hook{}, err
	}
	if len(have) >= maxHooks {
		return Hook{}, fault.New(fault.Conflict, "There are %d hooks, and no more can be kept", len(have)).WithHint("Delete some that nobody uses.")
	}
	if old, err := t.Hook(ctx, name); err == nil {
		return Hook{}, fault.New(fault.Conflict, "There is a hook called %q", old.Name).WithHint("Take another name, or delete that one first.")
	} else if fault.CodeOf(err) != fault.NotFound {
		return Hook{}, err
	}
	v := Hook{Name: name, Created: unstamp(stamp(t.now()))}
	_, err = t.q.ExecContext(ctx, `INSERT INTO hooks (name, created) VALUES (?,?)`, v.Name, stamp(v.Created))
	return v, err
}

// DeleteHook forgets a hook.
func (t *Tx) DeleteHook(ctx context.Context, name string) error {
	return t.changed(ctx, fault.New(fault.NotFound, "There is no hook %q", name), `DELETE FROM hooks WHERE name = ?`, name)
}

// EventsSince counts the events of a kind about a subject since a time.
func (r Reader) EventsSince(ctx context.Context, kind, subject string, since time.Time) (n int, err error) {
	err = r.q.QueryRowContext(ctx, `SELECT COUNT(*) FROM events WHERE time > ? AND kind = ? AND subject = ?`, stamp(since), kind, subject).Scan(&n)
	return n, wrap(err, "count events")
}

// EventOnce returns the event that was told once under a name.
func (r Reader) EventOnce(ctx context.Context, once string) (Event, error) {
	return one(ctx, r, scanEvent, fault.New(fault.NotFound, "There is no such event"), `SELECT `+eventColumns+` FROM events WHERE once = ?`, once)
}
