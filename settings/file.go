package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/tomledit"
)

// Options of Open and Load. The zero value is ready to use.
type Options struct {
	Home string       // replaces ~; the user's home folder when empty
	Log  *slog.Logger // nil: no log
}

func (o Options) withDefaults() Options {
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, ~ stays below the root, where nothing can be made
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// File is the settings file with what was last read from it. It is safe for concurrent use. One goroutine watches the
// folder and calls subscribers: Open starts it, Close stops it and waits.
type File struct {
	path string
	o    Options

	patching chan struct{} // held by the one who reads, changes and writes

	mu   sync.Mutex // guards the following
	cur  *snapshot
	subs map[int]func(Settings)
	next int // number of the next subscriber

	kick   chan struct{} // there is something for subscribers
	stop   chan struct{}
	wg     sync.WaitGroup
	closed sync.Once
}

// Open reads the file at path, which need not exist, and watches it until Close. A file that does not parse is no
// error: defaults are in force then, and ReadOnly and Problem tell.
func Open(path string, o Options) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("absolute path of the settings: %w", err)
	}
	o = o.withDefaults()
	f := &File{path: path, o: o, patching: make(chan struct{}, 1), cur: defaults(o.Home), subs: map[int]func(Settings){},
		kick: make(chan struct{}, 1), stop: make(chan struct{})}
	w := newWatch(path, o.Log) // before the first reading, so that no edit falls between
	if err := f.Reload(); err != nil {
		o.Log.Warn("settings: read", "err", err)
	}
	f.wg.Go(func() { f.run(w) })
	return f, nil
}

// Load reads the settings once. The error is for a file that cannot be read or does not parse; the settings are the
// defaults then. Problems are values that were not taken.
func Load(path string, o Options) (Settings, []Problem, error) {
	o = o.withDefaults()
	doc, err := readFile(path)
	if err != nil {
		return Defaults(o.Home), nil, err
	}
	s := read(doc, o.Home, defaults(o.Home))
	if s.broken {
		return s.settings, s.problems, brokenFault(path, s.problems)
	}
	return s.settings, s.problems, nil
}

// Close ends watching. A subscriber must not call it.
func (f *File) Close() error {
	f.closed.Do(func() { close(f.stop) })
	f.wg.Wait()
	return nil
}

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

func (f *File) now() *snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cur
}

// Get returns the settings in force.
func (f *File) Get() Settings { return f.now().settings.clone() }

// MCP returns what is in force of [mcp]. Each call of a tool asks for it, so it shares its lists: they are not to be changed.
func (f *File) MCP() MCP { return f.now().settings.MCP }

// Values returns what is in force by dotted key: each setting of Table as the file or the default spells it, and
// "agents", "prompts" and "keys" with the entries of the file.
func (f *File) Values() map[string]any { return f.now().all() }

// Value returns one of Values, or a part such as agents.ID.command or keys.ACTION. A key that can have no value is
// fault.InvalidArgument, one that has none fault.NotFound.
func (f *File) Value(key string) (any, error) { return f.now().one(key) }

// ReadOnly reports whether the file cannot be read or does not parse, so that patches are refused.
func (f *File) ReadOnly() bool { return f.now().broken }

// Problems returns what was not taken from the file, in the order of lines.
func (f *File) Problems() []Problem { return slices.Clone(f.now().problems) }

// Notes returns the keys that are not known, in the order of lines.
func (f *File) Notes() []Problem { return slices.Clone(f.now().notes) }

// Problem returns Problems as one text for a person, empty when there are none.
func (f *File) Problem() string { return problemText(f.path, f.now().problems) }

// Note returns Notes as one text for a person, empty when there are none.
func (f *File) Note() string { return problemText(f.path, f.now().notes) }

func problemText(path string, problems []Problem) string {
	var lines []string
	for _, p := range problems {
		if p.Line > 0 {
			lines = append(lines, fmt.Sprintf("%s, line %d: %s", filepath.Base(path), p.Line, p.Text))
			continue
		}
		lines = append(lines, filepath.Base(path)+": "+p.Text)
	}
	return strings.Join(lines, "\n")
}

func brokenFault(path string, problems []Problem) error {
	return fault.New(fault.Conflict, "The settings cannot be changed: %s", problemText(path, problems)).
		WithHint("Correct the file by hand; nothing in it is overwritten.")
}

// Subscribe calls fn after the settings or their problems changed, until stop is called. Calls come one at a time, from
// the file's own goroutine, soon after the change; several changes may share one call. fn may patch. When stop has
// returned, a call that has begun may still be running.
func (f *File) Subscribe(fn func(Settings)) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.next
	f.next++
	f.subs[n] = fn
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, n)
	}
}

