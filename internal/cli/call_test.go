package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/fault"
	"termic/internal/verb"
)

func TestExitCodesOfErrors(t *testing.T) {
	for _, code := range fault.All {
		got := fails(t, newFault(code)).run(t, nil, "", "list")
		if want := fault.ExitCode(code); got.exit != want {
			t.Errorf("%s: exit %d, want %d", code, got.exit, want)
		}
		if got.errors != "termic: It went wrong\nhint: Do it right.\n" || got.out != "" {
			t.Errorf("%s: %q, %q", code, got.errors, got.out)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	got := fails(t, newFault(fault.Ambiguous)).run(t, nil, "", "--json", "list")
	if want := `{"error":{"code":"ambiguous","message":"It went wrong","hint":"Do it right.","data":{"k":"v"}}}` + "\n"; got.out != want {
		t.Errorf("got %s", got.out)
	}
	if !strings.Contains(got.errors, "It went wrong") {
		t.Errorf("standard error: %q", got.errors)
	}
	// A command line that does not parse is told in the same form, wherever --json stands.
	for _, args := range [][]string{{"--json", "list", "--nope"}, {"list", "--nope", "--json"}} {
		if got := alone(t, nil, args...); got.exit != fault.ExitUsage || !strings.HasPrefix(got.out, `{"error":{"code":"invalid_argument"`) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestExitCodesWithoutAnAnswer(t *testing.T) {
	if got := alone(t, nil, "list"); got.exit != fault.ExitNotRunning || !strings.Contains(got.errors, "hint: Open the app, or run `termic serve`.") {
		t.Errorf("no app: %+v", got)
	}
	if got := alone(t, env{"TERMIC_SOCKET": "/nonexistent/termic.sock"}, "list"); got.exit != fault.ExitNotRunning {
		t.Errorf("no socket: %+v", got)
	}
	if got := alone(t, nil, "list", "--nope"); got.exit != fault.ExitUsage || !strings.Contains(got.errors, "usage: termic list [flags]\n") {
		t.Errorf("usage: %+v", got)
	}
	off := says(t, `{"tasks":[]}`)
	off.off = true
	if got := off.run(t, nil, "", "list"); got.exit != fault.ExitDisabled {
		t.Errorf("switched off: %+v", got)
	}
	a := startApp(t, func(context.Context, string, func(api.Event)) (string, error) { return "{}", nil })
	for mode, want := range map[string]int{"enforce": fault.ExitRefused, "enforce-fs": fault.ExitRefused, "": fault.ExitRefused, "monitor": fault.ExitOK} {
		if got := a.run(t, env{"TERMIC_SANDBOX": "1", "TERMIC_SANDBOX_MODE": mode}, "", "--json", "list"); got.exit != want {
			t.Errorf("in a cage of mode %q: %+v", mode, got)
		}
	}
	if got := a.run(t, env{"TERMIC_SANDBOX": "1"}, "", "help", "list"); got.exit != fault.ExitOK {
		t.Errorf("help in a cage: %+v", got)
	}
}

func TestLostConnection(t *testing.T) {
	a := startApp(t, nil)
	closed := make(chan error, 1)
	a.answer = func(ctx context.Context, _ string, _ func(api.Event)) (string, error) {
		go func() { closed <- a.server.Close() }()
		<-ctx.Done()
		panic("on purpose") // the reply is a refusal; the loss itself is tried by the tests of package control
	}
	if got := a.run(t, nil, "", "list"); got.exit != fault.ExitError {
		t.Errorf("%+v", got)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got := exitCode(fault.Wrap(control.ErrLost, fault.Unavailable, "x")); got != fault.ExitLost {
		t.Errorf("lost: %d", got)
	}
}

func TestOutcomes(t *testing.T) {
	for outcome, want := range map[string]int{"done": 0, "needs_input": 3, "timeout": 7, "not_delivered": 9} {
		for args, result := range map[string]string{
			"wait fix":                  `{"task_id":"1","outcome":"` + outcome + `","detail":"x"}`,
			"send fix hi --wait":        `{"task_id":"1","wait":{"outcome":"` + outcome + `"}}`,
			"new fix --wait -p hi":      `{"task":{"id":"1"},"prompt_id":"2","wait":{"outcome":"` + outcome + `"}}`,
			"tab fix --prompt x --wait": `{"task_id":"1","prompt":{"wait":{"outcome":"` + outcome + `"}}}`,
		} {
			if got := says(t, result).run(t, nil, "", strings.Fields(args)...); got.exit != want {
				t.Errorf("%s, %s: exit %d, want %d; %s", args, outcome, got.exit, want, got.errors)
			}
		}
	}
	if got := says(t, `{"conflicts":["a.go"]}`).run(t, nil, "", "apply", "fix", "--yes"); got.exit != fault.ExitConflicts {
		t.Errorf("conflicts: %+v", got)
	}
}

func TestOutputIsTheExactBytes(t *testing.T) {
	result := `{"tasks":[{"name":"<é>","extra":[1,2.0]}],"new_field":null}`
	if got := says(t, result).run(t, nil, "", "list", "--json"); got.out != result+"\n" || got.errors != "" {
		t.Errorf("%+v", got)
	}
}

func TestEvents(t *testing.T) {
	a := startApp(t, func(_ context.Context, _ string, emit func(api.Event)) (string, error) {
		emit(api.Event{Event: "created", Task: &api.TaskSummary{Name: "fix", Branch: "b"}})
		emit(api.Event{Event: "setup", Line: "npm \x1b[2J"})
		emit(api.Event{Event: "prompt_queued"})
		emit(api.Event{Event: "from_the_future"})
		emit(api.Event{Event: "prompt_delivered"})
		for _, s := range []string{"inactive", "idle", "working", "idle", "working", "needs_input"} {
			emit(api.Event{Event: "state", State: s})
		}
		return `{"task":{"project":"p","name":"fix","id":"1"}}`, nil
	})
	text := a.run(t, nil, "", "new", "fix")
	if want := "creating fix\nsetup: npm ␛[2J\nprompt queued\nprompt delivered\nagent: working\nagent: needs input\n"; text.errors != want {
		t.Errorf("progress:\n%s", text.errors)
	}
	stream := a.run(t, nil, "", "new", "fix", "--output", "stream-json")
	lines := strings.Split(strings.TrimSuffix(stream.out, "\n"), "\n")
	if len(lines) != 12 || stream.errors != "" {
		t.Fatalf("%d lines: %+v", len(lines), stream)
	}
	for i, l := range lines {
		if !json.Valid([]byte(l)) || strings.Contains(l, `"event"`) != (i < 11) {
			t.Errorf("line %d: %s", i, l)
		}
	}
	if js := a.run(t, nil, "", "new", "fix", "--json"); strings.Count(js.out, "\n") != 1 || js.errors != "" {
		t.Errorf("--json: %+v", js)
	}
}

// TestParameters shows what the command line sends for what was typed.
func TestParameters(t *testing.T) {
	here := env{"TERMIC_TASK_ID": "01OWN"}
	for _, c := range []struct {
		line  string
		env   env
		stdin string
		want  string
	}{
		{line: "list --project p -q", want: `task_list {"project":"p","quiet":true}`},
		{line: "status", want: `task_status {"cwd":"/home/me/here"}`},
		{line: "status fix", want: `task_status {"task":"fix"}`},
		{line: "status --project p", want: `task_status {"cwd":"/home/me/here","project":"p"}`},
		{line: "status", env: here, want: `task_status {"cwd":"/home/me/here"}`},
		{line: "archive fix --yes --discard", want: `task_archive {"discard":true,"task":"fix"}`},
		{line: "new fix", want: `task_new {"cwd":"/home/me/here","name":"fix"}`},
		{line: "new fix --project p --from ../wt", want: `task_new {"from":"/home/me/wt","name":"fix","project":"p"}`},
		{line: "new fix --project p -p -", stdin: "line <1>\nline 2\n", want: `task_new {"name":"fix","project":"p","prompt":"line <1>\nline 2"}`},
		{line: "send fix -", stdin: "\n  kept  \r\n", want: `task_send {"prompt":"\n  kept  ","task":"fix"}`},
		{line: "send fix - and more", want: `task_send {"prompt":"- and more","task":"fix"}`},
		{line: "send --here go on", env: here, want: `task_send {"prompt":"go on","task":"01OWN"}`},
		{line: "send --here go on", want: `task_send {"cwd":"/home/me/here","prompt":"go on"}`},
		{line: "rename --name x", env: here, want: `task_rename {"name":"x","task":"01OWN"}`},
		{line: "rename --name x", want: `task_rename {"cwd":"/home/me/here","name":"x"}`},
		{line: "rename fix --name x", env: here, want: `task_rename {"name":"x","task":"fix"}`},
		{line: "project add sub/dir", want: `project_add {"path":"/home/me/here/sub/dir"}`},
		{line: "project add /abs", want: `project_add {"path":"/abs"}`},
		{line: "wait fix --timeout 1m", want: `task_wait {"task":"fix","timeoutMs":60000}`},
		{line: "tab close --tab 2 --yes", want: `task_tab_close {"allowDefault":true,"cwd":"/home/me/here","tab":"2"}`},
		{line: "logs fix", want: `task_log {"task":"fix"}`}, // no terminal: raw
		{line: "quit", want: `quit {}`},
		{line: "quit --commit", want: `quit {"commit":true}`},
	} {
		a := says(t, `{}`)
		got := a.run(t, c.env, c.stdin, strings.Fields(c.line)...)
		if len(a.calls) != 1 {
			t.Errorf("%s: %d calls; %+v", c.line, len(a.calls), got)
			continue
		}
		want := strings.ReplaceAll(c.want, "\n", `\n`)
		want = strings.ReplaceAll(want, "\r", `\r`)
		if sent := a.calls[0].verb + " " + a.calls[0].params; sent != want {
			t.Errorf("%s:\nsent %s\nwant %s", c.line, sent, want)
		}
	}
}

func TestPromptsOnStandardInput(t *testing.T) {
	a := says(t, `{}`)
	for _, stdin := range []string{"", " \n\t\n", strings.Repeat("x", verb.MaxPrompt+1)} {
		if got := a.run(t, nil, stdin, "send", "fix", "-"); got.exit != fault.ExitError || len(a.calls) > 0 {
			t.Errorf("%d bytes: %+v", len(stdin), got)
		}
	}
	if got := a.run(t, nil, strings.Repeat("<", verb.MaxPrompt), "send", "fix", "-", "--json"); got.exit != 0 || len(a.calls) != 1 {
		t.Errorf("the longest prompt: exit %d, %s", got.exit, got.errors)
	}
}

// TestNothingIsDestroyedUnasked: without a terminal to ask on, verbs that destroy need --yes, and the app is not called.
func TestNothingIsDestroyedUnasked(t *testing.T) {
	for _, line := range []string{"archive fix", "apply fix", "stop fix", "project remove p", "archive fix --json"} {
		a := says(t, `{}`)
		got := a.run(t, nil, "y\n", strings.Fields(line)...)
		if got.exit != fault.ExitError || !strings.Contains(got.errors, "--yes") || len(a.calls) > 0 {
			t.Errorf("%s: %+v, %d calls", line, got, len(a.calls))
		}
	}
	for _, v := range verb.All() {
		if asks(&v) != (questions[v.Name] != "") {
			t.Errorf("%s: asks is %v, its question is %q", v.Name, asks(&v), questions[v.Name])
		}
		if v.Effect.Kind == verb.Destroys && !asks(&v) && v.Name != "quit" && v.Name != "task_tab_close" && v.Name != "approval_decide" { // who decides says so by the word approve
			t.Errorf("%s destroys and does not ask", v.Name)
		}
	}
}

// TestInterruptOnlyStopsWatching: the run ends with 130, and the app goes on.
func TestInterruptOnlyStopsWatching(t *testing.T) {
	running := make(chan struct{}, 1)
	a := startApp(t, func(ctx context.Context, _ string, _ func(api.Event)) (string, error) {
		running <- struct{}{}
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-running
		cancel()
	}()
	var errs strings.Builder
	code := Run(ctx, Env{Args: []string{"wait", "fix"}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Getenv: func(k string) string {
		return map[string]string{"TERMIC_DATA_DIR": a.dir}[k]
	}})
	if code != exitInterrupted || !strings.Contains(errs.String(), "stopped watching") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
	a.answer = func(context.Context, string, func(api.Event)) (string, error) { return `{"tasks":[]}`, nil }
	if got := a.run(t, nil, "", "list"); got.exit != 0 {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestServe(t *testing.T) {
	var got ServeOptions
	run := func(end error, args ...string) int {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return Run(ctx, Env{Args: args, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
			Serve: func(_ context.Context, o ServeOptions) error { got = o; return end }})
	}
	if code := run(nil, "serve", "--log-format", "json", "--log-level=debug"); code != 0 || !reflect.DeepEqual(got, ServeOptions{LogFormat: "json", LogLevel: "debug"}) {
		t.Errorf("exit %d, %+v", code, got)
	}
	if code := run(newFault(fault.Conflict), "serve"); code != fault.ExitError {
		t.Errorf("held: exit %d", code)
	}
	if code := run(nil, "serve", "--log-format", "xml"); code != fault.ExitUsage {
		t.Errorf("bad format: exit %d", code)
	}
	if code := run(errors.New("odd"), "serve"); code != fault.ExitError {
		t.Errorf("an error: exit %d", code)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	code := Run(ended, Env{Args: []string{"serve"}, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
		Serve: func(ctx context.Context, _ ServeOptions) error { return context.Cause(ctx) }})
	if code != 0 {
		t.Errorf("told to end: exit %d", code)
	}
}

func TestVersion(t *testing.T) {
	if got := alone(t, nil, "version"); got.out != "termic 1.0\n" || got.exit != 0 {
		t.Errorf("%+v", got)
	}
	var v api.VersionResult
	if err := json.Unmarshal([]byte(alone(t, nil, "--version", "--json").out), &v); err != nil || v.Version != "1.0" || v.Protocol != control.Protocol {
		t.Errorf("%+v %v", v, err)
	}
}

func TestDoctorWithoutAnApp(t *testing.T) {
	got := alone(t, nil, "doctor")
	for _, want := range []string{"termic 1.0", "not running", "git version", "termic.sock"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not told:\n%s", want, got.out)
		}
	}
	if got.exit != 0 {
		t.Errorf("exit %d", got.exit)
	}
	long := alone(t, env{"TERMIC_DATA_DIR": "/tmp/" + strings.Repeat("d", 120), "PATH": "/nonexistent"}, "doctor", "--json")
	var r api.DoctorResult
	if err := json.Unmarshal([]byte(long.out), &r); err != nil || long.exit != fault.ExitError {
		t.Fatalf("%+v %v", long, err)
	}
	found := false
	for _, f := range r.Findings {
		found = found || f.Name == "control socket" && f.Level == levelFail && strings.Contains(f.Fix, "TERMIC_DATA_DIR")
	}
	if !found {
		t.Errorf("a path that is too long is not found: %s", long.out)
	}
}

func TestOtherFormsOfResults(t *testing.T) {
	// A result that this version does not understand is a fault in words, and --json still passes it on.
	a := says(t, `{"tasks":"none"}`)
	if got := a.run(t, nil, "", "list"); got.exit != fault.ExitError || !strings.Contains(got.errors, "another version") {
		t.Errorf("%+v", got)
	}
	if got := a.run(t, nil, "", "list", "--json"); got.exit != 0 || got.out != `{"tasks":"none"}`+"\n" {
		t.Errorf("%+v", got)
	}
}
