package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// block is a piece of a page that a reader copies, with what the page says comes back; empty where it says nothing.
type block struct{ code, answer string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```\n")

// blocksOf returns the shell blocks of a page in their order.
func blocksOf(page string) []block {
	var out []block
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		switch m[1] {
		case "sh":
			out = append(out, block{code: m[2]})
		case "json", "text":
			out[len(out)-1].answer = m[2]
		}
	}
	return out
}

// TestMCPPage runs what docs/mcp.md tells a reader to copy, in one shell, with the real program and a real curl, and
// compares what comes back with what the page says.
func TestMCPPage(t *testing.T) {
	blocks, parts, errs := runPage(t, newRig(t), "docs/mcp.md", 7)
	if errs != "Nothing waits for approval.\n" { // a note for people, as of any empty list
		t.Errorf("on standard error: %s", errs)
	}
	for i, b := range blocks {
		if strings.Contains(b.code, "task_wait") && (strings.Contains(parts[i], `"isError"`) || !strings.Contains(parts[i], `"outcome":"done"`)) {
			t.Errorf("the job: %s", parts[i])
		}
	}
}

// TestClientsPage does the same with docs/clients.md. The page registers, and in the end it has taken everything back.
func TestClientsPage(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.home, ".codex", "config.toml")
	r.env["CODEX_HOME"] = filepath.Dir(file)
	runPage(t, r, "docs/clients.md", 7) // on standard error are notes for people
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("what the page registered is still there: %v", err)
	}
}

// TestAgentsPage does the same with docs/agents.md: agents that tell what they do can be waited for.
func TestAgentsPage(t *testing.T) {
	blocks, _, _ := runPage(t, newRig(t), "docs/agents.md", 5)
	settled := 0
	for _, b := range blocks {
		if strings.HasSuffix(b.answer, "the agent settled\n") {
			settled++
		}
	}
	if settled != 3 {
		t.Errorf("%d blocks of the page wait", settled)
	}
}

// runPage runs the blocks of a page, of which there are to be at least some, and returns what each of them printed, and
// what all of them said on standard error.
func runPage(t *testing.T, r *rig, name string, least int) ([]block, []string, string) {
	t.Helper()
	for _, program := range []string{"curl", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT TESTED: the blocks of %s need %s, which is not here", name, program)
		}
	}
	page, err := os.ReadFile(filepath.Join("../..", name))
	must(t, err)
	blocks := blocksOf(string(page))
	if len(blocks) < least {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	r.stop() // the program itself runs on the profile
	settings := filepath.Join(r.data, "settings.toml")
	text, err := os.ReadFile(settings)
	must(t, err)
	must(t, os.WriteFile(settings, []byte(strings.Replace(string(text), "[tasks]\n", fmt.Sprintf("[tasks]\ndefault_agent = %q\n", cmp.Or(r.pageAgent, "osc7501")), 1)), 0o600))
	termic := r.serveProgram()

	const mark = "---- block ends ----"
	script := "set -euo pipefail\n"
	for _, b := range blocks {
		script += b.code + "echo '" + mark + "'\n"
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Env = append(r.environ(), "PATH="+filepath.Dir(termic)+":"+os.Getenv("PATH"), "repo="+r.repo)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errs.String())
	}
	parts := strings.Split(string(out), mark+"\n")
	if len(parts) != len(blocks)+1 {
		t.Fatalf("%d blocks gave %d parts:\n%s", len(blocks), len(parts), out)
	}
	for i, b := range blocks {
		pattern := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(b.answer), "…", ".*") + "$"
		if b.answer != "" && !regexp.MustCompile(pattern).MatchString(parts[i]) {
			t.Errorf("the page says\n%sand what comes back is\n%s", b.answer, parts[i])
		}
	}
	return blocks, parts, errs.String()
}

// serveProgram starts the program on the rig's profile, and ends it with the test. It returns its path.
func (r *rig) serveProgram() string {
	r.t.Helper()
	t, termic := r.t, program(r.t)
	serve := exec.Command(termic, "serve")
	var log bytes.Buffer
	serve.Stderr, serve.Env = &log, r.environ()
	out, err := serve.StdoutPipe()
	must(t, err)
	must(t, serve.Start())
	kill := time.AfterFunc(90*time.Second, func() { _ = serve.Process.Kill() }) // whoever reads from it then sees the end
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := serve.Wait(); err != nil || t.Failed() {
			t.Errorf("serve ended with %v\n%s", err, log.String())
		}
		kill.Stop()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "termic: ready\n" {
		t.Fatalf("serve said %q, %v\n%s", line, err, log.String())
	}
	return termic
}
