package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// history stores archived tasks, three of which share each moment, so that the order has to be made whole by their ids.
func history(t *testing.T, s *Store, project Project, n int) []string {
	t.Helper()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var ids []string
	for i := range n {
		task, err := Task{}, error(nil)
		err = s.Write(t.Context(), func(tx *Tx) error {
			task, err = tx.CreateTask(t.Context(), Task{ProjectID: project.ID, Name: fmt.Sprint("task ", i), Agent: "claude", Branch: fmt.Sprint("feature/", i),
				BaseRef: "main", Path: fmt.Sprint("/x/", i), State: "live", ArchivedAt: at.Add(time.Duration(i/3) * time.Minute)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	return ids
}

func idsOf(tasks []Task) []string {
	out := make([]string, len(tasks))
	for i, t := range tasks {
		out[i] = t.ID
	}
	return out
}

func TestHistoryIsPaged(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	var a, b Project
	if err := s.Write(ctx, func(tx *Tx) (err error) {
		if a, _, err = tx.AddProject(ctx, Project{Name: "harbor", RootPath: "/r/harbor"}); err == nil {
			b, _, err = tx.AddProject(ctx, Project{Name: "Überseehafen", RootPath: "/r/hafen"})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	history(t, s, a, 23)
	history(t, s, b, 4)
	all := idsOf(must[[]Task](t)(s.Tasks(ctx, TaskFilter{Archived: true})))
	if len(all) != 27 {
		t.Fatalf("%d tasks", len(all))
	}
	for _, size := range []int{1, 2, 5, 26, 27, 28} {
		var paged []string
		for f := (TaskFilter{Archived: true, Limit: size}); ; {
			page := idsOf(must[[]Task](t)(s.Tasks(ctx, f)))
			if len(page) == 0 {
				break
			}
			paged, f.Before = append(paged, page...), page[len(page)-1]
		}
		if diff := cmp.Diff(all, paged); diff != "" {
			t.Errorf("pages of %d (-whole +paged):\n%s", size, diff)
		}
	}
	for _, c := range []struct {
		find string
		want int
	}{{"TASK 17", 1}, {"feature/2 harbor", 4}, {"überseehafen", 4}, {"ÜBERSEEHAFEN claude", 4}, {"100%", 0}, {"task_7", 0}, {`\`, 0}, {"feature/1 nobody", 0}, {"claude", 27}} {
		f := TaskFilter{Archived: true, Find: c.find, Limit: 3}
		n, page := must[int](t)(s.CountTasks(ctx, f)), must[[]Task](t)(s.Tasks(ctx, f))
		if n != c.want || len(page) != min(c.want, 3) {
			t.Errorf("%q finds %d, and %d of them on a page of 3; want %d", c.find, n, len(page), c.want)
		}
	}
	if n := must[int](t)(s.CountTasks(ctx, TaskFilter{Archived: true, Projects: []string{b.ID}})); n != 4 {
		t.Errorf("of one project: %d", n)
	}
	if n := must[int](t)(s.CountTasks(ctx, TaskFilter{Archived: true, Projects: []string{}})); n != 0 {
		t.Errorf("of no project: %d", n)
	}
}

// The history is looked at with an index: what ten thousand tasks hold besides their names is not read for a page.
func TestHistoryHasAnIndex(t *testing.T) {
	s := openNew(t)
	f := TaskFilter{Archived: true, Find: "word"}
	where, args := f.where()
	if plan := planOf(t, s, `SELECT COUNT(*) FROM tasks AS t JOIN projects AS p ON p.id = t.project_id WHERE `+where, args...); !strings.Contains(plan, "COVERING INDEX tasks_archived") {
		t.Error(plan)
	}
}

// planOf is how the database would answer a query.
func planOf(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	plan, err := many(t.Context(), s.Reader, func(r scanner) (string, error) {
		var id, parent, x int
		var text string
		err := r.Scan(&id, &parent, &x, &text)
		return text, err
	}, `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// No filter of the ledger reads rows that it does not pick.
func TestLooksAtTheLedgerHaveIndexes(t *testing.T) {
	s := openNew(t)
	for _, f := range []LedgerFilter{{Target: "x"}, {Principal: "x"}, {Verb: "x"}, {Face: "x"}, {Outcome: LedgerRefused}, {Outcome: "not_found"}, {Target: "x", Verb: "y"}} {
		where, args := f.where()
		if plan := planOf(t, s, `SELECT `+ledgerColumns+` FROM ledger WHERE `+where+` AND seq < 7 ORDER BY seq DESC LIMIT 100`, args...); !strings.Contains(plan, "USING INDEX ledger_") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%+v: %s", f, plan)
		}
	}
}

// TestTaskCounts: what is archived is no task of its project any more.
func TestTaskCounts(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	var a, b Project
	err := s.Write(ctx, func(tx *Tx) (err error) {
		if a, _, err = tx.AddProject(ctx, Project{Name: "one", RootPath: "/r/one"}); err != nil {
			return err
		}
		if b, _, err = tx.AddProject(ctx, Project{Name: "two", RootPath: "/r/two"}); err != nil {
			return err
		}
		for i := range 3 {
			if _, err = tx.CreateTask(ctx, Task{ProjectID: a.ID, Name: fmt.Sprint("live ", i), State: "live"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	history(t, s, a, 2)
	history(t, s, b, 2)
	if diff := cmp.Diff(map[string]int{a.ID: 3}, must[map[string]int](t)(s.TaskCounts(ctx))); diff != "" {
		t.Error(diff)
	}
}
