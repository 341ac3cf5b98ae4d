package clientsetup

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"termic/internal/fault"
)

// rig is a machine of its own: a home, a data folder, a PATH with nothing in it but the system's.
type rig struct {
	*testing.T
	place Place
	entry Entry
	bin   string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	r := &rig{T: t, bin: filepath.Join(home, "bin")}
	folder := filepath.Join(home, "data dir")
	r.must(os.MkdirAll(r.bin, 0o755))
	r.must(os.MkdirAll(folder, 0o700))
	r.place = Place{Home: home, GOOS: "linux", System: filepath.Join(home, "machine"), Records: filepath.Join(folder, "clients"),
		Environ: []string{"HOME=" + home, "PATH=" + r.bin + ":/usr/bin:/bin", "LANG=C.UTF-8", "USER=me", "CODEX_HOME=" + filepath.Join(home, ".codex")}}
	var err error
	r.entry, err = NewEntry("http://127.0.0.1:4711/mcp", folder, filepath.Join(folder, "mcp-token"))
	r.must(err)
	r.must(os.MkdirAll(filepath.Join(home, ".codex"), 0o755))
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) put(path, text string) {
	r.Helper()
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(text), 0o644))
}

func (r *rig) get(path string) string {
	r.Helper()
	b, err := os.ReadFile(path)
	r.must(err)
	return string(b)
}

func (r *rig) config() string { return filepath.Join(r.place.Home, ".codex", "config.toml") }

func (r *rig) plan(id string) Plan {
	r.Helper()
	plan, err := r.place.Plan(context.Background(), id, r.entry, Options{Anyway: true})
	r.must(err)
	return plan
}

func (r *rig) register(id string) (Plan, Receipt) {
	r.Helper()
	plan := r.plan(id)
	receipt, err := r.place.Apply(context.Background(), plan, false)
	r.must(err)
	return plan, receipt
}

func (r *rig) remove(id string, consent bool) Receipt {
	r.Helper()
	receipt, err := r.place.Remove(context.Background(), id, r.entry, consent)
	r.must(err)
	return receipt
}

func (r *rig) look(id string) State {
	r.Helper()
	st, err := r.place.Look(id, r.entry)
	r.must(err)
	return st
}

func (r *rig) wantFile(path, text string) {
	r.Helper()
	if got := r.get(path); got != text {
		r.Errorf("%s has\n%q, want\n%q", path, got, text)
	}
}

func (r *rig) wantCode(err error, code fault.Code) {
	r.Helper()
	if fault.CodeOf(err) != code {
		r.Errorf("got %v (%s), want %s", err, fault.CodeOf(err), code)
	}
}
