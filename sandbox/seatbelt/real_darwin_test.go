package seatbelt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOnARealMac runs cat and sh under real profiles: what the evaluator says of a path must be what the system does.
func TestOnARealMac(t *testing.T) {
	const program = "/usr/bin/sandbox-exec"
	if _, err := os.Stat(program); err != nil {
		t.Skipf("NOT TESTED: this Mac has no sandbox-exec: %v", err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Read: []string{"/usr", "/bin", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/dyld", root + "/read", root + "/share"},
		Write: []string{root + "/write"}, Hide: []string{root + "/read/hidden"}, Pins: []string{root + "/write/pin", root + "/wt/.git"},
		Own: []string{root + "/wt", root + "/share/data/homes/t"}, Home: root + "/share/data/homes/t", Dir: root + "/wt", Data: root + "/share/data", Doors: []int{7777}}
	files := []string{"/read/f", "/read/hidden/f", "/write/f", "/write/pin/f", "/wt/f", "/wt/.git", "/share/data/token", "/share/data/homes/t/f", "/share/sibling", "/outside/f"}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(root+f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+f, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := Text(s)
	if err != nil {
		t.Fatal(err)
	}
	p := parsed(t, s)
	for _, f := range files {
		for op, script := range map[string]string{"file-read-data": `exec cat "$0"`, "file-write-data": `echo y >>"$0"`} {
			want, err := p.Allows(Request{Op: op, Path: root + f})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "-p", text, "/bin/sh", "-c", script, root+f)
			cmd.Dir = root + "/wt"
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if (err == nil) != want {
				t.Errorf("%s %s: %v, want allowed: %v: %s", op, f, err, want, out)
			}
		}
	}
}
