package cage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tool is what tests run in a cage: the test program itself, asked for one act. It prints "ok" and what it found, or
// the name of the error.

const toolName = "cage-tool"

func beTool() (int, bool) {
	if len(os.Args) < 3 || os.Args[1] != toolName {
		return 0, false
	}
	act, ok := acts()[os.Args[2]]
	if !ok {
		fmt.Println("no such act")
		return 64, true
	}
	out, err := act(os.Args[3:])
	fmt.Println(verdict(out, err))
	return 0, true
}

// verdict is one line: the error's name, or what was found.
func verdict(out string, err error) string {
	if err == nil {
		return strings.TrimSpace("ok " + out)
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		return unix.ErrnoName(no)
	}
	return "error " + err.Error()
}

func acts() map[string]func([]string) (string, error) {
	return map[string]func([]string) (string, error){
		"read":    func(a []string) (string, error) { b, err := os.ReadFile(a[0]); return string(b), err },
		"list":    list,
		"write":   func(a []string) (string, error) { return "", os.WriteFile(a[0], []byte(a[1]), 0o600) },
		"append":  appendTo,
		"mkdir":   func(a []string) (string, error) { return "", os.Mkdir(a[0], 0o700) },
		"remove":  func(a []string) (string, error) { return "", os.Remove(a[0]) },
		"rename":  func(a []string) (string, error) { return "", unix.Rename(a[0], a[1]) },
		"link":    func(a []string) (string, error) { return "", unix.Link(a[0], a[1]) },
		"chmod":   func(a []string) (string, error) { return "", unix.Chmod(a[0], 0o777) },
		"stat":    func(a []string) (string, error) { _, err := os.Lstat(a[0]); return "", err },
		"connect": connect,
		"udp":     udp,
		"mptcp":   mptcp,
		"tfo":     fastOpen,
		"socket":  socket,
		"ptrace":  ptrace,
		"memory":  memory,
		"tiocsti": tiocsti,
		"fds":     descriptors,
		"caps":    capabilities,
		"serve":   serveOnce,
		"fetch":   fetch,
		"forks":   forks,
		"files":   manyFiles,
		"hog":     hog,
		"one":     func([]string) (string, error) { return "", exec.Command("/usr/bin/true").Run() },
		"orphan":  orphan,
		"sleep":   func([]string) (string, error) { fmt.Println("ready"); time.Sleep(time.Hour); return "", nil },
		"obey":    obey,
		"call":    call,
		"pids":    pids,
		"netns":   func([]string) (string, error) { return os.Readlink("/proc/self/ns/net") },
	}
}

func list(a []string) (string, error) {
	entries, err := os.ReadDir(a[0])
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " "), err
}

func appendTo(a []string) (string, error) {
	f, err := os.OpenFile(a[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString(a[1])
	return "", err
}

func connect(a []string) (string, error) {
	c, err := net.DialTimeout(a[0], a[1], 3*time.Second)
	if err != nil {
		return "", err
	}
	return "", c.Close()
}

// udp sends one packet; a refusal comes with the answer to it.
func udp(a []string) (string, error) {
	c, err := net.Dial("udp", a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		return "", err
	}
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	_, err = c.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "no refusal", nil
	}
	return "", err
}

// target reads the host and port of a TCP address of IPv4.
func target(s string) *unix.SockaddrInet4 {
	host, port, _ := net.SplitHostPort(s)
	n, _ := strconv.Atoi(port)
	return &unix.SockaddrInet4{Port: n, Addr: [4]byte(net.ParseIP(host).To4())}
}

func mptcp(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return "", err
	}
	return "", unix.Connect(fd, target(a[0]))
}

func fastOpen(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	return "", unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, target(a[0]))
}

func socket(a []string) (string, error) {
	n := make([]int, 3)
	for i := range n {
		n[i], _ = strconv.Atoi(a[i])
	}
	_, err := unix.Socket(n[0], n[1], n[2])
	return "", err
}

func ptrace(a []string) (string, error) {
	pid, _ := strconv.Atoi(a[0])
	return "", unix.PtraceAttach(pid)
}

// memory tries every other way into a process.
func memory(a []string) (string, error) {
	var open []string
	for _, name := range []string{"mem", "environ", "maps", "root", "cwd", "fd/3", "exe"} {
		if f, err := os.Open("/proc/" + a[0] + "/" + name); err == nil {
			open = append(open, name)
			_ = f.Close()
		}
	}
	pid, _ := strconv.Atoi(a[0])
	buf, word := make([]byte, 8), make([]byte, 8)
	at := uintptr(unsafe.Pointer(&word[0])) // in another process it is nothing, which is told apart from no access
	_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &buf[0], Len: 8}}, []unix.RemoteIovec{{Base: at, Len: 8}}, 0)
	if err == nil || errors.Is(err, unix.EFAULT) {
		open = append(open, "process_vm_readv")
	}
	return strings.Join(open, " "), nil
}

