package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

func lookFor(names ...string) LookPath {
	return func(name string) (string, error) {
		if slices.Contains(names, name) {
			return "/bin/" + name, nil
		}
		return "", errors.New("not found")
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	no := false
	r, problems := NewRegistry([]Custom{
		{ID: "aider", Command: "aider", Args: []string{"--yes"}, Busy: []string{"^Work"}, Idle: []string{"^Idle"}},
		{ID: "claude", Args: []string{"--model", "x"}, Env: map[string]string{"A": "1"}},
		{ID: "gemini", Disabled: true},
		{ID: "mine", Extends: "claude", Command: "/opt/claude"},
		{ID: "plain", Command: "plain", WorkDone: &no},
		{ID: "bad id", Command: "x"}, {ID: "none"}, {ID: "regex", Command: "x", Busy: []string{"("}}, {ID: "AIDER", Command: "x"}, {ID: "ext", Extends: "nobody", Command: "x"},
	})
	var fields []string
	for _, p := range problems {
		fields = append(fields, fmt.Sprintf("%d:%s:%s", p.Index, p.ID, p.Field))
	}
	if got, want := fmt.Sprint(fields), "[5:bad id:id 6:none:command 7:regex:busy 8:AIDER:id 9:ext:extends]"; got != want {
		t.Errorf("problems %v, want %v", got, want)
	}
	if got := fmt.Sprint(r.IDs()); got != "[aider claude codex copilot gemini grok mine opencode plain]" {
		t.Errorf("ids %v", got)
	}
	k, err := r.Resolve("CLAUDE")
	if err != nil || !k.Builtin || k.Command != "claude" || k.Args[0] != "--model" || k.Env["A"] != "1" || len(k.Signals.Idle) == 0 {
		t.Errorf("%+v %v", k, err)
	}
	k, _ = r.Resolve("mine")
	if k.Builtin || k.Command != "/opt/claude" || k.Name != "mine" || k.Result != ResultClaude || !k.MintsSession() {
		t.Errorf("%+v", k)
	}
	k, _ = r.Resolve("aider")
	if !k.Capable() || k.CanResume() {
		t.Errorf("%+v", k)
	}
	if k, _ := r.Resolve("plain"); k.WorkDone || k.Capable() {
		t.Errorf("%+v", k)
	}
	_, err = r.Resolve("nope")
	if f := fault.From(err); f.Code != fault.NotFound || !strings.Contains(f.Hint, "aider, claude") {
		t.Errorf("%+v", f)
	}
}

// The list says of every agent what a spawn would say.
func TestListIsTheSpawnCheck(t *testing.T) {
	t.Parallel()
	r, _ := NewRegistry([]Custom{{ID: "gemini", Disabled: true}})
	for _, look := range []LookPath{nil, lookFor(), lookFor("claude", "gemini")} {
		for _, l := range r.List(look) {
			_, path, err := r.Check(l.Kind.ID, look)
			if l.Usable != (err == nil) || path != map[bool]string{true: l.Path}[err == nil] || err != nil && fault.From(err).Message != l.Reason {
				t.Errorf("%s: listed %+v, checked %v", l.Kind.ID, l, err)
			}
			if (l.Installed == nil) != (look == nil) || l.Enabled == l.Kind.Disabled {
				t.Errorf("%+v", l)
			}
		}
	}
	if _, _, err := r.Check("nope", nil); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	v := Vars{TaskName: "Fix it", TaskSlug: "fix-it", TaskID: "T1", TaskPath: "/w/x", Branch: "b/c", Port: 18100}
	own := Kind{ID: "own", Command: "{UUID}", Args: []string{"{task_name}", "{Workspace_Path}", "{BRANCH}:{PORT}", "{OTHER}", "{TASK_ID}"}}
	const id = "5e55107d-0000-4000-8000-000000000001"
	for _, c := range []struct {
		name string
		kind Kind
		o    LaunchOptions
		want string // ID stands for a minted id
		sid  string
		code fault.Code
	}{
		{"claude, new", claude(), LaunchOptions{Vars: v}, "claude --session-id ID --name fix-it", "ID", ""},
		{"claude, fresh though stored", claude(), LaunchOptions{SessionID: id, Fresh: true}, "claude --session-id ID --name ", "ID", ""},
		{"claude, resume", claude(), LaunchOptions{SessionID: id, Resume: true, Yolo: true, Vars: v}, "claude --resume " + id + " --dangerously-skip-permissions", id, ""},
		{"claude, resume by directory", claude(), LaunchOptions{Resume: true, ResumeByDir: true}, "claude --continue", "", ""},
		{"claude, nothing to resume", claude(), LaunchOptions{Resume: true}, "", "", fault.Unsupported},
		{"both", claude(), LaunchOptions{Resume: true, Fresh: true}, "", "", fault.InvalidArgument},
		{"codex, the resume is a subcommand before its flags", codex(), LaunchOptions{Resume: true, ResumeByDir: true, Yolo: true, Unattended: true},
			"codex -c features.daemon_auto_start=false resume --last -c check_for_update_on_startup=false --dangerously-bypass-approvals-and-sandbox", "", ""},
		{"codex, unattended", codex(), LaunchOptions{Unattended: true}, "codex -c features.daemon_auto_start=false -c check_for_update_on_startup=false", "", ""},
		{"connected, before the subcommand", Kind{Command: "x", Args: []string{"a"}, AlwaysArgs: []string{"b"}, MCPArgs: []string{"c", "{MCP_URL}"}, ResumeArgs: []string{"resume"}},
			LaunchOptions{Resume: true, ResumeByDir: true, MCPURL: "http://x"}, "x a b c http://x resume", "", ""},
		{"not connected", Kind{Command: "x", Args: []string{"{MCP_URL}"}, MCPArgs: []string{"c"}}, LaunchOptions{}, "x ", "", ""},
		{"grok, resume without a conversation", grok(), LaunchOptions{Resume: true, SessionID: id}, "", "", fault.Unsupported},
		{"placeholders, but not in the program", own, LaunchOptions{Vars: v}, "{UUID} Fix it /w/x b/c:18100 {OTHER} T1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv, sid, err := Launch(c.kind, c.o)
			if fault.CodeOf(err) != c.code {
				t.Fatalf("error %v", err)
			}
			if c.sid == "ID" {
				if len(sid) != 36 || sid[14] != '4' || sid == id {
					t.Errorf("minted %q", sid)
				}
				c.want, c.sid = strings.ReplaceAll(c.want, "ID", sid), sid
			}
			if got := strings.Join(argv, " "); got != c.want || sid != c.sid {
				t.Errorf("got  %q, id %q\nwant %q, id %q", got, sid, c.want, c.sid)
			}
		})
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\r\nb\rc": "a\nb\nc", "a\x1b[201~\x00\x07b\x7f\u0085\u009bc": "a[201~bc", "\t漢字 👩‍👩‍👧\n": "\t漢字 👩‍👩‍👧\n", "\xffx": "\uFFFDx",
	} {
		if got, err := Clean(in); err != nil || got != want {
			t.Errorf("Clean(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", " \n\t", "\x1b\x07", strings.Repeat("x", MaxPrompt+1), strings.Repeat("\xff", MaxPrompt)} {
		if _, err := Clean(in); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("Clean(%.10q): %v", in, err)
		}
	}
}

func TestGuarded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k        Kind
		in, want string
	}{
		{claude(), "/clear", `\/clear`}, {claude(), "!rm x", `\!rm x`}, {claude(), "# title", "# title"}, {claude(), "see @README", "see @README "},
		{codex(), "/new", " /new"}, {codex(), "use $skill", "use $skill "}, {codex(), "mail a@b.c", "mail a@b.c"}, {codex(), "@x\n", "@x\n"},
		{Kind{}, "/x @y", "/x @y"}, {Kind{Special: "é"}, "état", " état"},
	} {
		if got := c.k.Guarded(c.in); got != c.want {
			t.Errorf("%s: Guarded(%q) = %q, want %q", c.k.ID, c.in, got, c.want)
		}
	}
}
