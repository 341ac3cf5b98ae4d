package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

func put(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	said     = `{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"first"},{"type":"tool_use"},{"type":"text","text":"second"}]}}`
	saidOld  = `{"type":"assistant","message":{"content":"plain string"}}`
	saidSide = `{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"side"}]}}`
	saidTool = `{"type":"assistant","message":{"content":[{"type":"tool_use","text":"x"},{"type":"text","text":"  "}]}}`
	asked    = `{"type":"user","message":{"content":[{"type":"text","text":"question"}]}}`
)

func TestClaudeTranscript(t *testing.T) {
	t.Parallel()
	cfg, cwd := t.TempDir(), "/srv/my proj/a.b_ç"
	dir := filepath.Join(cfg, "projects", "-srv-my-proj-a-b--")
	put(t, filepath.Join(dir, "one.jsonl"), asked, said, saidSide, saidTool, asked, `{"broken`)
	put(t, filepath.Join(dir, "two.jsonl"), saidOld)
	put(t, filepath.Join(dir, "none.jsonl"), asked)
	old := time.Now().Add(-time.Hour)
	for _, n := range []string{"one", "none"} {
		os.Chtimes(filepath.Join(dir, n+".jsonl"), old, old)
	}
	outside := filepath.Join(t.TempDir(), "secret.jsonl")
	put(t, outside, said)
	os.Symlink(outside, filepath.Join(dir, "link.jsonl"))
	os.Symlink(filepath.Dir(outside), filepath.Join(cfg, "projects", "-linked"))
	put(t, filepath.Join(cfg, "projects", "cut-name-x1", "moved.jsonl"), said)
	for _, c := range []struct {
		name, cwd, id string
		shared        bool
		text          string
		code          fault.Code
	}{
		{"by id", cwd, "one", true, "first\nsecond", ""},
		{"the newest", cwd, "", false, "plain string", ""},
		{"shared and unknown", cwd, "", true, "", fault.Unsupported},
		{"no answer yet", cwd, "none", false, "", fault.NotFound},
		{"no such conversation", cwd, "three", false, "", fault.NotFound},
		{"in a directory of another name", cwd, "moved", false, "first\nsecond", ""},
		{"a link is not followed", cwd, "link", false, "", fault.NotFound},
		{"a linked directory is not followed", "/linked", "", false, "", fault.NotFound},
		{"no way out by the id", cwd, "../../x", false, "", fault.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ClaudeTranscript(cfg, c.cwd, c.id, c.shared)
			if f.Text != c.text || fault.CodeOf(err) != c.code {
				t.Errorf("%+v %v", f, err)
			}
		})
	}
	if _, err := ClaudeTranscript(filepath.Join(cfg, "nope"), cwd, "one", false); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestCodexTranscript(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	meta := func(id, cwd string) string {
		return fmt.Sprintf(`{"timestamp":"x","type":"session_meta","payload":{"id":%q,"cwd":%q,"instructions":%q}}`, id, cwd, strings.Repeat("i", 20000))
	}
	say := func(s string) string {
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}}`, s)
	}
	user := `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}`
	other := `{"type":"event_msg","payload":{"type":"agent_message","message":"x"}}`
	s := filepath.Join(home, "sessions")
	put(t, filepath.Join(s, "2026/01/02/rollout-2026-01-02T03-04-05-aa.jsonl"), meta("aa", "/w/a"), user, say("old"), user, say("answer a"), other)
	put(t, filepath.Join(s, "2026/02/01/rollout-2026-02-01T03-04-05-bb.jsonl"), meta("bb", "/w/b"), user, say("answer b"))
	put(t, filepath.Join(s, "2026/02/02/rollout-2026-02-02T03-04-05-cc.jsonl"), meta("cc", "/w/a"), user, say("newer a"))
	put(t, filepath.Join(s, "2026/02/03/rollout-2026-02-03T03-04-05-dd.jsonl"), "no json")
	for _, c := range []struct {
		cwd, id string
		shared  bool
		text    string
		code    fault.Code
	}{
		{"/w/a", "", false, "newer a", ""}, {"/w/a", "aa", true, "answer a", ""}, {"/w/b", "", false, "answer b", ""},
		{"/w/a", "", true, "", fault.Unsupported}, {"/w/c", "", false, "", fault.NotFound}, {"/w/a", "dd", false, "", fault.NotFound}, {"/w/a", "../x", false, "", fault.InvalidArgument},
	} {
		f, err := CodexTranscript(home, c.cwd, c.id, c.shared)
		if f.Text != c.text || fault.CodeOf(err) != c.code {
			t.Errorf("%+v: %+v %v", c, f, err)
		}
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, filepath.Join(home, ".claude/projects/-w/s.jsonl"), said)
	put(t, filepath.Join(home, "else/projects/-w/s.jsonl"), saidOld)
	q := ResultQuery{Kind: claude(), Home: home, Dir: "/w"}
	if f, err := Result(q); err != nil || f.Text != "first\nsecond" || f.Path != filepath.Join(home, ".claude/projects/-w/s.jsonl") {
		t.Errorf("%+v %v", f, err)
	}
	q.Env = map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "else")}
	if f, err := Result(q); err != nil || f.Text != "plain string" {
		t.Errorf("%+v %v", f, err)
	}
	q.Kind = grok()
	if _, err := Result(q); fault.CodeOf(err) != fault.Unsupported || !strings.Contains(fault.From(err).Hint, "RESULT.md") {
		t.Error(err)
	}
	long := strings.Repeat("é", MaxResult)
	put(t, filepath.Join(home, ".claude/projects/-l/s.jsonl"), fmt.Sprintf(`{"type":"assistant","message":{"content":%q}}`, long))
	if f, err := Result(ResultQuery{Kind: claude(), Home: home, Dir: "/l"}); err != nil || !f.Truncated || len(f.Text) > MaxResult || !strings.HasSuffix(long, f.Text) {
		t.Errorf("%d %v %v", len(f.Text), f.Truncated, err)
	}
}

// Lines come from the end, whole, whatever their length against the block, and within the bound.
func TestLinesFromEnd(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 100, tailBlock - 1, tailBlock, tailBlock + 1, 3*tailBlock + 7} {
		path := filepath.Join(t.TempDir(), "f")
		want := []string{"last", strings.Repeat("x", n), "", "first"}
		os.WriteFile(path, []byte("first\n\n"+want[1]+"\r\nlast\nbeing writ"), 0o600)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := linesFromEnd(f, 1<<30, func(l []byte) bool { got = append(got, string(l)); return true }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint([]string{"last", want[1], "first"}) {
			t.Errorf("%d: %.80q", n, got)
		}
		got = nil
		linesFromEnd(f, 20, func(l []byte) bool { got = append(got, string(l)); return true })
		if len(got) == 0 || got[0] != "last" || n > 100 && len(got) != 1 {
			t.Errorf("%d, bounded: %.80q", n, got)
		}
		f.Close()
	}
}

// TestConfinedTranscripts: a cage owns the folder that its transcripts are read from. Links out of it and pipes in it give
// no answer, and take no time.
func TestConfinedTranscripts(t *testing.T) {
	outside := t.TempDir()
	line := `{"type":"assistant","timestamp":"2026-01-02T03:04:05Z","message":{"content":[{"type":"text","text":"the user's own"}]}}` + "\n"
	write := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "one.jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, ".claude/projects/-w"))
	link := func(from, to string) func(home string) error {
		return func(home string) error {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(home, from)), 0o700); err != nil {
				return err
			}
			return os.Symlink(to, filepath.Join(home, from))
		}
	}
	for name, c := range map[string]struct {
		plant func(home string) error
		found bool
	}{
		"its own":         {func(home string) error { write(filepath.Join(home, ".claude/projects/-w")); return nil }, true},
		"nothing":         {func(string) error { return nil }, false},
		"linked config":   {link(".claude", filepath.Join(outside, ".claude")), false},
		"linked projects": {link(".claude/projects", filepath.Join(outside, ".claude/projects")), false},
		"linked project":  {link(".claude/projects/-w", filepath.Join(outside, ".claude/projects/-w")), false},
		"linked file":     {link(".claude/projects/-w/one.jsonl", filepath.Join(outside, ".claude/projects/-w/one.jsonl")), false},
		"climbing":        {link(".claude", "../../../../../../../../.."+filepath.Join(outside, ".claude")), false},
	} {
		home := t.TempDir()
		if err := c.plant(home); err != nil {
			t.Fatal(err)
		}
		f, err := Result(ResultQuery{Kind: Kind{Name: "Claude", Result: ResultClaude}, Home: home, Dir: "/w", Confined: true})
		if (err == nil) != c.found || !c.found && f.Text != "" {
			t.Errorf("%s: %q, %v", name, f.Text, err)
		}
	}
}
