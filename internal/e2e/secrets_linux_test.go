package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
)

// secret keeps a value, and has the end of the test look for it.
func (r *rig) secret(name, value string) api.SecretSetResult {
	r.t.Helper()
	r.secrets.plant("the secret "+name, value)
	return call[api.SecretSetResult](r, "secret_set", map[string]any{"name": name, "value": value})
}

// look is a command that prints what a variable holds without its value: a digest, or none.
func look(name string) string {
	return `[ -n "${` + name + `+x}" ] && printf %s "$` + name + `" | sha256sum | cut -c1-64 || echo none`
}

// holds is the first line of what look prints.
func (c *walled) holds(name string) string {
	c.r.t.Helper()
	line, _, _ := strings.Cut(c.run(look(name)), "\n")
	return line
}

func digestOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// plantedIn are two values that no other test has: they stand beside one another.
func plantedIn(t *testing.T) (key, next string) {
	return "pl4nted-key/+with \"quotes\" & é of " + t.Name(), "pl4nted-next-value of " + t.Name()
}

// TestSecretsReachWhoIsNamed: the agents of a task that the owner gave a secret to have it, in a cage and in none; a terminal of the
// user's, a setup script, a child that a caged agent made, and a tab that it opened have not, nor have they after an archive and a
// restart.
func TestSecretsReachWhoIsNamed(t *testing.T) {
	r := newRig(t)
	plantedKey, _ := plantedIn(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	if kept := r.secret("API_KEY", plantedKey); kept.Secret.KeptIn != "file" || kept.Why == "" || len(kept.Holders) != 0 {
		t.Errorf("%+v", kept)
	}
	must(t, os.WriteFile(filepath.Join(r.repo, ".termic.yaml"), []byte("scripts:\n  setup: |\n    env > setup.txt\n"), 0o600))
	r.addProject()
	shown := call[api.ProjectConsentResult](r, "project_consent", map[string]any{"name": "repo"})
	call[api.ProjectConsentResult](r, "project_consent", map[string]any{"name": "repo", "digest": shown.Repo.Digest})
	call[api.ProjectSettingsResult](r, "project_settings", map[string]any{"name": "repo", "secrets": []string{"API_KEY"}})
	want := digestOf(plantedKey)

	free := r.cageTask("free", "off", nil)
	if got := free.holds("API_KEY"); got != want {
		t.Errorf("an agent in no cage: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(free.path, "setup.txt")); err != nil || strings.Contains(string(text), "API_KEY") {
		t.Errorf("the setup script: %v, or it holds the secret", err)
	}
	tab := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": free.id, "kind": "terminal"}).TabID
	if got := r.inShell(free.id, tab, look("API_KEY"), filepath.Join(r.home, "shell")); got != "none" {
		t.Errorf("a terminal of the user's: %s", got)
	}
	if plain := r.cageTask("plain", "off", map[string]any{"secrets": []string{}}); plain.holds("API_KEY") != "none" {
		t.Error("a task that is to have none has one")
	}
	watched := r.cageTask("watched", "monitor", nil)
	if got := watched.holds("API_KEY"); got != want {
		t.Errorf("a watched agent: %s", got)
	}

	boss := r.cageTask("boss", "enforce", map[string]any{"mcp": true})
	if got := boss.holds("API_KEY"); got != want {
		t.Errorf("a caged agent: %s", got)
	}
	var made struct{ Task api.TaskSummary }
	child := boss.tool("task_new", map[string]any{"name": "kid"})
	if must(t, json.Unmarshal(child.result(), &made)); made.Task.ID == "" {
		t.Fatalf("%+v", child)
	}
	kid := r.cageOf(made.Task.ID)
	if got := kid.holds("API_KEY"); got != "none" {
		t.Errorf("a child of a caged agent: %s", got)
	}
	if f := refused(r, fault.Forbidden, "task_sandbox", map[string]any{"task": kid.id, "secrets": []string{"API_KEY"}}); !strings.Contains(f.Message, "gets no secrets") {
		t.Errorf("%s", f.Message)
	}
	if code, _ := boss.tool("task_new", map[string]any{"name": "kid2", "secrets": []string{"API_KEY"}}).refusalOf(t); code != "invalid_argument" {
		t.Errorf("a caged agent names a secret: %s", code)
	}
	var opened api.TaskTabResult
	more := boss.tool("task_tab", map[string]any{"task": boss.id, "agentId": "osc7501", "prompt": "#run second.txt " + look("API_KEY")})
	if json.Unmarshal(more.result(), &opened) != nil || opened.TabID == "" {
		t.Fatalf("%+v", more)
	}
	r.until(boss.id, "what the second agent has", func(api.TaskDetail) bool {
		b, err := os.ReadFile(filepath.Join(boss.path, "second.txt"))
		return err == nil && strings.HasPrefix(string(b), "none\n")
	})
	// Archived and restored, and started anew with the app: as before.
	call[api.TaskTabCloseResult](r, "task_tab_close", map[string]any{"task": boss.id, "tab": opened.TabID})
	call[json.RawMessage](r, "task_archive", map[string]any{"task": kid.id, "discard": true})
	call[json.RawMessage](r, "task_restore", map[string]any{"task": kid.id})
	r.stop()
	r.start()
	for id, want := range map[string]string{kid.id: "none", boss.id: want, free.id: want} {
		if d := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": id}).Task; len(d.Tabs) == 0 || !d.Tabs[0].Live {
			call[api.TaskTabResult](r, "task_tab", map[string]any{"task": id, "acceptFiles": true})
		}
		if got := r.cageOf(id).holds("API_KEY"); got != want {
			t.Errorf("after a restart %s has %s, want %s", id, got, want)
		}
	}
}

// TestSecretsAreMonotone: a caged agent drives nobody who holds a secret that it does not hold itself, and does not learn why.
func TestSecretsAreMonotone(t *testing.T) {
	r := newRig(t)
	plantedKey, plantedNext := plantedIn(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	r.secret("API_KEY", plantedKey)
	r.secret("OTHER", plantedNext)
	with := func(names ...string) map[string]any {
		return map[string]any{"mcp": true, "secrets": append([]string{}, names...)}
	}
	none := r.cageTask("none", "enforce", with())
	one := r.cageTask("one", "enforce", with("API_KEY"))
	both := r.cageTask("both", "enforce", with("API_KEY", "OTHER"))
	const absent = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
	send := func(from *walled, to string) string {
		return from.tool("task_send", map[string]any{"task": to, "prompt": "#write sent.txt hello"}).Body
	}
	missing := send(none, absent)
	for what, c := range map[string]struct {
		from, to *walled
		may      bool
	}{"none to one": {none, one, false}, "one to both": {one, both, false}, "one to none": {one, none, true}, "both to one": {both, one, true}} {
		got := send(c.from, c.to.id)
		if hidden := strings.ReplaceAll(got, c.to.id, "X") == strings.ReplaceAll(missing, absent, "X"); hidden == c.may {
			t.Errorf("%s: %s", what, got)
		}
	}
	// What the owner takes from a task, its next agent does not hold.
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": one.id, "secrets": []string{}})
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": one.id})
	r.live(one.id)
	if got := send(none, one.id); strings.ReplaceAll(got, one.id, "X") == strings.ReplaceAll(missing, absent, "X") {
		t.Errorf("a task without secrets is hidden still: %s", got)
	}
}

// TestSecretsChange: whoever goes on with an older value is named; a secret that is gone, or whose file others can read, lets no agent
// start, and the refusal says what to do.
func TestSecretsChange(t *testing.T) {
	r := newRig(t)
	plantedKey, plantedNext := plantedIn(t)
	r.secret("API_KEY", plantedKey)
	c := r.cageTask("keeps", "off", map[string]any{"secrets": []string{"API_KEY"}})
	c.holds("API_KEY")
	changed := r.secret("API_KEY", plantedNext)
	if len(changed.Holders) != 1 || changed.Holders[0].TaskID != c.id || changed.Holders[0].Task != "keeps" {
		t.Errorf("holders: %+v", changed.Holders)
	}
	if got := c.holds("API_KEY"); got != digestOf(plantedKey) {
		t.Errorf("a running agent: %s", got)
	}
	second := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "agentId": "osc7501", "prompt": "#run next.txt " + look("API_KEY")}).TabID
	r.until(c.id, "the new value", func(api.TaskDetail) bool {
		b, err := os.ReadFile(filepath.Join(c.path, "next.txt"))
		return err == nil && strings.HasPrefix(string(b), digestOf(plantedNext))
	})
	if again := r.secret("API_KEY", plantedNext); len(again.Holders) != 2 {
		t.Errorf("holders: %+v", again.Holders)
	}
	list := call[api.SecretListResult](r, "secret_list", nil).Secrets
	if len(list) != 1 || list[0].Used == "" || len(list[0].Tasks) != 1 || list[0].Tasks[0] != c.id {
		t.Errorf("list: %+v", list)
	}
	refused(r, fault.Conflict, "secret_delete", map[string]any{"name": "API_KEY"})
	path := filepath.Join(r.data, datadir.SecretsDir, "API_KEY")
	must(t, os.Chmod(path, 0o644))
	if f := refused(r, fault.Forbidden, "task_tab", map[string]any{"task": c.id, "agentId": "osc7501"}); f.Hint == "" {
		t.Errorf("%s", f.Message)
	}
	if gone := call[api.SecretDeleteResult](r, "secret_delete", map[string]any{"name": "API_KEY", "force": true}); len(gone.Holders) != 2 {
		t.Errorf("holders: %+v", gone.Holders)
	}
	if f := refused(r, fault.NotFound, "task_tab", map[string]any{"task": c.id, "agentId": "osc7501"}); !strings.Contains(f.Message, "names the secret API_KEY, which is not there") || !strings.Contains(f.Hint, "termic secret set API_KEY") {
		t.Errorf("%s %s", f.Message, f.Hint)
	}
	call[api.TaskTabCloseResult](r, "task_tab_close", map[string]any{"task": c.id, "tab": second})
}

