package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"termic/internal/fault"
	"termic/internal/ids"
)

// MaxFacts is how many bytes the facts of an event may have as JSON.
const MaxFacts = 64 << 10

// Kinds of event.
const (
	EventCheckFlip     = "check_flip"     // a target of a check went up or down
	EventTaskSettled   = "task_settled"   // an agent of a task settled
	EventBranchMoved   = "branch_moved"   // a branch of a project has another commit
	EventScheduleFired = "schedule_fired" // a schedule ran
	EventWebhook       = "webhook"        // a signed request came to the browser face
)

// Event is something that happened, to which triggers may react. Jobs have events of their own, which are none of these.
type Event struct {
	ID      string // made by AddEvent when empty
	Seq     int64  // grows from event to event; made by AddEvent
	Time    time.Time
	Kind    string
	Subject string // the name of what it happened to
	Task    string // id; empty where it is about none
	Project string // id; empty where it is about none
	// Cages are the ids of the caged tasks that may have brought it about. What follows from it may then act on nothing that any of
	// them could not act on.
	Cages []string
	// Facts tell more, by the kind, as JSON texts, numbers and booleans. Texts in them are untrusted.
	Facts map[string]any
}

const eventColumns = `seq, id, time, kind, subject, task_id, project_id, cages, facts`

func scanEvent(row scanner) (Event, error) {
	var v Event
	var at int64
	var cages, facts string
	if err := row.Scan(&v.Seq, &v.ID, &at, &v.Kind, &v.Subject, &v.Task, &v.Project, &cages, &facts); err != nil {
		return Event{}, err
	}
	v.Time = unstamp(at)
	if err := json.Unmarshal([]byte(facts), &v.Facts); err != nil {
		return Event{}, fmt.Errorf("facts of event %s: %w", v.ID, err)
	}
	return v, unlists(lists{{cages, &v.Cages}})
}

// Event returns an event by its id.
func (r Reader) Event(ctx context.Context, id string) (Event, error) {
	return one(ctx, r, scanEvent, fault.New(fault.NotFound, "There is no such event"), `SELECT `+eventColumns+` FROM events WHERE id = ?`, id)
}

// AddEvent stores an event. Facts longer than MaxFacts are refused.
func (t *Tx) AddEvent(ctx context.Context, v Event) (Event, error) {
	if err := limit("subject of an event", v.Subject, MaxName); err != nil {
		return Event{}, err
	}
	if v.Facts == nil {
		v.Facts = map[string]any{}
	}
	facts, err := json.Marshal(v.Facts)
	if err != nil {
		return Event{}, fmt.Errorf("facts of an event: %w", err)
	}
	if err := limit("facts of an event", string(facts), MaxFacts); err != nil {
		return Event{}, err
	}
	cages, err := listTexts(v.Cages)
	if err != nil {
		return Event{}, err
	}
	if v.Time.IsZero() {
		v.Time = t.now()
	}
	if v.ID == "" {
		v.ID = ids.New()
	}
	v.Time = unstamp(stamp(v.Time))
	res, err := t.q.ExecContext(ctx, `INSERT INTO events (id, time, kind, subject, task_id, project_id, cages, facts) VALUES (?,?,?,?,?,?,?,?)`,
		v.ID, stamp(v.Time), v.Kind, v.Subject, v.Task, v.Project, cages[0], string(facts))
	if err != nil {
		return Event{}, fmt.Errorf("keep an event: %w", err)
	}
	v.Seq, err = res.LastInsertId()
	return v, err
}
