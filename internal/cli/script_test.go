//go:build linux || darwin

package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"termic/internal/verb"
)

// settingsText is the profile of every script: agents that are the fake one in the manners that scripts need.
const settingsText = `[tasks]
dir = %[1]q
fetch_before_create = false
[queue]
interval_seconds = 0
`

const agentText = `[[agents]]
id = %[1]q
name = "Fake %[1]s"
command = %[2]q
args = ["--manner", %[3]q]
session_id_args = ["--session-id", "{UUID}"]
resume_id_args = ["--resume", "{UUID}"]
env = { FAKEAGENT_LOG = %[4]q, FAKEAGENT_HOME = %[5]q }
`

// claudeText puts the fake agent in the place of one whose transcripts are read.
const claudeText = `[[agents]]
id = "claude"
command = %[1]q
args = ["--manner", "osc7501"]
env = { FAKEAGENT_LOG = %[2]q, FAKEAGENT_HOME = %[3]q, FAKEAGENT_CLAUDE = "1", CLAUDE_CONFIG_DIR = %[4]q }
`

// TestScripts runs the real program, built without a window, against a real repository and the fake agent.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	build(t, filepath.Join(bin, "termic"), "-tags", "headless", "-ldflags", "-X main.version=1.2.3-test", "termic")
	build(t, filepath.Join(bin, "fakeagent"), "termic/internal/fakeagent")
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(e *testscript.Env) error { return setup(e, bin) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serve, "stop": stopServing, "json": jsonValue, "until": until, "code": code, "terminal": terminal,
		},
	})
}

// TestScriptsCoverEveryVerb: each verb of the command line is run by a script, and again for its JSON.
func TestScriptsCoverEveryVerb(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(b), "\n")...)
	}
	for _, v := range verb.All() {
		if v.CLI == "" || v.Name == "serve" { // serve is the command of the scripts by that name
			continue
		}
		text, asJSON := false, v.Name == "attach" // the result of attach is told beside the terminal's own text
		for _, l := range lines {
			called := false
			for _, path := range append([]string{v.CLI}, v.Aliases...) {
				called = called || strings.Contains(l+" ", "termic "+path+" ") || strings.Contains(l+" ", "termic --json "+path+" ")
			}
			js := strings.Contains(l, "--json")
			text, asJSON = text || called && !js, asJSON || called && js
		}
		if !text || !asJSON {
			t.Errorf("%s: a script runs it: %v, with --json: %v", v.CLI, text, asJSON)
		}
	}
}

func build(t *testing.T, out string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", out}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
}

// setup gives a script a home, a profile and a repository of its own. Nothing of the machine's user is in reach.
func setup(e *testscript.Env, bin string) error {
	e.Values[servingKey{}] = &serving{}
	home, data, repo := filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "d"), filepath.Join(e.WorkDir, "web")
	for _, d := range []string{home, data, repo} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	for k, v := range map[string]string{
		"HOME": home, "TERMIC_DATA_DIR": data, "SHELL": "/bin/sh", "TERM": "xterm-256color", "REPO": repo,
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_DATA_HOME": filepath.Join(home, ".local", "share"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"),
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	} {
		e.Setenv(k, v)
	}
	text := fmt.Sprintf(settingsText, filepath.Join(home, "tasks"))
	for id, manner := range map[string]string{"fake": "osc7501", "quiet": "silent", "asks": "modal"} {
		text += fmt.Sprintf(agentText, id, filepath.Join(bin, "fakeagent"), manner, filepath.Join(home, id+".jsonl"), filepath.Join(home, "conversations"))
	}
	text += fmt.Sprintf(claudeText, filepath.Join(bin, "fakeagent"), filepath.Join(home, "claude.jsonl"), filepath.Join(home, "conversations"), filepath.Join(home, "claude"))
	for path, content := range map[string]string{
		filepath.Join(data, "settings.toml"): text,
		filepath.Join(home, ".gitconfig"):    "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n",
		filepath.Join(repo, "README.md"):     "one\ntwo\nthree\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		git := exec.Command("git", append([]string{"-C", repo}, args...)...)
		git.Env = e.Vars
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// serving is the app that a script started; each script has one under servingKey.
type serving struct {
	cmd *exec.Cmd
	log *bytes.Buffer
}

type servingKey struct{}

// startLimit and stopLimit bound the app's start and its end on a machine that is busy.
const (
	startLimit = 30 * time.Second
	stopLimit  = 30 * time.Second
)

// serve starts the app and waits for its word that it is ready. It ends with the script.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := &serving{log: &bytes.Buffer{}}
	s.cmd = exec.Command(filepath.Join(strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator))[0], "termic"), append([]string{"serve"}, args...)...)
	s.cmd.Dir = ts.Getenv("WORK")
	s.cmd.Env = environ(ts)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	kill := time.AfterFunc(startLimit, func() { _ = s.cmd.Process.Kill() }) // the reader below then sees the end
	line, err := bufio.NewReader(out).ReadString('\n')
	kill.Stop()
	if neg {
		_ = s.cmd.Wait() // it is to fail
		ts.Check(os.WriteFile(ts.MkAbs("serve.log"), s.log.Bytes(), 0o600))
		if err == nil {
			ts.Fatalf("serve said %q", line)
		}
		return
	}
	if err != nil || line != "termic: ready\n" {
		_ = s.cmd.Wait()
		ts.Fatalf("serve said %q, %v\n%s", line, err, s.log)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the program
	*ts.Value(servingKey{}).(*serving) = *s
	ts.Defer(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
			_ = s.cmd.Wait()
		}
	})
}

