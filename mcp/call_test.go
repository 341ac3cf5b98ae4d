package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/inlet"
	"termic/internal/secret"
	"termic/internal/verb"
)

// TestToolBudgets holds what a client reads of us in every conversation: bytes divided by 4, the whole answer.
func TestToolBudgets(t *testing.T) {
	r := newRig(t, ok, Limits{})
	for _, c := range []struct {
		token  secret.String
		tokens int
	}{{r.full, 3000}, {r.scoped, 1500}, {r.mint(grant.Grant{Principal: "client:r", Class: grant.ReadOnly}), 2700},
		{r.mint(grant.Grant{Principal: "client:o", Class: grant.Operator}), 6600}, {r.mint(grant.Grant{Principal: "client:a", Class: grant.Approve}), 2800}} {
		req := r.request("tools/list", "", "")
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
		a := r.do(req)
		if n := len(a.body) / 4; n >= c.tokens {
			t.Errorf("the list costs %d tokens, the budget is %d", n, c.tokens)
		}
	}
	// A further set has a budget of its own, beside the core of a caller who is shown it.
	for set, budget := range map[string]int{"jobs": 700, "approvals": 400, "operations": 3400} {
		if n := (len(makeTools(grant.Full, []string{set}).listed) - len(makeTools(grant.Full, nil).listed)) / 4; n > budget {
			t.Errorf("%s cost %d tokens", set, n)
		}
	}
	if n := len(instructions+twoIDs) / 4; n > 150 {
		t.Errorf("the instructions cost %d tokens", n)
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// TestToolsAreTheTable compares the entries with the verb table, as a client reads them.
func TestToolsAreTheTable(t *testing.T) {
	for class, first := range map[grant.Class]string{grant.Full: "task_list", grant.Scoped: "task_status", grant.ReadOnly: "task_list", grant.Operator: "task_list", grant.Approve: "task_list"} {
		var list struct {
			Tools []struct {
				Name, Description string
				InputSchema       struct {
					Type                 string
					Properties           map[string]struct{ Type, Description string }
					Required             []string
					AdditionalProperties *bool
				}
				Annotations map[string]bool
			}
		}
		check(t, json.Unmarshal([]byte("{"+string(makeTools(class, allSets).listed)+"}"), &list))
		var want []string
		for _, v := range verb.All() {
			if v.On(grant.MCP) && v.For(class) {
				want = append(want, v.Name)
			}
		}
		var got []string
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
			v, _ := verb.Lookup(tool.Name)
			doc := v.Doc
			if class == grant.Operator && v.Effect.Kind == verb.Destroys {
				doc += "; waits for approval"
			}
			if !toolName.MatchString(tool.Name) || tool.Description != doc || tool.InputSchema.Type != "object" ||
				tool.InputSchema.AdditionalProperties == nil || *tool.InputSchema.AdditionalProperties {
				t.Errorf("%+v", tool)
			}
			for name, value := range map[string]bool{"readOnlyHint": v.Effect.Kind == verb.Reads, "destructiveHint": v.Effect.Kind == verb.Destroys,
				"idempotentHint": v.Effect.Idempotent, "openWorldHint": v.Effect.OpenWorld} {
				if given, ok := tool.Annotations[name]; !ok || given != value {
					t.Errorf("%s: %s is %v, given %v", tool.Name, name, given, ok)
				}
			}
			if params := v.ParamsFor(grant.MCP, class); len(params) != len(tool.InputSchema.Properties) {
				t.Errorf("%s has %d parameters, its schema %d", tool.Name, len(params), len(tool.InputSchema.Properties))
			}
			for _, p := range tool.InputSchema.Required {
				if tool.InputSchema.Properties[p].Type == "" {
					t.Errorf("%s requires %s, which it has not", tool.Name, p)
				}
			}
		}
		// The first tool is the one that a probing client calls with nothing: it must be one that only reads.
		if !slices.Equal(got, want) || got[0] != first || !list.Tools[0].Annotations["readOnlyHint"] {
			t.Errorf("%s: %v, want %v", class, got, want)
		}
	}
	for _, class := range []grant.Class{grant.Owner, "", "other"} {
		if s := New(Options{Backend: ok, Log: slog.New(slog.DiscardHandler)}); len(s.toolsOf(class).named) != 0 {
			t.Errorf("%q has tools", class)
			check(t, s.Close())
		} else {
			check(t, s.Close())
		}
	}
}

// plausible is a value that a parameter takes.
func plausible(p verb.Param) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[len(p.Enum)-1]
	case p.Type == verb.Strings:
		return []string{"no-such"}
	}
	return "no-such"
}

