//go:build clients

package e2eclients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fakemodel"
)

// Codex writes its file while it runs: which folders are trusted, what it has shown. A registration that is made and taken
// back around that, and beside a Codex that runs, leaves what it wrote, and nothing of ours.
func TestCodexWritesItsFileMeanwhile(t *testing.T) {
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.id == "codex" })]
	r := newRig(t, options{firstRun: true, person: true})
	r.withOthers(c)
	call[api.MCPResult](r, "mcp_enable", nil)
	file := r.configFile(c)
	before := r.read(file)
	r.register(c, "add", nil)
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "First", "project": "repo", "agent": "codex", "prompt": "SAY hello"})
	r.until(n.Task.ID, "asking", func(d api.TaskDetail) bool { return d.WorkState == api.WorkNeedsInput })
	r.keys(n.Task.ID, "\r") // it trusts the folder, and writes that down
	r.asked("the prompt", func(q fakemodel.Request) bool { return q.Prompt() == "SAY hello" })
	if out, err := r.codex(c, "mcp", "add", "later", "--", "true"); err != nil {
		t.Fatalf("codex mcp add: %v\n%s", err, out)
	}
	call[api.MCPResult](r, "mcp_enable", map[string]any{"newPort": true})
	r.register(c, "repair", nil)
	call[api.ClientWriteResult](r, "client_unregister", map[string]any{"client": c.id})
	after := r.read(file)
	r.wantKept(c, before, after)
	if !strings.HasPrefix(after, "# mine, to be kept\n") || !strings.Contains(after, "[mcp_servers.later]") || !strings.Contains(after, "trust_level") {
		t.Errorf("what codex wrote, or a comment, is gone:\n%s", after)
	}
	if out, err := r.codex(c, "mcp", "list"); err != nil || strings.Contains(out, "termic") || !strings.Contains(out, "later") {
		t.Errorf("codex reads %v\n%s", err, out)
	}
}

