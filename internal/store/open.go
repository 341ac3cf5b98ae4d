package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite": SQLite without cgo

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// Bounds and rhythm of the store.
const (
	readers       = 4               // connections of the read pool: the window, one poller, and two to spare
	quickLimit    = 64 << 20        // bytes up to which a database is checked whole at Open: about half a second
	walLimit      = 64 << 20        // bytes to which the write-ahead log is cut back after a checkpoint
	busyTimeout   = 5 * time.Second // wait for another process that looks at the file, such as a backup tool
	pruneEvery    = 6 * time.Hour   // how often what is too old is dropped
	applicationID = 0x5445524d      // "TERM" in the header of the file, so that another program's database is refused
)

// Options of Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // the clock; time.Now when nil
	Log *slog.Logger     // nil: no log

	LedgerAge  time.Duration // how long ledger rows are kept; 90 days when 0
	LedgerRows int64         // how many at most; 1,000,000 when 0
	// LedgerArchive is a file to which rows are appended as JSON lines before they are dropped; empty: they are dropped.
	// After a crash between the two, a row may stand in it twice.
	LedgerArchive string

	// PortFree reports whether a port of loopback is in use by no program of this machine; nil: it is tried.
	PortFree func(port int) bool

	// GroupDelay is the longest time that a row of AppendGrouped waits; 250 ms when 0.
	GroupDelay time.Duration
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.PortFree == nil {
		o.PortFree = portFree
	}
	if o.LedgerAge <= 0 {
		o.LedgerAge = 90 * 24 * time.Hour
	}
	if o.LedgerRows <= 0 {
		o.LedgerRows = 1_000_000
	}
	if o.GroupDelay <= 0 {
		o.GroupDelay = 250 * time.Millisecond
	}
	return o
}

// Store is an open database. It is safe for concurrent use; writers queue for one connection, readers do not wait for
// them. One goroutine commits grouped ledger rows and drops what is too old: Open starts it, Close stops it and waits.
type Store struct {
	Reader // committed state, through the read pool

	path string
	o    Options
	pool *sql.DB   // read-only connections
	wdb  *sql.DB   // holds only w
	w    *sql.Conn // the one writer; used by the holder of lock
	lock chan struct{}

	ledger ledgerInsert // used by the holder of lock
	group  group
	stop   chan struct{} // closed by Close
	wg     sync.WaitGroup
	closed sync.Once
}

// Open opens the database at path, makes it when it is absent (0600), and brings an older schema up to date after
// writing a copy beside it. A file that is damaged, newer, or of another program is refused and left as it was.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	o = o.withDefaults()
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("absolute path of the database: %w", err)
	}
	if err := create(abs); err != nil {
		return nil, err
	}
	if _, err := inspect(ctx, abs); err != nil {
		return nil, err
	}
	s := &Store{path: abs, o: o, lock: make(chan struct{}, 1), stop: make(chan struct{})}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	s.Reader = Reader{q: s.pool, now: o.Now}
	s.group.kick = make(chan struct{}, 1)
	if err := s.prune(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	s.wg.Go(s.tend)
	return s, nil
}

// Path returns the absolute path of the database file.
func (s *Store) Path() string { return s.path }

// Close commits grouped rows, ends the store's goroutine and closes the file. Later calls do nothing.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() {
		s.group.mu.Lock()
		s.group.closed = true // no row is taken after the last commit
		s.group.mu.Unlock()
		close(s.stop)
		s.wg.Wait()
		s.lock <- struct{}{} // wait for the last writer and let no other in
		err = errors.Join(s.flushLocked(context.Background(), nil, nil), s.disconnect())
	})
	return err
}

// connect opens the writer, makes sure of WAL, migrates, and opens the readers.
func (s *Store) connect(ctx context.Context) error {
	var err error
	if s.wdb, err = sql.Open("sqlite", dsn(s.path, "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)",
		fmt.Sprintf("journal_size_limit(%d)", walLimit))); err != nil {
		return fmt.Errorf("open writer: %w", err)
	}
	s.wdb.SetMaxOpenConns(1)
	if s.w, err = s.wdb.Conn(ctx); err != nil {
		return openFault(s.path, err)
	}
	var mode string
	if err := s.w.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return walFault(s.path, err)
	}
	if !strings.EqualFold(mode, "wal") {
		return walFault(s.path, fmt.Errorf("journal mode is %q", mode))
	}
	// Shared memory or locks that cannot be had show themselves at the first write.
	for _, probe := range []string{"BEGIN IMMEDIATE", "ROLLBACK"} {
		if _, err := s.w.ExecContext(ctx, probe); err != nil {
			return walFault(s.path, err)
		}
	}
	if err := s.checkSmall(ctx); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.pool, err = sql.Open("sqlite", dsn(s.path, "query_only(1)")); err != nil {
		return fmt.Errorf("open readers: %w", err)
	}
	s.pool.SetMaxOpenConns(readers)
	s.pool.SetMaxIdleConns(readers)
	return nil
}

func (s *Store) disconnect() error {
	errs := []error{s.ledger.close()}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.w != nil {
		errs = append(errs, s.w.Close())
	}
	if s.wdb != nil {
		errs = append(errs, s.wdb.Close())
	}
	return errors.Join(errs...)
}

// tend is the store's goroutine: see Store.
func (s *Store) tend() {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			if err := s.prune(context.Background()); err != nil {
				s.o.Log.Error("store: drop old rows", "err", err)
			}
		case <-s.group.kick:
			select {
			case <-time.After(s.o.GroupDelay):
			case <-s.stop:
				return // Close commits the rest
			}
			if err := s.flush(context.Background()); err != nil {
				s.o.Log.Error("store: commit grouped ledger rows", "err", err)
			}
		}
	}
}

// create makes an empty file with the mode that SQLite then gives its companions.
func create(path string) error {
	st, err := os.Stat(path)
	if err == nil {
		if !st.Mode().IsRegular() {
			return fault.New(fault.Unavailable, "%s is not a file, so the state of Termic cannot be kept there", path)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return openFault(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return openFault(path, err)
	}
	if err := f.Close(); err != nil {
		return openFault(path, err)
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// inspect reads the schema number without changing anything, and refuses what is not ours to open.
func inspect(ctx context.Context, path string) (version int, err error) {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		return 0, nil
	}
	db, err := sql.Open("sqlite", dsn(path)+"&mode=ro")
	if err != nil {
		return 0, fmt.Errorf("open for inspection: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var app, tables int
	for query, dest := range map[string]*int{
		"PRAGMA user_version": &version, "PRAGMA application_id": &app, "SELECT count(*) FROM sqlite_master": &tables} {
		if err := db.QueryRowContext(ctx, query).Scan(dest); err != nil {
			return 0, openFault(path, err)
		}
	}
	if app != applicationID && (app != 0 || version != 0 || tables != 0) {
		return 0, fault.New(fault.Conflict, "%s is a database of another program; it was left alone", path).
			WithHint("Move it away, or give Termic another folder with TERMIC_DATA_DIR.")
	}
	if version > Schema() {
		return 0, fault.New(fault.Conflict, "%s was written by a newer Termic (schema %d, this one knows %d); it was left alone",
			path, version, Schema()).WithHint("Start the newer Termic, or put back the copy that it left beside the file before its upgrade.").
			WithData("schema", version)
	}
	return version, nil
}

// dsn names the file for the driver, with pragmas that each connection starts with.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(1)", "trusted_schema(0)", "cell_size_check(1)"}, pragmas...)}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String() + "?" + q.Encode()
}
