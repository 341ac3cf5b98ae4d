package verb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// shapeOfText is the shape of an argument object that is given as text.
func shapeOfText(t interface{ Fatal(...any) }, raw json.RawMessage, v *Verb) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return shape(fields, v)
}

func must(t *testing.T, name string) *Verb {
	t.Helper()
	v, ok := Lookup(name)
	if !ok {
		t.Fatalf("no verb %s", name)
	}
	return v
}

func TestDecode(t *testing.T) {
	got, _, err := must(t, "task_new").decode(grant.OwnerOn(grant.CLI), json.RawMessage(` {"name":"fix","wait":true,"timeoutMs":1500,"projects":["a","b"],"cwd":"/x","mode":"main"} `))
	if err != nil {
		t.Fatal(err)
	}
	if p := got.(api.TaskNewParams); p.Name != "fix" || !p.Wait || p.TimeoutMs != 1500 || len(p.Projects) != 2 || p.Cwd != "/x" || p.Mode != "main" {
		t.Errorf("%+v", p)
	}
	for _, empty := range []string{"", "  ", "{}"} {
		if _, _, err := must(t, "task_agents").decode(full, json.RawMessage(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ verb, face, raw, want string }{
		{"task_new", "cli", `[]`, "not one JSON object"},
		{"task_new", "cli", `null`, "not one JSON object"},
		{"task_new", "cli", `{"name":"a"} {}`, "not one JSON object"},
		{"task_new", "cli", `{"name":"a"`, "not one JSON object"},
		{"task_new", "cli", "{\"name\":\"\xff\"}", "not UTF-8"},
		{"task_new", "cli", `{"name":"a","name":"b"}`, "given twice"},
		{"task_new", "cli", `{"Name":"a"}`, `no argument "Name"`},
		{"task_new", "cli", `{"nope":1}`, `no argument "nope"`},
		{"task_new", "cli", `{"name":1}`, `"name" must be a string`},
		{"task_new", "cli", `{"name":null}`, `"name" must be a string`},
		{"task_new", "cli", `{"wait":"true"}`, `"wait" must be true or false`},
		{"task_new", "cli", `{"wait":null}`, `"wait" must be true or false`},
		{"task_new", "cli", `{"timeoutMs":1.5}`, `"timeoutMs" must be a whole number`},
		{"task_new", "cli", `{"timeoutMs":-1}`, `must not be negative`},
		{"task_new", "cli", `{"timeoutMs":1e300}`, `"timeoutMs" must be a whole number`},
		{"task_new", "cli", `{"projects":"a"}`, `"projects" must be a list of strings`},
		{"task_new", "cli", `{"projects":[1]}`, `"projects" must be a list of strings`},
		{"task_new", "cli", `{"mode":"tree"}`, `"mode" must be one of: worktree, main`},
		{"task_new", "cli", `{"from":"/x","branch":"b"}`, `--from and --branch exclude each other`},
		{"task_new", "cli", `{"name":"a","timeoutMs":5}`, `--timeout has a meaning only with --wait`},
		{"task_new", "mcp", `{"name":"a","timeoutMs":5}`, `timeoutMs has a meaning only with wait`},
		{"task_send", "cli", `{"resume":true,"fresh":true}`, `--resume and --fresh exclude each other`},
		{"task_send", "mcp", `{"task":"a","tab":"1","fresh":true}`, `fresh and tab exclude each other`},
		{"task_sandbox", "cli", `{"task":"a","mcp":true,"noMcp":true}`, `--no-mcp and --mcp exclude each other`},
		{"project_consent", "cli", `{"name":"a","digest":"x","withdraw":true}`, `--withdraw and --digest exclude each other`},
		{"task_new", "mcp", `{"yolo":true}`, `no argument "yolo"`},
		{"task_new", "scoped", `{"sandbox":"off"}`, `no argument "sandbox"`},
		{"task_new", "scoped", `{"mode":"main"}`, `no argument "mode"`},
		{"task_new", "scoped", `{"agents":["a"]}`, `no argument "agents"`},
		{"task_new", "scoped", `{"projects":[]}`, `no argument "projects"`},
		{"task_new", "scoped", `{"mcp":false}`, `no argument "mcp"`},
		{"task_tab", "scoped", `{"task":"a","kind":"shell"}`, `no argument "kind"`},
		{"task_log", "scoped", `{"task":"a","shell":true}`, `no argument "shell"`},
		{"task_new", "mcp", `{"cwd":"/"}`, `no argument "cwd"`},
		{"task_new", "window", `{"cwd":"/"}`, `no argument "cwd"`},
		{"task_archive", "cli", `{}`, `archive needs TASK`},
		{"task_archive", "cli", `{"task":""}`, `archive needs TASK`},
		{"task_archive", "cli", `{"task":"a","yes":true}`, `no argument "yes"`},
		{"task_send", "cli", `{"task":"a","prompt":"` + strings.Repeat("x", MaxPrompt+1) + `"}`, "at most 921600 are taken"},
		{"task_send", "cli", `{"task":"` + strings.Repeat("x", MaxParams) + `"}`, "at most 1048576 are taken"},
	} {
		caller := grant.OwnerOn(grant.Face(c.face))
		if c.face == "scoped" {
			caller = scoped
		}
		_, _, err := must(t, c.verb).decode(caller, json.RawMessage(c.raw))
		if f := fault.From(err); f == nil || f.Code != fault.InvalidArgument || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s on %s, %.60s: %v, want %q", c.verb, c.face, c.raw, err, c.want)
		}
	}
}

// TestDecodeIsExact is the law over the whole table: an object of known names with values of their types is taken, and
// adding any other name is refused.
func TestDecodeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := All()
		v := &table[rapid.IntRange(0, len(table)-1).Draw(t, "verb")]
		face := rapid.SampledFrom(faces).Draw(t, "face")
		fields := map[string]any{}
		for _, p := range v.ParamsOn(face) {
			if p.Required || rapid.Bool().Draw(t, p.Name) {
				fields[p.Name] = valueFor(t, p)
			}
		}
		given := func(name string) bool { _, ok := fields[name]; return ok }
		for _, p := range slices.Backward(v.ParamsOn(face)) { // what a parameter goes with stands before it, and may go with another
			if i := slices.IndexFunc(v.Params, func(o Param) bool { return o.Name == p.With }); i >= 0 && given(p.Name) {
				fields[p.With] = map[Type]any{Bool: true, Strings: []string{"a"}, Integer: 1}[v.Params[i].Type]
				if v.Params[i].Type == String {
					fields[p.With] = "a"
				}
			}
		}
		for _, p := range v.ParamsOn(face) {
			for _, other := range p.Not {
				if given(p.Name) {
					delete(fields, other)
				}
			}
		}
		for _, p := range v.ParamsOn(face) {
			if p.With != "" && !given(p.With) { // in the order of the table: what it goes with is excluded by another
				delete(fields, p.Name)
			}
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.decode(grant.OwnerOn(face), raw); err != nil {
			t.Fatalf("%s on %s refuses %s: %v", v.Name, face, raw, err)
		}
		fields[rapid.StringMatching(`[a-z_]{1,12}X`).Draw(t, "unknown")] = 1
		if raw, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.decode(grant.OwnerOn(face), raw); fault.CodeOf(err) != fault.InvalidArgument {
			t.Fatalf("%s on %s takes %s", v.Name, face, raw)
		}
	})
}

