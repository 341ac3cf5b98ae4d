package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
	// Once names what may be told once alone, such as a signed request; empty for what may come again.
	Once string
	// Depth is how many firings led here, one by way of the other; 0 for what no firing brought about.
	Depth int
}

// Retention of events and of what followed from them, whichever is less: what is older says nothing that anybody acts on.
const (
	KeepEvents = 30 * 24 * time.Hour
	MaxEvents  = 10_000
)

// keepActed is for how long firings that acted are kept however many others there are, with their events: what a rule did within a day
// bounds what it may do. keepOnce is that for events that may come once alone: longer than a signed request is good for.
const (
	keepActed = 25 * time.Hour
	keepOnce  = 15 * time.Minute
)

// eventsBetween is after how many events those beyond MaxEvents are dropped: a flood of them must not wait for the next clearing.
const eventsBetween = 256

// ErrRepeated is what AddEvent returns for an event whose Once is kept already.
var ErrRepeated = fault.New(fault.Conflict, "That was told already")

const eventColumns = `seq, id, time, kind, subject, task_id, project_id, cages, facts, once, depth`

func scanEvent(row scanner) (Event, error) {
	var v Event
	var at int64
	var cages, facts string
	if err := row.Scan(&v.Seq, &v.ID, &at, &v.Kind, &v.Subject, &v.Task, &v.Project, &cages, &facts, &v.Once, &v.Depth); err != nil {
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

// EventFilter chooses events.
type EventFilter struct {
	Kind    string
	Project string    // id
	Since   time.Time // zero: all that are kept
	Before  int64     // only those with a smaller sequence number; 0 for the newest
	// Within are the ids of projects to which the events must belong; nil for all, also those of no project.
	Within []string
	Limit  int // at most MaxEventPage; 0 for 100
}

// MaxEventPage is how many events one answer holds at most.
const MaxEventPage = 1000

// Events returns events, newest first.
func (r Reader) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if f.Kind != "" {
		add("kind = ?", f.Kind)
	}
	if f.Project != "" {
		add("project_id = ?", f.Project)
	}
	if !f.Since.IsZero() {
		add("time >= ?", stamp(f.Since))
	}
	if f.Before > 0 {
		add("seq < ?", f.Before)
	}
	if f.Within != nil {
		in := make([]any, len(f.Within))
		for i, p := range f.Within {
			in[i] = p
		}
		where, args = append(where, "project_id IN ("+marks(in)+")"), append(args, in...)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	args = append(args, min(limit, MaxEventPage))
	return many(ctx, r, scanEvent, `SELECT `+eventColumns+` FROM events WHERE `+strings.Join(where, " AND ")+` ORDER BY seq DESC LIMIT ?`, args...)
}

// AddEvent stores an event. Facts longer than MaxFacts are refused, and one
// whose Once is kept already is ErrRepeated.
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
	if v.Once != "" {
		if told, err := t.exists(ctx, `SELECT 1 FROM events WHERE once = ?`, v.Once); err != nil || told {
			return Event{}, orError(err, ErrRepeated)
		}
	}
	res, err := t.q.ExecContext(ctx, `INSERT INTO events (id, time, kind, subject, task_id, project_id, cages, facts, once, depth) VALUES (?,?,?,?,?,?,?,?,?,?)`,
		v.ID, stamp(v.Time), v.Kind, v.Subject, v.Task, v.Project, cages[0], string(facts), v.Once, v.Depth)
	if err != nil {
		return Event{}, fmt.Errorf("keep an event: %w", err)
	}
	if v.Seq, err = res.LastInsertId(); err == nil && v.Seq%eventsBetween == 0 {
		err = t.pruneEvents(ctx)
	}
	return v, err
}
