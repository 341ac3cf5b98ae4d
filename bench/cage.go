package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"termic/sandbox/cage"
)

// Conditions of the measures of a cage.
const (
	cageStarts  = 41        // of each kind, in turns
	doorRuns    = 15        // pairs
	doorBytes   = 256 << 20 // through the door, and over the plain loopback
	doorPort    = 4100
	benchClient = "bench-client" // argument that makes this program the client of a door
	benchPath   = "/bench/client"
)

// runCage measures cages: their start against a plain one and against bubblewrap, their doors against loopback, and what
// the first process of one holds in memory.
func runCage(ctx context.Context, _ *bench) ([]row, error) {
	helper, err := filepath.Abs("build/bin/termic-cage")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(helper); err != nil {
		return nil, errors.New("build/bin/termic-cage is not there; run `make helper` first")
	}
	if r := cage.Probe(ctx, helper); !r.Enforce {
		return []row{{"cage: SKIPPED, this machine cannot make one", fmt.Sprint(r.Problem), "", ""}}, nil
	}
	starts, err := cageStart(ctx, helper)
	if err != nil {
		return nil, err
	}
	door, err := cageDoor(ctx, helper)
	if err != nil {
		return nil, err
	}
	memory, err := cageMemory(ctx, helper)
	return slices.Concat(starts, door, memory), err
}

// caged is what to start in a cage that sees the system and no more.
func caged(helper string, argv ...string) (cage.Spec, error) {
	v := cage.View{}
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc"} {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return cage.Spec{}, err
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(dir)
			if err != nil {
				return cage.Spec{}, err
			}
			v.Links = append(v.Links, cage.Link{Path: dir, To: to})
		default:
			v.Mounts = append(v.Mounts, cage.Mount{Source: dir})
		}
	}
	return cage.Spec{Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", View: v, Net: true, Ports: []int{doorPort, doorPort + 1}, HelperPath: helper}, nil
}

// cageStart times the way from nothing to the end of `true`, in turns.
func cageStart(ctx context.Context, helper string) ([]row, error) {
	spec, err := caged(helper, "true")
	if err != nil {
		return nil, err
	}
	kinds := []struct {
		name string
		run  func() error
	}{
		{"plain", func() error { return exec.Command("/usr/bin/true").Run() }},
		{"cage", func() error {
			c, err := cage.Start(ctx, spec)
			if err == nil && c.Wait().Code != 0 {
				err = errors.New("true failed in the cage")
			}
			return err
		}},
	}
	rows := []row{}
	box, bridges, missing := bubblewrap()
	for _, m := range missing {
		rows = append(rows, row{"cage: SKIPPED, " + m + " is not installed, so nothing is compared with it", "", "", ""})
	}
	if box != nil {
		kinds = append(kinds, struct {
			name string
			run  func() error
		}{"bubblewrap", box})
	}
	if bridges != nil {
		kinds = append(kinds, struct {
			name string
			run  func() error
		}{"bubblewrap with socat bridges", bridges})
	}
	times := make([][]time.Duration, len(kinds))
	for range cageStarts {
		for i, k := range kinds {
			begin := time.Now()
			if err := k.run(); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			times[i] = append(times[i], time.Since(begin))
		}
	}
	plain, ours := median(times[0]), median(times[1])
	rows = append(rows, row{"cage: start and end of `true`, against a plain one", ms(ours), ms(plain), "+" + ms(ours-plain)})
	for i := 2; i < len(kinds); i++ {
		peer := median(times[i])
		rows = append(rows, row{"cage: the same against " + kinds[i].name, ms(ours), ms(peer), ratio(float64(ours), float64(peer))})
	}
	return rows, nil
}

