package clientsetup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

// fakeClaude keeps one entry in ~/.claude.json as the real one does, logs its arguments, and fails where a file says so.
const fakeClaude = `#!/bin/sh
log=$HOME/claude.log; file=$HOME/.claude.json
if [ "$1" = --version ]; then echo "2.1.332 (Claude Code)"; exit; fi
{ for a in "$@"; do printf '%s\n' "$a"; done; echo --; } >>"$log"
case $2 in
add-json)
  entry=$4
  if [ "$entry" = - ]; then entry=$(cat); printf '%s\n' "$entry" >>"$HOME/claude.stdin"; fi
  if [ -e "$HOME/fail-add" ] && case $4 in -) [ -e "$HOME/fail-back" ];; *) true;; esac; then echo "cannot add: $(printf '\033')[31mno" >&2; exit 1; fi
  if grep -q '"termic"' "$file" 2>/dev/null; then echo "MCP server termic already exists in user config" >&2; exit 1; fi
  [ -e "$HOME/lie" ] || printf '{"numStartups":7,"mcpServers":{"termic":%s}}' "$entry" >"$file" ;;
remove)
  if [ -e "$HOME/fail-remove" ]; then echo 'cannot remove' >&2; exit 1; fi
  printf '{"numStartups":7,"mcpServers":{}}' >"$file" ;;
esac
`

func newClaude(t *testing.T) *rig {
	r := newRig(t)
	r.must(os.WriteFile(filepath.Join(r.bin, "claude"), []byte(fakeClaude), 0o755))
	return r
}

func (r *rig) state() string { return filepath.Join(r.place.Home, ".claude.json") }

// calls returns what claude was run with since the last time.
func (r *rig) calls() [][]string {
	r.Helper()
	path := filepath.Join(r.place.Home, "claude.log")
	doc, _ := os.ReadFile(path)
	r.must(os.RemoveAll(path))
	var out [][]string
	for _, call := range strings.Split(string(doc), "--\n") {
		if call != "" {
			out = append(out, strings.Split(strings.TrimSuffix(call, "\n"), "\n"))
		}
	}
	return out
}

// switchOn makes the fake fail in some way.
func (r *rig) switchOn(names ...string) {
	for _, n := range names {
		r.put(filepath.Join(r.place.Home, n), "")
	}
}

func TestC12ClaudeIsWrittenByItsOwnProgram(t *testing.T) {
	r := newClaude(t)
	plan, _ := r.register("claude")
	want := `{"url":"http://127.0.0.1:4711/mcp","headersHelper":` + string(encodeJSON(r.entry.Bearer)) + `,"type":"http","timeout":600000}`
	if calls := r.calls(); len(calls) != 1 || !slices.Equal(calls[0], []string{"mcp", "add-json", "termic", want, "--scope", "user"}) {
		t.Errorf("%q", calls)
	}
	if !slices.Equal(plan.Runs[0], []string{"mcp", "add-json", "termic", want, "--scope", "user"}) || plan.After != nil || !strings.Contains(plan.Diff, `+  "headersHelper": `) {
		t.Errorf("%+v", plan)
	}
	if st := r.look("claude"); !st.OK() {
		t.Errorf("%+v", st)
	}
	before := r.get(r.state())
	if again, _ := r.register("claude"); again.Act != ActNone || len(r.calls()) != 0 {
		t.Errorf("the second time: %+v", again)
	}
	r.wantFile(r.state(), before)
	r.remove("claude", false)
	if calls := r.calls(); len(calls) != 1 || !slices.Equal(calls[0], claudeRemove) {
		t.Errorf("%q", calls)
	}
	r.remove("claude", false)
	if len(r.calls()) != 0 || r.look("claude").Registered {
		t.Error("removed twice")
	}
}

func TestClaudeStateIsNeverWritten(t *testing.T) {
	r := newClaude(t)
	r.must(os.Remove(filepath.Join(r.bin, "claude")))
	r.put(r.state(), `{"x": 1}`)
	plan := r.plan("claude")
	_, err := r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Unavailable)
	r.wantFile(r.state(), `{"x": 1}`)
}

