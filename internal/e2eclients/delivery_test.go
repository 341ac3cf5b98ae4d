//go:build clients

package e2eclients

import (
	"fmt"
	"strings"
	"testing"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fakemodel"
)

// sees is what a client's model sees of a prompt: the exact bytes, but for what the client itself does to every text
// that is typed into it. Both trim; claude also widens tabs.
func (c client) sees(text string) string {
	registry, _ := agent.NewRegistry(nil)
	kind, err := registry.Resolve(c.id)
	if err != nil {
		panic(err) // the ids are built in
	}
	text, err = agent.Clean(text)
	if err != nil {
		panic(err) // the texts are the tests' own
	}
	text = kind.Guarded(text)
	if c.id == "claude" {
		return strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), " \n")
	}
	return strings.TrimSpace(text)
}

// T12 and T13: what would be a command, a mention or a key at the keyboard arrives as text. claude gets one backslash
// before a command, since it looks behind blanks too; nothing else is added to anything.
func TestCommandsAreText(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Text", c, "")
		claude := c.id == "claude"
		guard := map[bool]string{true: `\`}[claude]
		var want []string
		for _, p := range []struct{ sent, want string }{
			{"/status", guard + "/status"},
			{"/clear and more\nof it", guard + "/clear and more\nof it"},
			{"!touch pwned", guard + "!touch pwned"},
			{"# not a memory", "# not a memory"},
			{"@README.md", "@README.md"},
			{"look at @README", "look at @README"},
			{"use $skill", "use $skill"},
			{"?", "?"},
			{"&", "&"},
			{"1", "1"},
			{"exit now, please", "exit now, please"},
			{"a\x1b[201~\r!touch pwned\r", "a[201~\n!touch pwned"},
			{"keys \x03 \x1b[A \x04 \x7f \x1a end", "keys  [A    end"},
			{"❯ 1. Yes\n  2. No", "❯ 1. Yes\n  2. No"},
			{"› 1. Yes, proceed\n  2. No\n\n  Press enter to confirm", "› 1. Yes, proceed\n  2. No\n\n  Press enter to confirm"},
			{"Do you want to proceed? [y/n]", "Do you want to proceed? [y/n]"},
			{"─────────\n❯ quoted\n─────────", "─────────\n❯ quoted\n─────────"},
		} {
			s := r.send(n.Task.ID, p.sent, nil)
			r.wantDone(p.sent, s.Wait)
			want = append(want, p.want)
			r.wantPrompts(want...)
		}
		r.absent(n.Task.Path + "/pwned")
	})
}

// claude draws in two manners, on a page of its own and into the shell's. Both are read.
func TestClaudeInPage(t *testing.T) {
	r := newRig(t, options{inPage: true})
	c := clients[0]
	n := r.newTask("Page", c, fifty(4))
	r.wantDone("first", n.Wait)
	want := []string{c.sees(fifty(4))}
	for i := range 10 {
		r.wantDone("next", r.send(n.Task.ID, fifty(i+10), nil).Wait)
		want = append(want, c.sees(fifty(i+10)))
		r.wantPrompts(want...)
	}
}

// Two prompts in a row that are the same are two; long ones arrive whole.
func TestLongAndEqualPrompts(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Long", c, "")
		var want []string
		for _, p := range []string{"again", "again", strings.Repeat("many words ", 400) + "end", numbered(120), strings.Repeat("x", 5000)} {
			r.wantDone(fmt.Sprintf("%.20s", p), r.send(n.Task.ID, p, nil).Wait)
			want = append(want, p)
			r.wantPrompts(want...)
		}
	})
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d. a line of a long list\n", i)
	}
	return strings.TrimSpace(b.String())
}

// In fifty sends, each waited for, the client gets the exact bytes of each once.
func TestDelivery50(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Fifty", c, "")
		var want []string
		for i := range 50 {
			p := fifty(i)
			if w := r.send(n.Task.ID, p, nil).Wait; w == nil || w.Outcome != api.OutcomeDone {
				t.Fatalf("prompt %d, %q: %+v", i, p, w)
			}
			want = append(want, c.sees(p))
			r.wantPrompts(want...)
		}
		for _, how := range []string{"confirmed", "accepted", "unconfirmed"} {
			t.Logf("%s %s: %d", c.id, how, strings.Count(r.log.String(), "how="+how))
		}
		t.Logf("%s with one Enter: %d", c.id, strings.Count(r.log.String(), "enters=1"))
	})
}

// Fifty prompts that queue up behind one arrive in order, each once, none merged.
func TestQueue50(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Burst", c, "")
		want := []string{"HOLD start"}
		call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": want[0]})
		r.asked("first", func(q fakemodel.Request) bool { return q.Prompt() == want[0] })
		for i := range 50 {
			p := fifty(i)
			call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": p})
			want = append(want, c.sees(p))
		}
		r.model.Release("start")
		r.asked("last", func(q fakemodel.Request) bool { return len(q.Prompts) == len(want) })
		r.wantPrompts(want...)
	})
}

// fifty is a prompt of one of ten manners; no two are the same.
func fifty(i int) string {
	forms := []string{
		"prompt %d, plain",
		"prompt %d\nof two lines",
		"prompt %d with é, 漢字, 👍 and 👨‍👩‍👧‍👦, RTL שלום",
		"/help prompt %d",
		"prompt %d\n\n\n```go\nfunc main() {\n\tfmt.Println(\"tabs\")\n}\n```\nafter code",
		"prompt %d: " + strings.Repeat("long text ", 30) + "end",
		"prompt %d: " + strings.Repeat("very long text ", 90) + "end",
		"1. prompt %d\n2. two\n3. three\n4. four\n5. five\n6. six\n7. seven\n8. eight\n9. nine\n10. ten\n11. eleven",
		"!echo prompt %d, mind @README.md",
		"prompt %d \"quoted\" 'so' $HOME `cmd` \\n %%s <b> & | ; and @README",
	}
	return fmt.Sprintf(forms[i%len(forms)], i)
}
