//go:build !windows

package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// signedFor signs a body for a hook, as of now.
func signedFor(secret, body string) (at, signature string) {
	at = strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + body))
	return at, "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func (r *idRig) hook(name string) api.HookAddResult {
	r.t.Helper()
	h, err := r.HookAdd(r.t.Context(), &Call{Caller: grant.OwnerOn(grant.CLI)}, api.HookParams{Name: name})
	must(r.t, err)
	return h
}

// TestRequestsAtOnce: no more requests of a hook are taken in a minute when they all come at the same moment.
func TestRequestsAtOnce(t *testing.T) {
	r := newIDRig(t)
	h := r.hook("ci")
	var taken atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 * HookMinute {
		wg.Go(func() {
			body := fmt.Sprintf(`{"n":%d}`, i)
			at, signature := signedFor(h.Secret, body)
			if _, _, err := r.TakeHook(t.Context(), "ci", at, signature, []byte(body)); err == nil {
				taken.Add(1)
			} else if fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != HookMinute {
		t.Errorf("%d requests were taken, not %d", n, HookMinute)
	}
}

// TestSecretOfAHookIsOnesOwn: a secret that others may know signs nothing, one is never put where a link leads, and what is no file
// holds nobody up.
func TestSecretOfAHookIsOnesOwn(t *testing.T) {
	r := newIDRig(t)
	for name, spoil := range map[string]func(path string) error{
		"open": func(path string) error { return os.Chmod(path, 0o644) },
		"link": func(path string) error {
			aside := filepath.Join(t.TempDir(), "aside")
			if err := os.Rename(path, aside); err != nil {
				return err
			}
			return os.Symlink(aside, path)
		},
		"pipe":   func(path string) error { _ = os.Remove(path); return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
		"long":   func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
	} {
		h := r.hook(name)
		must(t, spoil(h.Hook.File))
		at, signature := signedFor(h.Secret, "{}")
		done := make(chan error, 1)
		go func() {
			_, _, err := r.TakeHook(t.Context(), name, at, signature, []byte("{}"))
			done <- err
		}()
		select {
		case err := <-done:
			if fault.CodeOf(err) != fault.Forbidden {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: nobody answers", name)
		}
		_, err := r.HookDelete(t.Context(), &Call{Caller: grant.OwnerOn(grant.CLI)}, api.HookParams{Name: name})
		must(t, err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.WriteFile(elsewhere, []byte("mine"), 0o644))
	must(t, os.Symlink(elsewhere, filepath.Join(r.hookFolder(), "next")))
	must(t, os.WriteFile(filepath.Join(r.hookFolder(), "left"), []byte("of a backup"), 0o644))
	for _, name := range []string{"next", "left"} {
		h := r.hook(name)
		if st, err := os.Lstat(h.Hook.File); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: %v %v", name, st, err)
		}
	}
	if b, err := os.ReadFile(elsewhere); err != nil || string(b) != "mine" {
		t.Errorf("the link led to %q, %v", b, err)
	}
	must(t, os.RemoveAll(r.hookFolder()))
	must(t, os.Symlink(t.TempDir(), r.hookFolder()))
	if _, err := r.HookAdd(t.Context(), &Call{Caller: grant.OwnerOn(grant.CLI)}, api.HookParams{Name: "away"}); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder that is a link: %v", err)
	}
}
