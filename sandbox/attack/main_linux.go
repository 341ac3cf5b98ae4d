package attack

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// Environment of the program.
const (
	EnvRole   = "TERMIC_ATTACK_ROLE"   // what this process shall be: serve, probe, inner, or empty
	EnvGround = "TERMIC_ATTACK_GROUND" // the Ground, as JSON
	EnvProbe  = "TERMIC_ATTACK_PROBE"  // which probe
	EnvSecret = "TERMIC_ATTACK_SECRET" // a secret; only processes outside have it
)

const (
	probeTime = 20 * time.Second // after which a probe that hangs is ended
	maxGot    = 4096             // bytes of evidence
)

// Report is what the program says of one try. Got is evidence, not a verdict: the judge outside decides.
type Report struct {
	Name string
	Got  string // what was read, or "did: ..." when the try has no other witness
	Err  string // why it failed, for people
	Hung bool   // it had to be ended
}

// a probe tries and returns evidence. Both results may be empty when only the outside can tell.
type probe func(g *Ground, name string) (string, error)

// probes are the tries by name.
func probes() map[string]probe {
	all := map[string]probe{}
	for _, m := range []map[string]probe{
		fileProbes(), metaProbes(), writeProbes(), unixProbes(), inetProbes(), proxyProbes(), familyProbes(), gitProbes(), placeProbes(), procProbes(),
		initProbes(), ttyProbes(), nsProbes(), mountProbes(), kernelProbes(), callProbes(), deviceProbes(),
		neighbourProbes(), wideProbes(), limitProbes(),
	} {
		for name, p := range m {
			if all[name] != nil {
				panic("two probes are named " + name)
			}
			all[name] = p
		}
	}
	return all
}

// Names lists the probes that exist.
func Names() []string {
	m := map[string]string{}
	for name := range maps.Keys(probes()) {
		m[name] = ""
	}
	return sortedKeys(m)
}

// Main runs the program if the environment says that this process is one of its roles, and then does not return.
// A test binary calls it first in TestMain.
func Main() {
	role := os.Getenv(EnvRole)
	if role == "" {
		return
	}
	var g Ground
	if err := json.Unmarshal([]byte(os.Getenv(EnvGround)), &g); err != nil {
		fmt.Fprintln(os.Stderr, "attack: ground:", err)
		os.Exit(2)
	}
	switch role {
	case "serve":
		if err := serve(&g, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "attack:", err)
			os.Exit(1)
		}
	case "probe":
		printReport(os.Stdout, try(&g, os.Getenv(EnvProbe)))
	case "inner":
		inner(&g, os.Getenv(EnvProbe))
	case "ok":
		fmt.Println("did: started")
	case "whoami":
		whoami()
	case "neighbour":
		neighbour(&g)
	}
	os.Exit(0)
}

// serve answers lines with names of probes by lines with reports, until the input ends.
func serve(g *Ground, in *os.File, out io.Writer) error {
	if term.IsTerminal(int(in.Fd())) {
		if _, err := term.MakeRaw(int(in.Fd())); err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
	}
	printLine(out, "ready")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name := strings.TrimSpace(lines.Text())
		if name == "" || !strings.Contains(name, "/") {
			continue // what tty probes type
		}
		if breaks(name) {
			printReport(out, runProbe(name))
		} else {
			printReport(out, tryHere(g, name))
		}
	}
	return lines.Err()
}

// breaks tells whether a probe may change or end the process that tries it, so that it gets one of its own.
func breaks(name string) bool {
	kind, _, _ := strings.Cut(name, "/")
	return kind == "limit" || kind == "mount" ||
		slices.Contains([]string{"wide/unmount", "kernel/i386", "kernel/i386-unshare", "kernel/oom-score", "kernel/rlimit"}, name)
}

// tryHere runs a probe in this process, on a thread that is thrown away with what the probe made of it. A probe that
// hangs is left behind.
func tryHere(g *Ground, name string) Report {
	done := make(chan Report, 1)
	go func() {
		runtime.LockOSThread()
		done <- try(g, name)
	}()
	select {
	case r := <-done:
		_ = os.Chdir(g.Worktree)
		return r
	case <-time.After(probeTime):
		return Report{Name: name, Err: "no answer", Hung: true}
	}
}

func runProbe(name string) Report {
	limit := probeTime
	if strings.HasPrefix(name, "limit/") {
		limit *= 3 // a machine that runs out of something is slow
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self())
	cmd.Env = append(os.Environ(), EnvRole+"=probe", EnvProbe+"="+name)
	cmd.Stdin, cmd.Stderr = os.Stdin, nil
	cmd.WaitDelay = time.Second
	data, err := cmd.Output()
	for line := range strings.Lines(string(data)) {
		if r, ok := ParseReport(line); ok {
			return r
		}
	}
	return Report{Name: name, Err: fmt.Sprintf("ended without a report: %v", err), Hung: ctx.Err() != nil}
}

func try(g *Ground, name string) Report {
	p := probes()[name]
	if p == nil {
		return Report{Name: name, Err: "there is no such probe"}
	}
	got, err := p(g, name)
	r := Report{Name: name, Got: got[:min(len(got), maxGot)]}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// The report travels as one line of base64 behind a mark, since a probe may write to the same terminal.
const reportMark = "\x1e"

func printReport(w io.Writer, r Report) {
	data, err := json.Marshal(r)
	if err != nil {
		data = []byte(`{}`)
	}
	printLine(w, base64.StdEncoding.EncodeToString(data))
}

func printLine(w io.Writer, s string) { _, _ = fmt.Fprintf(w, "\n%s%s\n", reportMark, s) }

// ParseReport reads one line of the program's output; false if it is something else.
func ParseReport(line string) (Report, bool) {
	_, text, ok := strings.Cut(strings.TrimSpace(line), reportMark)
	if !ok {
		return Report{}, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Report{}, false
	}
	var r Report
	return r, json.Unmarshal(data, &r) == nil && r.Name != ""
}

// IsReady tells whether a line of output says that the program waits for names.
func IsReady(line string) bool { return strings.TrimSpace(line) == reportMark+"ready" }

// self is the running program. /proc/self/exe is not used: a grant of its path may be all there is.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}

// did is the evidence of a try that has no other witness.
func did(format string, args ...any) string { return "did: " + fmt.Sprintf(format, args...) }

var errNot = errors.New("not here")

// first returns the first evidence that one of the tries brings, and otherwise all their errors.
func first(tries ...func() (string, error)) (string, error) {
	var errs []error
	for _, t := range tries {
		got, err := t()
		if err == nil && got != "" {
			return got, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}
