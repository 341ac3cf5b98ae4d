package agent

import (
	"strings"
	"testing"
)

// Screens of the real agents, as they were seen.
const claudeAtRest = `
● fine, that is it

✻ Baked for 3s · done 7:46 PM

────────────────────────────────────────
❯ 
────────────────────────────────────────
  ⏵⏵ auto mode on (shift+tab to cycle)`

const claudeTyped = `
❯ earlier prompt

────────────────────────────────────────
❯ prompt number 9 > quoted
  ❯ 1. Yes

    2. No
────────────────────────────────────────
  ⏵⏵ auto mode on (shift+tab to cycle)`

const claudeTrust = `────────────────────────────────────────
 Accessing workspace:

 /tmp/proj

 Quick safety check: Is this a project you created or one you trust?

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel`

const claudePermission = `
❯ touch zzz

● Bash(touch zzz)

────────────────────────────────────────
 Bash command

   touch zzz

 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel`

const claudeOldBox = `
╭──────────────────────────────────────╮
│ > Try "fix lint errors"              │
╰──────────────────────────────────────╯
  ? for shortcuts`

const claudeHelp = `
❯ two

▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
  Help  General   Commands

  ←/→ to switch · Esc to close`

const codexAtRest = `
› hello there

• fine, that is it

  Worked for <1s

› Ask Codex to do anything

  gpt-x default · ~/proj`

const codexUpdate = `
  ✨ Update available! 0.170.0 -> 0.171.0

› 1. Update now
  2. Skip
  3. Skip until next version

  Press enter to continue`

func screenOf(text string, x, y int, visible bool) Screen {
	return Screen{Lines: strings.Split(text, "\n"), CursorX: x, CursorY: y, CursorVisible: visible}
}

func TestReadScreens(t *testing.T) {
	t.Parallel()
	free := Kind{Hints: Hints{Composer: res(`^> (.*)$`)}}
	for _, c := range []struct {
		name   string
		kind   Kind
		s      Screen
		field  string // "" = none, "empty", or its text
		dialog string // "" = none, or a part of the row
	}{
		{"claude at rest", claude(), screenOf(claudeAtRest, 2, 6, false), "empty", ""},
		{"claude, a prompt that looks like a menu", claude(), screenOf(claudeTyped, 9, 7, false), "prompt number 9 > quoted\n❯ 1. Yes\n\n2. No", ""},
		{"claude, trust", claude(), screenOf(claudeTrust, 1, 8, false), "", "Quick safety check"},
		{"claude, permission", claude(), screenOf(claudePermission, 0, 0, false), "", "Do you want to proceed"},
		{"claude, box with a suggestion", claude(), screenOf(claudeOldBox, 0, 9, false), "empty", ""},
		{"claude, help page", claude(), screenOf(claudeHelp, 8, 6, false), "", ""},
		{"codex at rest", codex(), screenOf(codexAtRest, 2, 7, true), "empty", ""},
		{"codex with text", codex(), screenOf(codexAtRest, 14, 7, true), "Ask Codex to do anything", ""},
		{"codex, update menu", codex(), screenOf(codexUpdate, 0, 0, false), "", "Update available"},
		{"update menu in one row (T10)", Kind{}, screenOf("hello\n1. Update now 2. Skip", 0, 0, true), "", "Update now"},
		{"a menu of an unknown agent", Kind{}, screenOf("Pick:\n> 1. Red\n  2. Green\n", 0, 0, true), "", "1. Red"},
		{"a list is no menu", Kind{}, screenOf("Steps:\n  1. Red\n  2. Green\n$ ", 2, 3, true), "", ""},
		{"a quoted menu far above is none", Kind{}, screenOf("> 1. Red\n  2. Green\na\nb\nc\nd\ne\n$", 2, 7, true), "", ""},
		{"yes or no", Kind{}, screenOf("Overwrite? [y/N] ", 17, 0, true), "", "Overwrite"},
		{"password", Kind{}, screenOf("git@host's password: ", 21, 0, true), "", "password"},
		{"a free field above a menu is a quote", free, screenOf("> do it\n\nTrust?\n❯ 1. Yes\n  2. No\nEnter to confirm", 0, 0, true), "", "1. Yes"},
		{"a free field", free, screenOf("x\n> do it\nfoot", 7, 1, true), "do it\nfoot", ""},
		{"empty screen", claude(), Screen{}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, ok := c.kind.composer(c.s)
			got := ""
			switch {
			case ok && f.empty:
				got = "empty"
			case ok:
				got = f.text
			}
			row, asks := c.kind.dialog(c.s)
			if got != c.field || asks != (c.dialog != "") || !strings.Contains(row, c.dialog) {
				t.Errorf("field %q, dialog %v %q; want %q, %q", got, asks, row, c.field, c.dialog)
			}
		})
	}
}

// A text is seen through wrapping, boxes and widths, and only when it is there.
func TestMarks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("all work and no play ", 20)
	for _, c := range []struct {
		text, rows string
		texts, ins int
	}{
		{"hello world", "│ ❯ hel  │\n│ lo world │", 1, 0},
		{"hello world", "hello there", 0, 0},
		{"hello", "hello hello", 2, 0},
		{long, "[Pasted text #1 +12 lines]", 0, 1},
		{long, "[Pasted Content 4200 chars] [#2 pasted 3 lines]", 0, 2},
		{"漢字 é", "漢字 é", 1, 0},
		{"👍", "👍", 0, 0},
	} {
		if texts, ins := markOf(c.text).count(c.rows); texts != c.texts || ins != c.ins {
			t.Errorf("%q in %q: %d %d", c.text, c.rows, texts, ins)
		}
	}
	if !markOf("👍 \n").none() {
		t.Error("a picture has ink")
	}
}

func TestPasteScan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"a\r": true, "a\n": false, "\x1b[200~a\rb\x1b[201~": false, "\x1b[200~a\x1b[201~\r": true, "\x1b\r": false, "\x1b[A\r": true, "\x1b[13u": true, "\x1bOP\r": true} {
		var whole, pieces pasteScan
		got := whole.scan([]byte(in))
		cut := false
		for i := range len(in) {
			cut = pieces.scan([]byte(in[i:i+1])) || cut
		}
		if got != want || cut != want {
			t.Errorf("%q: %v, in pieces %v, want %v", in, got, cut, want)
		}
	}
}
