package attack

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"termic/sandbox"
	"termic/sandbox/cage"
)

const answerTime = 90 * time.Second // beyond the time of any probe

// attacker is the running program and the terminal on which it is asked. Its reader ends when the terminal is closed,
// which end does.
type attacker struct {
	tty   *os.File
	lines chan string
	end   func()
}

// newAttacker reads the terminal and waits until the program is ready.
func newAttacker(tty *os.File, end func()) (*attacker, error) {
	a := &attacker{tty: tty, lines: make(chan string, 16), end: end}
	go func() {
		defer close(a.lines)
		in := bufio.NewReaderSize(tty, 64<<10)
		for {
			line, err := in.ReadString('\n')
			if strings.Contains(line, reportMark) {
				a.lines <- line
			} else if strings.TrimSpace(line) != "" && loud() {
				_, _ = os.Stderr.WriteString("attacker: " + line)
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case line, ok := <-a.lines:
			if !ok {
				return a, errors.New("the attacker ended before it was ready")
			}
			if IsReady(line) {
				return a, nil
			}
		case <-time.After(answerTime):
			return a, errors.New("the attacker was not ready in time")
		}
	}
}

// try asks for one probe.
func (a *attacker) try(name string) Report {
	if _, err := a.tty.WriteString(name + "\n"); err != nil {
		return Report{Name: name, Err: err.Error(), Hung: true}
	}
	timeout := time.After(answerTime)
	for {
		select {
		case line, ok := <-a.lines:
			if !ok {
				return Report{Name: name, Err: errGoneAttacker, Hung: true}
			}
			if r, ok := ParseReport(line); ok && r.Name == name {
				return r
			}
		case <-timeout:
			return Report{Name: name, Err: "no answer", Hung: true}
		}
	}
}

// environment is what the program is started with; the secret only outside a cage.
func (h *host) environment(role string, extra ...string) []string {
	ground, err := json.Marshal(h.g)
	h.fatal(err)
	return append([]string{
		"HOME=" + h.g.Home, "PATH=" + filepath.Join(h.g.Tool, "bin") + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color",
		"LC_ALL=C", EnvRole + "=" + role, EnvGround + "=" + string(ground),
	}, extra...)
}

// uncaged starts a role of the program as any program of the user.
func (h *host) uncaged(role string, extra ...string) *attacker {
	cmd := exec.Command(filepath.Join(h.g.Tool, "bin/attack"))
	cmd.Env, cmd.Dir = h.environment(role, extra...), h.g.Worktree
	tty, err := pty.Start(cmd)
	h.fatal(err)
	a, err := newAttacker(tty, func() { _, _, _ = cmd.Process.Kill(), cmd.Wait(), tty.Close() })
	h.t.Cleanup(a.end)
	h.fatal(err)
	return a
}

// limits are those of every cage here.
var limits = cage.Limits{Processes: 100, Memory: 256 << 20, OpenFiles: 512}

// A cageKind is what is special about a cage, besides its mode.
type cageKind int

const (
	plainCage  cageKind = iota
	wideGrants          // rows with Wide
	inPlace             // rows with Place
)

func (k cageKind) String() string { return [...]string{"plain", "wide", "in place"}[k] }

// of are the rows that belong to such a cage.
func (k cageKind) of(rows []Row) []Row {
	var out []Row
	for _, r := range rows {
		if r.Wide == (k == wideGrants) && r.Place == (k == inPlace) {
			out = append(out, r)
		}
	}
	return out
}

// policy is what the owner of a task has composed. Wide grants are those that an owner should not give.
func (h *host) policy(c Column, task string, kind cageKind) sandbox.Policy {
	w := sandbox.Wish{
		Mode:   map[Column]sandbox.Mode{FilesOnly: sandbox.EnforceFs, Full: sandbox.Enforce, FullMCP: sandbox.Enforce}[c],
		TaskID: task, Project: "p", Agent: "attack",
		Layers:   []sandbox.Layer{{Name: "the user's tools", Read: []string{h.g.Tool}, Hosts: []string{"allowed.example"}, Owner: true}},
		Worktree: h.g.Worktree, GitDir: h.g.Admin, GitCommonDir: h.g.Common,
		Home: h.g.Home, HomeDir: filepath.Join(h.g.DataDir, "homes", task), DataDir: h.g.DataDir,
		Program: filepath.Join(h.g.Tool, "bin/attack"), Path: []string{filepath.Join(h.g.Tool, "bin"), "/usr/bin", "/bin"},
		MCP: c == FullMCP, MCPPort: h.g.MCPPort, ProxyPort: freePort(h),
	}
	if h.g.Setuid != "" {
		w.Layers[0].Read = append(w.Layers[0].Read, filepath.Dir(h.g.Setuid))
	}
	if os.Getenv("TERMIC_WEAKCAGE") == "net" { // then there is no network for doors
		w.ProxyPort = 0
	}
	if task == "b" {
		w.Worktree, w.GitDir = h.g.Other, h.g.OtherAdmin
	}
	switch kind {
	case inPlace:
		w.Worktree, w.GitDir, w.InPlace = h.g.Repo, h.g.Common, true
	case wideGrants:
		grants := []string{filepath.Dir(filepath.Dir(h.g.DataDir))} // ~/.local
		if h.g.Alias != "" {
			grants = append(grants, h.g.aliased(grants[0]))
		}
		w.Layers = append(w.Layers, sandbox.Layer{Name: "the owner's hand", Write: grants, Owner: true})
	}
	p, err := sandbox.Compose(w)
	h.fatal(err)
	return p
}

// caged starts a role of the program in a cage.
func (h *host) caged(dir string, p sandbox.Policy, role string, extra ...string) *attacker {
	pr, err := sandbox.Provision(h.t.Context(), p, sandbox.Launch{
		Argv: []string{filepath.Join(h.g.Tool, "bin/attack")}, Env: h.environment(role, extra...), Dir: dir,
		Terminal: &cage.Size{Cols: 80, Rows: 24}, Limits: limits, Helper: filepath.Join(h.g.Tool, "bin/attack"),
		OnAct: func(sandbox.Act) {}, Reads: p.Mode() == sandbox.EnforceFs, // watched, as the app does it
	})
	h.fatal(err)
	if l := pr.EndpointDoor(); l != nil {
		h.net.serve(l)
	}
	h.t.Cleanup(func() { _ = p.Remove() })
	a, err := newAttacker(pr.Terminal(), func() { pr.Kill(); pr.Wait(); _ = pr.Terminal().Close() })
	h.t.Cleanup(a.end)
	h.fatal(err)
	return a
}

// gone is a report of an attacker that is no more. One is enough: the rows after it say nothing.
func (a *attacker) gone(r Report) bool { return r.Hung && r.Err == errGoneAttacker }

const errGoneAttacker = "the attacker is gone"

// column makes a host and attacks it: the rows that belong to the cage, wide or not. It returns the reports and verdicts.
func column(t *testing.T, p prepared, c Column, kind cageKind, rows []Row) map[string]outcome {
	h := newHost(t, p)
	for _, r := range rows {
		h.spots(r.Name)
	}
	var a *attacker
	if c == Open {
		h.uncaged("neighbour", EnvNeighbour+"="+h.secret)
		h.g.MaxProcs, h.g.MaxMemory, h.g.MaxFiles = limits.Processes, limits.Memory, limits.OpenFiles
		a = h.uncaged("serve", EnvSecret+"="+h.secret)
	} else {
		h.caged(h.g.Other, h.policy(c, "b", plainCage), "neighbour", EnvNeighbour+"="+h.secret)
		h.g.PidOne = 1
		dir := h.g.Worktree
		if kind == inPlace {
			dir = h.g.Repo
			h.g.Worktree = dir // that is where its probes may write
		}
		h.g.MaxProcs, h.g.MaxMemory, h.g.MaxFiles = limits.Processes, limits.Memory, limits.OpenFiles
		a = h.caged(dir, h.policy(c, "a", kind), "serve")
	}
	out := map[string]outcome{}
	for _, r := range rows {
		out[r.Name] = h.attack(a, c, r)
		// On a busy machine a try that must get out may be too slow for its own patience. It is tried again; a try that
		// must be held never is.
		for range 2 {
			if r.Want[c] == Held || out[r.Name].Verdict == Out || r.Lacks != "" || r.Needs != "" {
				break
			}
			out[r.Name] = h.attack(a, c, r)
		}
	}
	return out
}

// attack has one probe tried and judges it.
func (h *host) attack(a *attacker, c Column, r Row) outcome {
	start := time.Now()
	h.before(c, r.Name)
	report := a.try(r.Name)
	if a.gone(report) {
		h.t.Fatalf("the attacker died before %s", r.Name)
	}
	verdict := h.gotOut(report)
	h.after(c, r.Name)
	if loud() {
		fmt.Printf("%-11s %-28s %-4s %4dms %.100q %s\n", c, r.Name, verdict, time.Since(start).Milliseconds(), report.Got, strings.ReplaceAll(report.Err, "\n", "; "))
	}
	return outcome{report, verdict}
}

// before does what the host does meanwhile.
func (h *host) before(c Column, name string) {
	switch {
	case name == "tcp/inbound":
		h.net.inbound()
	case strings.HasSuffix(name, "/config-later"):
		h.run(h.g.Repo, "config", "user.note", name)
	case name == "git/pointer-later":
		at := filepath.Join(h.g.Worktree, ".git")
		text, err := os.ReadFile(at)
		h.fatal(err)
		h.fatal(os.WriteFile(at+".tmp", text, 0o600))
		h.fatal(os.Rename(at+".tmp", at))
	case name == "unix/late":
		if !exists(h.g.In(name)) {
			h.net.unix("unix", h.g.In(name))
		}
	case c == Open && strings.HasPrefix(name, "wide/"): // earlier tries have overwritten it
		h.put(h.g.Token)
	case name == "wide/replaced" && !exists(h.g.DataDir+".old"): // an update or a backup program puts a new data folder in the place of the old one
		h.fatal(os.Rename(h.g.DataDir, h.g.DataDir+".old"))
		h.put(h.g.Token)
	}
}

// after undoes what an uncaged try did to the repository.
func (h *host) after(c Column, name string) {
	if name == "git/pointer-later" {
		h.fatal(os.WriteFile(filepath.Join(h.g.Worktree, ".git"), []byte("gitdir: "+h.g.Admin+"\n"), 0o600))
	}
	if kind, _, _ := strings.Cut(name, "/"); c == Open && (kind == "git" || kind == "place") {
		h.restoreGit()
	}
}

// outcome is what came of one try.
type outcome struct {
	Report  Report
	Verdict Verdict
}

// loud asks for every verdict as it comes, for people.
func loud() bool { return os.Getenv("TERMIC_ATTACK_LOUD") != "" }
