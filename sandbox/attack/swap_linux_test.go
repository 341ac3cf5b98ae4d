package attack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
	"termic/sandbox"
)

// TestSwappedGrant puts a link to the outside in the place of something that was granted, between the decision and the
// start. The start fails with a sentence, or what is seen inside is what was decided on; in a race as well.
func TestSwappedGrant(t *testing.T) {
	p, ok := readPrepared()
	if !ok {
		uid := testUser
		if os.Getuid() != 0 {
			uid = os.Getuid()
		}
		runAs(t, uid, program(t), t.Name())
		return
	}
	h := newHost(t, p)
	for _, c := range []struct {
		name string
		what func(Ground) string
	}{
		{"worktree", func(g Ground) string { return g.Worktree }},
		{"folder above the worktree", func(g Ground) string { return filepath.Dir(g.Worktree) }},
		{"tool", func(g Ground) string { return filepath.Join(g.Tool, "bin") }},
		{"private home", func(g Ground) string { return filepath.Join(g.DataDir, "homes/a") }},
		{"admin folder", func(g Ground) string { return g.Admin }},
		{"objects", func(g Ground) string { return filepath.Join(g.Common, "objects") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := h.policy(Full, "a", plainCage)
			at := c.what(h.g)
			h.fatal(os.Rename(at, at+".real"))
			defer func() { h.fatal(errors.Join(os.Remove(at), os.Rename(at+".real", at))) }()
			h.fatal(os.Symlink(h.g.Spot("file/absolute"), at))
			said, err := h.look(policy)
			if bytes.Contains(said, []byte(h.secret)) {
				t.Errorf("the cage shows the outside: %s", said)
			}
			if err == nil {
				t.Error("the cage starts, though a grant is not what it was")
			}
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Errorf("the refusal has no words for a person: %v", err)
			}
		})
	}
	t.Run("race", func(t *testing.T) { swapRace(t, h) })
}

// swapRace exchanges the worktree and a link to the outside all the time while cages start.
func swapRace(t *testing.T, h *host) {
	h.fatal(os.WriteFile(filepath.Join(h.g.Worktree, "which"), []byte("inside"), 0o600))
	h.fatal(os.WriteFile(filepath.Join(h.g.Spot("file/absolute"), "which"), []byte(h.secret), 0o600))
	link := h.g.Worktree + ".link"
	h.fatal(os.Symlink(h.g.Spot("file/absolute"), link))
	policy := h.policy(Full, "a", plainCage)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, h.g.Worktree, unix.RENAME_EXCHANGE)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	started, refused := 0, 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		said, err := h.look(policy)
		switch {
		case bytes.Contains(said, []byte(h.secret)):
			t.Fatal("the cage shows the outside")
		case err != nil:
			refused++
		default:
			started++
		}
	}
	t.Logf("%d cages started, %d were refused, none showed the outside", started, refused)
	if started+refused == 0 {
		t.Error("no cage was tried")
	}
}

// look starts a cage and returns what lies where the grants are.
func (h *host) look(p sandbox.Policy) ([]byte, error) {
	r, w, err := os.Pipe()
	h.fatal(err)
	defer r.Close()
	pr, err := sandbox.Provision(h.t.Context(), p, sandbox.Launch{
		Argv: []string{"/bin/sh", "-c", `cat "$1/which" "$1/secret" "$2/secret" "$3/secret" "$4/secret"`, "look", h.g.Worktree, filepath.Join(h.g.Tool, "bin"),
			h.g.Home, h.g.Admin},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Stdio: [3]*os.File{nil, w, nil}, Helper: filepath.Join(h.g.Tool, "bin/attack"),
	})
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	said, _ := io.ReadAll(io.LimitReader(r, 4096)) // a broken pipe says as little as an empty one
	pr.Wait()
	return said, nil
}
