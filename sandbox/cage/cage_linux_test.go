package cage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
)

// TestAsUser runs every other test as a user without privileges, when the tests run as root.
func TestAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the tests run as a user already")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatal("setpriv of util-linux is needed to run the tests as a user")
	}
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	dir, err := os.MkdirTemp("/var/tmp", "cage-test")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
	must(t, os.Chown(filepath.Join(dir, "tmp"), 1500, 1500))
	program := filepath.Join(dir, "cage.test")
	must(t, os.WriteFile(program, self, 0o755))
	cmd := exec.Command(setpriv, "--reuid=1500", "--regid=1500", "--clear-groups", program, "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+filepath.Join(dir, "tmp"))
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := bytes.Count(out, []byte("--- PASS")); n < 20 {
		t.Fatalf("only %d tests ran as a user:\n%s", n, out)
	}
}

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   Exit
	}{
		{"exit 0", Exit{}},
		{"exit 7", Exit{Code: 7}},
		{"kill -TERM $$", Exit{Code: -1, Signal: "terminated"}},
		{"kill -KILL $$", Exit{Code: -1, Signal: "killed"}},
	} {
		if _, got := run(t, Spec{View: systemView(t), Net: true}, "sh", "-c", tt.script); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.script, got, tt.want)
		}
	}
}

func TestBytesOfArgumentsAndVariables(t *testing.T) {
	big := strings.Repeat("x", 120<<10) // more than one packet
	odd := "a\xff\xfe\n\tb"
	out, exit := run(t, Spec{View: systemView(t), Net: true, Env: []string{"PATH=/usr/bin", "ODD=" + odd, "BIG=" + big}},
		"sh", "-c", `printf '%s|%s|%s' "$ODD" "$1" "${#BIG}"; env | grep -c =`, "sh", odd)
	want := odd + "|" + odd + "|" + strconv.Itoa(len(big))
	if !strings.HasPrefix(out, want) || exit.Code != 0 {
		t.Errorf("got %.200q, %+v", out, exit)
	}
}

func TestTerminal(t *testing.T) {
	c, err := Start(t.Context(), Spec{Argv: []string{"sh", "-c", "tty; stty size; ps -o sid= -p $$ >/dev/null; read x; echo got $x; exit 3"}, Env: []string{"PATH=/usr/bin:/bin", "TERM=dumb"},
		Dir: "/tmp", View: systemView(t), Net: true, Terminal: &Size{Cols: 91, Rows: 33}})
	if err != nil {
		t.Fatal(words(err))
	}
	tty := c.Terminal()
	defer tty.Close()
	if _, err := tty.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	b := readTerminal(t, tty)
	if exit := c.Wait(); exit != (Exit{Code: 3}) {
		t.Errorf("exit %+v", exit)
	}
	for _, want := range []string{"/dev/pts/0\r\n", "33 91\r\n", "got hello\r\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%q is not in %q", want, b)
		}
	}
}

// readTerminal reads what is printed until nobody has the terminal open. It reads on once after that was said (EIO): Linux
// also says it when the last process printed and closed in the midst of a read.
func readTerminal(t *testing.T, tty *os.File) []byte {
	t.Helper()
	var all []byte
	for range 2 {
		b, err := io.ReadAll(tty)
		if err != nil && !errors.Is(err, unix.EIO) {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// TestTerminalReadEnds shows that a reader can be woken by closing: the master does not block a thread.
func TestTerminalReadEnds(t *testing.T) {
	c, err := Start(t.Context(), Spec{Argv: []string{"sleep", "100"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", View: systemView(t), Net: true, Terminal: &Size{80, 24}})
	if err != nil {
		t.Fatal(words(err))
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(c.Terminal())
		ended <- err
	}()
	must(t, c.Terminal().Close())
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read goes on")
	}
	c.Kill()
	if exit := c.Wait(); exit.Code != -1 || exit.Signal != "killed" && exit.Signal != "hangup" { // that is what the end of its terminal is for it
		t.Errorf("%+v", exit)
	}
}

func TestDoors(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true, Ports: []int{4100, 4200}})
	l := o.Listener(4200)
	if l == nil || o.Listener(4100) == nil || o.Listener(4300) != nil {
		t.Fatal("wrong listeners")
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 4)
			_, _ = io.ReadFull(c, b)
			_, _ = c.Write(append([]byte("app got "), b...))
			_ = c.Close()
		}
	}()
	o.want("ok app got ping", "fetch", "127.0.0.1:4200", "ping")
	o.want("ECONNREFUSED", "connect", "tcp", "127.0.0.1:4300")
	o.want("ECONNREFUSED", "connect", "tcp", "127.0.0.2:4200")
	if _, err := net.DialTimeout("tcp", "127.0.0.1:4200", time.Second); err == nil {
		t.Error("the cage's port is open on the host")
	}
	o.Kill()
	o.Wait()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the cage: %v", err)
	}
}

