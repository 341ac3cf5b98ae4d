package verb

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termic/internal/fault"
	"termic/internal/grant"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTableIsPinned makes every growth of the table a change that somebody reads.
func TestTableIsPinned(t *testing.T) {
	var b strings.Builder
	for _, v := range All() {
		describe(&b, &v)
	}
	path := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the table changed; if that is meant, run `go test ./internal/verb -update` and `make gen`:\n%s", diff)
	}
}

func describe(b *strings.Builder, v *Verb) {
	fmt.Fprintf(b, "%s\n  doc: %s\n  class: %s\n  effect: %s, idempotent %v, open world %v, untrusted result %v\n", v.Name, v.Doc, v.Class,
		v.Effect.Kind, v.Effect.Idempotent, v.Effect.OpenWorld, v.Untrusted)
	fmt.Fprintf(b, "  command line: %q, aliases %q, current folder %v, local %v\n  streams: %v\n  exits: %v\n", v.CLI, v.Aliases, v.CwdTarget, v.Local, v.Streams, v.Exits)
	for _, f := range faces {
		if why := v.NotOn[f]; why != "" {
			fmt.Fprintf(b, "  not on %s: %s\n", f, why)
		}
	}
	for _, p := range v.Params {
		fmt.Fprintf(b, "  param %s: %s", p.Name, p.Type)
		for _, s := range []struct {
			on   bool
			text string
		}{
			{p.Required, " required"}, {p.ClientOnly, " client only"}, {p.Millis, " milliseconds"}, {p.Enum != nil, " one of " + strings.Join(p.Enum, "|")},
			{p.Positional != "", " positional " + p.Positional}, {p.Flag != "", " --" + p.Flag}, {p.Short != "", " -" + p.Short},
			{p.Faces != nil, fmt.Sprintf(" only on %v", p.Faces)}, {p.Tool != p.Doc, fmt.Sprintf(" as a tool %q", p.Tool)},
		} {
			if s.on {
				b.WriteString(s.text)
			}
		}
		fmt.Fprintf(b, "\n    %s\n", p.Doc)
	}
	if v.Result != nil {
		fmt.Fprintf(b, "  result: %s\n", shapeOfType(v.Result, 0))
	}
	b.WriteByte('\n')
}

// shapeOfType writes the JSON form of a result type.
func shapeOfType(t reflect.Type, depth int) string {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOfType(t.Elem(), depth)
	case reflect.Slice:
		return "[" + shapeOfType(t.Elem(), depth) + "]"
	case reflect.Struct:
		if depth > 0 && t.NumField() > 8 || depth > 3 {
			return t.Name() // written out where it is itself a result or small; a type may hold itself
		}
		var fields []string
		for i := range t.NumField() {
			f := t.Field(i)
			name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				fields = append(fields, strings.Trim(shapeOfType(f.Type, 0), "{}"))
			case name == "-":
			case opts == "omitempty":
				fields = append(fields, name+"?:"+shapeOfType(f.Type, depth+1))
			default:
				fields = append(fields, name+":"+shapeOfType(f.Type, depth+1))
			}
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
	return t.Kind().String()
}

var faces = []grant.Face{grant.Window, grant.CLI, grant.MCP}

// onMCP is the first paper's list of tools, by hand.
var onMCP = strings.Fields(`task_list task_status task_new task_send task_wait task_result task_log task_diff task_open task_rename
	task_apply task_archive task_tab task_tab_close task_agents prompts project_list project_add project_remove
	health job_list job_get job_events job_log job_wait job_cancel approval_list approval_get approval_decide task_plan task_drift
	check_list check_get check_add check_update check_set_enabled check_delete check_snooze check_probe netgroup_list netgroup_add netgroup_update netgroup_delete
	event_list event_explain trigger_list trigger_add trigger_update trigger_delete schedule_list schedule_add schedule_update schedule_delete schedule_run_now secret_list`)

// scopedTools are those of them that a caged task may use, by hand from the first paper.
var scopedTools = strings.Fields(`task_status task_new task_send task_wait task_result task_log task_diff task_tab task_tab_close task_agents prompts`)

// excluded are the verbs that a face does not offer, by hand; the table gives each reason.
var excluded = map[grant.Face][]string{
	grant.MCP: strings.Fields(`task_restore task_stop attach path ledger ledger_export settings_get settings_set settings_reset task_queue task_stage task_discard task_commit task_edit theme_list task_signals task_race quit doctor update_check window_state version help serve login logout mcp_headers completion
		secret_set secret_delete task_layout task_move task_tab_set task_tab_reopen project_move window_set window_link task_drop
		mcp_status mcp_enable mcp_disable mcp_rotate hook_add hook_list hook_delete token_new token_list token_set token_revoke task_sandbox sandbox_allow sandbox_groups project_settings project_consent project_refs project_git project_find client_list client_plan client_register client_unregister client_verify`),
	grant.Window: strings.Fields(`attach version help serve login logout mcp_headers completion`),
	grant.CLI:    strings.Fields(`window_state window_set task_layout task_drop`),
}