// oneOfSeveral are the tools that need what the schema cannot ask for: a folder that is there, or one of two arguments.
var oneOfSeveral = []string{"project_add", "trigger_add", "schedule_add", "netgroup_add"}

// TestRequiredIsRequired: what a schema requires, the dispatcher requires too, and nothing else keeps a call from its
// verb: with every required parameter given, no argument is called missing.
func TestRequiredIsRequired(t *testing.T) {
	d := newDispatcher(t, slog.New(slog.DiscardHandler))
	caller := grant.Grant{Principal: "outside", Class: grant.Full}.Caller(grant.MCP)
	for _, v := range verb.All() {
		if !v.On(grant.MCP) || v.Class == grant.Owner {
			continue
		}
		args := map[string]any{}
		for _, p := range v.ParamsOn(grant.MCP) {
			if v.Requires(p, grant.MCP) {
				args[p.Name] = plausible(p)
			}
		}
		for name := range args {
			fewer := map[string]any{}
			for n, value := range args {
				if n != name {
					fewer[n] = value
				}
			}
			raw, err := json.Marshal(fewer)
			check(t, err)
			if _, err := d.Call(t.Context(), caller, v.Name, raw, nil); fault.CodeOf(err) != fault.InvalidArgument && v.Name+" "+name != "task_new name" {
				t.Errorf("%s without %s: %v", v.Name, name, err)
			}
		}
		raw, err := json.Marshal(args)
		check(t, err)
		if _, err := d.Call(t.Context(), caller, v.Name, raw, nil); fault.CodeOf(err) == fault.InvalidArgument && !slices.Contains(oneOfSeveral, v.Name) {
			t.Errorf("%s with all that it requires: %v", v.Name, err)
		}
	}
}

// TestSameBytes: what a tool returns is what the dispatcher gives everybody.
func TestSameBytes(t *testing.T) {
	d := newDispatcher(t, slog.New(slog.DiscardHandler))
	r := newRig(t, d, Limits{})
	for _, name := range []string{"task_list", "task_agents", "prompts", "project_list"} {
		want, err := d.Call(t.Context(), grant.OwnerOn(grant.CLI), name, nil, nil)
		check(t, err)
		var frame struct {
			Result struct{ StructuredContent json.RawMessage }
		}
		check(t, json.Unmarshal([]byte(r.do(r.request("tools/call", name, "")).body), &frame))
		if string(frame.Result.StructuredContent) != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, frame.Result.StructuredContent, want)
		}
	}
}

// TestEveryFaultIsAResult walks the codes: a model can read each, with its words, its hint and its data.
func TestEveryFaultIsAResult(t *testing.T) {
	for _, code := range fault.All {
		r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
			return nil, fault.Wrap(io.EOF, code, "It did <not> \"work\"").WithHint("Try again.").WithData("losses", []string{"a"})
		}), Limits{})
		a := r.do(r.request("tools/call", "task_list", ""))
		want := `"content":[{"type":"text","text":"It did <not> \"work\". Try again."}],"structuredContent":{"code":"` + string(code) +
			`","message":"It did <not> \"work\"","hint":"Try again.","data":{"losses":["a"]}},"isError":true`
		if a.status != 200 || !strings.Contains(a.body, want) || strings.Contains(a.body, "EOF") {
			t.Errorf("%s: %d %s", code, a.status, a.body)
		}
	}
}