// bubblewrap gives the peers that are installed, and names those that are not.
func bubblewrap() (box, bridges func() error, missing []string) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, nil, []string{"bubblewrap", "socat within it"}
	}
	args := []string{"--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--symlink", "usr/bin", "/bin",
		"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
	box = func() error { return exec.Command(bwrap, append(args, "/usr/bin/true")...).Run() }
	socat, err := exec.LookPath("socat")
	if err != nil {
		return box, nil, []string{"socat"}
	}
	bridges = func() error {
		dir, err := os.MkdirTemp("", "bridges")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for _, name := range []string{"a", "b"} { // two doors, as the cage has
			out := exec.Command(socat, "UNIX-LISTEN:"+dir+"/"+name+",fork", "TCP:127.0.0.1:9")
			if err := out.Start(); err != nil {
				return err
			}
			defer func() { _, _ = out.Process.Kill(), out.Wait() }()
		}
		// It is ready when both ports inside are listened on and the sockets outside are there.
		script := "socat TCP-LISTEN:3128,fork,reuseaddr UNIX-CONNECT:/bridge/a & socat TCP-LISTEN:1080,fork,reuseaddr UNIX-CONNECT:/bridge/b & " +
			"until [ -S /bridge/a -a -S /bridge/b ] && grep -q ':0C38 ' /proc/net/tcp && grep -q ':0438 ' /proc/net/tcp; do :; done; exec true"
		return exec.Command(bwrap, append(args, "--bind", dir, "/bridge", "/usr/bin/sh", "-c", script)...).Run()
	}
	return box, bridges, nil
}

// cageDoor sends bytes from a client in a cage to this process through a door, and from the same client outside over the
// loopback, in pairs.
func cageDoor(ctx context.Context, helper string) ([]row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var door, plain, ratios []float64
	for range doorRuns {
		d, err := throughDoor(ctx, helper, self)
		if err != nil {
			return nil, fmt.Errorf("through a door: %w", err)
		}
		p, err := overLoopback(self)
		if err != nil {
			return nil, fmt.Errorf("over loopback: %w", err)
		}
		door, plain, ratios = append(door, d), append(plain, p), append(ratios, d/p)
	}
	middle := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	rate := func(v float64) string { return fmt.Sprintf("%.2f GB/s", v/1e9) }
	return []row{{"cage: bytes through a door, against plain loopback, median of pairs", rate(middle(door)), rate(middle(plain)), fmt.Sprintf("%.2f", middle(ratios))}}, nil
}

func throughDoor(ctx context.Context, helper, self string) (float64, error) {
	spec, err := caged(helper, benchPath, benchClient, "127.0.0.1:"+strconv.Itoa(doorPort))
	if err != nil {
		return 0, err
	}
	spec.View.Mounts = append(spec.View.Mounts, cage.Mount{Source: self, Target: benchPath})
	c, err := cage.Start(ctx, spec)
	if err != nil {
		return 0, err
	}
	defer c.Wait()
	defer c.Kill()
	return receive(c.Listener(doorPort))
}

func overLoopback(self string) (float64, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	cmd := exec.Command(self, benchClient, l.Addr().String())
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	rate, err := receive(l)
	return rate, errors.Join(err, cmd.Wait())
}

// receive accepts one connection and gives its bytes per second.
func receive(l net.Listener) (float64, error) {
	c, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	buf := make([]byte, 256<<10)
	begin, got := time.Now(), 0
	for {
		n, err := c.Read(buf)
		got += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if got != doorBytes {
		return 0, fmt.Errorf("%d bytes came", got)
	}
	return float64(got) / time.Since(begin).Seconds(), nil
}

// send is the client of a door.
func send(address string) error {
	c, err := net.Dial("tcp4", address)
	if err != nil {
		return err
	}
	buf := make([]byte, 256<<10)
	for range doorBytes / len(buf) {
		if _, err := c.Write(buf); err != nil {
			return err
		}
	}
	return c.Close()
}

// cageMemory reads what the first process of a living cage has for itself.
func cageMemory(ctx context.Context, helper string) ([]row, error) {
	spec, err := caged(helper, "sleep", "100")
	if err != nil {
		return nil, err
	}
	// Pages of a program that was just built count as dirty until they are on the disk.
	if f, err := os.OpenFile(helper, os.O_RDWR, 0); err == nil {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return nil, err
		}
	}
	var dirty []time.Duration // kB; a median is a median
	for range 5 {
		c, err := cage.Start(ctx, spec)
		if err != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
		kb, err := privateDirty(c.Pid())
		c.Kill()
		c.Wait()
		if err != nil {
			return nil, fmt.Errorf("the first process of a cage is closed to this user, as it should be; run the bench as root: %w", err)
		}
		dirty = append(dirty, time.Duration(kb))
	}
	kb := int64(median(dirty))
	return []row{{"cage: private memory of its first process, against 1 MiB", fmt.Sprintf("%d kB", kb), "1024 kB", ratio(float64(kb), 1024)}}, nil
}