func environ(ts *testscript.TestScript) []string {
	var out []string
	for _, k := range []string{"HOME", "PATH", "TERMIC_DATA_DIR", "SHELL", "TERM", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "TMPDIR"} {
		if v := ts.Getenv(k); v != "" {
			out = append(out, k+"="+v)
		}
	}
	return out
}

// stopServing ends the app as a service manager would, or waits for it to end by itself (stop -wait), and wants status
// 0.
func stopServing(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servingKey{}).(*serving)
	if s.cmd == nil || neg {
		ts.Fatalf("stop: nothing serves")
	}
	if len(args) == 0 {
		ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	}
	kill := time.AfterFunc(stopLimit, func() { _ = s.cmd.Process.Kill() })
	err := s.cmd.Wait()
	kill.Stop()
	if err != nil {
		ts.Fatalf("the app ended with %v\n%s", err, s.log)
	}
}

// jsonValue compares a value in the last output: json PATH VALUE. A value that begins with ~ is a part of the text.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json path value")
	}
	out := ts.ReadFile("stdout")
	if !gjson.Valid(out) {
		ts.Fatalf("the output is not JSON: %q", out)
	}
	got := gjson.Get(out, args[0]).String()
	ok := got == args[1]
	if part, is := strings.CutPrefix(args[1], "~"); is {
		ok = strings.Contains(got, part)
	}
	if ok == neg {
		ts.Fatalf("%s is %q, wanted %v: %q\nin %s", args[0], got, !neg, args[1], out)
	}
}

// code runs a command and wants one exit code: code N command args.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: code number command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = fmt.Sprint(exit.ExitCode())
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit %s, wanted %s", got, args[0])
	}
}

// terminal runs a command in a terminal of its own and wants one exit code: terminal N STEPS command args. STEPS is a
// file of lines "see TEXT" and "type TEXT"; what is typed may hold Go's escapes. All output goes to terminal.out.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || neg {
		ts.Fatalf("usage: terminal number steps command args...")
	}
	cmd := exec.Command(lookPath(ts, args[2]), args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	far, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	ts.Check(err)
	kill := time.AfterFunc(startLimit, func() { _ = cmd.Process.Kill() }) // reading below then ends
	defer kill.Stop()
	out := &bytes.Buffer{}
	for _, step := range strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n") {
		word, text, _ := strings.Cut(step, " ")
		text, err := strconv.Unquote(`"` + text + `"`)
		ts.Check(err)
		switch word {
		case "type":
			_, err = io.WriteString(far, text)
		case "see":
			err = see(far, out, text)
		}
		if err != nil {
			ts.Fatalf("%s %q: %v\n%q", word, text, err, out)
		}
	}
	_, _ = io.Copy(out, far) // ends with an error once the program's end is closed
	_, _ = io.Copy(out, far) // Linux may say so before the last bytes were read
	_ = cmd.Wait()           // its status is looked at below
	ts.Check(far.Close())
	ts.Check(os.WriteFile(ts.MkAbs("terminal.out"), out.Bytes(), 0o600))
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit %s, wanted %s\n%q", got, args[0], out)
	}
}

// see reads until a text came that was not read before, and forgets what was before it.
func see(r io.Reader, out *bytes.Buffer, text string) error {
	from := out.Len()
	buf := make([]byte, 4096)
	var err error
	for !strings.Contains(out.String()[from:], text) {
		before := err // a terminal may end before its last bytes were read
		var n int
		n, err = r.Read(buf)
		out.Write(buf[:n])
		if err != nil && before != nil {
			return err
		}
	}
	return nil
}

// until runs a command again and again until its output holds a text: until TEXT command args. It gives up after 30 s.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: until text command args...")
	}
	limit := time.Now().Add(startLimit)
	for {
		cmd := exec.Command(lookPath(ts, args[1]), args[2:]...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), args[0]) {
			return
		}
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			ts.Fatalf("until: %v", err)
		}
		if time.Now().After(limit) {
			ts.Fatalf("until: %q did not come; the last output was\n%s", args[0], out)
		}
		time.Sleep(50 * time.Millisecond) // between two looks; what is waited for has no event of its own
	}
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if p := filepath.Join(dir, name); isProgram(p) {
			return p
		}
	}
	return name
}

func isProgram(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
