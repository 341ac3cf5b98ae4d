// Package editor knows the text editors that people open files with: which there are, how each is told of a file and a
// line, and which of them live in a terminal. It also starts one that has a window of its own.
//
// It promises that a command is split into arguments without a shell, that paths go in as whole arguments, and that an
// editor with a window outlives the app: it is in a session of its own and holds nothing of ours.
//
// It does not choose what may be opened, and it does not know whether an editor succeeded after its first moments.
package editor

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"termic/internal/fault"
)

// Target is what is opened. All paths are absolute, so that none is taken for an option.
type Target struct {
	File string // empty: the folder as a whole
	Line int    // from 1; 0: none is named
	Dir  string // the worktree
}

func (t Target) path() string {
	if t.File == "" {
		return t.Dir
	}
	return t.File
}

// Command is a way to open something.
type Command struct {
	Name     string // of the program, for people
	Argv     []string
	Terminal bool // it needs a terminal to live in
}

// form is how an editor is told of a line.
type form int

const (
	plain  form = iota // no way: FILE
	colon              // FILE:LINE
	goTo               // --goto FILE:LINE
	plus               // +LINE FILE
	dashed             // --line LINE FILE
)

// windows are editors with windows of their own, in the order in which they are looked for.
var windows = []known{{"code", goTo}, {"codium", goTo}, {"cursor", goTo}, {"windsurf", goTo}, {"zed", colon}, {"subl", colon}, {"idea", dashed},
	{"goland", dashed}, {"pycharm", dashed}, {"webstorm", dashed}, {"rustrover", dashed}, {"clion", dashed}, {"gnome-text-editor", plain},
	{"kate", dashed}, {"gedit", plus}, {"xed", plus}, {"mousepad", plain}}

// terminals are editors that live in a terminal; the first ones are looked for.
var terminals = []known{{"nano", plus}, {"vim", plus}, {"nvim", plus}, {"vi", plus}, {"hx", colon}, {"helix", colon}, {"micro", colon}, {"kak", plus},
	{"emacsclient", plus}, {"joe", plus}, {"ne", plus}, {"mcedit", plus}, {"pico", plus}, {"ed", plain}}

type known struct {
	name string
	form form
}

func find(list []known, program string) (known, bool) {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	i := slices.IndexFunc(list, func(k known) bool { return k.name == name })
	if i < 0 {
		return known{}, false
	}
	return list[i], true
}

func (k known) args(t Target) []string {
	line := strconv.Itoa(t.Line)
	switch {
	case t.File == "" || t.Line == 0 && k.form != goTo:
		return []string{t.path()}
	case k.form == goTo && t.Line == 0:
		return []string{"--goto", t.File}
	case k.form == goTo:
		return []string{"--goto", t.File + ":" + line}
	case k.form == colon:
		return []string{t.File + ":" + line}
	case k.form == plus:
		return []string{"+" + line, t.File}
	case k.form == dashed:
		return []string{"--line", line, t.File}
	}
	return []string{t.File}
}

// Wish says what a person asked for, and what their machine has.
type Wish struct {
	Command string            // of the settings; empty: whatever there is
	Env     map[string]string // VISUAL, EDITOR, DISPLAY, WAYLAND_DISPLAY
	Look    func(program string) (path string, err error)
	GOOS    string // empty: this one
}

// Choose makes the command that opens a target: the one of the settings; else the first editor with windows that is
// there, where there is a desktop; else, for a folder, the system's own opener; else VISUAL, EDITOR, or the first editor for
// terminals. A file is never given to the system's opener, which starts some kinds of files instead of showing them.
//
// Errors: fault.InvalidArgument for a command that cannot be split, fault.NotFound when there is no such program or no
// editor at all.
func Choose(w Wish, t Target) (Command, error) {
	if w.GOOS == "" {
		w.GOOS = runtime.GOOS
	}
	if strings.TrimSpace(w.Command) != "" {
		return w.asked(w.Command, t)
	}
	if w.GOOS != "linux" || w.Env["DISPLAY"]+w.Env["WAYLAND_DISPLAY"] != "" {
		if c, ok := w.first(windows, t); ok {
			return c, nil
		}
		if c, ok := w.opener(t); ok {
			return c, nil
		}
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if c, err := w.asked(w.Env[name], t); err == nil {
			return c, nil
		}
	}
	if c, ok := w.first(terminals, t); ok {
		c.Terminal = true
		return c, nil
	}
	return Command{}, fault.New(fault.NotFound, "No editor was found").
		WithHint("Name yours: `termic settings set general.editor 'code --goto {FILE}:{LINE}'`.")
}

func (w Wish) first(list []known, t Target) (Command, bool) {
	for _, k := range list {
		if path, err := w.Look(k.name); err == nil {
			return Command{Name: k.name, Argv: append([]string{path}, k.args(t)...)}, true
		}
	}
	return Command{}, false
}

// opener is the system's own way to show something.
func (w Wish) opener(t Target) (Command, bool) {
	name, args := "xdg-open", []string{t.Dir}
	switch {
	case w.GOOS == "darwin" && t.File != "":
		name, args = "open", []string{"-t", t.File} // as text, whatever it is
	case w.GOOS == "darwin":
		name = "open"
	case t.File != "":
		return Command{}, false
	}
	path, err := w.Look(name)
	return Command{Name: name, Argv: append([]string{path}, args...)}, err == nil
}

// asked makes the command that a person wrote.
func (w Wish) asked(text string, t Target) (Command, error) {
	words, err := Split(text)
	if err != nil {
		return Command{}, err
	}
	if len(words) == 0 {
		return Command{}, fault.New(fault.NotFound, "No editor is named")
	}
	program := words[0]
	path, err := w.Look(program)
	if err != nil {
		return Command{}, fault.Wrap(err, fault.NotFound, "The editor %s was not found", program).
			WithHint("Install it, or name another one: `termic settings set general.editor ...`.")
	}
	c := Command{Name: filepath.Base(program), Argv: []string{path}}
	k, inTerminal := find(terminals, program)
	if !inTerminal {
		k, _ = find(windows, program)
	}
	c.Terminal = inTerminal
	filled := false
	for _, word := range words[1:] {
		out := fill(word, t)
		filled = filled || out != word
		c.Argv = append(c.Argv, out)
	}
	if !filled {
		c.Argv = append(c.Argv, k.args(t)...)
	}
	return c, nil
}

// fill puts a target into one argument. What is put in is not looked at again.
func fill(word string, t Target) string {
	line := strconv.Itoa(max(t.Line, 1))
	return strings.NewReplacer("{FILE}", t.path(), "{LINE}", line, "{DIR}", t.Dir).Replace(word)
}

// Split takes a command apart into its arguments: blanks separate, quotes of both kinds hold together, and a backslash
// takes the next character as it is, but not between single quotes. Nothing else has a meaning.
func Split(text string) ([]string, error) {
	var out []string
	var word strings.Builder
	open, some := rune(0), false
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, some = true, true
		case open != 0 && r == open:
			open = 0
		case open == 0 && (r == '\'' || r == '"'):
			open, some = r, true
		case open == 0 && (r == ' ' || r == '\t'):
			if some {
				out = append(out, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(r)
			some = true
		}
	}
	if open != 0 || escaped {
		return nil, fault.New(fault.InvalidArgument, "The command %s ends within a quotation", text)
	}
	if some {
		out = append(out, word.String())
	}
	return out, nil
}
