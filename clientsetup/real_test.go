package clientsetup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"termic/internal/childproc"
	"termic/internal/tomledit"
)

// real puts the real clients into the PATH, from the folder that the tests of the real clients use.
func (r *rig) real() {
	r.Helper()
	dir := os.Getenv("TERMIC_E2E_CLIENTS")
	if dir == "" {
		r.Skip("NOT TESTED with the real clients: TERMIC_E2E_CLIENTS does not say where they are (make e2e-clients does)")
	}
	r.place.Environ = []string{"HOME=" + r.place.Home, "PATH=" + dir + ":/usr/bin:/bin", "LANG=C.UTF-8", "USER=me", "SHELL=/bin/false", "TERM=dumb",
		"CODEX_HOME=" + filepath.Join(r.place.Home, ".codex"), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "ANTHROPIC_API_KEY=none", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1"}
}

func (r *rig) run(program string, args ...string) (string, int) {
	r.Helper()
	res, err := childproc.Run(r.Context(), childproc.Cmd{Path: r.place.find(program), Args: args, Dir: r.place.Home, Env: r.place.Environ, Timeout: time.Minute})
	if err != nil && !res.TimedOut {
		r.Fatal(err)
	}
	return string(res.Stdout) + res.Stderr, res.Code
}

func TestRealClaude(t *testing.T) {
	r := newRig(t)
	r.real()
	e := r.endpoint()
	st, err := r.place.Detect(context.Background(), "claude", r.entry)
	r.must(err)
	if !st.Usable || st.Version == "" {
		t.Fatalf("%+v", st)
	}
	r.put(r.state(), `{"mine":{"a":[1,2]},"mcpServers":{"docs":{"type":"http","url":"http://127.0.0.1:1/mcp"},"termic":{"type":"stdio","command":"old","args":["x"]}}}`)
	var before, after map[string]any
	r.must(json.Unmarshal([]byte(r.get(r.state())), &before))
	if plan, _ := r.register("claude"); plan.Act != ActReplace {
		t.Errorf("%+v", plan)
	}
	if st := r.look("claude"); !st.OK() {
		t.Errorf("%+v", st)
	}
	if rep := r.verify("claude"); !rep.OK {
		t.Errorf("%+v", rep)
	}
	calls := e.calls.Load()
	out, _ := r.run("claude", "mcp", "get", Name)
	if !strings.Contains(out, "Connected") || e.calls.Load() == calls {
		t.Errorf("claude did not connect by our entry:\n%s", out)
	}
	r.remove("claude", false)
	r.must(json.Unmarshal([]byte(r.get(r.state())), &after))
	if !reflect.DeepEqual(before["mcpServers"], after["mcpServers"]) || !reflect.DeepEqual(before["mine"], after["mine"]) {
		t.Errorf("%v\nbecame\n%v", before, after)
	}
}

// What the refusal for policy rests on: claude lets an entry go that it would not let in again.
func TestRealClaudeUnderPolicy(t *testing.T) {
	r := newRig(t)
	r.real()
	r.endpoint()
	r.register("claude")
	settings := filepath.Join(r.place.Home, ".claude", "settings.json")
	for _, policy := range []string{`{"deniedMcpServers":[{"serverName":"termic"}]}`, `{"deniedMcpServers":[{"serverUrl":"http://127.0.0.1:*/*"}]}`,
		`{"allowedMcpServers":[{"serverName":"docs"}]}`, `{"allowedMcpServers":[{"serverName":"termic"},{"serverUrl":"https://x/*"}]}`} {
		r.put(settings, policy)
		if st := r.look("claude"); len(st.Shadows) != 1 {
			t.Errorf("%s: %+v", policy, st.Shadows)
		}
		if out, _ := r.run("claude", "mcp", "list"); strings.Contains(out, Name) {
			t.Errorf("%s: claude lists it:\n%s", policy, out)
		}
		if out, code := r.run("claude", "mcp", "remove", Name, "--scope", "user"); code != 0 {
			t.Errorf("%s: remove: %s", policy, out)
		}
		if out, code := r.run("claude", "mcp", "add-json", Name, `{"type":"http","url":"`+r.entry.URL+`"}`, "--scope", "user"); code == 0 {
			t.Errorf("%s: add-json: %s", policy, out)
		}
		r.put(settings, `{"allowedMcpServers":[{"serverUrl":"http://127.0.0.1:*/mcp"}]}`)
		if plan, _ := r.register("claude"); plan.Act != ActAdd || !r.look("claude").OK() {
			t.Errorf("%s: %+v", policy, plan)
		}
	}
}

func TestRealCodex(t *testing.T) {
	r := newRig(t)
	r.real()
	e := r.endpoint()
	st, err := r.place.Detect(context.Background(), "codex", r.entry)
	r.must(err)
	if !st.Usable || st.Version == "" {
		t.Fatalf("%+v", st)
	}
	text := "# mine\r\nmodel = \"m\"\r\nmodel_provider = \"none\"\r\ncheck_for_update_on_startup = false\r\n\r\n[model_providers.none]\r\nname = \"none\"\r\nbase_url = \"http://127.0.0.1:1/v1\"\r\nwire_api = \"responses\"\r\nrequest_max_retries = 0\r\nstream_max_retries = 0"
	r.put(r.config(), text)
	r.register("codex")
	out, code := r.run("codex", "mcp", "get", Name, "--json")
	if code != 0 || !strings.Contains(out, r.entry.URL) || !strings.Contains(out, "<redacted>") || !strings.Contains(out, `"tool_timeout_sec": 600`) {
		t.Errorf("%d %s", code, out)
	}
	if out, _ := r.run("codex", "features", "list"); !strings.Contains(out, codexFlag) {
		t.Errorf("%s", out)
	}
	// It reads its servers before it asks a model, which is not there, and is ended as soon as it has listed our tools.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		select {
		case <-e.listed:
			cancel()
		case <-ctx.Done():
		}
	}()
	_, err = childproc.Run(ctx, childproc.Cmd{Path: r.place.find("codex"), Args: []string{"exec", "--skip-git-repo-check", "hello"},
		Dir: r.place.Home, Env: r.place.Environ})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("codex did not list our tools by our entry: %v", err)
	}
	if rep := r.verify("codex"); !rep.OK {
		t.Errorf("%+v", rep)
	}
	r.remove("codex", false)
	got, err := tomledit.Decode([]byte(r.get(r.config())))
	r.must(err)
	want, err := tomledit.Decode([]byte(text))
	r.must(err)
	for key, value := range want {
		if !tomledit.Equal(got[key], value) {
			t.Errorf("%s became %v", key, got[key])
		}
	}
	if got["mcp_servers"] != nil || got["features"] != nil || !strings.HasPrefix(r.get(r.config()), "# mine\r\n") {
		t.Errorf("%s", r.get(r.config()))
	}
	t.Logf("codex left %q", r.get(r.config()))
}