func tiocsti(a []string) (string, error) {
	cmd, _ := strconv.ParseUint(a[0], 0, 64)
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	c := byte('x')
	_, _, no := unix.Syscall(unix.SYS_IOCTL, tty.Fd(), uintptr(cmd), uintptr(unsafe.Pointer(&c)))
	if no != 0 {
		return "", no
	}
	return "", nil
}

func descriptors([]string) (string, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	var out []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode:") && !strings.Contains(to, "/fd") { // the runtime's own, and this listing
			out = append(out, e.Name())
		}
	}
	return strings.Join(out, " "), err
}

// capabilities looks at every thread of a process.
func capabilities(a []string) (string, error) {
	files, err := filepath.Glob("/proc/" + a[0] + "/task/*/status")
	if err != nil || len(files) == 0 {
		return "", errors.New("no threads to see")
	}
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(b)) {
			if name, v, _ := strings.Cut(line, ":"); strings.HasPrefix(name, "Cap") || name == "NoNewPrivs" || name == "Seccomp" {
				if entry := name + "=" + strings.TrimSpace(v); !slices.Contains(out, entry) {
					out = append(out, entry)
				}
			}
		}
	}
	return strings.Join(out, " "), nil
}

func serveOnce(a []string) (string, error) {
	l, err := net.Listen(a[0], a[1])
	if err != nil {
		return "", err
	}
	fmt.Println("ready")
	c, err := l.Accept()
	if err != nil {
		return "", err
	}
	defer c.Close()
	b := make([]byte, 4)
	if _, err := io.ReadFull(c, b); err != nil {
		return "", err
	}
	_, err = c.Write(bytes.ToUpper(b))
	return string(b), err
}

// fetch sends a word to an address and returns the answer.
func fetch(a []string) (string, error) {
	c, err := net.DialTimeout("tcp", a[0], 3*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write([]byte(a[1])); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// forks starts sleeping children until one is refused, and says how many there were.
func forks(a []string) (string, error) {
	most, _ := strconv.Atoi(a[0])
	for n := range most {
		if _, err := syscall.ForkExec("/usr/bin/sleep", []string{"sleep", "60"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}}); err != nil {
			return strconv.Itoa(n) + " " + verdict("", err), nil
		}
	}
	return a[0] + " and no end", nil
}

func manyFiles(a []string) (string, error) {
	most, _ := strconv.Atoi(a[0])
	for n := range most {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			return strconv.Itoa(n) + " " + verdict("", err), nil
		}
	}
	return a[0] + " and no end", nil
}

// hog takes memory and touches it.
func hog(a []string) (string, error) {
	most, _ := strconv.Atoi(a[0])
	for n := range most {
		m, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return strconv.Itoa(n) + " " + verdict("", err), nil
		}
		for i := 0; i < len(m); i += 4096 {
			m[i] = 1
		}
	}
	return a[0] + " and no end", nil
}

// orphan leaves behind what is hardest to find: a grandchild in a session of its own that ignores every polite signal.
func orphan([]string) (string, error) {
	cmd := exec.Command("/usr/bin/setsid", "sh", "-c", "trap '' HUP TERM INT; exec sleep 3600")
	return "", cmd.Start()
}

// obey reads acts from standard input, one a line with its arguments separated by tabs, and answers each with a line, until
// the end of the input.
func obey([]string) (string, error) {
	buf := make([]byte, 64<<10)
	rest := ""
	fmt.Println("ready")
	for {
		n, err := os.Stdin.Read(buf)
		rest += string(buf[:n])
		for {
			line, more, ok := strings.Cut(rest, "\n")
			if !ok {
				break
			}
			rest = more
			f := strings.Split(line, "\t")
			if act, ok := acts()[f[0]]; ok {
				out, err := act(f[1:])
				fmt.Println(strings.ReplaceAll(verdict(out, err), "\n", " "))
			} else {
				fmt.Println("no such act")
			}
		}
		if err != nil {
			return "", nil
		}
	}
}

// call makes a bare system call.
func call(a []string) (string, error) {
	n := make([]uintptr, 7)
	for i := range a {
		v, _ := strconv.ParseUint(a[i], 0, 64)
		n[i] = uintptr(v)
	}
	_, _, no := unix.Syscall6(n[0], n[1], n[2], n[3], n[4], n[5], n[6])
	if no != 0 {
		return "", no
	}
	return "", nil
}

func pids([]string) (string, error) {
	entries, err := os.ReadDir("/proc")
	n := 0
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			n++
		}
	}
	return strconv.Itoa(n), err
}
