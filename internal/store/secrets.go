package store

import (
	"context"
	"time"

	"termic/internal/fault"
)

// MaxSecrets is how many secrets there may be.
const MaxSecrets = 256

// Secret is what is told of a secret. Its value is kept elsewhere and never here.
type Secret struct {
	Name    string // of the variable
	Note    string // of whoever made it
	KeptIn  string // where the value is: "keyring" or "file"
	Created time.Time
	Updated time.Time // when the value was set last
	Used    time.Time // when a program was started with it last; zero for never
}

const secretColumns = `name, note, kept_in, created, updated, used`

func scanSecret(row scanner) (Secret, error) {
	var v Secret
	var created, updated, used int64
	err := row.Scan(&v.Name, &v.Note, &v.KeptIn, &created, &updated, &used)
	v.Created, v.Updated, v.Used = unstamp(created), unstamp(updated), unstamp(used)
	return v, err
}

func noSecret() error { return fault.New(fault.NotFound, "There is no such secret") }

// Secret returns what is told of one.
func (r Reader) Secret(ctx context.Context, name string) (Secret, error) {
	return one(ctx, r, scanSecret, noSecret(), `SELECT `+secretColumns+` FROM secrets WHERE name = ?`, name)
}

// Secrets returns what is told of all, by name.
func (r Reader) Secrets(ctx context.Context) ([]Secret, error) {
	return many(ctx, r, scanSecret, `SELECT `+secretColumns+` FROM secrets ORDER BY name`)
}

// PutSecret stores what is told of a secret, new or not; Created and Used of one that is there stay, and Updated is now. One more
// than MaxSecrets is a conflict.
func (t *Tx) PutSecret(ctx context.Context, v Secret) (Secret, error) {
	if err := firstError(limit("name of a secret", v.Name, MaxName), limit("note", v.Note, MaxText)); err != nil {
		return Secret{}, err
	}
	old, err := t.Secret(ctx, v.Name)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Secret{}, err
	}
	v.Updated = unstamp(stamp(t.now()))
	if err == nil {
		v.Created, v.Used = old.Created, old.Used
		return v, t.changed(ctx, noSecret(), `UPDATE secrets SET note = ?, kept_in = ?, updated = ? WHERE name = ?`, v.Note, v.KeptIn, stamp(v.Updated), v.Name)
	}
	have, err := t.Secrets(ctx)
	if err != nil {
		return Secret{}, err
	}
	if len(have) >= MaxSecrets {
		return Secret{}, fault.New(fault.Conflict, "There are %d secrets, and no more can be kept", len(have)).WithHint("Delete some that nothing names.")
	}
	v.Created, v.Used = v.Updated, time.Time{}
	_, err = t.q.ExecContext(ctx, `INSERT INTO secrets (`+secretColumns+`) VALUES (?,?,?,?,?,0)`, v.Name, v.Note, v.KeptIn, stamp(v.Created), stamp(v.Updated))
	return v, err
}

// UseSecrets notes that a program is started with secrets.
func (t *Tx) UseSecrets(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := t.changed(ctx, noSecret(), `UPDATE secrets SET used = ? WHERE name = ?`, stamp(t.now()), name); err != nil {
			return err
		}
	}
	return nil
}

// DeleteSecret forgets one. Tasks and projects go on naming it.
func (t *Tx) DeleteSecret(ctx context.Context, name string) error {
	return t.changed(ctx, noSecret(), `DELETE FROM secrets WHERE name = ?`, name)
}