func TestDial(t *testing.T) {
	for _, tt := range []struct{ network, address string }{{"tcp4", "127.0.0.1:5173"}, {"tcp6", "[::1]:5173"}, {"tcp", ":5173"}} {
		o := newObedient(t, Spec{View: systemView(t), Net: true})
		if _, err := o.Dial(t.Context(), 5173); !errors.Is(err, unix.ECONNREFUSED) {
			t.Fatalf("nobody listens, and dial says %v", err)
		}
		o.tell("serve", tt.network, tt.address)
		if l := o.line(); l != "ready" {
			t.Fatal(l)
		}
		c, err := o.Dial(t.Context(), 5173)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("abcd")); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(c)
		if string(b) != "ABCD" || err != nil {
			t.Errorf("%s: %q, %v", tt.address, b, err)
		}
		must(t, c.Close())
		if l := o.line(); l != "ok abcd" {
			t.Error(l)
		}
		o.Kill()
		o.Wait()
		if _, err := o.Dial(t.Context(), 5173); err == nil {
			t.Error("a cage that ended was dialed")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := newObedient(t, Spec{View: systemView(t), Net: true})
	cancel()
	if _, err := o.Dial(ctx, 1); !errors.Is(err, context.Canceled) && !errors.Is(err, unix.ECONNREFUSED) {
		t.Error(err)
	}
}

func TestOtherNetworks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer u.Close()
	address, packets := l.Addr().String(), u.LocalAddr().String()
	abstract, err := net.Listen("unix", "@cage-test-"+strconv.Itoa(os.Getpid()))
	must(t, err)
	defer abstract.Close()
	if slices.Contains(networks(t), false) {
		outside := newObedient(t, Spec{View: systemView(t), Net: false})
		for _, act := range [][]string{{"connect", "tcp", address}, {"mptcp", address}, {"tfo", address}} { // controls: these reach the host
			if got := outside.do(act...); got != "ok" {
				t.Errorf("on the host's network %v = %q", act, got)
			}
		}
		outside.want("ok no refusal", "udp", packets)
		outside.want("EPERM", "connect", "unix", abstract.Addr().String())
	}

	o := newObedient(t, Spec{View: systemView(t), Net: true})
	for _, act := range [][]string{{"connect", "tcp", address}, {"mptcp", address}, {"tfo", address}, {"udp", packets}, {"connect", "unix", abstract.Addr().String()}} {
		o.want("ECONNREFUSED", act...)
	}
	for _, act := range [][]string{{"connect", "tcp", "192.0.2.1:80"}, {"mptcp", "192.0.2.1:80"}, {"tfo", "192.0.2.1:80"}, {"udp", "192.0.2.1:53"}} {
		o.want("ENETUNREACH", act...)
	}
}

func TestNoCapabilityAnywhere(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true})
	const none = "0000000000000000"
	for _, pid := range []string{"1", "self"} {
		o.want("ok CapInh="+none+" CapPrm="+none+" CapEff="+none+" CapBnd="+none+" CapAmb="+none+" NoNewPrivs=1 Seccomp=2", "caps", pid)
	}
}

// TestFirstProcessIsClosed is for an escape that was real: a debugger on the first process reached its other threads, which
// held every capability of the cage.
func TestFirstProcessIsClosed(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true})
	o.wantAny([]string{"EPERM", "EACCES"}, "ptrace", "1")
	o.want("ok", "memory", "1")
	o.want("ok mem environ maps root cwd exe process_vm_readv", "memory", strconv.Itoa(o.ProgramPid())) // the control: itself
}

