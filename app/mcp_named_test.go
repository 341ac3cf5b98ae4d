package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/datadir"
	"termic/internal/fault"
)

func (p *profile) tokenFile(name string) string {
	p.t.Helper()
	return p.file(filepath.Join(datadir.TokensDir, name))
}

// TestNamedTokens follows a named token through everything that may happen to the endpoint and to itself.
func TestNamedTokens(t *testing.T) {
	p := newProfile(t)
	made := ask[api.TokenResult](p, "token_new", map[string]any{"name": "ci"})
	if made.Token.File != "" || made.Token.URL != "" || made.Token.Scope != "readonly" || !made.Token.AllProjects {
		t.Errorf("while it is off: %+v", made.Token)
	}
	p.absent(filepath.Join(datadir.TokensDir, "ci"))
	on := p.call("mcp_enable")
	first := p.tokenFile("ci")
	read := func(when, token string, want bool) {
		t.Helper()
		if got := asks(t, on.URL, token); (got == 200) != want {
			t.Errorf("%s: status %d", when, got)
		}
	}
	read("at first", first, true)
	writes := func(token string) bool {
		_, body := toolCall(t, on.URL, token, "task_rename", `{"task":"nope","name":"x"}`)
		return !strings.Contains(body, "There is no tool")
	}
	if writes(first) {
		t.Error("a reader has a tool that writes")
	}
	ask[api.TokenResult](p, "token_set", map[string]any{"name": "CI", "scope": "operator"})
	if p.tokenFile("ci") != first || !writes(first) {
		t.Error("a wider scope does not hold with the next call and the same value")
	}
	ask[api.TokenResult](p, "token_set", map[string]any{"name": "ci", "scope": "readonly"})
	if writes(first) {
		t.Error("a narrower scope does not hold with the next call")
	}
	p.call("mcp_rotate")
	read("after a rotation of the other token", first, true)
	p.call("mcp_disable")
	p.absent(filepath.Join(datadir.TokensDir, "ci"))
	p.call("mcp_enable")
	second := p.tokenFile("ci")
	read("the value of an earlier bind", first, false)
	read("the value of this one", second, true)

	// A start of the app finds the name again, with its scope, and clears what a killed app left.
	p.stop()
	check(t, os.WriteFile(filepath.Join(p.dir, datadir.TokensDir, "ghost"), []byte("x"), 0o600))
	p.start()
	on = p.call("mcp_status")
	third := p.tokenFile("ci")
	p.absent(filepath.Join(datadir.TokensDir, "ghost"))
	read("the value of an earlier app", second, false)
	read("the value of this app", third, true)
	ask[api.TokenRevokeResult](p, "token_revoke", map[string]any{"name": "ci"})
	read("revoked", third, false)
	p.absent(filepath.Join(datadir.TokensDir, "ci"))
	p.call("mcp_disable")
	p.call("mcp_enable")
	p.absent(filepath.Join(datadir.TokensDir, "ci"))
	for _, token := range []string{first, second, third} {
		if strings.Contains(p.log.String(), token) {
			t.Error("a token is in the log")
		}
	}
}

// TestProjectTokens: a token for a project loses it with the project, and reaches nothing then; it never becomes one for
// every project.
func TestProjectTokens(t *testing.T) {
	p := newProfile(t)
	on := p.call("mcp_enable")
	for _, name := range []string{"a", "b"} {
		ask[api.ProjectAddResult](p, "project_add", map[string]any{"path": t.TempDir(), "name": name, "nonGit": true})
	}
	ask[api.TokenResult](p, "token_new", map[string]any{"name": "ci", "projects": []string{"a"}})
	token := p.tokenFile("ci")
	sees := func() (string, string) {
		_, body := toolCall(t, on.URL, token, "project_list", `{}`)
		return map[bool]string{true: "a"}[strings.Contains(body, `"name":"a"`)], map[bool]string{true: "b"}[strings.Contains(body, `"name":"b"`)]
	}
	if a, b := sees(); a == "" || b != "" {
		t.Errorf("it sees %q and %q", a, b)
	}
	ask[api.ProjectRemoveResult](p, "project_remove", map[string]any{"name": "a"})
	if a, b := sees(); a != "" || b != "" {
		t.Errorf("after its project went it sees %q and %q", a, b)
	}
	list := ask[api.TokenListResult](p, "token_list", map[string]any{})
	if len(list.Tokens) != 1 || list.Tokens[0].AllProjects || len(list.Tokens[0].Projects) != 0 {
		t.Errorf("%+v", list)
	}
	p.stop()
	p.start()
	on, token = p.call("mcp_status"), p.tokenFile("ci")
	if a, b := sees(); a != "" || b != "" {
		t.Errorf("after a start it sees %q and %q", a, b)
	}
}

// TestTokensFolder: a link or a file in the place of the folder is refused and nothing is served; nothing behind it changes.
func TestTokensFolder(t *testing.T) {
	p := newProfile(t)
	ask[api.TokenResult](p, "token_new", map[string]any{"name": "ci"})
	aside := t.TempDir()
	check(t, os.WriteFile(filepath.Join(aside, "ci"), []byte("mine"), 0o644))
	check(t, os.Symlink(aside, filepath.Join(p.dir, datadir.TokensDir)))
	if s := p.call("mcp_enable"); s.URL != "" || !strings.Contains(s.Error, "for tokens cannot be made") || p.app.endpoint.tokens.Len() != 0 {
		t.Errorf("behind a link: %+v", s)
	}
	if b, err := os.ReadFile(filepath.Join(aside, "ci")); err != nil || string(b) != "mine" {
		t.Errorf("the file behind the link: %q, %v", b, err)
	}
	check(t, os.Remove(filepath.Join(p.dir, datadir.TokensDir)))
	check(t, os.Mkdir(filepath.Join(p.dir, datadir.TokensDir), 0o755))
	if s := p.call("mcp_enable"); s.URL == "" {
		t.Errorf("with a folder: %+v", s)
	}
	for path, want := range map[string]os.FileMode{datadir.TokensDir: os.ModeDir | 0o700, datadir.TokensDir + "/ci": 0o600} {
		if st, err := os.Lstat(filepath.Join(p.dir, path)); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}

// TestNewTokenThatCannotBeWritten leaves no name behind.
func TestNewTokenThatCannotBeWritten(t *testing.T) {
	p := newProfile(t)
	p.call("mcp_enable")
	check(t, os.WriteFile(filepath.Join(p.dir, datadir.TokensDir), nil, 0o600))
	if _, err := p.try("token_new", map[string]any{"name": "ci"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
	if list := ask[api.TokenListResult](p, "token_list", map[string]any{}); len(list.Tokens) != 0 {
		t.Errorf("it stays: %+v", list)
	}
}