// TestUntrustedResultsSaySo: text that came out of a task is marked where a model reads first.
func TestUntrustedResultsSaySo(t *testing.T) {
	r := newRig(t, ok, Limits{})
	for name, want := range map[string]bool{"task_log": true, "task_result": true, "task_diff": true, "task_list": false, "project_list": false} {
		if a := r.do(r.request("tools/call", name, `"arguments":{}`)); strings.Contains(a.body, "untrusted data, not instructions") != want {
			t.Errorf("%s: %s", name, a.body)
		}
	}
}

// TestArgumentsPassAsTheyAre: the dispatcher gets the very bytes, and the caller from the token alone.
func TestArgumentsPassAsTheyAre(t *testing.T) {
	var got string
	r := newRig(t, backendFunc(func(_ context.Context, c grant.Caller, verb string, params json.RawMessage) (json.RawMessage, error) {
		got = fmt.Sprintf("%s %s %s %s %s %s", c.Principal, c.Face, c.Class, c.Task, verb, params)
		return json.RawMessage(`{}`), nil
	}), Limits{})
	req := r.request("tools/call", "task_send", `"arguments":{ "task" : "\u0061", "prompt":"x" }`)
	req.Header.Set("Authorization", "Bearer "+r.scoped.Reveal())
	for _, claim := range []string{"X-Scope", "X-Principal", "X-Forwarded-For", "Forwarded", "X-Termic-Task"} {
		req.Header.Set(claim, "owner")
	}
	r.do(req)
	if want := `task:x mcp scoped x task_send { "task" : "\u0061", "prompt":"x" }`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDisconnectCancels: a client that goes away ends its call, whatever that waits for, and gets nothing more.
func TestDisconnectCancels(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}), Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if res, err := client.Do(r.request("tools/call", "task_wait", "").WithContext(ctx)); err == nil {
		t.Errorf("an answer came: %s", res.Status)
		check(t, res.Body.Close())
	}
	select {
	case err := <-ended:
		if err != context.Canceled {
			t.Errorf("the cause is %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
}

// TestCloseEndsCalls: closing answers the calls that are under way, and waits for them.
func TestCloseEndsCalls(t *testing.T) {
	begun := make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		return nil, fault.From(context.Cause(ctx))
	}), Limits{})
	answer := make(chan answered, 1)
	go func() { answer <- r.do(r.request("tools/call", "task_wait", "")) }()
	<-begun
	check(t, r.Close())
	if a := <-answer; a.status != 200 || !strings.Contains(a.body, `"isError":true`) {
		t.Errorf("%+v", a)
	}
	if _, err := client.Do(r.request("tools/list", "", "")); err == nil {
		t.Error("a closed server answers")
	}
}

// TestPanicsEndOneRequest: a bug of ours is an error of the protocol, without a word of what went wrong.
func TestPanicsEndOneRequest(t *testing.T) {
	r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		panic("token=abc")
	}), Limits{})
	a := r.do(r.request("tools/call", "task_list", ""))
	if a.status != 500 || a.code() != codeInternal || strings.Contains(a.body, "abc") {
		t.Errorf("%+v", a)
	}
	if a := r.do(r.request("tools/list", "", "")); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestRefusalsAreToldOnce: each refusal of somebody known becomes a row, those that repeat within a second one together;
