package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/childproc"
)

// TestRoom: what runs in a room sees what it was given and nothing else, and ends with its time.
func TestRoom(t *testing.T) {
	var m Machine
	if err := m.Check(t.Context(), Enforce); err != nil {
		t.Skipf("NOT TESTED: this machine cannot cage a task: %v", err)
	}
	root := t.TempDir()
	tree, secret := filepath.Join(root, "tree"), filepath.Join(root, "secret")
	for p, text := range map[string]string{filepath.Join(tree, "file"): "inside\n", secret: "outside\n"} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	run := func(timeout time.Duration, command string) (childproc.Result, error) {
		return childproc.Run(context.Background(), childproc.Cmd{Path: "/bin/sh", Args: []string{"-c", command}, Dir: tree, Timeout: timeout,
			Env: []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader("typed\n"), Elsewhere: m.Room([]string{tree}, nil)})
	}
	r, err := run(time.Minute, "cat file -; cat link '"+secret+"'; echo x > file; ls /home /root /tmp/*; exit 3")
	if err != nil || r.Code != 3 || !bytes.Contains(r.Stdout, []byte("inside\ntyped\n")) || bytes.Contains(r.Stdout, []byte("outside")) {
		t.Errorf("%v, exit %d: %s %s", err, r.Code, r.Stdout, r.Stderr)
	}
	if b, _ := os.ReadFile(filepath.Join(tree, "file")); string(b) != "inside\n" {
		t.Errorf("the file is %q now", b)
	}
	if r, err := run(200*time.Millisecond, "sleep 60 & sleep 60"); err == nil || !r.TimedOut || !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "time") {
		t.Errorf("a command without an end: %+v, %v", r, err)
	}
	if r, err := run(time.Minute, "head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2"); err != nil || r.Total != 3000000 || r.Stderr != "end\n" {
		t.Errorf("%v: %d bytes, %q", err, r.Total, r.Stderr)
	}
}