func TestClaudeEntryOfSomebodyElse(t *testing.T) {
	r := newClaude(t)
	const theirs = `{"type":"http","url":"https://example.org/mcp","headers":{"Authorization":"Bearer hush"}}`
	r.put(r.state(), `{"numStartups":7,"mcpServers":{"termic":`+theirs+`}}`)
	if st := r.look("claude"); !st.Foreign || st.OK() {
		t.Errorf("%+v", st)
	}
	r.register("claude")
	if st := r.look("claude"); !st.OK() {
		t.Errorf("%+v", st)
	}
	r.remove("claude", false)
	st := r.look("claude")
	if !st.Registered || !st.Foreign || !strings.Contains(r.get(r.state()), "Bearer hush") {
		t.Errorf("%+v %s", st, r.get(r.state()))
	}
	for _, call := range r.calls() {
		if strings.Contains(strings.Join(call, " "), "hush") {
			t.Errorf("a secret in the arguments: %q", call)
		}
	}
	_, err := r.place.Remove(context.Background(), "claude", r.entry, false)
	r.wantCode(err, fault.NeedsConsent)
}

func TestClaudeFailsAndNothingIsLost(t *testing.T) {
	r := newClaude(t)
	theirs := `{"numStartups":7,"mcpServers":{"termic":{"command":"x"}}}`
	r.put(r.state(), theirs)
	r.switchOn("fail-add")
	_, err := r.place.Apply(context.Background(), r.plan("claude"), false)
	r.wantCode(err, fault.Unavailable)
	r.wantFile(r.state(), theirs)
	if f := fault.From(err); !strings.Contains(f.Message, "cannot add") || strings.ContainsRune(f.Message, '\x1b') {
		t.Errorf("%q", f.Message)
	}
	if r.place.receipt("claude") != nil {
		t.Error("a receipt of what was not done")
	}

	r.switchOn("fail-back")
	_, err = r.place.Apply(context.Background(), r.plan("claude"), false)
	r.wantCode(err, fault.Unavailable)
	kept, _ := filepath.Glob(filepath.Join(r.place.Records, "claude-entry-*.json"))
	if len(kept) != 1 || r.get(kept[0]) != `{"command":"x"}` || !strings.Contains(fault.From(err).Message, kept[0]) {
		t.Errorf("%v: %v", kept, err)
	}
}

func TestClaudeThatCannotRemoveOrLies(t *testing.T) {
	r := newClaude(t)
	r.register("claude")
	before := r.get(r.state())
	r.entry.URL = "http://127.0.0.1:4712/mcp"
	r.switchOn("fail-remove")
	_, err := r.place.Apply(context.Background(), r.plan("claude"), false)
	r.wantCode(err, fault.Unavailable)
	r.wantFile(r.state(), before)
	_, err = r.place.Remove(context.Background(), "claude", r.entry, false)
	r.wantCode(err, fault.Unavailable)

	r.must(os.Remove(filepath.Join(r.place.Home, "fail-remove")))
	r.remove("claude", false)
	r.switchOn("lie")
	_, err = r.place.Apply(context.Background(), r.plan("claude"), false)
	r.wantCode(err, fault.Unavailable)
}

func TestClaudeRepairKeepsWhatAPersonAdded(t *testing.T) {
	r := newClaude(t)
	r.register("claude")
	r.put(r.state(), strings.Replace(r.get(r.state()), `"type":"http"`, `"type":"http","alwaysLoad":true`, 1))
	r.entry.URL = "http://127.0.0.1:4712/mcp"
	if st := r.look("claude"); len(st.Stale) != 1 || st.Stale[0].Key != "url" || !slices.Equal(st.Edits, []string{"alwaysLoad"}) {
		t.Errorf("%+v", st)
	}
	if plan, _ := r.register("claude"); plan.Act != ActRepair || len(plan.Runs) != 2 || !strings.Contains(r.get(r.state()), `"alwaysLoad":true`) {
		t.Errorf("%+v\n%s", plan, r.get(r.state()))
	}
	r.remove("claude", false)
}