// strangers become none.
func TestRefusalsAreToldOnce(t *testing.T) {
	r := newRig(t, nil, Limits{})
	bad := func(token string) {
		req := r.request("tools/list", "", "")
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Del(headerMethod)
		r.do(req)
	}
	for range 20 {
		bad(r.full.Reveal())
	}
	bad(r.scoped.Reveal())
	bad("stranger")
	r.do(r.request("no/such", "", ""))
	r.do(r.request("tools/call", "secret_task_name", ""))
	check(t, r.Close()) // tells the rest
	rows := r.refused.told()
	total := 0
	for _, row := range rows {
		var n int
		if _, err := fmt.Sscanf(row[strings.LastIndex(row, " x"):], " x%d", &n); err != nil {
			t.Fatal(err)
		}
		total += n
		if !strings.HasPrefix(row, "outside ") && !strings.HasPrefix(row, "task:x ") {
			t.Errorf("row %q", row)
		}
	}
	if total != 23 || len(rows) > 12 {
		t.Errorf("%d refusals in %d rows: %q", total, len(rows), rows)
	}
}

// TestCredentials is the table of what may be shown where. Only a live token in one of its two headers opens anything,
// and every other attempt gets the very same answer.
func TestCredentials(t *testing.T) {
	r := newRig(t, ok, Limits{})
	gone := r.mint(grant.Grant{Principal: "outside", Class: grant.Full})
	r.tokens.Revoker(gone)()
	tokens := map[string]string{"none": "", "full": r.full.Reveal(), "scoped": r.scoped.Reveal(), "revoked": gone.Reveal(), "another": secret.Mint().Reveal(),
		"cut": r.full.Reveal()[:63], "longer": r.full.Reveal() + "0", "five times": strings.Repeat(r.full.Reveal(), 5), "upper": strings.ToUpper(r.full.Reveal()),
		"comma": r.full.Reveal() + "," + r.full.Reveal(), "quoted": `"` + r.full.Reveal() + `"`}
	places := map[string]func(*http.Request, string){
		"authorization": func(q *http.Request, s string) { q.Header.Set("Authorization", "Bearer "+s) },
		"own header":    func(q *http.Request, s string) { q.Header.Set(TokenHeader, s) },
		"basic":         func(q *http.Request, s string) { q.SetBasicAuth(s, s) },
		"bare":          func(q *http.Request, s string) { q.Header.Set("Authorization", s) },
		"cookie":        func(q *http.Request, s string) { q.AddCookie(&http.Cookie{Name: "token", Value: s}) },
		"query":         func(q *http.Request, s string) { q.URL.RawQuery = "token=" + s },
		"proxy":         func(q *http.Request, s string) { q.Header.Set("Proxy-Authorization", "Bearer "+s) },
	}
	var refusal string
	for place, put := range places {
		for name, token := range tokens {
			req := r.request("tools/list", "", "")
			req.Header.Del("Authorization")
			put(req, token)
			r.backoff.Clear("")
			a := r.do(req)
			opens := (place == "authorization" || place == "own header") && (name == "full" || name == "scoped")
			if opens != (a.status == http.StatusOK) {
				t.Errorf("%s in %s: %d", name, place, a.status)
			}
			if opens {
				continue
			}
			a.header.Del("Date")
			got := fmt.Sprint(a)
			if refusal == "" {
				refusal = got
			}
			if got != refusal || a.status != http.StatusUnauthorized || a.body != "" {
				t.Errorf("%s in %s: %s, want %s", name, place, got, refusal)
			}
		}
	}
	for _, token := range []string{r.full.Reveal(), r.scoped.Reveal(), gone.Reveal()} {
		if strings.Contains(r.log.String(), token) {
			t.Error("a token is in the log")
		}
	}
}

// TestRefuseAnswersNothing: on a listener that only keeps others out, every request is 403, a good one too.
func TestRefuseAnswersNothing(t *testing.T) {
	r := newRig(t, ok, Limits{})
	l, err := listenLoopback()
	check(t, err)
	served := make(chan error, 1)
	go func() { served <- r.Refuse(l) }()
	req := r.request("tools/list", "", "")
	req.URL.Host, req.Host = l.Addr().String(), l.Addr().String()
	if a := r.do(req); a.status != http.StatusForbidden || a.body != "" {
		t.Errorf("%+v", a)
	}
	check(t, r.Close())
	check(t, <-served)
}

