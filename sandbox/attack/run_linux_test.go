package attack

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
	"termic/sandbox/cage"
)

// testUser is the user id of the run without privileges. It needs no entry in the system's list of users.
const testUser = 1500

// leastCounted is how many probes must have got out uncaged, for a run to mean something.
const leastCounted = 80

// TestAttackAsRoot and TestAttackAsUser run the whole table. Each runs in a process of its own, as the user that it
// names, on ground that root has prepared.
func TestAttackAsRoot(t *testing.T) { asUser(t, 0) }

func TestAttackAsUser(t *testing.T) { asUser(t, testUser) }

// asUser prepares the ground and runs the table as a user; in the process that this started, it is the run.
func asUser(t *testing.T, uid int) {
	if p, ok := readPrepared(); ok {
		attackTable(t, p)
		return
	}
	if os.Getuid() != 0 {
		if uid == 0 {
			t.Skip("NOT RUN AS ROOT: the table is run as this user alone")
		}
		uid = os.Getuid()
	}
	runAs(t, uid, program(t), t.Name())
}

// runAs runs one test of a test program as a user, on ground that is prepared for it.
func runAs(t *testing.T, uid int, program, test string) {
	t.Helper()
	p := prepare(t, uid, program)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	limit := 9 * time.Minute
	if end, ok := t.Deadline(); ok {
		limit = time.Until(end) - 10*time.Second // so that it says itself where it was
	}
	cmd := exec.CommandContext(t.Context(), p.Program, "-test.timeout="+limit.String(), "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), envPrepared+"="+string(text), "HOME="+p.Root, "TMPDIR="+p.Root)
	cmd.Dir = p.Root
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if loud() {
		cmd.Stdout = os.Stdout
	}
	cmd.Stderr = cmd.Stdout
	err = cmd.Run()
	t.Logf("%s", out.Bytes())
	if err != nil {
		t.Errorf("%s as user %d: %v", test, uid, err)
	}
}

// prepare makes what only root can make, as far as we are root.
func prepare(t *testing.T, uid int, program string) prepared {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Not t.TempDir: its parents are closed to other users, and its names are longer than a socket's may be.
	root, err := os.MkdirTemp("", "ta-")
	check(err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := prepared{Root: filepath.Join(root, "r"), Program: filepath.Join(root, "attack.test"), Secret: "SECRET-" + rand.Text()}
	check(os.Chmod(root, 0o755))
	check(os.Mkdir(p.Root, 0o755))
	check(os.Chown(p.Root, uid, uid))
	copyFile(t, program, p.Program, 0o755)
	if os.Getuid() != 0 {
		t.Log("NOT PREPARED: without root there is no second mount, no setuid program and no socket of the system")
		return p
	}
	p.Alias = filepath.Join(root, "alias")
	check(os.Mkdir(p.Alias, 0o755))
	check(unix.Mount(p.Root, p.Alias, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(p.Alias, unix.MNT_DETACH) })

	special := filepath.Join(root, "special")
	check(os.Mkdir(special, 0o755))
	p.Setuid, p.FileCaps = filepath.Join(special, "setuid"), filepath.Join(special, "filecaps")
	copyFile(t, program, p.Setuid, 0o755)
	copyFile(t, program, p.FileCaps, 0o755)
	check(unix.Setxattr(p.FileCaps, "security.capability", capNetRaw, 0))
	owner := 0
	if uid == 0 {
		owner = testUser
	}
	check(os.Chown(p.Setuid, owner, owner))
	check(os.Chmod(p.Setuid, 0o755|os.ModeSetuid))

	p.EtcSecret = fmt.Sprintf("/etc/termic-attack-%d.secret", os.Getpid())
	check(os.WriteFile(p.EtcSecret, []byte(p.Secret), 0o640))
	t.Cleanup(func() { _ = os.Remove(p.EtcSecret) })
	check(os.Chown(p.EtcSecret, 0, uid))
	p.SysSocket, p.OptSocket = answering(t, "/run", p.Secret), answering(t, "/opt", p.Secret)
	return p
}

// answering makes a socket of the system that answers everyone with the secret, until the end of the test.
func answering(t *testing.T, dir, secret string) string {
	path := filepath.Join(dir, fmt.Sprintf("termic-attack-%d.sock", os.Getpid()))
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o666)
	}
	if err != nil {
		t.Logf("NOT PREPARED: %v", err)
		return ""
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(netTime))
			_, _ = c.Write([]byte(secret))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return path
}

