package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"termic/internal/fault"
)

func TestFilesAreClosedToOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	s := openAt(t, path, Options{})
	addProject(t, s, "alpha")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		st, err := os.Stat(path + suffix)
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, st, err)
		}
	}
}

// TestDurability pins what a killed process cannot show: that a commit is on the disk before the answer.
func TestDurability(t *testing.T) {
	s := openNew(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "foreign_keys": "1", "trusted_schema": "0"} {
		var got string
		if err := s.w.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s of the writer is %s, %v; want %s", pragma, got, err, want)
		}
	}
}

func TestPathsWithOddCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d#e%20f&é\n")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, filepath.Join(dir, "termic.db"), Options{})
	addProject(t, s, "alpha")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the database went elsewhere: %v, %v", entries, err)
	}
}

// refused opens a file that must be refused, and checks that its bytes stay.
func refused(t *testing.T, path string, code fault.Code, words string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err == nil {
		_ = s.Close()
		t.Fatalf("%s was opened", path)
	}
	wantCode(t, err, code)
	if f := fault.From(err); !strings.Contains(f.Message, words) || f.Hint == "" {
		t.Errorf("words: %q, hint %q; want %q", f.Message, f.Hint, words)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the refused file was changed (%v)", err)
	}
}

func TestRefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	addProject(t, s, "alpha")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", Schema()+1)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path, fault.Conflict, fmt.Sprintf("newer Termic (schema %d, this one knows %d)", schemaNow+1, schemaNow))
}

func TestRefusesAnotherProgramsDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	db := raw(t, path)
	if _, err := db.Exec("CREATE TABLE bookmarks (url TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path, fault.Conflict, "another program")
}

func TestRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	s, err := Open(t.Context(), whole, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := addProject(t, s, "alpha")
	for n := range 60 {
		must[Task](t)(s.CreateTask(t.Context(), Task{ProjectID: p.ID, Name: fmt.Sprint(n), Log: []string{strings.Repeat("x", 900)}}))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	wiped := bytes.Clone(b)
	for i := len(wiped) / 3; i < len(wiped)*2/3; i++ {
		wiped[i] = 0xa5
	}
	for name, damaged := range map[string][]byte{
		"no database": []byte(strings.Repeat("this is no database\n", 500)),
		"cut":         b[:len(b)/2],
		"cut short":   b[:1000],
		"wiped":       wiped,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { refused(t, path, fault.Unavailable, "damaged") })
	}
}

// TestWithoutSharedMemory stands for a file system that cannot map the log's index, as network homes do: a folder is in
// the place of that file.
func TestWithoutSharedMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termic.db")
	if err := os.Mkdir(path+"-shm", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{})
	wantCode(t, err, fault.Unavailable)
	if f := fault.From(err); !strings.Contains(f.Message, "locks and shared memory") || !strings.Contains(f.Hint, "TERMIC_DATA_DIR") {
		t.Errorf("words: %+v", f)
	}
}

func TestRefusesPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "termic.db"), "/dev/null"} {
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			_ = s.Close()
		}
		wantCode(t, err, fault.Unavailable)
	}
}

