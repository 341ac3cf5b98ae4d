package agent

import (
	"path/filepath"
	"testing"
	"time"
)

// What came after the last answer says whether another is on its way.
func TestResultIsOpen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 20, 5, 7, 888e6, time.UTC)
	const (
		claudeSays = `{"type":"assistant","timestamp":"2026-11-29T20:05:07.888Z","message":{"content":[{"type":"text","text":"A"}]}}`
		claudeTool = `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}`
		claudeMeta = `{"type":"user","isMeta":true,"message":{"content":"note"}}`
		claudeSide = `{"type":"user","isSidechain":true,"message":{"content":"note"}}`
		codexSays  = `{"timestamp":"2026-11-29T20:05:07.888Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}}`
		codexAsked = `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}`
		codexTool  = `{"type":"response_item","payload":{"type":"function_call","name":"x"}}`
		codexThink = `{"type":"response_item","payload":{"type":"reasoning"}}`
		codexEvent = `{"type":"event_msg","payload":{"type":"task_complete"}}`
	)
	for _, c := range []struct {
		name  string
		kind  Kind
		lines []string
		open  bool
	}{
		{"claude, answered", claude(), []string{asked, claudeSays, `{"type":"system"}`, claudeMeta, claudeSide}, false},
		{"claude, asked again", claude(), []string{asked, claudeSays, asked}, true},
		{"claude, in a tool", claude(), []string{asked, claudeSays, claudeTool}, true},
		{"codex, answered", codex(), []string{codexAsked, codexSays, codexThink, codexEvent}, false},
		{"codex, asked again", codex(), []string{codexAsked, codexSays, codexEvent, codexAsked}, true},
		{"codex, in a tool", codex(), []string{codexAsked, codexSays, codexTool}, true},
	} {
		home := t.TempDir()
		put(t, filepath.Join(home, ".claude/projects/-w/s.jsonl"), c.lines...)
		put(t, filepath.Join(home, ".codex/sessions/2026/01/02/rollout-x-s.jsonl"), append([]string{`{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}`}, c.lines...)...)
		f, err := Result(ResultQuery{Kind: c.kind, Home: home, Dir: "/w", SessionID: "s"})
		if err != nil || f.Text != "A" || f.Open != c.open || !f.At.Equal(at) {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
}
