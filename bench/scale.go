package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/store"
)

// Sizes that are compared: what somebody has after a week, and as much as is ever kept.
const (
	fewRows  = 10_000
	manyRows = 1_000_000
	history  = 10_000 // archived tasks

	// mostGrowth is how much longer a look at the large ledger may take than one at the small one, by the medians: an index is as
	// many steps deeper as its pages are; a reading of all rows would be a hundred times longer.
	mostGrowth = 4
)

// looks are what somebody asks a ledger: its newest page, one far down, and what a filter picks, frequent or rare.
var looks = []struct {
	name string
	pick func(rows int64) store.LedgerFilter
}{
	{"the newest page", func(int64) store.LedgerFilter { return store.LedgerFilter{} }},
	{"a page half way down", func(rows int64) store.LedgerFilter { return store.LedgerFilter{Before: rows / 2} }},
	{"one of 200 principals", func(int64) store.LedgerFilter { return store.LedgerFilter{Principal: "client:c17"} }},
	{"a verb that is rare", func(int64) store.LedgerFilter { return store.LedgerFilter{Verb: "project_remove"} }},
	{"what was refused", func(int64) store.LedgerFilter { return store.LedgerFilter{Outcome: store.LedgerRefused} }},
	{"one task", func(int64) store.LedgerFilter { return store.LedgerFilter{Target: "task-17"} }},
}

// scale looks at a ledger of a million rows and at one of ten thousand, and starts the app on the large one with ten thousand
// archived tasks. It fails when the time grows with the size.
func scale(ctx context.Context, b *bench) ([]row, error) {
	times := map[int64]map[string][]time.Duration{}
	for _, rows := range []int64{fewRows, manyRows} {
		path := filepath.Join(b.dir, fmt.Sprintf("scale-%d.db", rows))
		if rows == manyRows {
			path = filepath.Join(b.data, "termic.db")
		}
		t, err := lookAt(ctx, path, rows)
		if err != nil {
			return nil, err
		}
		times[rows] = t
	}
	var out []row
	for _, l := range looks {
		few, many := times[fewRows][l.name], times[manyRows][l.name]
		slices.Sort(few)
		slices.Sort(many)
		growth := float64(median(many)) / float64(median(few))
		out = append(out, row{fmt.Sprintf("ledger of %d rows, %s (median, p99), against %d rows", manyRows, l.name, fewRows),
			ms(median(many)) + ", " + ms(many[len(many)*99/100]), ms(median(few)) + ", " + ms(few[len(few)*99/100]), fmt.Sprintf("%.2f", growth)})
		if growth > mostGrowth {
			return out, fmt.Errorf("%s takes %.1f times as long with %d rows as with %d", l.name, growth, manyRows, fewRows)
		}
	}
	more, err := b.large(ctx)
	return append(out, more...), err
}

// large starts the app on what lookAt left in its data folder, and looks at the history.
func (b *bench) large(ctx context.Context) ([]row, error) {
	began := time.Now()
	r, err := b.serve()
	if err != nil {
		return nil, err
	}
	started := time.Since(began)
	rows := []row{{fmt.Sprintf("start to ready with %d rows of the ledger and %d archived tasks (goal 500 ms)", manyRows, history), ms(started), "–", "–"}}
	for _, l := range historyLooks {
		var list []time.Duration
		for range 200 {
			t := time.Now()
			var out api.TaskListResult
			if err := b.call(ctx, "task_list", l.params, &out); err != nil {
				return rows, err
			}
			if out.Total != l.total {
				return rows, fmt.Errorf("%s: the history has %d tasks", l.name, out.Total)
			}
			list = append(list, time.Since(t))
		}
		middle := median(list)
		rows = append(rows, row{fmt.Sprintf("history of %d tasks through the control socket, %s (median, p99; goal 10 ms)", history, l.name),
			ms(middle) + ", " + ms(list[len(list)*99/100]), "–", "–"})
	}
	return rows, r.stop()
}

// historyLooks are what the window's history asks.
var historyLooks = []struct {
	name   string
	total  int
	params map[string]any
}{
	{"its newest page", history, map[string]any{"archived": true}},
	{"words that one task has", 1, map[string]any{"archived": true, "find": "feature/4711 quiet"}},
	{"words that none has", 0, map[string]any{"archived": true, "find": "nothing of that kind"}},
}

// lookAt makes a ledger and times each look at it.
func lookAt(ctx context.Context, path string, rows int64) (map[string][]time.Duration, error) {
	s, err := store.Open(ctx, path, store.Options{LedgerRows: 2 * manyRows})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // what it holds is thrown away, or looked at by the app
	if err := quickly(ctx, path, func() error { return fill(ctx, s, rows) }); err != nil {
		return nil, err
	}
	times := map[string][]time.Duration{}
	for range 200 {
		for _, l := range looks {
			filter := l.pick(rows)
			t := time.Now()
			if _, _, err := s.Ledger(ctx, filter); err != nil {
				return nil, err
			}
			times[l.name] = append(times[l.name], time.Since(t))
		}
	}
	return times, nil
}

// quickly fills a database without the indexes of its ledger, which are made again when all is in: sorting once takes a fraction of the
// time of a million steps down each of them, and leaves the same indexes.
func quickly(ctx context.Context, path string, fill func() error) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is left to be written
	all, err := db.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ledger' AND sql <> ''`)
	if err != nil {
		return err
	}
	names, texts := []string{}, []string{}
	for all.Next() {
		var name, text string
		if err := all.Scan(&name, &text); err != nil {
			return err
		}
		names, texts = append(names, `DROP INDEX "`+name+`"`), append(texts, text)
	}
	run := func(list []string) error {
		for _, text := range list {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(all.Err(), run(names)); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return err
	}
	return run(texts)
}

// fill writes rows as a long life would leave them, and the history of the large profile. What is rare is as many rows at each size, so
// that answers of one length are compared.
func fill(ctx context.Context, s *store.Store, rows int64) error {
	const batch = 50_000
	for at := int64(0); at < rows; at += batch {
		list := make([]store.LedgerRow, 0, batch)
		for n := at; n < min(at+batch, rows); n++ {
			r := store.LedgerRow{Phase: store.PhaseDone, Call: fmt.Sprint("c", n), Principal: fmt.Sprint("client:c", n%200), Face: "mcp", Verb: "task_status",
				Target: fmt.Sprint("task-", n%(rows/200)), Outcome: "ok", Shape: "task:string(26)"}
			if n%(rows/100) == 0 {
				r.Outcome = "not_found"
			}
			if n%(rows/20) == 0 {
				r.Verb = "project_remove"
			}
			list = append(list, r)
		}
		if err := s.Append(ctx, list...); err != nil {
			return err
		}
	}
	if rows != manyRows {
		return nil
	}
	return s.Write(ctx, func(tx *store.Tx) error {
		p, _, err := tx.AddProject(ctx, store.Project{Name: "repo", RootPath: "/nonexistent/repo"})
		for i := 0; i < history && err == nil; i++ {
			_, err = tx.CreateTask(ctx, store.Task{ProjectID: p.ID, Name: fmt.Sprint("task ", i), Agent: "quiet", State: api.TaskLive, Branch: fmt.Sprint("feature/", i),
				BaseRef: "main", Path: fmt.Sprint("/nonexistent/tasks/", i), ArchivedAt: time.Now()})
		}
		return err
	})
}
