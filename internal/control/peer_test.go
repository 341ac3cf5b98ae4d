//go:build linux

package control

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// knockEnv tells the test program, run as another user, which socket to knock at.
const knockEnv = "TERMIC_TEST_KNOCK"

// TestAnotherUserIsTurnedAway runs this program as another user, with file modes that would let him in, and shows that
// the server hangs up without reading what he sends or answering it.
func TestAnotherUserIsTurnedAway(t *testing.T) {
	if socket := os.Getenv(knockEnv); socket != "" {
		knock(t, socket)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user to try this")
	}
	b := &fakeBackend{}
	r := start(t, b)
	token := r.token(t)
	for path, mode := range map[string]os.FileMode{r.Dir: 0o755, r.addr.Socket: 0o777, r.addr.Token: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(r.Dir, "knock")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestAnotherUserIsTurnedAway$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{knockEnv + "=" + r.addr.Socket, "TERMIC_TEST_TOKEN=" + token, "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("turned away")) {
		t.Errorf("the other user reports:\n%s", out)
	}
	if got := b.seen(); len(got) > 0 {
		t.Errorf("the dispatcher heard %q", got)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	// The client's side of the same check: a socket of another user gets no token.
	if _, err := Dial(t.Context(), r.addr); err != nil {
		t.Errorf("the owner himself: %v", err)
	}
}

// knock is what the other user does.
func knock(t *testing.T, socket string) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, `{"id":"1","token":"`+os.Getenv("TERMIC_TEST_TOKEN")+`","verb":"task_list"}`+"\n") // may be hung up on already
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if len(got) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %q, %v", got, err)
	}
	t.Log("turned away")
}