func TestForbiddenCalls(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true})
	for name, act := range map[string][]any{
		"keyctl": {unix.SYS_KEYCTL}, "add_key": {unix.SYS_ADD_KEY}, "bpf": {unix.SYS_BPF}, "perf": {unix.SYS_PERF_EVENT_OPEN}, "userfaultfd": {unix.SYS_USERFAULTFD},
		"mount": {unix.SYS_MOUNT}, "umount": {unix.SYS_UMOUNT2}, "open_tree": {unix.SYS_OPEN_TREE}, "fsopen": {unix.SYS_FSOPEN}, "setns": {unix.SYS_SETNS},
		"unshare user": {unix.SYS_UNSHARE, unix.CLONE_NEWUSER}, "unshare net": {unix.SYS_UNSHARE, unix.CLONE_NEWNET}, "clone user": {unix.SYS_CLONE, unix.CLONE_NEWUSER | 17},
		"open_by_handle": {unix.SYS_OPEN_BY_HANDLE_AT}, "pidfd_getfd": {unix.SYS_PIDFD_GETFD}, "process_vm_writev": {unix.SYS_PROCESS_VM_WRITEV},
		"TIOCLINUX": {unix.SYS_IOCTL, 0, 0x541c}, "TIOCLINUX, high bits": {unix.SYS_IOCTL, 0, 0x1_0000_541c},
	} {
		words := []string{"call"}
		for _, a := range act {
			words = append(words, strconv.Itoa(a.(int)))
		}
		if got := o.do(words...); got != "EPERM" {
			t.Errorf("%s = %q", name, got)
		}
	}
	o.want("ENOSYS", "call", strconv.Itoa(unix.SYS_IO_URING_SETUP))
	o.want("ok", "call", strconv.Itoa(unix.SYS_UNSHARE), strconv.Itoa(unix.CLONE_FILES)) // the control
	for want, s := range map[string][3]int{
		"ok":           {unix.AF_UNIX, unix.SOCK_STREAM, 0},
		"EAFNOSUPPORT": {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
	} {
		o.want(want, "socket", strconv.Itoa(s[0]), strconv.Itoa(s[1]), strconv.Itoa(s[2]))
	}
	o.want("ok", "socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW), strconv.Itoa(unix.NETLINK_ROUTE))
	o.want("EAFNOSUPPORT", "socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW), strconv.Itoa(unix.NETLINK_KOBJECT_UEVENT))
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		for _, s := range []struct {
			kind, proto int
			want        string
		}{{unix.SOCK_STREAM, 0, "ok"}, {unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0, "ok"}, {unix.SOCK_STREAM | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP, "ok"}, {unix.SOCK_DGRAM, unix.IPPROTO_UDP, "ok"},
			{unix.SOCK_STREAM, unix.IPPROTO_SCTP, "EPROTONOSUPPORT"}, {unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC, 0, "EPROTONOSUPPORT"}, {6, 0, "EPROTONOSUPPORT"}, {unix.SOCK_STREAM, 256, "EPROTONOSUPPORT"},
			{unix.SOCK_RAW, unix.IPPROTO_UDP, "EPERM"}, {unix.SOCK_RAW, unix.IPPROTO_RAW, "EPROTONOSUPPORT"}} {
			o.want(s.want, "socket", strconv.Itoa(family), strconv.Itoa(s.kind), strconv.Itoa(s.proto))
		}
	}
	o.want("EAFNOSUPPORT", "call", strconv.Itoa(unix.SYS_SOCKETPAIR), strconv.Itoa(unix.AF_TIPC), strconv.Itoa(unix.SOCK_STREAM))
	o.want("EAFNOSUPPORT", "socket", strconv.Itoa(unix.AF_ALG), strconv.Itoa(unix.SOCK_SEQPACKET), "0")
}

// TestTyping is for input that a program in the cage puts into its own terminal.
func TestTyping(t *testing.T) {
	c, err := Start(t.Context(), Spec{Argv: []string{"sh", "-c", toolPath + " cage-tool tiocsti 0x5412; " + toolPath + " cage-tool tiocsti 0x100005412"}, Env: []string{"PATH=/usr/bin:/bin"},
		Dir: "/", View: systemView(t), Net: true, Terminal: &Size{80, 24}})
	if err != nil {
		t.Fatal(words(err))
	}
	b := readTerminal(t, c.Terminal())
	_ = c.Terminal().Close()
	c.Wait()
	if string(b) != "EPERM\r\nEPERM\r\n" {
		t.Errorf("%q", b)
	}
}

// TestDescriptors leaves a descriptor open that every child would inherit.
func TestDescriptors(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	must(t, err)
	defer f.Close()
	for _, fd := range []int{9, 50, 1000} {
		must(t, unix.Dup3(int(f.Fd()), fd, 0)) // without CLOEXEC
		defer unix.Close(fd)
	}
	o := newObedient(t, Spec{View: systemView(t), Net: true, Ports: []int{4100}})
	o.want("ok 0 1 2", "fds")
}

func TestSecretsStayInside(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true, Env: []string{"PATH=/usr/bin", "TOKEN=canary-0815"}})
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, name := range append(files, "/proc/"+strconv.Itoa(o.Pid())+"/environ") {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte("canary-0815")) {
			t.Errorf("%s shows the variable: %q", name, b)
		}
	}
}

// TestControlsOfTheKernel is for root, whose user id alone opens many of them.
func TestControlsOfTheKernel(t *testing.T) {
	before, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	must(t, err)
	for _, net := range networks(t) {
		o := newObedient(t, Spec{View: systemView(t), Net: net})
		for _, path := range []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/pid_max", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger", "/proc/1/oom_score_adj"} {
			o.wantAny([]string{"EROFS", "EACCES", "EPERM", "ENOENT"}, "append", path, "1")
		}
		o.want("EROFS", "chmod", "/dev/null")
		for _, path := range []string{"/x", "/dev/x", "/usr/x", "/etc/x", "/tool/x", "/tool/t"} {
			o.wantAny([]string{"EROFS", "EACCES"}, "write", path, "x")
		}
	}
	after, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	must(t, err)
	if string(before) != string(after) {
		t.Errorf("core_pattern is %q now", after)
	}
}