// Every Claude Code writes its file while it runs and when it ends. A registration that is made, repaired or taken back beside
// one that runs is still as we left it when that one has ended.
func TestClaudeRunsMeanwhile(t *testing.T) {
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.id == "claude" })]
	r := newRig(t, options{person: true})
	r.withOthers(c)
	call[api.MCPResult](r, "mcp_enable", nil)
	beside := func(name string, act func()) string {
		t.Helper()
		n := r.newTask(name, c, "SAY hello")
		r.wantDone(name, n.Wait)
		act()
		r.wantDone(name, r.send(n.Task.ID, "SAY more", nil).Wait)
		r.quit(n.Task.ID, c)
		return r.read(r.configFile(c))
	}
	before := beside("First", func() {})
	beside("Second", func() { r.register(c, "add", nil) })
	if st := r.client(c); !st.OK {
		t.Errorf("the entry is gone or spoilt: %+v", st)
	}
	beside("Third", func() {
		call[api.MCPResult](r, "mcp_enable", map[string]any{"newPort": true})
		r.register(c, "repair", nil)
	})
	if st := r.client(c); !st.OK {
		t.Errorf("the repair is gone: %+v", st)
	}
	after := beside("Fourth", func() { call[api.ClientWriteResult](r, "client_unregister", map[string]any{"client": c.id}) })
	if strings.Contains(after, "headersHelper") || !strings.Contains(after, "/bin/false") {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// codex runs a command of codex's that starts no conversation.
func (r *rig) codex(c client, args ...string) (string, error) {
	cmd := exec.CommandContext(r.t.Context(), c.command, args...)
	cmd.Dir = r.repo
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "CODEX_HOME=" + filepath.Join(r.home, "codex")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// program is the real program, in a folder whose name is odd too.
type program struct {
	r     *rig
	path  string
	serve *exec.Cmd
	log   bytes.Buffer
}

// build makes the program.
func (r *rig) build() *program {
	r.t.Helper()
	p := &program{r: r, path: filepath.Join(r.root, "it's $HOME é", "termic")}
	cmd := exec.CommandContext(r.t.Context(), "go", "build", "-tags", "headless", "-o", p.path, "termic")
	cmd.Env = builder
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("go build: %v\n%s", err, out)
	}
	r.t.Cleanup(p.stop)
	return p
}

// builder is the environment of who runs the tests, before a rig takes its place: the go command keeps its caches there.
var builder = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")

// start serves and waits for the word that it is ready.
func (p *program) start() {
	p.r.t.Helper()
	p.log.Reset()
	p.serve = exec.Command(p.path, "serve")
	p.serve.Stderr = &p.log
	out, err := p.serve.StdoutPipe()
	p.r.must(err)
	p.r.must(p.serve.Start())
	kill := time.AfterFunc(patience, func() { _ = p.serve.Process.Kill() }) // whoever reads from it then sees the end
	line, err := bufio.NewReader(out).ReadString('\n')
	kill.Stop()
	if err != nil || line != "termic: ready\n" {
		p.stop()
		p.r.t.Fatalf("serve said %q, %v\n%s", line, err, p.log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the program
}

func (p *program) stop() {
	if p.serve == nil {
		return
	}
	_ = p.serve.Process.Signal(syscall.SIGTERM) // it may have ended
	if err := p.serve.Wait(); err != nil {
		p.r.t.Errorf("serve ended with %v\n%s", err, p.log.String())
	}
	p.serve = nil
}

// says runs a command of the program's and reads its result.
func says[T any](p *program, args ...string) T {
	p.r.t.Helper()
	cmd := exec.Command(p.path, append(args, "--json")...)
	out, err := cmd.Output()
	var v T
	if json.Unmarshal(out, &v) != nil {
		p.r.t.Fatalf("termic %q: %v\n%s", args, err, out)
	}
	return v
}

// The whole program, and `termic mcp headers` as what both clients run: codex in an environment that names no data folder.
// The token changes under a session; the program moves and is missed; the data folder moves and is missed.
func TestRegisteredByTermicItself(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{data: oddFolder, person: true})
		r.stop()
		p := r.build()
		p.start()
		says[api.MCPResult](p, "mcp", "enable")
		_, err := r.personRun(c, "SAY hello")
		r.must(err)
		before := r.read(r.configFile(c))
		register := func(act string) {
			t.Helper()
			w := says[api.ClientWriteResult](p, "client", "register", c.id, "--termic")
			if w.Act != act || w.Verify == nil || !w.Verify.OK {
				t.Fatalf("%s: %+v, %+v", act, w, w.Verify)
			}
		}
		works := func() {
			t.Helper()
			if out, err := r.personRun(c, "CALL mcp__termic__project_list {}\nSAY seen: {{result}}"); err != nil || !strings.Contains(out, `{"projects":[{`) {
				t.Fatalf("%s printed %q, %v", c.id, out, err)
			}
		}
		missed := func(words string) {
			t.Helper()
			v := says[api.ClientReport](p, "client", "verify", c.id)
			t.Logf("verify: %s %s", v.Summary, v.Hint)
			if v.OK || !strings.Contains(v.Summary, words) {
				t.Errorf("verify: %+v", v)
			}
		}
		register("add")
		if text := r.read(r.configFile(c)); !strings.Contains(text, " mcp headers") || strings.Contains(text, "/bin/sh") {
			t.Errorf("written was\n%s", text)
		}
		type end struct {
			out string
			err error
		}
		done := make(chan end, 1)
		go func() {
			out, err := r.personRun(c, "CALL mcp__termic__project_list {}\nHOLD rotated\nCALL mcp__termic__task_agents {}\nSAY seen: {{result}}")
			done <- end{out, err}
		}()
		r.asked("the first result", func(q fakemodel.Request) bool {
			return len(q.Results) == 1 && strings.Contains(q.Results[0], "projects")
		})
		says[api.MCPResult](p, "mcp", "rotate")
		r.model.Release("rotated")
		if e := <-done; e.err != nil || !strings.Contains(e.out, `"agents"`) {
			t.Fatalf("%s printed %q, %v", c.id, e.out, e.err)
		}

		p.stop()
		moved := filepath.Join(r.root, "moved")
		r.must(os.Rename(filepath.Dir(p.path), moved))
		p.path = filepath.Join(moved, "termic")
		p.start()
		missed("no longer there")
		register("repair")
		works()

		p.stop()
		old := os.Getenv("TERMIC_DATA_DIR")
		t.Setenv("TERMIC_DATA_DIR", old+"2")
		r.must(os.Rename(old, old+"2"))
		p.start()
		missed("another data folder")
		register("repair")
		works()
		says[api.ClientWriteResult](p, "client", "unregister", c.id)
		r.wantKept(c, before, r.read(r.configFile(c)))
		p.stop()
	})
}
