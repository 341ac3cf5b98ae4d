package cage

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/inside"
)

// Probe finds out what this machine can do, by doing it: it starts a cage of each kind, in which the helper itself runs
// once and ends. Settings of the system only explain a refusal. helperPath is as in Spec.
func Probe(ctx context.Context, helperPath string) Report {
	r := Report{Kernel: readFacts().kernel, LSMs: modules()}
	for _, net := range []bool{true, false} {
		held, err := try(ctx, helperPath, net)
		if net {
			r.Enforce, r.Problem, r.Holds, r.HelperPath = err == nil, err, held, held.Helper
		} else {
			r.EnforceFs, r.ProblemFs = err == nil, err
		}
	}
	return r
}

// probeDir is where the helper lies in the cage of a probe.
const probeDir = "/termic-probe"

func try(ctx context.Context, helperPath string, net bool) (Enforcement, error) {
	program := helperPath
	if program == "" {
		program = ownHelper()
	}
	if program == "" {
		program = "/proc/self/exe"
	}
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return Enforcement{}, wordsFor(err)
	}
	view := View{Mounts: []Mount{{Source: program, Target: probeDir}}}
	// A static program needs no more; one with libraries needs the system's.
	for _, dir := range []string{"/usr", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache"} {
		switch info, err := os.Lstat(dir); {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(dir); err == nil {
				view.Links = append(view.Links, Link{Path: dir, To: to})
			}
		default:
			view.Mounts = append(view.Mounts, Mount{Source: dir})
		}
	}
	c, err := Start(ctx, Spec{Argv: append([]string{probeDir}, inside.ProbeArgs()...), Dir: "/", View: view, Net: net, HelperPath: helperPath,
		Limits: Limits{Processes: 4096, Memory: 1 << 40}}) // more than a probe needs: it is asked only how limits would be held
	if err != nil {
		return Enforcement{}, err
	}
	if exit := c.Wait(); exit.Code != 0 {
		return Enforcement{}, errProbe(exit)
	}
	return c.Enforcement(), nil
}

// Prober remembers what Probe found until the machine is started again or the helper is another file. The zero value is
// ready.
type Prober struct {
	mu  sync.Mutex // held over a probe, so that many askers cause one
	key string
	got Report
}

// Report returns what Probe says. A refusal is asked for again each time: the user may have followed its advice.
func (p *Prober) Report(ctx context.Context, helperPath string) Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := bootID() + identity(helperPath)
	if p.key != key || !p.got.Enforce {
		p.key, p.got = key, Probe(ctx, helperPath)
	}
	return p.got
}

func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without one, a start of the app is the bound
	return string(b)
}

func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return path + info.ModTime().String()
}

// modules lists the security modules of the kernel.
func modules() []string {
	b, err := os.ReadFile("/sys/kernel/security/lsm")
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), ",")
}

// readFacts looks at what may explain a refusal.
func readFacts() facts {
	is := func(path, value string) bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	f := facts{
		restricted: restricted(),
		disabled:   is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
		exhausted:  is("/proc/sys/user/max_user_namespaces", "0"),
		container:  exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("container") != "",
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		f.kernel = unix.ByteSliceToString(u.Release[:])
	}
	return f
}
