package childproc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
)

// heldMount is a file system with the folders first and second whose server can be held up: what is not in the kernel's memory waits then.
func heldMount(t *testing.T) (dir string, hold, free func()) {
	t.Helper()
	for _, p := range []string{"mksquashfs", "squashfuse"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("NOT TESTED: there is no %s to make a file system with that can be held up", p)
		}
	}
	root := t.TempDir()
	for _, d := range []string{"tree/first", "tree/second", "on"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	image, dir := filepath.Join(root, "image"), filepath.Join(root, "on")
	if out, err := exec.Command("mksquashfs", filepath.Join(root, "tree"), image, "-quiet", "-no-progress").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	server := exec.Command("squashfuse", "-f", image, dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	signal := func(s unix.Signal) func() {
		return func() {
			if err := server.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(func() {
		signal(unix.SIGCONT)()
		signal(unix.SIGTERM)() // it takes the mount away
		<-ended
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "first")); err == nil {
			break
		}
		if len(ended) > 0 || time.Now().After(end) {
			ended <- errors.New("ended")
			t.Skip("NOT TESTED: this machine lets nobody mount with FUSE")
		}
	}
	return dir, signal(unix.SIGSTOP), signal(unix.SIGCONT)
}

// TestFolderWithoutAnAnswer: nothing is started in it, with words; programs elsewhere start meanwhile; and it is used when the server is back.
func TestFolderWithoutAnAnswer(t *testing.T) {
	dir, hold, free := heldMount(t)
	in := func(ctx context.Context, dir string) error {
		_, err := Run(ctx, Cmd{Path: "/bin/true", Dir: dir, Timeout: 20 * time.Second})
		return err
	}
	if err := in(t.Context(), filepath.Join(dir, "first")); err != nil {
		t.Fatal(err)
	}
	hold()
	begin, refused := time.Now(), make(chan error, 1)
	go func() { refused <- in(t.Context(), filepath.Join(dir, "second")) }()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := in(short, filepath.Join(dir, "second")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a context of its own: %v", err)
	}
	for n := 0; len(refused) == 0; n++ {
		if err := in(t.Context(), t.TempDir()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 2*dirTime && len(refused) == 0 {
			t.Fatalf("no answer within %s", took)
		}
		time.Sleep(50 * time.Millisecond)
	}
	f := fault.From(<-refused)
	if f.Code != fault.Unavailable || !strings.Contains(f.Message, "second gives no answer") || f.Hint == "" || time.Since(begin) < dirTime {
		t.Errorf("%s: %s %s", f.Code, f.Message, f.Hint)
	}
	free()
	if err := in(t.Context(), filepath.Join(dir, "second")); err != nil {
		t.Error(err)
	}
}