// schemaDump describes tables, indexes and triggers.
func schemaDump(t *testing.T, path string) map[string]string {
	t.Helper()
	db := raw(t, path)
	rows, err := db.Query(`SELECT type || ' ' || name, COALESCE(sql, '') FROM sqlite_master`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	dump := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		dump[name] = text
	}
	if err := errors.Join(rows.Err(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return dump
}

// fixture makes a database of an earlier schema from testdata/schemaN.sql, which was written when that schema was new.
func fixture(t *testing.T, schema int) string {
	t.Helper()
	script, err := os.ReadFile(fmt.Sprintf("testdata/schema%d.sql", schema))
	if err != nil {
		t.Fatalf("each schema needs a database of its time: %v", err)
	}
	path := filepath.Join(t.TempDir(), "termic.db")
	db := raw(t, path)
	if _, err := db.Exec(string(script)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpensEveryEarlierSchema(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "termic.db")
	s, err := Open(t.Context(), fresh, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := schemaDump(t, fresh)
	for schema := 1; schema <= Schema(); schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			path := fixture(t, schema)
			c := newClock()
			s := openAt(t, path, Options{Now: c.now})
			checkFixture(t, s)
			copies := must[[]string](t)(s.Backups())
			if len(copies) != min(Schema()-schema, backupsKept) {
				t.Fatalf("copies: %v", copies)
			}
			first := Schema() - len(copies) // the older ones were dropped
			for i, c := range copies {
				if st, err := os.Stat(c); err != nil || st.Mode().Perm() != 0o600 {
					t.Errorf("copy: %v, %v", st, err)
				}
				if v, err := inspect(t.Context(), c); err != nil || v != first+i {
					t.Errorf("the copy before schema %d has schema %d, %v", first+i+1, v, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, schemaDump(t, path)); diff != "" {
				t.Errorf("the migrated schema is not the new one (-new +migrated):\n%s", diff)
			}
			// The copy opens too, as one that a person puts back.
			if len(copies) > 0 {
				checkFixture(t, openAt(t, copies[0], Options{Now: c.now}))
			}
		})
	}
}

// checkFixture looks for what every fixture holds.
func checkFixture(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	p := must[Project](t)(s.ProjectByName(ctx, "Alpha"))
	live := must[[]Task](t)(s.Tasks(ctx, TaskFilter{ProjectID: p.ID}))
	old := must[[]Task](t)(s.Tasks(ctx, TaskFilter{ProjectID: p.ID, Archived: true}))
	if len(live) != 2 || live[0].Name != "one" || live[0].Port != 18100 || len(live[0].Log) != 2 || live[1].ParentID != live[0].ID || len(old) != 1 {
		t.Errorf("tasks: %+v, %+v", live, old)
	}
	tabs := must[[]Tab](t)(s.Tabs(ctx, live[0].ID))
	if len(tabs) != 1 || !tabs[0].IsDefault || tabs[0].SessionID != "sess" {
		t.Errorf("tabs: %+v", tabs)
	}
	if q := must[[]Prompt](t)(s.PromptsOf(ctx, live[0].ID)); len(q) != 1 || q[0].Text != "it's \"quoted\"\nand long" {
		t.Errorf("prompts: %+v", q)
	}
	if v := must[[]Terminal](t)(s.Terminals(ctx)); len(v) != 1 || v[0].StartTicks != 12345 {
		t.Errorf("terminals: %+v", v)
	}
	if v := must[[]Intent](t)(s.Intents(ctx)); len(v) != 1 || string(v[0].Payload) != `{"path":"/w/one"}` {
		t.Errorf("intents: %+v", v)
	}
	rows, total, err := s.Ledger(ctx, LedgerFilter{})
	if err != nil || total != 3 || rows[0].Seq != 5 {
		t.Errorf("ledger: %+v of %d, %v", rows, total, err)
	}
	if err := s.Append(ctx, row(1)); err != nil {
		t.Error(err)
	}
	wantChain(t, s, 0, ChainWhole)
}

func TestFiveCopiesAreKept(t *testing.T) {
	path := fixture(t, 1)
	c := newClock()
	s := openAt(t, path, Options{Now: c.now})
	for schema := range 7 {
		c.move(time.Hour)
		if err := s.backup(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
	}
	copies := must[[]string](t)(s.Backups())
	if len(copies) != backupsKept || !strings.Contains(copies[0], "schema2-") || !strings.Contains(copies[4], "schema6-") {
		t.Errorf("copies: %v", copies)
	}
}

// TestFailedMigrationChangesNothing has a table in the way of schema 2.
func TestFailedMigrationChangesNothing(t *testing.T) {
	path := fixture(t, 1)
	db := raw(t, path)
	if _, err := db.Exec(`CREATE TABLE idempotency (x)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := schemaDump(t, path)
	_, err := Open(t.Context(), path, Options{})
	wantCode(t, err, fault.Unavailable)
	if diff := cmp.Diff(before, schemaDump(t, path)); diff != "" {
		t.Errorf("a failed migration left:\n%s", diff)
	}
	if v, err := inspect(t.Context(), path); err != nil || v != 1 {
		t.Errorf("schema %d, %v", v, err)
	}
}

func TestReadersDoNotWaitForAWriter(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	addProject(t, s, "alpha")
	err := s.Write(ctx, func(tx *Tx) error {
		if _, _, err := tx.AddProject(ctx, Project{Name: "beta", RootPath: "/b"}); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 2*time.Second) // less than busyTimeout
		defer cancel()
		for range 2 * readers {
			if list, err := s.Projects(short); err != nil || len(list) != 1 {
				t.Errorf("reading while another writes: %v, %v", list, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	s := openNew(t)
	if _, err := s.q.ExecContext(t.Context(), `DELETE FROM projects`); err == nil {
		t.Error("a reader wrote")
	}
	if wrap(sql.ErrNoRows, "x") == nil || wrap(nil, "x") != nil {
		t.Error("wrap loses errors or makes them up")
	}
}