// capNetRaw is a file's capability to make raw sockets, permitted and effective: magic, permitted, inheritable, twice.
var capNetRaw = []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attackTable runs all columns and compares every verdict with the table.
func attackTable(t *testing.T, p prepared) {
	start := time.Now()
	kernel := machine(t, p)
	open := column(t, p, Open, plainCage, Table())
	counted := controls(t, open)
	t.Logf("open: %d rows, %d count, %v", len(open), len(counted), time.Since(start).Round(time.Millisecond))
	if len(counted) < leastCounted {
		t.Errorf("only %d probes get out uncaged on this machine; at least %d must", len(counted), leastCounted)
	}
	tried := &verdicts{}
	tried.took(Open, Table(), open)
	t.Run("cages", func(t *testing.T) { // returns when all of them have ended
		for c := FilesOnly; c < Columns; c++ {
			for _, kind := range []cageKind{plainCage, wideGrants, inPlace} {
				if c != FilesOnly || kernel.EnforceFs {
					t.Run(fmt.Sprintf("%s,%s", c, kind), func(t *testing.T) {
						t.Parallel()
						rows := kind.of(Table())
						got := column(t, p, c, kind, rows)
						tried.took(c, rows, got)
						compare(t, c, rows, got, counted, kernel.Holds.Landlock)
					})
				}
			}
		}
	})
	tried.complete(t, kernel.EnforceFs)
}

// compare holds the verdicts of one cage against the table.
func compare(t *testing.T, c Column, rows []Row, got map[string]outcome, counted map[string]bool, landlock int) {
	held := 0
	for _, r := range rows {
		o := got[r.Name]
		if o.Verdict == Held {
			held++
		}
		want := r.Want[c]
		if r.Wall && landlock == 0 {
			want = Out
		}
		if o.Verdict != want && (counted[r.Name] || want == Held) {
			t.Errorf("%s (%s): must be %s, but is %s: %q %s", r.Name, r.Does, want, o.Verdict, o.Report.Got, o.Report.Err)
		}
		if o.Report.Hung {
			t.Errorf("%s hung: %s", r.Name, o.Report.Err)
		}
	}
	t.Logf("%s: %d rows, %d held", c, len(got), held)
}

// verdicts counts what each row came to in each column, so that none is left out unseen.
type verdicts struct {
	mu sync.Mutex // guards the following
	of [Columns]map[string]int
}

// took takes in the verdicts of one run.
func (v *verdicts) took(c Column, rows []Row, got map[string]outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of[c] == nil {
		v.of[c] = map[string]int{}
	}
	for _, r := range rows {
		if o := got[r.Name].Verdict; o == Out || o == Held {
			v.of[c][r.Name]++
		}
	}
}

// complete complains of every row that has not exactly one verdict in each column. Where the kernel has no enforce-fs, that column has none.
func (v *verdicts) complete(t *testing.T, enforceFs bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for c := Open; c < Columns; c++ {
		want := 1
		if c == FilesOnly && !enforceFs {
			want = 0
		}
		for _, r := range Table() {
			if n := v.of[c][r.Name]; n != want {
				t.Errorf("%s has %d verdicts in %s, not %d", r.Name, n, c, want)
			}
		}
		t.Logf("%s: %d of %d rows have a verdict", c, len(v.of[c]), len(Table()))
	}
}

// machine tells what this kernel can do. Where it builds no cages on the host's network, such a task is refused.
func machine(t *testing.T, p prepared) cage.Report {
	r := cage.Probe(t.Context(), "")
	if !r.Enforce {
		t.Fatalf("this machine builds no cage: %v", r.Problem)
	}
	t.Logf("Linux %s, Landlock %d, processes by %q, memory by %q", r.Kernel, r.Holds.Landlock, r.Holds.Processes.By, r.Holds.Memory.By)
	if r.EnforceFs {
		return r
	}
	h := newHost(t, p)
	_, err := h.look(h.policy(FilesOnly, "a", plainCage))
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Unsupported || !strings.Contains(f.Hint, "Use the mode enforce") || r.Holds.Landlock >= 6 {
		t.Fatalf("Landlock %d, and a cage in enforce-fs is refused so: %v", r.Holds.Landlock, err)
	}
	t.Logf("NOT TRIED: enforce-fs, which is refused here: %v. %s", err, f.Hint)
	return r
}

// controls tells which rows got out uncaged, and complains about those that should have.
func controls(t *testing.T, open map[string]outcome) map[string]bool {
	counted := map[string]bool{}
	for _, r := range Table() {
		o := open[r.Name]
		switch {
		case o.Verdict == Out:
			counted[r.Name] = true
		case r.Lacks != "":
			t.Logf("NOT COUNTED: %s: this machine lacks %s: %s", r.Name, r.Lacks, o.Report.Err)
		case r.Needs == NeedsRoot && os.Getuid() != 0:
			t.Logf("NOT COUNTED: %s: only root can do it uncaged: %s", r.Name, o.Report.Err)
		case r.Needs == NeedsPrepared && r.unprepared():
			t.Logf("NOT COUNTED: %s: root prepared no ground for it", r.Name)
		default:
			t.Errorf("%s (%s): the uncaged try must succeed, or the probe proves nothing: %q %s", r.Name, r.Does, o.Report.Got, o.Report.Err)
		}
	}
	return counted
}

func (r Row) unprepared() bool { p, _ := readPrepared(); return p.Alias == "" }
