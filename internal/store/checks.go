package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"termic/internal/fault"
	"termic/internal/ids"
)

// MaxChecks is how many checks there may be, and MaxNetgroups how many netgroups.
const (
	MaxChecks    = 2000
	MaxNetgroups = 256
)

// States of a target. A target that was never looked at has none.
const (
	TargetUp   = "up"
	TargetDown = "down"
)

// Check is something that is looked at again and again.
type Check struct {
	ID        string // made by AddCheck
	Name      string // unique without regard to ASCII case
	Kind      string
	Spec      string // JSON, of package check
	Enabled   bool
	Snoozed   time.Time // its flips are no events until then
	CreatedBy string    // principal
	Created   time.Time
	Updated   time.Time
	Targets   []CheckTarget // in their order; read by CheckByName and Checks
}

// CheckTarget is how one target of a check stands.
type CheckTarget struct {
	Target   string
	State    string
	Since    time.Time // of the state
	Ran      time.Time // the newest look
	Duration time.Duration
	Netgroup string
	Detail   string // untrusted
}

// Netgroup is a set of addresses with a name.
type Netgroup struct {
	Name    string // unique without regard to ASCII case
	Members []string
	Note    string
	Created time.Time
	Updated time.Time
}

const checkColumns = `id, name, kind, spec, enabled, snoozed, created_by, created, updated`

func scanCheck(row scanner) (Check, error) {
	var v Check
	var snoozed, created, updated int64
	err := row.Scan(&v.ID, &v.Name, &v.Kind, &v.Spec, &v.Enabled, &snoozed, &v.CreatedBy, &created, &updated)
	v.Snoozed, v.Created, v.Updated = unstamp(snoozed), unstamp(created), unstamp(updated)
	return v, err
}

// Checks returns all checks by name, with their targets.
func (r Reader) Checks(ctx context.Context) ([]Check, error) {
	list, err := many(ctx, r, scanCheck, `SELECT `+checkColumns+` FROM checks ORDER BY name`)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(list))
	for i, v := range list {
		at[v.ID] = i
	}
	_, err = many(ctx, r, func(row scanner) (struct{}, error) {
		id, t, err := scanTarget(row)
		if i, ok := at[id]; ok && err == nil {
			list[i].Targets = append(list[i].Targets, t)
		}
		return struct{}{}, err
	}, `SELECT `+targetColumns+` FROM check_targets ORDER BY check_id, position`)
	return list, err
}

// CheckByName returns a check by its name, without regard to ASCII case, with its targets.
func (r Reader) CheckByName(ctx context.Context, name string) (Check, error) {
	v, err := one(ctx, r, scanCheck, fault.New(fault.NotFound, "There is no check called %q", name), `SELECT `+checkColumns+` FROM checks WHERE name = ?`, name)
	if err != nil {
		return Check{}, err
	}
	v.Targets, err = many(ctx, r, func(row scanner) (CheckTarget, error) { _, t, err := scanTarget(row); return t, err },
		`SELECT `+targetColumns+` FROM check_targets WHERE check_id = ? ORDER BY position`, v.ID)
	return v, err
}

const targetColumns = `check_id, target, state, since, ran, duration_ns, netgroup, detail`

func scanTarget(row scanner) (id string, t CheckTarget, err error) {
	var since, ran, took int64
	err = row.Scan(&id, &t.Target, &t.State, &since, &ran, &took, &t.Netgroup, &t.Detail)
	t.Since, t.Ran, t.Duration = unstamp(since), unstamp(ran), time.Duration(took)
	return id, t, err
}

// AddCheck stores a check with its targets. A name that another one has, and one more than MaxChecks, are conflicts.
func (t *Tx) AddCheck(ctx context.Context, v Check) (Check, error) {
	if err := t.room(ctx, "checks", MaxChecks, "Delete some that nobody looks at."); err != nil {
		return Check{}, err
	}
	if err := t.unnamed(ctx, "check", v.Name); err != nil {
		return Check{}, err
	}
	v.ID = ids.New()
	v.Created = unstamp(stamp(t.now()))
	v.Updated = v.Created
	_, err := t.q.ExecContext(ctx, `INSERT INTO checks (`+checkColumns+`) VALUES (?,?,?,?,?,?,?,?,?)`,
		v.ID, v.Name, v.Kind, v.Spec, v.Enabled, stamp(v.Snoozed), v.CreatedBy, stamp(v.Created), stamp(v.Updated))
	if err != nil {
		return Check{}, fmt.Errorf("keep a check: %w", err)
	}
	return v, t.setTargets(ctx, v)
}

// room refuses one more row than a table may have.
func (t *Tx) room(ctx context.Context, table string, most int, hint string) error {
	var n int
	if err := t.q.QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		return err
	}
	if n >= most {
		return fault.New(fault.Conflict, "There are %d %s, and no more can be kept", n, table).WithHint("%s", hint)
	}
	return nil
}

// unnamed refuses a name that another row has.
func (t *Tx) unnamed(ctx context.Context, noun, name string) error {
	if err := limit("name of a "+noun, name, MaxName); err != nil {
		return err
	}
	have, err := many(ctx, t.Reader, func(row scanner) (s string, err error) { return s, row.Scan(&s) }, `SELECT name FROM `+noun+`s WHERE name = ?`, name)
	if err == nil && len(have) > 0 {
		err = fault.New(fault.Conflict, "There is a %s called %q", noun, have[0]).WithHint("Take another name, or change that one.")
	}
	return err
}

