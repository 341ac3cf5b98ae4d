package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// user is who starts images where the tests run as root.
const user = 1500

// The AppRun of the tests tells how it was started, and waits where it is told to.
const appRun = `#!/bin/sh
printf 'APPDIR=%s\nAPPIMAGE=%s\nARGV0=%s\nOWD=%s\nzero=%s\n' "$APPDIR" "$APPIMAGE" "$ARGV0" "$OWD" "$0"
for a in "$@"; do printf 'argument=%s\n' "$a"; done
[ "$1" != wait ] || exec sleep 1000
[ "$1" != fail ] || exit 7
`

// appDir is a folder that stands for one of Termic; mark makes it another one.
func appDir(t testing.TB, mark string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "usr/bin"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "AppRun"), []byte(appRun+"# "+mark+"\n"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "AppRun"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "usr/bin/program"), bytes.Repeat([]byte("0123456789"), 50_000), 0o600))
	must(t, os.Symlink("usr/bin/program", filepath.Join(dir, "link")))
	when := time.Unix(1_700_000_000, 0)
	for _, n := range []string{"AppRun", "usr/bin/program", "usr/bin", "usr", "."} {
		must(t, os.Chtimes(filepath.Join(dir, n), when, when))
	}
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seal makes an image with the script that makes those of releases.
func seal(dir, file string) error {
	c := exec.Command("../../package/seal.sh", dir, file, "1.2.3")
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if out, err := c.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

var (
	sealOnce sync.Once
	sealed   []byte // an image of appDir
	sealErr  error
)

// An installed image: a file, and a home, of a user.
type installed struct {
	t    *testing.T
	file string
	home string
	who  int // -1: as the tests run
}

// install puts the image of appDir somewhere for a user.
func install(t *testing.T, who int) *installed {
	t.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		t.Skip("NOT TESTED: there is no mksquashfs to make an AppImage with (Debian: squashfs-tools)")
	}
	sealOnce.Do(func() {
		file := filepath.Join(t.TempDir(), "sealed")
		if sealErr = seal(appDir(t, "first"), file); sealErr == nil {
			sealed, sealErr = os.ReadFile(file)
		}
	})
	must(t, sealErr)
	dir, err := os.MkdirTemp("", "appimage") // t.TempDir is closed to others
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	i := &installed{t: t, file: filepath.Join(dir, "Termic.AppImage"), home: filepath.Join(dir, "home"), who: who}
	must(t, os.WriteFile(i.file, sealed, 0o600))
	must(t, os.Chmod(i.file, 0o755))
	must(t, os.Mkdir(i.home, 0o755))
	if who >= 0 {
		must(t, os.Chown(i.home, who, who))
	}
	return i
}

// users runs a test as whoever runs the tests, and for root as a user too.
func users(t *testing.T, f func(t *testing.T, i *installed)) {
	t.Run("as is", func(t *testing.T) { f(t, install(t, -1)) })
	t.Run("as a user", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("it was as a user")
		}
		f(t, install(t, user))
	})
}

// command starts nothing yet. The folder is the home.
func (i *installed) command(file string, args ...string) *exec.Cmd {
	c := exec.Command(file, args...)
	c.Dir = i.home
	c.Env = []string{"HOME=" + i.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	if i.who >= 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(i.who), Gid: uint32(i.who)}}
	}
	return c
}

// run runs an image to its end.
func (i *installed) run(args ...string) (stdout, stderr string, code int) {
	return i.finish(i.command(i.file, args...))
}

func (i *installed) finish(c *exec.Cmd) (stdout, stderr string, code int) {
	i.t.Helper()
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			i.t.Fatal(err)
		}
	}
	return out.String(), complaint.String(), c.ProcessState.ExitCode()
}

// refused holds that an image says no in words, ran nothing, and left no folder of its content.
func (i *installed) refused(c *exec.Cmd, words ...string) {
	i.t.Helper()
	out, complaint, code := i.finish(c)
	if code != 1 || strings.Contains(out, "APPDIR") {
		i.t.Errorf("it ran: %d %s", code, out)
	}
	for _, w := range words {
		if !strings.Contains(complaint, w) {
			i.t.Errorf("it says %q, nothing of %q", complaint, w)
		}
	}
}

// cache is where the image unpacks itself.
func (i *installed) cache() string { return filepath.Join(i.home, ".cache", cacheName) }

// folders lists what is in the cache but the lock.
func (i *installed) folders() []string {
	i.t.Helper()
	names, err := os.ReadDir(i.cache())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must(i.t, err)
	var out []string
	for _, n := range names {
		if n.Name() != lockName {
			out = append(out, filepath.Join(i.cache(), n.Name()))
		}
	}
	return out
}

// only is the one folder that is there.
func (i *installed) only() string {
	i.t.Helper()
	f := i.folders()
	if len(f) != 1 {
		i.t.Fatalf("the cache has %q", f)
	}
	return f[0]
}

func pid(c *exec.Cmd) string { return strconv.Itoa(c.Process.Pid) }

// await waits until something is so.
func await(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came true")
		}
	}
}
