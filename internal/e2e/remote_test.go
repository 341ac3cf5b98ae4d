package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app"
	"termic/internal/cli"
	"termic/internal/datadir"
	"termic/internal/fault"
)

// said is what one run of the command line left.
type said struct {
	exit     int
	out, err string
}

// elsewhere runs the command line of another machine: one with a profile of its own.
func (r *rig) elsewhere(profile, stdin string, args ...string) said {
	r.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(r.t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: r.repo, Version: "test",
		Getenv: func(name string) string {
			if name == "TERMIC_DATA_DIR" {
				return profile
			}
			return map[string]string{"HOME": r.home, "TERMIC_TASK_ID": "a-task-of-this-machine"}[name]
		}})
	return said{code, out.String(), errs.String()}
}

// TestRemote: a machine logs in with a pin, uses verbs there as its token may, and is told in words what it may not; another
// key is refused before anything is sent.
func TestRemote(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Say hello", "osc7501", "#say done")
	f := r.web(app.WebOptions{})
	address := strings.TrimPrefix(f.url, "https://")
	value := r.webToken("laptop", "operator")
	profile := filepath.Join(t.TempDir(), "elsewhere")
	wrong := "sha256//" + strings.Repeat("A", 43) + "="
	for name, c := range map[string]struct {
		stdin, says string
		args        []string
	}{
		"another key":    {value, "another key than the one that was pinned; nothing was sent", []string{"login", f.url, "--fingerprint", wrong}},
		"no pin":         {value, "cannot show by a certificate who it is; nothing was sent", []string{"login", f.url}},
		"no fingerprint": {value, "is no fingerprint", []string{"login", f.url, "--fingerprint", "abc"}},
		"plain":          {value, "is no address to log in to", []string{"login", "http://" + address, "--fingerprint", f.pin}},
		"another token":  {strings.Repeat("0", 64), "does not know the token", []string{"login", f.url, "--fingerprint", f.pin}},
		"no token":       {"", "Standard input holds no token", []string{"login", f.url, "--fingerprint", f.pin}},
		"a bad name":     {value, "cannot be called", []string{"login", f.url, "--fingerprint", f.pin, "--name", "../x"}},
		"unknown":        {"", "There is no login called", []string{"--remote", "nobody", "list"}},
	} {
		if got := r.elsewhere(profile, c.stdin, c.args...); got.exit == 0 || !strings.Contains(got.err, c.says) || !strings.Contains(got.err, "hint: ") || strings.Contains(got.err+got.out, value) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if files, err := os.ReadDir(filepath.Join(profile, "remotes")); err == nil && len(files) > 0 {
		t.Errorf("a refused login left %v", files)
	}
	if got := r.elsewhere(profile, value+"\n", "login", f.url, "--fingerprint", f.pin, "--name", "desk"); got.exit != 0 || !strings.Contains(got.out, "Logged in") || strings.Contains(got.out+got.err, value) {
		t.Fatalf("login: %+v", got)
	}
	if st, err := os.Stat(filepath.Join(profile, "remotes", "desk.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", st, err)
	}
	if got, want := r.elsewhere(profile, "", "--remote", "desk", "list", "--json"), f.ask("POST", "/api/v1/task_list", "{}", bearer(value)).body+"\n"; got.exit != 0 || got.out != want {
		t.Errorf("list: %+v, want %s", got, want)
	}
	if got := r.elsewhere(profile, "from afar", "send", "--remote=desk", n.Task.ID, "-", "--wait"); got.exit != 0 {
		t.Errorf("send: %+v", got)
	}
	if got := r.received("osc7501"); got[len(got)-1] != "from afar" {
		t.Errorf("received %q", got)
	}
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"a verb of the owner":      {"is for the owner of a Termic", []string{"settings", "get"}},
		"a verb of the terminal":   {"is for the owner of a Termic", []string{"attach", n.Task.ID}},
		"a verb of this program":   {"is for the owner of a Termic", []string{"version"}},
		"a parameter of the owner": {"has no argument", []string{"new", "x", "--project", "repo", "--sandbox", "off"}},
		"a folder of this machine": {"cannot be given to a Termic elsewhere", []string{"new", "--project", "repo", "--from", "/tmp"}},
		"a task of this terminal":  {"", []string{"status"}},
	} {
		got := r.elsewhere(profile, "", append([]string{"--remote", "desk"}, c.args...)...)
		if got.exit == 0 || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// What destroys waits for an approval there, and does not read as if it was done.
	for i, destroys := range [][]string{{"archive", n.Task.ID, "--yes"}, {"project", "remove", "repo", "--yes"}} {
		got := r.elsewhere(profile, "", append([]string{"--remote", "desk"}, destroys...)...)
		if got.exit != fault.ExitNeedsInput || !strings.HasPrefix(got.out, "Nothing was done yet: this waits for approval until ") || !strings.Contains(got.err, " approve`") {
			t.Errorf("%d: what waits for approval: %+v", i, got)
		}
	}
	if got := r.elsewhere(profile, "", "--remote", "desk", "apply", n.Task.ID, "--yes", "--json"); got.exit != fault.ExitNeedsInput || !strings.Contains(got.out, `"state":"pending"`) {
		t.Errorf("what waits for approval, as JSON: %+v", got)
	}
	// The same place, with another key.
	r.stop()
	must(t, os.Remove(filepath.Join(r.data, datadir.WebKeyFile)))
	r.start()
	g := r.web(app.WebOptions{Addr: address})
	if g.pin == f.pin || g.url != f.url {
		t.Fatalf("no other key: %+v", g)
	}
	if got := r.elsewhere(profile, "", "--remote", "desk", "list"); got.exit == 0 || !strings.Contains(got.err, "another key than the one that was pinned; nothing was sent") {
		t.Errorf("another key: %+v", got)
	}
	if n := strings.Count(r.log.String(), "client:laptop"); n != 0 {
		t.Errorf("something was sent to it")
	}
	// A login that others could read is not used, nor one whose token was revoked.
	if got := r.elsewhere(profile, value, "login", g.url, "--fingerprint", g.pin, "--name", "desk"); got.exit != 0 {
		t.Fatalf("a new login: %+v", got)
	}
	call[map[string]any](r, "token_revoke", map[string]any{"name": "laptop"})
	if got := r.elsewhere(profile, "", "--remote", "desk", "list"); got.exit == 0 || !strings.Contains(got.err, "does not know the token") {
		t.Errorf("revoked: %+v", got)
	}
	must(t, os.Chmod(filepath.Join(profile, "remotes", "desk.json"), 0o644))
	if got := r.elsewhere(profile, "", "--remote", "desk", "list"); got.exit == 0 || !strings.Contains(got.err, "not the owner's alone") {
		t.Errorf("open to others: %+v", got)
	}
}