func TestNothingOutlivesTheProgram(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true})
	for range 3 {
		o.want("ok", "orphan")
	}
	inside := children(t, o.Pid())
	if len(inside) < 4 {
		t.Fatalf("only %d processes", len(inside))
	}
	begin := time.Now()
	o.Kill()
	o.Wait()
	t.Logf("gone after %s", time.Since(begin))
	for _, pid := range append(inside, o.Pid()) {
		if unix.Kill(pid, 0) == nil {
			t.Errorf("process %d lives", pid)
		}
	}
}

// children are the processes in the pid namespace of a process, as the host counts.
func children(t *testing.T, pid int) []int {
	t.Helper()
	var out []int
	entries, err := os.ReadDir("/proc")
	must(t, err)
	parents := map[int]int{}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parents[n], _ = strconv.Atoi(f[1])
	}
	for n := range parents {
		for p := parents[n]; p > 1; p = parents[p] {
			if p == pid {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// TestNothingOutlivesTheApp kills the process that started a cage.
func TestNothingOutlivesTheApp(t *testing.T) {
	if inChild("app") {
		o := newObedient(t, Spec{View: systemView(t), Net: true})
		o.want("ok", "orphan")
		pids := append(children(t, o.Pid()), o.Pid())
		var b strings.Builder
		for _, p := range pids {
			b.WriteString(strconv.Itoa(p) + " ")
		}
		must(t, os.WriteFile(os.Getenv("CAGE_TEST_FILE"), []byte(b.String()), 0o600))
		must(t, unix.Kill(os.Getpid(), unix.SIGKILL))
	}
	file := filepath.Join(t.TempDir(), "pids")
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, "-test.run=^TestNothingOutlivesTheApp$")
	cmd.Env = append(os.Environ(), "CAGE_TEST_CHILD=app", "CAGE_TEST_FILE="+file)
	var exit *exec.ExitError
	if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(file)
	must(t, err)
	pids := strings.Fields(string(b))
	if len(pids) < 3 {
		t.Fatalf("%q", b)
	}
	for _, s := range pids {
		pid, err := strconv.Atoi(s)
		must(t, err)
		for end := time.Now().Add(5 * time.Second); unix.Kill(pid, 0) == nil && !isZombie(pid); {
			if time.Now().After(end) {
				t.Errorf("process %d lives", pid)
				break
			}
			runtime.Gosched()
		}
	}
}

// isZombie tells whether a process ended and its new parent has not noticed yet.
func isZombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.HasPrefix(string(b[bytes.LastIndexByte(b, ')')+1:]), " Z")
}

// TestCollectedGarbage is for a cage that once died at a collection, with its last reference to a descriptor.
func TestCollectedGarbage(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true, Ports: []int{4100}})
	for range 50 {
		runtime.GC()
		waste := make([]byte, 1<<20)
		waste[0] = 1
		if o.do("stat", "/") != "ok" {
			t.Fatal("the cage died")
		}
	}
}

func TestSignal(t *testing.T) {
	c, err := Start(t.Context(), filled(Spec{Argv: []string{"sleep", "100"}, View: systemView(t), Net: true}))
	if err != nil {
		t.Fatal(words(err))
	}
	must(t, c.Signal(syscall.SIGTERM))
	if exit := c.Wait(); exit.Signal != "terminated" {
		t.Errorf("%+v", exit)
	}
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestFirstProcessIgnoresSignals: a program that signals everything does not end its own cage by accident.
func TestFirstProcessIgnoresSignals(t *testing.T) {
	out, exit := run(t, Spec{View: systemView(t), Net: true}, "sh", "-c", "for s in HUP INT QUIT TERM USR1 USR2 STOP; do kill -$s 1; done; sleep 0.1; echo alive")
	if !strings.Contains(out, "alive") || exit.Code != 0 {
		t.Errorf("%q %+v", out, exit)
	}
}

func TestStopAtContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, filled(Spec{Argv: []string{"true"}, View: systemView(t), Net: true}))
	if fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if left := zombies(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err = Start(t.Context(), filled(Spec{Argv: []string{"true"}, View: systemView(t), Net: true, StartTimeout: time.Nanosecond}))
	if fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if left := zombies(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// zombies are our children, alive or not.
func zombies(t *testing.T) []int {
	t.Helper()
	return slices.DeleteFunc(children(t, os.Getpid()), func(int) bool { return false })
}