func TestClaudeChangedSinceItWasShown(t *testing.T) {
	r := newClaude(t)
	plan := r.plan("claude")
	r.put(r.state(), `{"mcpServers":{"termic":{"command":"x"}}}`)
	_, err := r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Conflict)
	if len(r.calls()) != 0 {
		t.Error("claude was run")
	}
}

func TestClaudeShadows(t *testing.T) {
	r := newClaude(t)
	dir := filepath.Join(r.place.Home, "repo.x")
	r.put(r.state(), `{"mcpServers":{},"projects":{"/a.b/c":{"mcpServers":{"termic":{"command":"x"}}},"/other":{"mcpServers":{"docs":{}}}}}`)
	r.put(filepath.Join(dir, ".mcp.json"), `{"mcpServers":{"termic":{"command":"x"}}}`)
	r.place.Folders = []string{dir, "/gone"}
	st := r.look("claude")
	if len(st.Shadows) != 2 || st.Shadows[0].Scope != "local" || st.Shadows[0].Where != "/a.b/c" || st.Shadows[1].Scope != "project" || st.Shadows[1].Where != dir {
		t.Errorf("%+v", st.Shadows)
	}
}

func TestClaudeFileThatIsBroken(t *testing.T) {
	r := newClaude(t)
	for _, text := range []string{`{"mcpServers": {`, `{"mcpServers":{"termic":1}}`} {
		r.put(r.state(), text)
		_, err := r.place.Plan(context.Background(), "claude", r.entry, Options{})
		r.wantCode(err, fault.Conflict)
		if st := r.look("claude"); st.Problem == nil {
			t.Errorf("%+v", st)
		}
	}
	r.put(r.state(), " \n")
	r.plan("claude")
}

func TestClaudeConfigFolder(t *testing.T) {
	r := newClaude(t)
	dir := filepath.Join(r.place.Home, "other")
	r.place.Environ = append(r.place.Environ, "CLAUDE_CONFIG_DIR="+dir)
	if st := r.look("claude"); st.File != filepath.Join(dir, ".claude.json") {
		t.Errorf("%s", st.File)
	}
}

// Claude Code runs the command again after a 401 only if the header is Authorization. An entry with the other header, by
// the shell or by Termic, is ours, does not fit, and is repaired; so is one of Codex's, older versions of which refuse
// Authorization.
func TestTheHeaderIsTheClients(t *testing.T) {
	for id, words := range map[string]string{"claude": "as X-Termic-Token; this client needs it as Authorization", "codex": "as Authorization; this client needs it as X-Termic-Token"} {
		for _, byTermic := range []bool{false, true} {
			r := newClaude(t)
			r.endpoint()
			good := r.entry
			if byTermic {
				binary := filepath.Join(r.bin, "termic")
				r.must(os.WriteFile(binary, []byte("#!/bin/sh\ncase $3 in --bearer) echo '{\"Authorization\":\"Bearer "+someToken+"\"}';; *) echo '{\""+TokenHeader+"\":\""+someToken+"\"}';; esac\n"), 0o755))
				var err error
				good, err = r.entry.ByTermic(binary)
				r.must(err)
			}
			r.entry = good
			r.entry.Command, r.entry.Bearer = good.Bearer, good.Command
			r.register(id)
			r.entry = good
			if st := r.look(id); st.Foreign || len(st.Stale) != 1 || !strings.Contains(st.Stale[0].Words, words) {
				t.Errorf("%s: %+v", id, st)
			}
			r.wantBad(r.verify(id), "entry", words)
			if plan, _ := r.register(id); plan.Act != ActRepair {
				t.Errorf("%s: %+v", id, plan)
			}
			if rep := r.verify(id); !rep.OK || !r.look(id).OK() {
				t.Errorf("%s: %+v", id, rep)
			}
		}
	}
}