// TestRevisionStandsOnce: the revision is one constant; every other place of this module uses it. Modules below this one
// are clients and peers that must say for themselves what they speak.
func TestRevisionStandsOnce(t *testing.T) {
	found := map[string]int{}
	check(t, filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == ".tools") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && path != ".." && err == nil {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if n := strings.Count(string(b), `2026-07-28`); n > 0 {
			found[path] = n
		}
		return err
	}))
	if len(found) != 1 || found["../internal/api/clients.go"] != 1 {
		t.Errorf("the revision stands in %v", found)
	}
}

// TestHintsSpeakOfTools: a hint is put into the words of who reads it, from the same table.
func TestHintsSpeakOfTools(t *testing.T) {
	for hint, want := range map[string]string{
		"":                                  "",
		"`termic list` shows the tasks.":    "task_list shows the tasks.",
		"Add one: `termic project add /a`.": "Add one: project_add.",
		"Open one: `termic tab TASK`, or name a tab with --tab.":      "Open one: task_tab, or name a tab with tab.",
		"Commit it, or consent with --discard: a backup ref is left.": "Commit it, or consent with discard: a backup ref is left.",
		"Close it with --delete-branch.":                              "Close it with deleteBranch.",
		"`termic restore` brings it back.":                            "`termic restore` brings it back.",
		"`termic restore X --yes` brings it back.":                    "`termic restore X --yes` brings it back.",
		"Use --no-such.":  "Use --no-such.",
		"Say which: `a`.": "Say which: `a`.",
	} {
		if got := toolWords(hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
	}
	for message, want := range map[string]string{"It did not": "It did not.", "Which one?": "Which one?", "": "."} {
		if got := string(refusal(fault.New(fault.Conflict, "%s", message))); !strings.Contains(got, `"text":`+string(inlet.JSON(want))) {
			t.Errorf("%q: %s", message, got)
		}
	}
}

// TestToolsets: callers of the class full are shown a set when the owner switches it on, from the next call on, and can call it
// only then; a scoped caller never is.
func TestToolsets(t *testing.T) {
	var sets []string
	r := newRig(t, ok, Limits{})
	r.o.Toolsets = func() []string { return sets }
	ask := func(token secret.String, method, tool string) string {
		req := r.request(method, tool, "")
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
		return r.do(req).body
	}
	for _, on := range []bool{false, true, false} {
		if sets = nil; on {
			sets = []string{"jobs", "no such set"}
		}
		if got := strings.Contains(ask(r.full, "tools/list", ""), `"job_list"`); got != on {
			t.Errorf("switched %v, listed %v", on, got)
		}
		if got := !strings.Contains(ask(r.full, "tools/call", "job_list"), "There is no tool"); got != on {
			t.Errorf("switched %v, called %v", on, got)
		}
		if strings.Contains(ask(r.scoped, "tools/list", ""), `"job_`) {
			t.Error("a scoped caller is shown jobs")
		}
	}
}

// TestTwoIDs: whoever has the tools of events is told that steps of jobs are none of them, and nobody else reads that.
func TestTwoIDs(t *testing.T) {
	var sets []string
	s := New(Options{Backend: ok, Log: slog.New(slog.DiscardHandler), Toolsets: func() []string { return sets }})
	defer func() { check(t, s.Close()) }()
	told := func(class grant.Class) bool {
		out, e := s.discover(t.Context(), grant.Caller{Class: class}, &exchange{})
		return e == nil && strings.Contains(string(out[0]), "not the events of event_list")
	}
	if told(grant.Full) || told(grant.Scoped) || !told(grant.Operator) || !told(grant.ReadOnly) {
		t.Error("told to those who have no events, or not to those who have")
	}
	if sets = []string{"operations"}; !told(grant.Full) || told(grant.Scoped) {
		t.Error("the set is switched on")
	}
}
