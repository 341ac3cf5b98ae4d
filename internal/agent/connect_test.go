package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const mcpURL = "http://127.0.0.1:4711/mcp"

// TestConnects: where an agent with a token is connected by its arguments.
func TestConnects(t *testing.T) {
	t.Parallel()
	for when, want := range map[Connect][2]bool{"": {false, true}, ConnectCaged: {false, true}, ConnectAlways: {true, true}, ConnectNever: {false, false}} {
		k := Kind{MCPArgs: []string{"x"}, Connect: when}
		if got := [2]bool{k.Connects(false), k.Connects(true)}; got != want {
			t.Errorf("%q: %v, want %v", when, got, want)
		}
		if k.MCPArgs = nil; k.Connects(true) || k.Connects(false) {
			t.Errorf("%q: without a recipe it is connected", when)
		}
	}
}

// TestConnectRecipes reads what the built-in recipes give as the programs read it: the address, the name of the variable
// with the token, and never a token.
func TestConnectRecipes(t *testing.T) {
	t.Parallel()
	for _, o := range []LaunchOptions{{MCPURL: mcpURL}, {MCPURL: mcpURL, Resume: true, ResumeByDir: true, Unattended: true, Yolo: true}} {
		argv, _, err := Launch(claude(), o)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(argv, "--mcp-config")
		// The option takes any number of values, so what follows has to be an option again.
		if at < 0 || !strings.HasPrefix(argv[at+2], "-") {
			t.Fatalf("claude: %q", argv)
		}
		var config struct {
			MCPServers map[string]struct {
				Type, URL string
				Headers   map[string]string
				Timeout   int
			}
		}
		if err := json.Unmarshal([]byte(argv[at+1]), &config); err != nil {
			t.Fatal(err)
		}
		if s := config.MCPServers["termic"]; s.Type != "http" || s.URL != "${TERMIC_MCP_URL}" || s.Headers["Authorization"] != "Bearer ${TERMIC_MCP_TOKEN}" || s.Timeout < 300_000 {
			t.Errorf("claude: %+v", config)
		}
		if argv, _, err = Launch(codex(), o); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for i := 1; i+1 < len(argv) && argv[i] == "-c"; i += 2 {
			text.WriteString(argv[i+1] + "\n")
		}
		var conf struct {
			Features   map[string]bool
			MCPServers map[string]map[string]any `toml:"mcp_servers"`
		}
		if err := toml.Unmarshal([]byte(text.String()), &conf); err != nil {
			t.Fatalf("codex: %v\n%s", err, &text)
		}
		s := conf.MCPServers["termic"]
		if s["url"] != mcpURL || s["bearer_token_env_var"] != "TERMIC_MCP_TOKEN" || s["http_headers_helper"] != "printf {}" || s["enabled"] != true ||
			!conf.Features["mcp_2026_07_28"] || conf.Features["daemon_auto_start"] {
			t.Errorf("codex: %+v", conf)
		}
	}
	for _, k := range builtins() {
		argv, _, err := Launch(k, LaunchOptions{})
		if text := strings.ToLower(strings.Join(argv, " ")); err != nil || strings.Contains(text, "mcp") {
			t.Errorf("%s is connected to nothing: %q %v", k.ID, argv, err)
		}
	}
}

// TestAlwaysArgs: what keeps tasks apart stays whatever a person writes as arguments, and comes after that, where it
// counts.
func TestAlwaysArgs(t *testing.T) {
	t.Parallel()
	r, problems := NewRegistry([]Custom{{ID: "codex", Args: []string{"-c", "features.daemon_auto_start=true", "--model", "x"}}, {ID: "mine", Extends: "codex", Args: []string{}}})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	for id, want := range map[string]string{"codex": "codex -c features.daemon_auto_start=true --model x -c features.daemon_auto_start=false resume --last", "mine": "codex -c features.daemon_auto_start=false resume --last"} {
		k, err := r.Resolve(id)
		if err != nil {
			t.Fatal(err)
		}
		argv, _, err := Launch(k, LaunchOptions{Resume: true, ResumeByDir: true})
		if got := strings.Join(argv, " "); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", id, got, err, want)
		}
	}
}

// TestOwnRecipe: an agent of a person's own can be connected too, and a built-in one be switched.
func TestOwnRecipe(t *testing.T) {
	t.Parallel()
	r, problems := NewRegistry([]Custom{
		{ID: "own", Command: "own", Args: []string{"run"}, MCPArgs: []string{"--mcp={mcp_url}", "--token-env=TERMIC_MCP_TOKEN"}, Connect: ConnectAlways},
		{ID: "claude", Connect: ConnectNever}, {ID: "gemini", MCPArgs: []string{}}, {ID: "bad", Command: "x", Connect: "sometimes"},
	})
	if len(problems) != 1 || problems[0].ID != "bad" || problems[0].Field != "mcp_connect" {
		t.Errorf("problems %v", problems)
	}
	own, err := r.Resolve("own")
	if err != nil {
		t.Fatal(err)
	}
	argv, _, err := Launch(own, LaunchOptions{MCPURL: mcpURL})
	if got := strings.Join(argv, " "); err != nil || got != "own run --mcp="+mcpURL+" --token-env=TERMIC_MCP_TOKEN" || !own.Connects(false) {
		t.Errorf("%q %v", got, err)
	}
	if k, _ := r.Resolve("claude"); k.Connects(true) || len(k.MCPArgs) == 0 {
		t.Errorf("claude: %+v", k)
	}
}