// An administrator, or the person, can forbid servers. claude takes an entry out all the same, and then refuses to add one:
// so nothing is begun.
func TestClaudePolicy(t *testing.T) {
	const system, user = "machine/etc/claude-code/", ".claude/settings.json"
	for _, c := range []struct {
		name, file, text, scope string
	}{
		{"no policy", user, `{"model":"m"}`, ""},
		{"a fixed set", system + "managed-mcp.json", `{"mcpServers":{}}`, "managed"},
		{"denied by name", user, `{"deniedMcpServers":[{"serverName":"docs"},{"serverName":"termic"}]}`, "denied"},
		{"denied by address", system + "managed-settings.json", `{"deniedMcpServers":[{"serverUrl":"http://127.0.0.1:*/*"}]}`, "denied"},
		{"denied by the whole address", user, `{"deniedMcpServers":[{"serverUrl":"http://127.0.0.1:4711/mcp"}]}`, "denied"},
		{"another is denied", user, `{"deniedMcpServers":[{"serverName":"termic2"},{"serverUrl":"http://127.0.0.1:4712/*"},{"serverCommand":["termic"]}]}`, ""},
		{"another is allowed", system + "managed-settings.d/10-mcp.json", `{"allowedMcpServers":[{"serverName":"docs"}]}`, "allowed"},
		{"none is allowed", user, `{"allowedMcpServers":[]}`, "allowed"},
		{"allowed by name", user, `{"allowedMcpServers":[{"serverName":"termic"}]}`, ""},
		{"allowed by address", user, `{"allowedMcpServers":[{"serverName":"docs"},{"serverUrl":"*://127.0.0.1:4711/*"}]}`, ""},
		{"where addresses are listed, names do not count", user, `{"allowedMcpServers":[{"serverName":"termic"},{"serverUrl":"https://x/*"}]}`, "allowed"},
		{"a file that is no JSON", user, `{"deniedMcpServers":[`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newClaude(t)
			r.register("claude")
			before := r.get(r.state())
			r.calls()
			r.entry.Bearer = TokenCommand(r.entry.TokenFile+"2", true) // so that there is something to repair
			r.put(filepath.Join(r.place.Home, c.file), c.text)
			st := r.look("claude")
			if c.scope == "" {
				if len(st.Shadows) != 0 {
					t.Errorf("%+v", st.Shadows)
				}
				r.register("claude")
				return
			}
			if len(st.Shadows) != 1 || st.Shadows[0].Scope != c.scope || st.OK() || !strings.Contains(st.Shadows[0].Words, filepath.Base(c.file)) {
				t.Errorf("%+v", st.Shadows)
			}
			_, err := r.place.Plan(context.Background(), "claude", r.entry, Options{})
			r.wantCode(err, fault.Conflict)
			if got := r.get(r.state()); len(r.calls()) != 0 || got != before {
				t.Errorf("claude was run, or its file is changed: %s", got)
			}
			r.remove("claude", true) // ours may always go
		})
	}
}

// What was planned before the policy came is not begun after it.
func TestClaudePolicyComesBetween(t *testing.T) {
	r := newClaude(t)
	r.put(r.state(), `{"mcpServers":{"termic":{"command":"mine"}}}`)
	plan := r.plan("claude")
	settings := filepath.Join(r.place.Home, ".claude", "settings.json")
	r.put(settings, `{"deniedMcpServers":[{"serverName":"termic"}]}`)
	_, err := r.place.Apply(context.Background(), plan, true)
	r.wantCode(err, fault.Conflict)
	r.must(os.Remove(settings))
	r.register("claude")
	r.put(settings, `{"deniedMcpServers":[{"serverName":"termic"}]}`)
	_, err = r.place.Remove(context.Background(), "claude", r.entry, true) // the former entry could not come back
	r.wantCode(err, fault.Conflict)
	if !strings.Contains(r.get(r.state()), r.entry.URL) {
		t.Error("the entry is gone")
	}
}

func TestClaudeSwitchedOffInAFolder(t *testing.T) {
	r := newClaude(t)
	r.put(r.state(), `{"projects":{"/a":{"disabledMcpServers":["docs","termic"]},"/b":{"disabledMcpServers":["docs"]},"/c":{"disabledMcpServers":null}}}`)
	if st := r.look("claude"); len(st.Shadows) != 1 || st.Shadows[0].Scope != "disabled" || st.Shadows[0].Where != "/a" {
		t.Errorf("%+v", st.Shadows)
	}
}
