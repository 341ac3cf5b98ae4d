package store

import (
	"context"
	"strings"
	"unicode"
)

// Bounds of a page of tasks.
const (
	TasksMost  = 1000 // tasks of a page
	TasksUsual = 100  // tasks of a page when no number is named
)

// TaskFilter picks tasks. The zero value picks all that are not archived, in order of project position, task position.
type TaskFilter struct {
	ProjectID string
	ParentID  string
	Archived  bool // archived ones instead, newest first
	All       bool // both

	Projects []string // only tasks of these projects; nil: of all
	Find     string   // words, each of which stands in the name, the branch, the agent or the name of the project
	Before   string   // with Archived: only tasks that were archived before the one with this id; none when that is not archived
	Limit    int      // at most this many, up to TasksMost; 0: all
}

// Tasks returns the tasks that f picks, in the order that TaskFilter names.
func (r Reader) Tasks(ctx context.Context, f TaskFilter) ([]Task, error) {
	where, args := f.where()
	order := ` ORDER BY p.position, p.created, p.id, t.position, t.created, t.id`
	if f.Archived && !f.All {
		order = ` ORDER BY t.archived_at DESC, t.id DESC`
		if f.Before != "" {
			where += ` AND (t.archived_at, t.id) < (SELECT archived_at, id FROM tasks WHERE id = ? AND archived_at > 0)`
			args = append(args, f.Before)
		}
	}
	limit := -1
	if f.Limit > 0 {
		limit = min(f.Limit, TasksMost)
	}
	// The inner reading needs nothing but an index for the history, and the outer one fetches a page of whole rows.
	return many(ctx, r, scanTask, `SELECT `+taskColumns+` FROM (SELECT t.id AS picked, ROW_NUMBER() OVER (`+order+`) AS nth FROM tasks AS t JOIN projects AS p ON p.id = t.project_id
		WHERE `+where+order+` LIMIT ?) JOIN tasks ON id = picked ORDER BY nth`, append(args, limit)...)
}

// CountTasks counts the tasks that f picks, without Before and Limit.
func (r Reader) CountTasks(ctx context.Context, f TaskFilter) (int, error) {
	where, args := f.where()
	return one(ctx, r, func(row scanner) (n int, err error) { return n, row.Scan(&n) }, noTask(),
		`SELECT COUNT(*) FROM tasks AS t JOIN projects AS p ON p.id = t.project_id WHERE `+where, args...)
}

// TaskCounts returns how many tasks that are not archived each project has, by its id.
func (r Reader) TaskCounts(ctx context.Context) (map[string]int, error) {
	type row struct {
		project string
		n       int
	}
	rows, err := many(ctx, r, func(s scanner) (v row, err error) { return v, s.Scan(&v.project, &v.n) },
		`SELECT project_id, COUNT(*) FROM tasks WHERE archived_at = 0 GROUP BY project_id`)
	out := make(map[string]int, len(rows))
	for _, v := range rows {
		out[v.project] = v.n
	}
	return out, err
}

// where is the condition on the tasks that a filter picks, Before and Limit apart.
func (f *TaskFilter) where() (string, []any) {
	where, args := []string{"1"}, []any{}
	for _, c := range []struct{ column, value string }{{"t.project_id", f.ProjectID}, {"t.parent_id", f.ParentID}} {
		if c.value != "" {
			where, args = append(where, c.column+" = ?"), append(args, c.value)
		}
	}
	switch {
	case f.All:
	case f.Archived:
		where = append(where, "t.archived_at > 0")
	default:
		where = append(where, "t.archived_at = 0")
	}
	if f.Projects != nil {
		in := texts(f.Projects)
		where, args = append(where, "t.project_id IN ("+marks(in)+")"), append(args, in...)
	}
	for _, word := range strings.Fields(f.Find) {
		var forms []string
		for _, pattern := range patterns(word) {
			forms, args = append(forms, `t.name || char(10) || t.branch || char(10) || t.agent || char(10) || p.name LIKE ? ESCAPE '\'`), append(args, pattern)
		}
		where = append(where, "("+strings.Join(forms, " OR ")+")")
	}
	return strings.Join(where, " AND "), args
}

// patterns are what LIKE is asked for a word. It knows upper and lower case of ASCII only, so a word with other letters is looked for
// in each form that somebody may have written.
func patterns(word string) []string {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	forms := []string{word}
	if strings.IndexFunc(word, func(c rune) bool { return c > unicode.MaxASCII }) >= 0 {
		lower := []rune(strings.ToLower(word))
		title := string(append([]rune{unicode.ToUpper(lower[0])}, lower[1:]...))
		forms = append(forms, string(lower), strings.ToUpper(word), title)
	}
	for i, f := range forms {
		forms[i] = "%" + escaped.Replace(f) + "%"
	}
	return forms
}
