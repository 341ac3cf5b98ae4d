//go:build conformance

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/inlet"
	"termic/internal/verb"
)

// suite is the folder in which build/conformance.sh put the public suite, the TypeScript client and a Node that runs
// them.
func suite(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TERMIC_CONFORMANCE")
	if dir == "" {
		t.Fatal("these tests run the public suite; start them with `make conformance`, which fetches it")
	}
	return dir
}

// node runs a script with Node, whose environment is this one and what is given.
func node(t *testing.T, env []string, args ...string) string {
	t.Helper()
	dir := suite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "node"), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return string(out)
}

// fixtures are tools that the suite asks for by name, beside our own. They are in no build that is released.
type fixtures struct{ *verb.Dispatcher }

func (f fixtures) Call(ctx context.Context, c grant.Caller, name string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	switch name {
	case "test_simple_text", "test_logging_tool", "test_streaming_elicitation", "json_schema_2020_12_tool":
		return json.RawMessage(`{}`), nil
	case "test_error_handling":
		return nil, fault.New(fault.Conflict, "This tool always refuses")
	}
	return f.Dispatcher.Call(ctx, c, name, params, emit)
}

// dialect uses what the suite wants to find again of JSON Schema 2020-12.
const dialect = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"address","type":"object"}},` +
	`"properties":{"name":{"type":"string"}},"allOf":[{"anyOf":[{"required":["name"]},{"required":[]}]}],"if":{"required":["name"]},"then":{},"else":{},"additionalProperties":false}`

func newConformanceRig(t *testing.T) *rig {
	r := newRig(t, fixtures{newDispatcher(t, slog.New(slog.DiscardHandler))}, Limits{})
	set := makeTools(grant.Full, nil)
	for _, name := range []string{"test_simple_text", "test_error_handling", "test_logging_tool", "test_streaming_elicitation", "json_schema_2020_12_tool"} {
		schema := `{"type":"object","additionalProperties":false}`
		if name == "json_schema_2020_12_tool" {
			schema = dialect
		}
		entry := fmt.Sprintf(`{"name":%q,"description":"a fixture","inputSchema":%s}`, name, schema)
		set.named[name] = tool{entry: []byte(entry), done: inlet.JSON(name)}
		set.listed = []byte(strings.Replace(string(set.listed), `],"ttlMs"`, `,`+entry+`],"ttlMs"`, 1))
	}
	r.tools[grant.Full] = set
	return r
}

// outcome is one check of the suite.
type outcome struct{ ID, Status, ErrorMessage string }

// inFull are the scenarios that apply to a server with tools alone and a token: they must have run and passed. Others
// may show success where nothing was asked.
var inFull = []string{"server-stateless", "tools-list", "tools-call-simple-text", "tools-call-error", "http-header-validation", "dns-rebinding-protection",
	"server-sse-multiple-streams", "caching", "input-required-result-unsupported-methods", "json-schema-2020-12"}

// TestConformance runs every scenario of the revision. What fails stands in testdata/conformance/expected.txt with a
// reason; a check that fails and is not there, or that is there and does not fail, is an error.
func TestConformance(t *testing.T) {
	r := newConformanceRig(t)
	out := t.TempDir()
	log := node(t, []string{"TERMIC_TOKEN=" + r.full.Reveal()}, "--import", abs(t, "testdata/conformance/bearer.mjs"), filepath.Join(suite(t), "node_modules/.bin/conformance"),
		"server", "--url", "http://"+r.host+Path, "--requirements", Revision, "-o", out)
	got := outcomes(t, out)
	for _, name := range inFull {
		passed := 0
		for _, o := range got[name] {
			if o.Status == "SUCCESS" || o.Status == "INFO" {
				passed++
			}
		}
		if passed == 0 {
			t.Errorf("%s passed nothing", name)
		}
		t.Logf("%-45s %d of %d passed", name, passed, len(got[name]))
	}
	expected := expectedFailures(t)
	for scenario, checks := range got {
		failed := map[string]string{}
		for _, o := range checks {
			if o.Status == "FAILURE" || o.Status == "WARNING" {
				failed[o.ID] = o.ErrorMessage
			}
		}
		for id, why := range failed {
			if !matches(expected, scenario, id) {
				t.Errorf("%s %s: %s", scenario, id, why)
			}
		}
		for key := range expected {
			if s, id, _ := strings.Cut(key, " "); s == scenario && id != "*" && failed[id] == "" {
				t.Errorf("%s does not fail any more: take it out of the list", key)
			}
		}
	}
	if len(got) < 40 || t.Failed() {
		t.Errorf("%d scenarios ran; the end of the log:\n%s", len(got), log[max(0, len(log)-3000):])
	}
}

func abs(t *testing.T, path string) string {
	p, err := filepath.Abs(path)
	check(t, err)
	return p
}

var scenarioDir = regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// outcomes reads the checks of each scenario that the suite wrote down.
func outcomes(t *testing.T, dir string) map[string][]outcome {
	t.Helper()
	out := map[string][]outcome{}
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	check(t, err)
	for _, f := range files {
		m := scenarioDir.FindStringSubmatch(filepath.Base(filepath.Dir(f)))
		if m == nil {
			t.Fatalf("%s is no scenario", f)
		}
		b, err := os.ReadFile(f)
		check(t, err)
		var checks []outcome
		check(t, json.Unmarshal(b, &checks))
		out[m[1]] = checks
	}
	return out
}

// expectedFailures reads the list: SCENARIO CHECK, or SCENARIO *, each under a comment that says why.
func expectedFailures(t *testing.T) map[string]bool {
	t.Helper()
	f, err := os.Open("testdata/conformance/expected.txt")
	check(t, err)
	defer func() { _ = f.Close() }() // only read from
	out := map[string]bool{}
	why := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch {
		case strings.HasPrefix(line, "#"):
			why = line
		case line == "":
			why = ""
		case why == "":
			t.Fatalf("%q is expected to fail without a reason", line)
		default:
			out[line] = true
		}
	}
	return out
}

func matches(expected map[string]bool, scenario, id string) bool {
	return expected[scenario+" "+id] || expected[scenario+" *"] && !slices.Contains(inFull, scenario)
}

// TestTypeScriptClient lets the official client discover, list and call. It is the strictest about the form of answers.
func TestTypeScriptClient(t *testing.T) {
	r := newRig(t, nil, Limits{})
	run := func(token, revision string) (got struct {
		Revision string
		Server   struct{ Name, Version string }
		Tools    []string
		Called   json.RawMessage
		Refused  bool
		Unknown  int
		Failed   string
	}) {
		out := node(t, []string{"TERMIC_TOKEN=" + token, "TERMIC_URL=http://" + r.host + Path, "TERMIC_REVISION=" + revision}, abs(t, "testdata/conformance/client.mjs"))
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return got
	}
	got := run(r.full.Reveal(), Revision)
	if got.Revision != Revision || got.Server.Name != ServerName || len(got.Tools) != len(makeTools(grant.Full, nil).named) || string(got.Called) != `{"projects":[]}` ||
		!got.Refused || got.Unknown != codeParams || got.Failed != "" {
		t.Errorf("%+v", got)
	}
	if got := run("wrong", Revision); got.Failed == "" {
		t.Errorf("with a wrong token: %+v", got)
	}
}
