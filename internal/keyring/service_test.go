//go:build !darwin && !windows

package keyring

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/internal/fault"
	"termic/internal/secret"
)

func skipOwn(*testing.T) bool { return false } // without a bus no keyring of the user's is reached

// aSession starts a bus and a keyring of its own on it, with its files in a folder of the test: the user's is not touched. What is
// missing skips the test, loudly. The keyring's password is "open".
func aSession(t *testing.T) (getenv func(string) string, keyring func(args ...string) *exec.Cmd) {
	t.Helper()
	for _, program := range []string{"dbus-daemon", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: NO REAL SECRET SERVICE WAS TRIED, since %s is not installed (packages dbus and gnome-keyring)", program)
		}
	}
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_DATA_HOME=" + filepath.Join(dir, "data"), "XDG_RUNTIME_DIR=" + dir, "XDG_CACHE_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	// Without folders of services: the bus starts none by itself, and so no second keyring, which would be locked.
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:path=`+filepath.Join(dir, "bus")+`</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	bus := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile", "--print-address")
	bus.Env = env
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, bus)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	keyring = func(args ...string) *exec.Cmd {
		t.Helper()
		k := exec.Command("gnome-keyring-daemon", append(args, "--foreground", "--components=secrets", "--control-directory="+filepath.Join(dir, "control"))...)
		k.Env, k.Stdin = append(env, "DBUS_SESSION_BUS_ADDRESS="+address), strings.NewReader("open")
		start(t, k)
		return k
	}
	return func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return address
		}
		return ""
	}, keyring
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(cmd) })
}

func stop(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
		_ = cmd.Wait()
	}
}

// soon tries until the keyring has come up.
func soon(t *testing.T, r *Ring, log *strings.Builder, name string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		kept, why, err := r.Set(t.Context(), name, secret.Of(value))
		if err == nil && kept == InKeyring {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s %q %v\n%s", kept, why, err, log)
		}
	}
}

func TestSecretService(t *testing.T) {
	getenv, keyring := aSession(t)
	daemon := keyring("--unlock")
	r, log := ringIn(t, getenv)
	soon(t, r, log, "KEY")
	want(t, r, "KEY", InKeyring, value)
	if _, err := os.Stat(filepath.Join(r.o.Dir, "KEY")); !os.IsNotExist(err) {
		t.Errorf("it is in a file too: %v", err)
	}
	if kept, why, err := r.Set(t.Context(), "KEY", secret.Of("another")); kept != InKeyring || why != "" || err != nil {
		t.Errorf("%s %q %v", kept, why, err)
	}
	want(t, r, "KEY", InKeyring, "another")
	long := strings.Repeat("x", MaxValue)
	if kept, _, err := r.Set(t.Context(), "LONG", secret.Of(long)); kept != InKeyring || err != nil {
		t.Errorf("the longest value: %s %v", kept, err)
	}
	want(t, r, "LONG", InKeyring, long)
	other := *r
	other.o.Profile, other.here = "another", system(Options{Profile: "another", Getenv: getenv})
	if got, err := other.Get(t.Context(), "KEY", InKeyring); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another profile has it: %v %v", got, err)
	}
	for range 2 {
		if err := r.Delete(t.Context(), "KEY", InKeyring); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Get(t.Context(), "KEY", InKeyring); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a value that was forgotten: %v", err)
	}
	// Without the daemon: nothing waits for long, what is set goes into a file, and what is in the keyring is not to be had.
	stop(daemon)
	began := time.Now()
	if _, err := r.Get(t.Context(), "LONG", InKeyring); fault.CodeOf(err) != fault.Unavailable && fault.CodeOf(err) != fault.NotFound {
		t.Errorf("no daemon: %v", err)
	}
	kept, why, err := r.Set(t.Context(), "LONG", secret.Of(value))
	if err != nil || kept != InFile {
		t.Errorf("%s %q %v", kept, why, err)
	}
	want(t, r, "LONG", InFile, value)
	if took := time.Since(began); took > 4*patience {
		t.Errorf("without a daemon it took %s", took)
	}
	// A keyring that is locked asks nobody.
	keyring()
	for until := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "the keyring is locked"); time.Sleep(100 * time.Millisecond) {
		if kept, _, err := r.Set(t.Context(), "LONG", secret.Of(value)); kept != InFile || err != nil || time.Now().After(until) {
			t.Fatalf("a locked keyring: %s %v", kept, err)
		}
	}
	began = time.Now()
	if _, err := r.Get(t.Context(), "LONG", InKeyring); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a locked keyring gives %v", err)
	}
	if took := time.Since(began); took > 4*patience {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(log.String(), "pl4nted") || strings.Contains(log.String(), "another") {
		t.Error("the log holds a value")
	}
}

// TestABusThatHangs: what accepts a connection and says nothing holds nobody up.
func TestABusThatHangs(t *testing.T) {
	at := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	r, _ := ringIn(t, func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return filepath.Dir(at)
		}
		return ""
	})
	began := time.Now()
	if kept, why, err := r.Set(t.Context(), "KEY", secret.Of(value)); kept != InFile || !strings.Contains(why, "does not answer") || err != nil {
		t.Errorf("%s %q %v", kept, why, err)
	}
	if _, err := r.Get(t.Context(), "KEY", InKeyring); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 5*patience {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.New(fault.Unavailable, "stopped"))
	if _, _, err := r.Set(ctx, "KEY", secret.Of(value)); err == nil || err.Error() == "" {
		t.Errorf("a call that was ended: %v", err)
	}
}

// TestAnAddressRunsNothing: an address of a bus can name a program, which is not to be started.
func TestAnAddressRunsNothing(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	r, _ := ringIn(t, func(name string) string {
		return map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/bin/sh,argv1=-c,argv2=touch " + ran + ";autolaunch:"}[name]
	})
	if kept, _, err := r.Set(t.Context(), "KEY", secret.Of(value)); kept != InFile || err != nil {
		t.Errorf("%s %v", kept, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the address ran a program")
	}
}
