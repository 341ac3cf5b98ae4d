package verb

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
)

// TestAsLongAsMayBe: arguments and prompts are taken up to the very byte.
func TestAsLongAsMayBe(t *testing.T) {
	padded := func(n int) json.RawMessage {
		const head, tail = `{"task":"a","prompt":"b"`, `}`
		return json.RawMessage(head + strings.Repeat(" ", n-len(head)-len(tail)) + tail)
	}
	prompt := func(n int) json.RawMessage {
		return json.RawMessage(`{"task":"a","prompt":"` + strings.Repeat("x", n) + `"}`)
	}
	for name, c := range map[string]struct {
		raw json.RawMessage
		ok  bool
	}{"arguments": {padded(MaxParams), true}, "arguments and a byte": {padded(MaxParams + 1), false}, "a prompt": {prompt(MaxPrompt), true}, "a prompt and a byte": {prompt(MaxPrompt + 1), false}} {
		_, _, err := must(t, "task_send").decode(owner, c.raw)
		if (err == nil) != c.ok || err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %.100v", name, err)
		}
	}
}

// TestOneObject: whatever is broken, cut off or more than one object is refused as that.
func TestOneObject(t *testing.T) {
	for _, raw := range []string{`[]`, `1`, `null`, `"a"`, `{`, `{"task"`, `{"task":`, `{"task":}`, `{"task":"a"`, `{"task":"a",`, `{"task":"a",}`, `{1:2}`, `{"task":nope}`, `{"task":"a"}}`, `{"task":"a"}{}`,
		`{"task":"a"} 1`, `nope`, `{,}`} {
		_, _, err := must(t, "task_send").decode(owner, json.RawMessage(raw))
		if f := fault.From(err); f == nil || f.Code != fault.InvalidArgument || !strings.Contains(f.Message, "are not one JSON object") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, raw := range []string{"", " \n", "{}", " { } \n"} {
		if _, _, err := must(t, "project_list").decode(owner, json.RawMessage(raw)); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// TestUnknownNamesAreHelped: the hint tells what there is, or that there is nothing.
func TestUnknownNamesAreHelped(t *testing.T) {
	none := &Verb{Name: "none"}
	for hint, err := range map[string]error{
		"It takes none.":           unknownParam(none, "a", nil),
		"It takes: task, project.": unknownParam(none, "a", []Param{{Name: "task"}, {Name: "project"}}),
	} {
		if f := fault.From(err); !strings.HasPrefix(f.Hint, hint) || !strings.Contains(f.Message, `none has no argument "a"`) {
			t.Errorf("%q, %q; want %q", f.Message, f.Hint, hint)
		}
	}
}

// TestTogetherInTheWordsOfTheFace: what excludes or needs another is named as the face names it, the first parameter too, and one that the face
// has not by its own name.
func TestTogetherInTheWordsOfTheFace(t *testing.T) {
	offered := []Param{{Name: "first", Flag: "aye"}, {Name: "second", Flag: "bee", Not: []string{"first"}}, {Name: "third", Flag: "cee", With: "gone"}, {Name: "rest"}}
	fields := func(names ...string) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		for _, n := range names {
			m[n] = json.RawMessage(`"x"`)
		}
		return m
	}
	for _, c := range []struct {
		face  grant.Face
		names []string
		want  string
	}{
		{grant.CLI, []string{"first", "second"}, "--bee and --aye exclude each other"},
		{grant.MCP, []string{"first", "second"}, "second and first exclude each other"},
		{grant.CLI, []string{"third"}, "--cee has a meaning only with gone"},
		{grant.CLI, []string{"first", "rest"}, ""}, {grant.CLI, []string{"second"}, ""}, {grant.CLI, nil, ""},
	} {
		err := together(offered, fields(c.names...), c.face)
		if got := fault.From(err); c.want == "" && err != nil || c.want != "" && (err == nil || got.Message != c.want) {
			t.Errorf("%v on %s: %v, want %q", c.names, c.face, err, c.want)
		}
	}
	for raw, want := range map[string]bool{"": false, "false": false, `""`: false, "0": false, "null": false, "true": true, "1": true, `"a"`: true, "[]": true} {
		if got := given(json.RawMessage(raw)); got != want {
			t.Errorf("%q says something: %v", raw, got)
		}
	}
}

// TestTheNameOfAVerb: the command line has its own, where there is one.
func TestTheNameOfAVerb(t *testing.T) {
	for _, c := range []struct {
		v    Verb
		face grant.Face
		want string
	}{
		{Verb{Name: "task_archive", CLI: "archive"}, grant.CLI, "archive"}, {Verb{Name: "task_archive", CLI: "archive"}, grant.MCP, "task_archive"},
		{Verb{Name: "task_archive", CLI: "archive"}, grant.Window, "task_archive"}, {Verb{Name: "stop"}, grant.CLI, "stop"}, {Verb{Name: "stop"}, grant.MCP, "stop"},
	} {
		if got := c.v.nameOn(c.face); got != c.want {
			t.Errorf("%s on %s is %q, want %q", c.v.Name, c.face, got, c.want)
		}
	}
}

// TestWhatAFaceMustGive: a face without a current folder names the task, and one that adopts no folder names the new one.
func TestWhatAFaceMustGive(t *testing.T) {
	for _, c := range []struct {
		verb, param string
		face        grant.Face
		want        bool
	}{
		{"task_status", "task", grant.CLI, false}, {"task_status", "task", grant.MCP, true}, {"task_status", "task", grant.Window, true},
		{"task_open", "task", grant.CLI, false}, {"task_open", "task", grant.MCP, false}, {"task_archive", "task", grant.CLI, true}, {"task_archive", "task", grant.MCP, true},
		{"task_new", "name", grant.CLI, false}, {"task_new", "name", grant.MCP, true}, {"task_rename", "name", grant.CLI, true}, {"task_rename", "name", grant.MCP, true},
		{"task_status", "project", grant.CLI, false}, {"task_status", "project", grant.MCP, false}, {"task_new", "agent", grant.MCP, false},
		{"project_add", "name", grant.MCP, false}, {"project_add", "path", grant.MCP, true},
	} {
		v := must(t, c.verb)
		i := slices.IndexFunc(v.Params, func(p Param) bool { return p.Name == c.param })
		if i < 0 {
			t.Errorf("%s has no %s", c.verb, c.param)
			continue
		}
		if got := v.Requires(v.Params[i], c.face); got != c.want {
			t.Errorf("%s on %s must have %s: %v", c.verb, c.face, c.param, got)
		}
	}
	first := &Verb{Name: "x", CwdTarget: true, Params: []Param{{Name: "cwd", Faces: []grant.Face{grant.CLI}}, {Name: "task"}}} // the folder stands first
	if first.Requires(first.Params[1], grant.CLI) || !first.Requires(first.Params[1], grant.MCP) {
		t.Error("a folder that stands first is not seen")
	}
	none := &Verb{Name: "x", CwdTarget: true, Params: []Param{{Name: "task"}}}
	if none.Requires(none.Params[0], grant.MCP) {
		t.Error("a verb without a folder asks for what its folder would have said")
	}
}

// TestWhatANamedTokenMayCall: what a row says counts; else it follows from the effect, and what the owner has alone or MCP does not offer is for
// none.
func TestWhatANamedTokenMayCall(t *testing.T) {
	none := func(*core.Core, context.Context, *core.Call, struct{}) (struct{}, error) { return struct{}{}, nil }
	hidden := map[grant.Face]string{grant.MCP: "for this test"}
	for _, c := range []struct {
		v    Verb
		want grant.Class
	}{
		{Verb{Class: grant.Owner, Effect: Effect{Kind: Reads}}, ""}, {Verb{Class: grant.Owner, Effect: Effect{Kind: Writes}}, ""},
		{Verb{Class: grant.Owner, Named: grant.Approve}, grant.Approve}, {Verb{Class: grant.Full, Named: grant.Approve, Effect: Effect{Kind: Writes}}, grant.Approve},
		{Verb{Class: grant.Full, Effect: Effect{Kind: Reads}}, grant.ReadOnly}, {Verb{Class: grant.Scoped, Effect: Effect{Kind: Reads}}, grant.ReadOnly},
		{Verb{Class: grant.Full, Effect: Effect{Kind: Writes}}, grant.Operator}, {Verb{Class: grant.Scoped, Effect: Effect{Kind: Destroys}}, grant.Operator},
		{Verb{Class: grant.Full, Effect: Effect{Kind: Reads}, NotOn: hidden}, ""}, {Verb{Class: grant.Full, Named: grant.ReadOnly, NotOn: hidden}, grant.ReadOnly},
	} {
		if got := define(c.v, none); got.Named != c.want {
			t.Errorf("%+v: named %q, want %q", c.v, got.Named, c.want)
		}
	}
}