// TestFacesAreComplete: every verb is on each face or in its exclusion list with a reason, never both, and nothing
// else is in a list.
func TestFacesAreComplete(t *testing.T) {
	for _, face := range faces {
		for _, v := range All() {
			out := slices.Contains(excluded[face], v.Name)
			if out == v.On(face) {
				t.Errorf("%s on %s: in the table %v, excluded by hand %v", v.Name, face, v.On(face), out)
			}
			if out && len(v.NotOn[face]) < 10 {
				t.Errorf("%s is not on %s without a reason", v.Name, face)
			}
		}
		for _, name := range excluded[face] {
			if _, ok := Lookup(name); !ok {
				t.Errorf("%s is excluded from %s and does not exist", name, face)
			}
		}
	}
	for _, v := range All() {
		if v.On(grant.MCP) != slices.Contains(onMCP, v.Name) {
			t.Errorf("%s is a tool: %v", v.Name, v.On(grant.MCP))
		}
		for face := range v.NotOn {
			if !slices.Contains(faces, face) {
				t.Errorf("%s excludes the unknown face %q", v.Name, face)
			}
		}
		if (v.CLI == "") == v.On(grant.CLI) {
			t.Errorf("%s: on the command line %v, its path %q", v.Name, v.On(grant.CLI), v.CLI)
		}
	}
}

// TestClasses holds the classes against the lists that were written by hand.
func TestClasses(t *testing.T) {
	for _, v := range All() {
		want := grant.Owner
		switch {
		case slices.Contains(scopedTools, v.Name):
			want = grant.Scoped
		case slices.Contains(onMCP, v.Name) && v.Name != "approval_decide": // that is for the owner, and for tokens that do nothing else
			want = grant.Full
		}
		if v.Class != want {
			t.Errorf("%s: class %s, want %s", v.Name, v.Class, want)
		}
	}
}

// hiddenParams are the parameters that a face lacks although it has the verb, each with the reason, by hand.
var hiddenParams = map[string]string{
	"mcp cwd":                    "a caller without a shell has no current folder",
	"window cwd":                 "the window names its task",
	"mcp task_list archived":     "undoing an archive is the owner's",
	"mcp task_list find":         "a model reads the few tasks that are not archived",
	"mcp task_list before":       "undoing an archive is the owner's",
	"mcp task_list limit":        "undoing an archive is the owner's",
	"mcp task_new promptRef":     "the library is the person's; a model has the text",
	"mcp task_new branch":        "a name made from the task's cannot point elsewhere",
	"mcp task_new from":          "adopting a folder reads whatever lies in it",
	"mcp task_new resume":        "conversations are the person's",
	"mcp task_new yolo":          "permissions are the person's",
	"mcp task_new secrets":       "the owner says whose agents have secrets",
	"mcp task_new noAgent":       "a task without an agent is of no use to a model",
	"mcp task_new open":          "what the window shows is the person's",
	"cli task_stage seen":        "a person has seen what is there now",
	"cli task_discard seen":      "a person has seen what is there now",
	"mcp task_send repeat":       "a model sends again what it wants again",
	"mcp task_send promptRef":    "the library is the person's; a model has the text",
	"mcp task_tab promptRef":     "the library is the person's; a model has the text",
	"mcp task_tab resume":        "conversations are the person's",
	"mcp task_tab restart":       "a model opens a new tab",
	"mcp project_add name":       "the folder's own name serves",
	"mcp task_apply acceptFiles": "whether files that run by themselves may do so is the owner's to say",
	"mcp task_tab acceptFiles":   "whether files that run by themselves may do so is the owner's to say",
}

// fromFull are the parameters that a caged agent may not give although it may call the verb, each with the reason, by hand.
var fromFull = map[string]string{
	"task_new mode":           "the main checkout is the user's",
	"task_new sandbox":        "the cage of a child is its parent's",
	"task_new mcp":            "as the cage",
	"task_new projects":       "as the cage",
	"task_new agents":         "as the cage",
	"task_tab kind":           "a shell would stand outside the cage",
	"task_log shell":          "what the user does beside the agent is in no cage",
	"trigger_add sandbox":     "what a task is caged with is not a client's to say",
	"trigger_update sandbox":  "what a task is caged with is not a client's to say",
	"schedule_add sandbox":    "what a task is caged with is not a client's to say",
	"schedule_update sandbox": "what a task is caged with is not a client's to say",
}