// TestSecretsAreNowhere is the search of everything that a run leaves and shows, for each secret that it had: tokens of every kind,
// cookies, keys, and values in environments.
func TestSecretsAreNowhere(t *testing.T) {
	r := newRig(t)
	plantedKey, _ := plantedIn(t)
	o := r.outside()
	named := r.named("ci", "operator")
	f := r.web(app.WebOptions{})
	key := f.login(r.webToken("desk", "readonly"))
	r.secret("API_KEY", plantedKey)
	n := r.cageTask("holds", "off", map[string]any{"secrets": []string{"API_KEY"}})
	if n.holds("API_KEY") != digestOf(plantedKey) {
		t.Fatal("nothing was planted")
	}
	caged := r.cageTask("caged", "enforce", map[string]any{"mcp": true, "secrets": []string{"API_KEY"}})
	caged.holds("API_KEY")
	r.gather()
	if !slices.Contains(slices.Collect(maps.Values(r.secrets.by)), "the token of a terminal") {
		t.Fatal("the caged agent's token was not gathered")
	}
	profile := filepath.Join(t.TempDir(), "elsewhere")
	r.elsewhere(profile, r.webToken("afar", "operator"), "login", f.url, "--fingerprint", f.pin, "--name", "desk")

	export := filepath.Join(r.home, "ledger.jsonl")
	call[json.RawMessage](r, "ledger_export", map[string]any{"file": export})
	text, err := os.ReadFile(export)
	must(t, err)
	shown := map[string]string{"the exported ledger": string(text)}
	for verb, params := range map[string]map[string]any{"doctor": {}, "health": {}, "secret_list": {}, "token_list": {}, "settings_get": {}, "mcp_status": {}, "client_list": {},
		"ledger": {"limit": 1000}, "job_list": {}, "job_events": {}, "project_list": {}, "task_list": {}, "task_agents": {}, "task_status": {"task": n.id}, "task_sandbox": {"task": caged.id},
		"task_log": {"task": n.id}, "task_diff": {"task": n.id, "full": true}, "approval_list": {}} {
		shown[verb] = string(call[json.RawMessage](r, verb, params))
	}
	window, err := r.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.Window), "window_state", json.RawMessage("{}"), nil)
	must(t, err)
	shown["window_state"] = string(window)
	for _, j := range call[api.JobListResult](r, "job_list", map[string]any{"limit": 1000}).Jobs {
		for _, verb := range []string{"job_get", "job_log", "job_events"} {
			shown[verb+" "+j.Verb] += string(call[json.RawMessage](r, verb, map[string]any{"job": j.ID}))
		}
	}
	for what, by := range map[string]outside{"outside": o, "named": named} {
		for _, verb := range []string{"secret_list", "task_list", "task_agents"} {
			if verb == "secret_list" && what == "outside" {
				continue // its toolset is off
			}
			res, err := by.tool(t.Context(), verb, map[string]any{})
			must(t, err)
			shown[what+" "+verb] = string(res.StructuredContent)
		}
	}
	for _, path := range []string{"secret_list", "task_list", "session"} {
		shown["browser "+path] = f.ask("GET", "/api/v1/"+path, "", key).body
	}
	for what, text := range shown {
		if found := r.secrets.found([]byte(text)); len(found) > 0 || text == "" {
			t.Errorf("%s is empty or shows %v", what, found)
		}
	}
	r.sweepProcesses(map[string]bool{n.id: true, caged.id: true})
	// At rest: each is in the one file that is for it.
	time.Sleep(300 * time.Millisecond) // rows of reads are written a quarter of a second later
	r.sweep()
	own := map[string]bool{datadir.CLITokenFile: true, datadir.MCPTokenFile: true}
	r.sweepTree(r.data, func(path string) bool {
		rel, _ := filepath.Rel(r.data, path)
		return own[rel] || strings.HasPrefix(rel, datadir.TokensDir+"/") || strings.HasPrefix(rel, datadir.SecretsDir+"/")
	})
	r.sweepTree(r.home, func(string) bool { return false })
	r.sweepTree(r.repo, func(string) bool { return false })
	r.sweepTree(profile, func(path string) bool { return filepath.Base(path) == "desk.json" })
}