func valueFor(t *rapid.T, p Param) any {
	switch {
	case p.Enum != nil:
		return rapid.SampledFrom(p.Enum).Draw(t, "one of")
	case p.Type == Bool:
		return rapid.Bool().Draw(t, "truth")
	case p.Type == Integer:
		return rapid.Int64Range(0, 1<<50).Draw(t, "number")
	case p.Type == Strings:
		return rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "list")
	}
	return "a" + rapid.String().Draw(t, "text")
}

// FuzzDecode: whatever comes, the answer is parameters or a refusal of the caller, never a panic or a fault of ours.
func FuzzDecode(f *testing.F) {
	for i, seed := range []string{`{"name":"a"}`, `{"task":"x","prompt":"y","wait":true,"timeoutMs":1}`, `{"projects":["a"]}`, `{"a":{"b":[1,2,{}]}}`, `[]`, "{\"\xff\":1}", `{"name":"\ud800"}`} {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, raw string) {
		table := All()
		v := &table[int(which)%len(table)]
		for _, face := range faces {
			_, fields, err := v.decode(grant.OwnerOn(face), json.RawMessage(raw))
			if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("%s on %s: %v", v.Name, face, err)
			}
			s := shape(fields, v)
			if err == nil && strings.Contains(s, "\n") {
				t.Errorf("the shape is %q", s)
			}
		}
	})
}

// TestShapeHoldsNoValues is the law of the ledger: names, types and lengths, never what was said.
func TestShapeHoldsNoValues(t *testing.T) {
	if got := shapeOfText(t, json.RawMessage(`{"task":"secret","wait":true,"timeoutMs":12345,"projects":["hush","quiet"],"x":{"y":"deep"},"z":null}`), must(t, "task_send")); got !=
		"projects:list(2) task:string(6) timeoutMs:number wait:true x:object z:null" {
		t.Errorf("shape %q", got)
	}
	if got := shapeOfText(t, json.RawMessage(`{"name":"API_KEY","value":"hunter2"}`), must(t, "secret_set")); got != "name:string(7) value:secret" {
		t.Errorf("shape %q", got)
	}
	taskSend := must(t, "task_send")
	rapid.Check(t, func(t *rapid.T) {
		value := "Q" + rapid.StringMatching(`[A-Z0-9]{7,30}`).Draw(t, "value")
		raw := fmt.Sprintf(`{"task":%q,"projects":[%q],"object":{%q:%q}}`, value, value, value, value)
		if got := shapeOfText(t, json.RawMessage(raw), taskSend); strings.Contains(got, value) {
			t.Fatalf("%s: %q", raw, got)
		}
	})
}

// TestParamsThatExcludeExist: what a parameter excludes or needs is one of the same verb, and nothing that stands for
// nothing counts as given.
func TestParamsThatExcludeExist(t *testing.T) {
	for _, v := range All() {
		names := map[string]bool{}
		for _, p := range v.Params {
			names[p.Name] = true
		}
		for _, p := range v.Params {
			for _, other := range p.Not {
				if !names[other] || other == p.Name {
					t.Errorf("%s of %s excludes %q", p.Name, v.Name, other)
				}
			}
			if p.With != "" && !names[p.With] {
				t.Errorf("%s of %s needs %q", p.Name, v.Name, p.With)
			}
		}
	}
	if _, _, err := must(t, "task_send").decode(grant.OwnerOn(grant.CLI), json.RawMessage(`{"resume":true,"fresh":false,"tab":"","timeoutMs":0}`)); err != nil {
		t.Error(err)
	}
}