// TestParametersByClass: what a class may not give stands above, and nothing else does; the owner and full callers may give
// what their faces offer.
func TestParametersByClass(t *testing.T) {
	used := map[string]bool{}
	for _, v := range All() {
		for _, p := range v.Params {
			key := v.Name + " " + p.Name
			if p.Class == "" {
				continue
			}
			used[key] = true
			if p.Class != grant.Full || fromFull[key] == "" || !v.Class.Covers(grant.Scoped) || p.Required {
				t.Errorf("%s is from class %s on, without a reason in fromFull", key, p.Class)
			}
			for _, c := range []grant.Class{grant.Owner, grant.Full, grant.Scoped} {
				offered := slices.ContainsFunc(v.ParamsFor(grant.MCP, c), func(q Param) bool { return q.Name == p.Name })
				if offered != (c != grant.Scoped) {
					t.Errorf("%s is offered to %s: %v", key, c, offered)
				}
			}
		}
	}
	for key := range fromFull {
		if !used[key] {
			t.Errorf("fromFull has %q, which is open to all", key)
		}
	}
}

// TestHiddenParamsAreComplete: a parameter that a face lacks stands above, and nothing else does.
func TestHiddenParamsAreComplete(t *testing.T) {
	used := map[string]bool{}
	for _, v := range All() {
		for _, face := range faces {
			for _, p := range v.Params {
				if !v.On(face) || p.On(face) || p.ClientOnly {
					continue
				}
				key := fmt.Sprintf("%s %s %s", face, v.Name, p.Name)
				if p.Name == "cwd" {
					key = string(face) + " cwd"
				}
				used[key] = true
				if hiddenParams[key] == "" {
					t.Errorf("%s is hidden without a reason in hiddenParams", key)
				}
			}
		}
	}
	for key := range hiddenParams {
		if !used[key] {
			t.Errorf("hiddenParams has %q, which hides nothing", key)
		}
	}
}

var (
	verbName  = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	cliPath   = regexp.MustCompile(`^[a-z]+( [a-z]+)?$`)
	paramName = regexp.MustCompile(`^[a-z]+([A-Z][a-z]*|ID)*$`)
	flagName  = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
)

// TestSpelling holds every name to decisions: verbs snake_case, parameters camelCase, flags kebab-case, results
// snake_case.
func TestSpelling(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range All() {
		if seen[v.Name] || !verbName.MatchString(v.Name) {
			t.Errorf("verb %q", v.Name)
		}
		seen[v.Name] = true
		for _, p := range append([]string{v.CLI}, v.Aliases...) {
			if v.CLI != "" && !cliPath.MatchString(p) {
				t.Errorf("%s: path %q", v.Name, p)
			}
		}
		if v.Doc == "" || strings.HasSuffix(v.Doc, ".") || strings.ToUpper(v.Doc[:1]) != v.Doc[:1] {
			t.Errorf("%s: a doc is one sentence without its full stop: %q", v.Name, v.Doc)
		}
		for _, e := range v.Exits {
			if fault.ExitDoc[e] == "" {
				t.Errorf("%s: exit %d has no meaning", v.Name, e)
			}
		}
		for _, p := range v.Params {
			if !p.ClientOnly && p.Name != "idempotency_key" && !paramName.MatchString(p.Name) || p.Flag != "" && !flagName.MatchString(p.Flag) {
				t.Errorf("%s: parameter %q, flag %q", v.Name, p.Name, p.Flag)
			}
		}
		if v.Result != nil {
			checkResult(t, v.Name, v.Result)
		}
	}
}

var resultField = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

func checkResult(t *testing.T, where string, typ reflect.Type) {
	if strings.Count(where, ".") > 8 {
		return // a type that holds itself
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		checkResult(t, where, typ.Elem())
	case reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous && name != "-" && !resultField.MatchString(name) {
				t.Errorf("%s: result field %s.%s is %q", where, typ.Name(), f.Name, name)
			}
			checkResult(t, where+"."+f.Name, f.Type)
		}
	}
}

// TestVerbsThatActNameTheirTarget: what destroys or writes into the main checkout is never picked by the current
// folder, except the closing of one tab.
func TestVerbsThatActNameTheirTarget(t *testing.T) {
	for _, v := range All() {
		if v.Effect.Kind == Destroys && v.CwdTarget && v.Name != "task_tab_close" {
			t.Errorf("%s may take its target from the current folder", v.Name)
		}
		hasCwd := slices.ContainsFunc(v.Params, func(p Param) bool { return p.Name == "cwd" })
		if v.CwdTarget && !hasCwd {
			t.Errorf("%s says CwdTarget and has no cwd", v.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, v := range All() {
		if got, ok := Lookup(v.Name); !ok || got.Name != v.Name {
			t.Errorf("%s is not found", v.Name)
		}
	}
	for _, name := range []string{"", "list", "TASK_LIST", "task_list ", "hello", "raise"} {
		if _, ok := Lookup(name); ok {
			t.Errorf("%q is found", name)
		}
	}
}
