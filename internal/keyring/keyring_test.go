package keyring

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
	"termic/internal/secret"
)

const value = "pl4nted \"value\"\nof two lines é"

// nowhere is an environment without a bus.
func nowhere(string) string { return "" }

func ringIn(t *testing.T, getenv func(string) string) (*Ring, *strings.Builder) {
	t.Helper()
	log := &strings.Builder{}
	return Open(Options{Dir: filepath.Join(t.TempDir(), "secrets"), Profile: t.TempDir(), Getenv: getenv, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}), log
}

func want(t *testing.T, r *Ring, name, kept, value string) {
	t.Helper()
	if got, err := r.Get(t.Context(), name, kept); err != nil || got.Reveal() != value {
		t.Errorf("%s in the %s: %q, %v", name, kept, got.Reveal(), err)
	}
}

func TestFiles(t *testing.T) {
	if skipOwn(t) {
		return
	}
	r, log := ringIn(t, nowhere)
	kept, why, err := r.Set(t.Context(), "KEY", secret.Of(value))
	if err != nil || kept != InFile || why == "" {
		t.Fatalf("%s %q %v", kept, why, err)
	}
	want(t, r, "KEY", InFile, value)
	path := filepath.Join(r.o.Dir, "KEY")
	for p, mode := range map[string]os.FileMode{path: 0o600, r.o.Dir: 0o700} {
		if st, err := os.Stat(p); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", p, st, err)
		}
	}
	if _, _, err := r.Set(t.Context(), "KEY", secret.Of("another")); err != nil {
		t.Fatal(err)
	}
	want(t, r, "KEY", InFile, "another")
	for name, spoil := range map[string]func() error{
		"open to others": func() error { return os.Chmod(path, 0o640) },
		"a link":         func() error { return os.Symlink(filepath.Join(r.o.Dir, "ELSE"), path) },
		"too long":       func() error { return os.WriteFile(path, make([]byte, MaxValue+1), 0o600) },
	} {
		_ = os.Remove(path)
		if name == "open to others" {
			if _, _, err := r.Set(t.Context(), "KEY", secret.Of(value)); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Get(t.Context(), "KEY", InFile); fault.CodeOf(err) != fault.Forbidden || !got.Empty() || strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 { // the second time there is nothing to forget
		if err := r.Delete(t.Context(), "KEY", InFile); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Get(t.Context(), "KEY", InFile); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a value that was forgotten: %v", err)
	}
	if strings.Contains(log.String(), "pl4nted") {
		t.Error("the log holds a value")
	}
	r.o.Dir = filepath.Join(path, "below a file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Set(t.Context(), "KEY", secret.Of(value)); fault.CodeOf(err) != fault.Unavailable || strings.Contains(err.Error(), "pl4nted") {
		t.Errorf("no folder: %v", err)
	}
}

// A link in the place of the folder, or of a file, would put a value where somebody else may read it.
func TestLinks(t *testing.T) {
	if skipOwn(t) {
		return
	}
	r, _ := ringIn(t, nowhere)
	aside := t.TempDir()
	if err := os.Symlink(aside, r.o.Dir); err != nil {
		t.Skip("NOT TESTED: no links here")
	}
	if _, _, err := r.Set(t.Context(), "KEY", secret.Of(value)); fault.CodeOf(err) != fault.Unavailable || fault.From(err).Hint == "" {
		t.Errorf("a folder that is a link: %v", err)
	}
	if list, err := os.ReadDir(aside); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if err := os.Remove(r.o.Dir); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(aside, "mine")
	for _, err := range []error{os.Mkdir(r.o.Dir, 0o755), os.WriteFile(mine, []byte("mine"), 0o644), os.Symlink(mine, filepath.Join(r.o.Dir, "KEY"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Set(t.Context(), "KEY", secret.Of(value)); err != nil {
		t.Fatal(err)
	}
	want(t, r, "KEY", InFile, value)
	if b, err := os.ReadFile(mine); err != nil || string(b) != "mine" {
		t.Errorf("the link led to %q, %v", b, err)
	}
}

// A value in a keyring that is not there is neither had nor forgotten, and the refusal says what to do.
func TestNoKeyring(t *testing.T) {
	if skipOwn(t) {
		return
	}
	r, _ := ringIn(t, nowhere)
	if _, err := r.Get(t.Context(), "KEY", InKeyring); fault.CodeOf(err) != fault.Unavailable || fault.From(err).Hint == "" {
		t.Errorf("get: %v", err)
	}
	if err := r.Delete(t.Context(), "KEY", InKeyring); r.here != nil && (fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.From(err).Hint, "--force")) {
		t.Errorf("delete: %v", err)
	}
}
