package datadir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"termic/internal/fault"
)

// TestMain lets the test binary be a second process that holds a folder until its standard input ends.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DATADIR_TEST_HOLD"); dir != "" {
		d, err := Open(context.Background(), dir, Holder{PID: os.Getpid(), Face: "serve"})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		_ = d.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		goos string
		env  map[string]string
		want string
		code fault.Code
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.local/share/termic", ""},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/termic", ""},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "x"}, "/h/.local/share/termic", ""},
		{"darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/h/Library/Application Support/termic", ""},
		{"linux", map[string]string{"HOME": "/h", EnvVar: "/d/../e"}, "/e", ""},
		{"linux", map[string]string{EnvVar: "/d"}, "/d", ""},
		{"linux", map[string]string{"HOME": "/h", EnvVar: "d"}, "", fault.InvalidArgument},
		{"linux", nil, "", fault.Unavailable},
		{"darwin", nil, "", fault.Unavailable},
		{"windows", nil, "", fault.Unavailable},
	} {
		got, err := find(func(k string) string { return tt.env[k] }, tt.goos)
		if got != tt.want || fault.CodeOf(err) != tt.code {
			t.Errorf("%s %v: %q, %v; want %q, %q", tt.goos, tt.env, got, err, tt.want, tt.code)
		}
	}
}

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(t.Context(), path, Holder{PID: os.Getpid(), Face: "window"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpenClosesTheFolderToOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d := open(t, path)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o777, 0o755, 0o500} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("after %v: %v, %v", mode, st.Mode(), err)
		}
	}
	if st, err := os.Stat(d.File(LockFile)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("lock file: %v, %v", st, err)
	}
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Holder{}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Open of a file: %v", err)
	}
	if os.Geteuid() == 0 {
		other := filepath.Join(t.TempDir(), "d")
		if err := errors.Join(os.Mkdir(other, 0o755), os.Chown(other, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), other, Holder{}); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("Open of another user's folder: %v", err)
		}
	}
}

func TestSecondInThisProcess(t *testing.T) {
	path := t.TempDir()
	d := open(t, path)
	_, err := Open(t.Context(), path, Holder{})
	f := fault.From(err)
	if f == nil || f.Code != fault.Conflict || f.Data["pid"] != os.Getpid() || f.Data["face"] != "window" {
		t.Fatalf("second Open: %+v", err)
	}
	if h, held, err := HeldBy(path); err != nil || !held || h.Face != "window" {
		t.Errorf("HeldBy = %+v, %v, %v", h, held, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if h, held, err := HeldBy(path); err != nil || held {
		t.Errorf("HeldBy after Close = %+v, %v, %v", h, held, err)
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := HeldBy(filepath.Join(path, "none")); held || err != nil {
		t.Errorf("HeldBy of nothing = %v, %v", held, err)
	}
}

// TestSecondProcess holds the folder in another process, which then is killed: the lock ends with it.
func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "DATADIR_TEST_HOLD="+path)
	stdin, err1 := child.StdinPipe()
	stdout, err2 := child.StdoutPipe()
	if err := errors.Join(err1, err2, child.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	_, err := Open(t.Context(), link, Holder{}) // by another name
	if f := fault.From(err); f == nil || f.Code != fault.Conflict || f.Data["pid"] != child.Process.Pid || f.Data["face"] != "serve" {
		t.Errorf("Open while held: %+v", err)
	}
	if h, held, err := HeldBy(path); err != nil || !held || h.PID != child.Process.Pid {
		t.Errorf("HeldBy = %+v, %v, %v", h, held, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOneOfMany has many open the folder at once while others look: exactly one holds it at any time, and looking never
// keeps one out.
func TestOneOfMany(t *testing.T) {
	path := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	holders, wins := 0, 0
	stop := make(chan struct{})
	var lookers sync.WaitGroup
	lookers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, _, err := HeldBy(path); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 8 {
		wg.Go(func() {
			d, err := Open(t.Context(), path, Holder{PID: 1, Face: "serve"})
			if fault.CodeOf(err) == fault.Conflict {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			holders++
			wins++
			if holders != 1 {
				t.Errorf("%d hold the folder at once", holders)
			}
			holders--
			mu.Unlock()
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(stop)
	lookers.Wait()
	if wins == 0 {
		t.Error("nobody got the folder")
	}
}