// UpdateCheck changes a check by its name, which may be another one then, unless a check has that already (fault.Conflict). Its targets become those of the changed value; one that stays keeps its state.
func (t *Tx) UpdateCheck(ctx context.Context, name string, fn func(*Check) error) (Check, error) {
	v, err := t.CheckByName(ctx, name)
	if err != nil {
		return Check{}, err
	}
	had := v.Name
	if err := fn(&v); err != nil {
		return Check{}, err
	}
	if !strings.EqualFold(v.Name, had) { // in another case it is the same to the database
		if err := t.unnamed(ctx, "check", v.Name); err != nil {
			return Check{}, err
		}
	}
	v.Updated = unstamp(stamp(t.now()))
	_, err = t.q.ExecContext(ctx, `UPDATE checks SET name = ?, spec = ?, enabled = ?, snoozed = ?, updated = ? WHERE id = ?`,
		v.Name, v.Spec, v.Enabled, stamp(v.Snoozed), stamp(v.Updated), v.ID)
	if err != nil {
		return Check{}, fmt.Errorf("change a check: %w", err)
	}
	return v, t.setTargets(ctx, v)
}

// setTargets makes the rows of a check those of its targets.
func (t *Tx) setTargets(ctx context.Context, v Check) error {
	if _, err := t.q.ExecContext(ctx, `DELETE FROM check_targets WHERE check_id = ?`, v.ID); err != nil {
		return err
	}
	for i, g := range v.Targets {
		_, err := t.q.ExecContext(ctx, `INSERT INTO check_targets (`+targetColumns+`, position) VALUES (?,?,?,?,?,?,?,?,?)`,
			v.ID, g.Target, g.State, stamp(g.Since), stamp(g.Ran), int64(g.Duration), g.Netgroup, g.Detail, i)
		if err != nil {
			return fmt.Errorf("keep a target of a check: %w", err)
		}
	}
	return nil
}

// SetTarget stores how a target stands. One that is there no more is left alone.
func (t *Tx) SetTarget(ctx context.Context, checkID string, g CheckTarget) error {
	_, err := t.q.ExecContext(ctx, `UPDATE check_targets SET state = ?, since = ?, ran = ?, duration_ns = ?, netgroup = ?, detail = ? WHERE check_id = ? AND target = ?`,
		g.State, stamp(g.Since), stamp(g.Ran), int64(g.Duration), g.Netgroup, g.Detail, checkID, g.Target)
	return err
}

// DeleteCheck forgets a check and how its targets stand.
func (t *Tx) DeleteCheck(ctx context.Context, id string) error {
	return t.changed(ctx, fault.New(fault.NotFound, "There is no such check"), `DELETE FROM checks WHERE id = ?`, id)
}

const netgroupColumns = `name, members, note, created, updated`

func scanNetgroup(row scanner) (Netgroup, error) {
	var v Netgroup
	var created, updated int64
	var members string
	if err := row.Scan(&v.Name, &members, &v.Note, &created, &updated); err != nil {
		return Netgroup{}, err
	}
	v.Created, v.Updated = unstamp(created), unstamp(updated)
	return v, unlists(lists{{members, &v.Members}})
}

// Netgroups returns all of them by name.
func (r Reader) Netgroups(ctx context.Context) ([]Netgroup, error) {
	return many(ctx, r, scanNetgroup, `SELECT `+netgroupColumns+` FROM netgroups ORDER BY name`)
}

// Netgroup returns one by its name, without regard to ASCII case.
func (r Reader) Netgroup(ctx context.Context, name string) (Netgroup, error) {
	return one(ctx, r, scanNetgroup, fault.New(fault.NotFound, "There is no netgroup called %q", name), `SELECT `+netgroupColumns+` FROM netgroups WHERE name = ?`, name)
}

// AddNetgroup stores one. A name that another one has, and one more than MaxNetgroups, are conflicts.
func (t *Tx) AddNetgroup(ctx context.Context, v Netgroup) (Netgroup, error) {
	if err := t.room(ctx, "netgroups", MaxNetgroups, "Delete some that nobody uses."); err != nil {
		return Netgroup{}, err
	}
	if err := t.unnamed(ctx, "netgroup", v.Name); err != nil {
		return Netgroup{}, err
	}
	v.Created = unstamp(stamp(t.now()))
	v.Updated = v.Created
	members, err := netgroupTexts(v)
	if err != nil {
		return Netgroup{}, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO netgroups (`+netgroupColumns+`) VALUES (?,?,?,?,?)`, v.Name, members, v.Note, stamp(v.Created), stamp(v.Updated))
	return v, err
}

func netgroupTexts(v Netgroup) (string, error) {
	if err := limit("note of a netgroup", v.Note, MaxText); err != nil {
		return "", err
	}
	texts, err := listTexts(v.Members)
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// UpdateNetgroup changes the members and the note of one.
func (t *Tx) UpdateNetgroup(ctx context.Context, name string, fn func(*Netgroup) error) (Netgroup, error) {
	v, err := t.Netgroup(ctx, name)
	if err != nil {
		return Netgroup{}, err
	}
	if err := fn(&v); err != nil {
		return Netgroup{}, err
	}
	v.Updated = unstamp(stamp(t.now()))
	members, err := netgroupTexts(v)
	if err != nil {
		return Netgroup{}, err
	}
	_, err = t.q.ExecContext(ctx, `UPDATE netgroups SET members = ?, note = ?, updated = ? WHERE name = ?`, members, v.Note, stamp(v.Updated), v.Name)
	return v, err
}

// DeleteNetgroup forgets one.
func (t *Tx) DeleteNetgroup(ctx context.Context, name string) error {
	return t.changed(ctx, fault.New(fault.NotFound, "There is no netgroup called %q", name), `DELETE FROM netgroups WHERE name = ?`, name)
}
