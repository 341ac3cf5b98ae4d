package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// Migrations are the files schema/N.sql; N.sql takes a database from schema N-1 to N. A published file never changes.
//
//go:embed schema/*.sql
var schemaFiles embed.FS

const (
	schemaNow   = 14 // the newest schema/N.sql
	backupsKept = 5  // copies kept beside the database
)

// Schema is the number of the schema that this version writes.
func Schema() int { return schemaNow }

// migrate brings the database from its schema to the present one, step by step, each in its own transaction and after a
// copy of what was there. The caller is alone with the database.
func (s *Store) migrate(ctx context.Context) error {
	var have int
	if err := s.w.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return openFault(s.path, err)
	}
	for v := have + 1; v <= schemaNow; v++ {
		if v > 1 && have > 0 { // a database that was born a moment ago has nothing to keep
			if err := s.backup(ctx, v-1); err != nil {
				return err
			}
		}
		if err := s.step(ctx, v); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The state file %s could not be brought from schema %d to %d; it was left as it was",
				s.path, v-1, v).WithHint("A copy stands beside it. Please report this, with the log.")
		}
		if have > 0 {
			s.o.Log.Info("store: migrated", "schema", v)
		}
	}
	return nil
}

// step runs one migration.
func (s *Store) step(ctx context.Context, v int) error {
	script, err := schemaFiles.ReadFile(fmt.Sprintf("schema/%d.sql", v))
	if err != nil {
		return fmt.Errorf("migration %d: %w", v, err)
	}
	return s.writeLocked(ctx, func(tx *Tx) error {
		if _, err := tx.q.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("migration %d: %w", v, err)
		}
		for _, pragma := range []string{fmt.Sprintf("application_id = %d", applicationID), fmt.Sprintf("user_version = %d", v)} {
			if _, err := tx.q.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
				return fmt.Errorf("migration %d: %w", v, err)
			}
		}
		return tx.foreignKeys(ctx)
	})
}

// foreignKeys reports the first row that refers to nothing.
func (r Reader) foreignKeys(ctx context.Context) error {
	rows, err := r.q.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return fmt.Errorf("check references: %w", err)
	}
	broken := rows.Next()
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("check references: %w", err)
	}
	if broken {
		return errors.New("a row refers to one that is not there")
	}
	return nil
}

// backup writes a copy of the database beside it and keeps the newest few.
func (s *Store) backup(ctx context.Context, schema int) error {
	name := fmt.Sprintf("%s.schema%d-%s.backup", s.path, schema, s.o.Now().UTC().Format("20060102T150405.000000000Z"))
	failed := func(err error) error {
		return fault.Wrap(err, fault.Unavailable, "No copy of the state file could be written to %s, so it was not upgraded", name).
			WithHint("Free some space in the data folder and start again.")
	}
	// VACUUM INTO takes an empty file as it is, so the mode is right from the first byte.
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := s.w.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		return failed(errors.Join(err, os.Remove(name)))
	}
	if err := f.Sync(); err != nil {
		return failed(err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(name)); err != nil {
		return failed(err)
	}
	return s.dropOldBackups()
}

// Backups lists the copies beside the database, oldest first.
func (s *Store) Backups() ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil {
		return nil, fmt.Errorf("list copies: %w", err)
	}
	type copyOf struct{ when, path string }
	var found []copyOf
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(s.path)+".schema")
		if !ok {
			continue
		}
		if _, when, ok := strings.Cut(rest, "-"); ok && strings.HasSuffix(when, ".backup") {
			found = append(found, copyOf{when, filepath.Join(filepath.Dir(s.path), e.Name())})
		}
	}
	slices.SortFunc(found, func(a, b copyOf) int { return strings.Compare(a.when, b.when) })
	var paths []string
	for _, c := range found {
		paths = append(paths, c.path)
	}
	return paths, nil
}

func (s *Store) dropOldBackups() error {
	have, err := s.Backups()
	if err != nil {
		return err
	}
	for len(have) > backupsKept {
		if err := os.Remove(have[0]); err != nil {
			return fmt.Errorf("drop an old copy: %w", err)
		}
		have = have[1:]
	}
	return nil
}

// checkSmall looks through a database that is small enough to do so at every start.
func (s *Store) checkSmall(ctx context.Context) error {
	st, err := os.Stat(s.path)
	if err != nil {
		return openFault(s.path, err)
	}
	if st.Size() == 0 || st.Size() > quickLimit {
		return nil
	}
	var verdict string
	if err := s.w.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return openFault(s.path, err)
	}
	if verdict != "ok" {
		return fault.Wrap(errors.New(verdict), fault.Unavailable, "The state file %s is damaged; it was left as it is", s.path).
			WithHint("Keep it, and put back the newest copy beside it, if there is one; the worktrees themselves are not touched.")
	}
	return nil
}

// Check looks through the whole database: structure, references and the ledger's chain. It is for doctor, and takes
// up to half a minute for a million ledger rows.
func (s *Store) Check(ctx context.Context) error {
	var verdict string
	if err := s.q.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return wrap(err, "check its state")
	}
	if verdict != "ok" {
		return fault.Wrap(errors.New(verdict), fault.Unavailable, "The state file %s is damaged", s.path).
			WithHint("Quit Termic, keep the file, and put back the newest copy beside it.")
	}
	if err := s.foreignKeys(ctx); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The state file %s does not fit together", s.path)
	}
	chain, err := s.VerifyChain(ctx, 0)
	if err != nil {
		return err
	}
	if chain != ChainWhole {
		return fault.New(fault.Unavailable, "The ledger was changed from outside: it is %s", chain)
	}
	return nil
}