// sweepProcesses looks at the arguments of every process, which hold no secret, and at the environments, where only agents of these
// tasks hold those of the test.
func (r *rig) sweepProcesses(tasks map[string]bool) {
	r.t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, proc := range all {
		args, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // it may have ended, or be another user's
		if found := r.secrets.found(args); len(found) > 0 {
			r.t.Errorf("%s shows %v as an argument: %q", proc, found, strings.ReplaceAll(string(args), "\x00", " ")[:40])
		}
		env, _ := os.ReadFile(filepath.Join(proc, "environ"))
		_, id, _ := strings.Cut(string(env), "\x00TERMIC_TASK_ID=")
		id, _, _ = strings.Cut(id, "\x00")
		if found := r.secrets.found(env); len(found) > 0 && !tasks[id] {
			r.t.Errorf("%s of task %q holds %v", proc, id, found)
		}
	}
}

// TestSecretsThatAreTooMuch: what no program could be started with is refused in words, and one byte less starts.
func TestSecretsThatAreTooMuch(t *testing.T) {
	r := newRig(t)
	var names []string
	for i := range 33 { // of 32 KiB each, a mebibyte and one more
		name := "BIG_" + string(rune('A'+i/10)) + string(rune('0'+i%10))
		call[api.SecretSetResult](r, "secret_set", map[string]any{"name": name, "value": strings.Repeat(name, 32<<10/len(name))})
		names = append(names, name)
	}
	c := r.cageTask("much", "off", map[string]any{"secrets": names[:32]})
	if got := c.holds(names[31]); got != digestOf(strings.Repeat(names[31], 32<<10/len(names[31]))) {
		t.Errorf("the last of them: %s", got)
	}
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": c.id, "secrets": names})
	if f := refused(r, fault.InvalidArgument, "task_tab", map[string]any{"task": c.id}); !strings.Contains(f.Message, "longer than 1024 KiB together") {
		t.Errorf("%s", f.Message)
	}
}
