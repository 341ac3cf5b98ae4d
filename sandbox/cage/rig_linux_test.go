package cage

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

// toolPath is where the tool lies in a cage of a test.
const toolPath = "/tool/t"

// systemView grants what programs of the system need.
func systemView(t *testing.T) View {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		t.Fatal(err)
	}
	v := View{Mounts: []Mount{{Source: self, Target: toolPath}}}
	for _, d := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/lib32"} {
		switch info, err := os.Lstat(d); {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(d)
			if err != nil {
				t.Fatal(err)
			}
			v.Links = append(v.Links, Link{d, to})
		default:
			v.Mounts = append(v.Mounts, Mount{Source: d})
		}
	}
	return v
}

// Of a machine that is known, what the tests must find there. Empty = whatever they find.
const (
	envLandlock = "TERMIC_TEST_LANDLOCK" // the ABI of Landlock
	envLimits   = "TERMIC_TEST_LIMITS"   // what holds the limits of processes and memory
)

// networks are the values of Spec.Net with which cages can be built here. Where the host's network is refused, the refusal is
// looked at. helper is the program to try with, if it is not this one.
func networks(t *testing.T, helper ...string) []bool {
	t.Helper()
	r := Probe(t.Context(), strings.Join(helper, ""))
	switch {
	case !r.Enforce:
		t.Fatal(words(r.Problem))
	case r.EnforceFs:
		return []bool{true, false}
	case r.Holds.Landlock >= fsLandlock || fault.CodeOf(r.ProblemFs) != fault.Unsupported || !strings.Contains(words(r.ProblemFs), "Use the mode enforce"):
		t.Fatalf("Landlock %d, and a cage on the host's network is refused so: %s", r.Holds.Landlock, words(r.ProblemFs))
	}
	t.Logf("NOT TRIED on the host's network: %s", words(r.ProblemFs))
	return []bool{true}
}

// folder is t.TempDir without a link on the way.
func folder(t *testing.T) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// must stops the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// words gives everything that is known of an error.
func words(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return fmt.Sprintf("%s: %v (%s)", f.Code, f, f.Hint)
	}
	return err.Error()
}

// obedient is a cage with the tool in it, which does what it is told.
type obedient struct {
	*Cage
	t     *testing.T
	in    *os.File
	lines chan string
}

// newObedient starts one. The environment and the working folder are filled in.
func newObedient(t *testing.T, spec Spec) *obedient {
	t.Helper()
	inR, inW, err := os.Pipe()
	must(t, err)
	outR, outW, err := os.Pipe()
	must(t, err)
	spec.Stdio = [3]*os.File{inR, outW, outW}
	if spec.Argv == nil {
		spec.Argv = []string{toolPath, toolName, "obey"}
	}
	spec = filled(spec)
	c, err := Start(t.Context(), spec)
	must(t, errors.Join(inR.Close(), outW.Close()))
	if err != nil {
		t.Fatal(words(err))
	}
	o := &obedient{c, t, inW, make(chan string, 16)}
	go func() {
		defer close(o.lines)
		for s := bufio.NewScanner(outR); s.Scan(); {
			o.lines <- s.Text()
		}
		_ = outR.Close()
	}()
	t.Cleanup(func() {
		c.Kill()
		c.Wait()
		_ = inW.Close()
		for range o.lines {
		}
	})
	if l := o.line(); l != "ready" {
		t.Fatalf("the tool said %q", l)
	}
	return o
}

func filled(spec Spec) Spec {
	if spec.Dir == "" {
		spec.Dir = "/"
	}
	if spec.Env == nil {
		spec.Env = []string{"PATH=/usr/bin:/bin"}
	}
	return spec
}

// do asks for an act and returns the answer.
func (o *obedient) do(act ...string) string {
	o.t.Helper()
	o.tell(act...)
	return o.line()
}

// tell asks without waiting.
func (o *obedient) tell(act ...string) {
	o.t.Helper()
	if _, err := o.in.WriteString(strings.Join(act, "\t") + "\n"); err != nil {
		o.t.Fatal(err)
	}
}

func (o *obedient) line() string {
	o.t.Helper()
	select {
	case l, ok := <-o.lines:
		if !ok {
			o.t.Fatal("the tool is gone")
		}
		return l
	case <-time.After(30 * time.Second):
		o.t.Fatal("the tool does not answer")
	}
	return ""
}

// want compares the answer to an act.
func (o *obedient) want(want string, act ...string) {
	o.t.Helper()
	if got := o.do(act...); got != want {
		o.t.Errorf("%s = %q, want %q", strings.Join(act, " "), got, want)
	}
}

// wantAny is want with several right answers.
func (o *obedient) wantAny(want []string, act ...string) {
	o.t.Helper()
	got := o.do(act...)
	for _, w := range want {
		if got == w {
			return
		}
	}
	o.t.Errorf("%s = %q, want one of %q", strings.Join(act, " "), got, want)
}

// run starts a program in a cage and returns all its output.
func run(t *testing.T, spec Spec, argv ...string) (string, Exit) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	spec.Argv, spec.Stdio = argv, [3]*os.File{nil, w, w}
	c, err := Start(t.Context(), filled(spec))
	must(t, w.Close())
	if err != nil {
		t.Fatal(words(err))
	}
	var b strings.Builder
	for s := bufio.NewScanner(r); s.Scan(); {
		b.WriteString(s.Text() + "\n")
	}
	must(t, r.Close())
	return b.String(), c.Wait()
}

// inChild tells whether the running test is the child of another that started it once more in other circumstances.
func inChild(name string) bool { return os.Getenv("CAGE_TEST_CHILD") == name }

// again runs the running test once more, as a child that prepare has changed.
func again(t *testing.T, name string, prepare func(*exec.Cmd)) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "CAGE_TEST_CHILD="+name)
	prepare(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("the child ran no such test:\n%s", out)
	}
}