// Reload reads the file now. The error is for one that cannot be read or does not parse; the last settings stay.
func (f *File) Reload() error {
	f.patching <- struct{}{}
	defer func() { <-f.patching }()
	return f.reload()
}

// reload needs patching.
func (f *File) reload() error {
	doc, err := readFile(f.path)
	if err != nil {
		f.install(unreadable(f.now(), Problem{Text: "the file cannot be read: " + err.Error()}))
		return fault.Wrap(err, fault.Unavailable, "The settings file %s cannot be read", f.path)
	}
	s := read(doc, f.o.Home, f.now())
	f.install(s)
	if s.broken {
		return brokenFault(f.path, s.problems)
	}
	return nil
}

// install makes s the snapshot in force and wakes subscribers if anything changed.
func (f *File) install(s *snapshot) {
	f.mu.Lock()
	same := reflect.DeepEqual(f.cur, s)
	f.cur = s
	f.mu.Unlock()
	if same {
		return
	}
	for _, p := range s.problems {
		f.o.Log.Warn("settings: not taken", "line", p.Line, "problem", p.Text)
	}
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// Patch changes the settings with these dotted keys, all or none, and nothing else in the file, which it reads again
// first. A nil value takes the key out, so that the default holds; for agents.ID and prompts.ID it takes the entry out.
// A file that does not parse is fault.Conflict, a key or value that is not good fault.InvalidArgument. The context
// bounds the wait for other patches.
func (f *File) Patch(ctx context.Context, changes map[string]any) error {
	good := map[string]any{}
	targets := map[string]target{}
	for key, v := range changes {
		t, err := resolve(key)
		if err != nil {
			return err
		}
		if targets[key] = t; v != nil {
			if good[key], err = t.accept(key, v); err != nil {
				return err
			}
		}
	}
	select {
	case f.patching <- struct{}{}:
	case <-ctx.Done():
		return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The call was stopped before the settings were changed")
	}
	defer func() { <-f.patching }()
	if err := f.reload(); err != nil {
		return err
	}
	doc, err := readFile(f.path)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The settings file %s cannot be read", f.path)
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if doc, err = edit(doc, targets[key], good[key]); err != nil {
			return editFault(key, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The folder of the settings cannot be made")
	}
	if err := atomicfile.WriteFile(f.path, doc, 0o600, atomicfile.KeepEqual()); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The settings file %s cannot be written", f.path).
			WithHint("Check its permissions and the free space.")
	}
	f.install(read(doc, f.o.Home, f.now()))
	return nil
}

// edit makes one change in the document; a nil value removes.
func edit(doc []byte, t target, v any) ([]byte, error) {
	var path []string
	switch {
	case t.setting.Key != "":
		path = strings.Split(t.setting.Key, ".")
	case t.action != "":
		path = []string{"keys", t.action}
	default:
		i, found, err := entryIndex(doc, t.list, t.entry)
		if err != nil {
			return nil, err
		}
		if !found {
			if v == nil {
				return doc, nil
			}
			if doc, err = tomledit.AppendTable(doc, []string{t.list}, tomledit.Entry{Key: "id", Value: t.entry}); err != nil {
				return nil, err
			}
			if i, _, err = entryIndex(doc, t.list, t.entry); err != nil {
				return nil, err
			}
		}
		path = []string{t.list, strconv.Itoa(i)}
		if t.field.Key != "" {
			path = append(path, strings.Split(t.field.Key, ".")...)
		}
	}
	if v == nil {
		return tomledit.Delete(doc, path)
	}
	return tomledit.Set(doc, path, v)
}

// entryIndex finds an entry by its id; the first one counts, as it does when reading.
func entryIndex(doc []byte, list, entry string) (int, bool, error) {
	v, _, err := tomledit.Get(doc, []string{list})
	if err != nil {
		return 0, false, err
	}
	entries, _ := v.([]any)
	for i, e := range entries {
		if m, ok := e.(map[string]any); ok && m["id"] == entry {
			return i, true, nil
		}
	}
	return 0, false, nil
}

func editFault(key string, err error) error {
	if _, ok := errors.AsType[*tomledit.RefusedError](err); ok {
		return fault.Wrap(err, fault.Conflict, "%s cannot be changed in the file as it is written", key).
			WithHint("Change it by hand.")
	}
	return fault.Wrap(err, fault.Conflict, "%s cannot be changed", key)
}

// readFile reads the file; one that is absent is empty.
func readFile(path string) ([]byte, error) {
	st, err := os.Stat(path) // before opening, which would wait for the other end of a pipe
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	return io.ReadAll(io.LimitReader(f, tomledit.MaxSize+1))
}
