// Package link reads termic:// links: what a web page, a chat or another program asks the window to show.
//
//	termic://open/TASK                          shows a task
//	termic://open?task=TASK&project=PROJECT     the same, where a name is in several projects
//	termic://new?project=&name=&prompt=&agent=&branch=&base=
//	                                            opens the dialog for a new task with these filled in
//
// What it promises. Anybody can make a person click a link, so a link can only show and fill in: no key of it sets a
// cage, what an agent may drive, where it works, or that something is done. What is not known is refused rather than
// skipped. Nothing in a link can be there without being seen: control characters, characters without a shape and long
// stretches of blanks are refused, and every length is bounded. Errors say what is wrong without repeating the link, so
// that they can be logged.
//
// What it does not cover: whether what is named is there, and showing it.
package link

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/internal/fault"
)

// Scheme begins every link, before a colon.
const Scheme = "termic"

// MaxBytes is the longest link. Browsers and desktops cut longer ones off, or refuse them.
const MaxBytes = 16 << 10

// Kind is what a link asks for.
type Kind string

// The kinds.
const (
	Open Kind = "open" // show a task
	New  Kind = "new"  // fill in the dialog for a new task
)

// Link is what a link asks for. Fields that it does not have are empty.
type Link struct {
	Kind    Kind
	Task    string // of open: id or name
	Project string // id or name
	Name    string
	Prompt  string
	Agent   string
	Branch  string
	Base    string
}

// Most bytes of each value. A prompt that is read before it is sent has a length that a person reads.
const (
	maxWord   = 255
	maxPrompt = 8 << 10
)

// Is reports whether text is meant as a link, whatever is wrong with it.
func Is(text string) bool {
	return len(text) > len(Scheme) && text[len(Scheme)] == ':' && strings.EqualFold(text[:len(Scheme)], Scheme)
}

// Parse reads a link. An error is fault.InvalidArgument, says what is wrong, and has nothing of the link in it.
func Parse(text string) (Link, error) {
	if !Is(text) {
		return Link{}, bad("This is not a link to Termic").WithHint("Such a link begins with termic://open or termic://new.")
	}
	if len(text) > MaxBytes {
		return Link{}, bad("The link is longer than %d KiB", MaxBytes>>10)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.User != nil || u.Port() != "" || u.Fragment != "" || !utf8.ValidString(text) {
		return Link{}, bad("The link is not well formed") // the parser's words would repeat it
	}
	values, err := query(u.RawQuery)
	if err != nil {
		return Link{}, err
	}
	switch Kind(strings.ToLower(u.Host)) {
	case Open:
		return parseOpen(u.Path, values)
	case New:
		return parseNew(u.Path, values)
	}
	return Link{}, bad("The link asks for something that Termic does not know").
		WithHint("A link opens a task (termic://open) or the dialog for a new one (termic://new).")
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...)
}

// query reads the part behind the question mark; a key that is there twice could be read in two ways.
func query(raw string) (map[string]string, error) {
	all, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bad("The link is not well formed")
	}
	out := make(map[string]string, len(all))
	for key, values := range all {
		if len(values) != 1 {
			return nil, bad("The link says the same thing twice")
		}
		out[key] = values[0]
	}
	return out, nil
}

func parseOpen(path string, values map[string]string) (Link, error) {
	l := Link{Kind: Open}
	if err := take(values, "A link to a task names the task and its project, and nothing else",
		map[string]*string{"task": &l.Task, "project": &l.Project}); err != nil {
		return Link{}, err
	}
	if named := strings.Trim(path, "/"); named != "" {
		if l.Task != "" {
			return Link{}, bad("The link says the same thing twice")
		}
		l.Task = named
	}
	if l.Task == "" {
		return Link{}, bad("The link names no task")
	}
	for _, one := range []string{l.Task, l.Project} {
		if err := word(one); err != nil {
			return Link{}, err
		}
	}
	return l, nil
}

func parseNew(path string, values map[string]string) (Link, error) {
	l := Link{Kind: New}
	const may = "A link to a new task has a project, name, prompt, agent, branch and base, and nothing else"
	if err := take(values, may, map[string]*string{"project": &l.Project, "name": &l.Name, "prompt": &l.Prompt,
		"agent": &l.Agent, "branch": &l.Branch, "base": &l.Base}); err != nil {
		return Link{}, err
	}
	if strings.Trim(path, "/") != "" {
		return Link{}, bad("The link is not well formed")
	}
	for _, one := range []string{l.Project, l.Name, l.Agent, l.Branch, l.Base} {
		if err := word(one); err != nil {
			return Link{}, err
		}
	}
	if strings.HasPrefix(l.Branch, "-") || strings.HasPrefix(l.Base, "-") {
		return Link{}, bad("The link names a branch that begins with a dash")
	}
	var err error
	if l.Prompt, err = prompt(l.Prompt); err != nil {
		return Link{}, err
	}
	return l, nil
}

// take moves the values into their places. What has no place is refused in the words of may.
func take(values map[string]string, may string, places map[string]*string) error {
	for key, value := range values {
		place, ok := places[key]
		if !ok {
			return bad("%s", may).WithHint("Everything else is for you to choose in the window.")
		}
		*place = value
	}
	return nil
}

// word refuses a value of one line that is too long or that could not be read as it is.
func word(text string) error {
	if len(text) > maxWord {
		return bad("A part of the link is longer than %d bytes", maxWord)
	}
	return readable(text, false)
}

// prompt refuses one that is too long or has in it what a person would not see.
func prompt(text string) (string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if len(text) > maxPrompt {
		return "", bad("The prompt of the link is longer than %d KiB", maxPrompt>>10)
	}
	return text, readable(text, true)
}

// Longest stretches of nothing: what follows a longer one would lie where nobody looks.
const (
	maxBlanks = 40
	maxEmpty  = 3 // line ends
)

// readable refuses a text of which a part is not seen.
func readable(text string, lines bool) error {
	if !utf8.ValidString(text) {
		return bad("The link is not well formed")
	}
	blanks, ends := 0, 0
	for _, r := range text {
		switch {
		case lines && r == '\n':
			ends++
			blanks = 0
		case lines && r == '\t':
			blanks += 8
		case unicode.Is(unicode.Zs, r):
			blanks++
		case !seen(r):
			return bad("The link has characters in it that cannot be seen").WithHint("Nothing of it was taken. Ask who gave it to you for the text.")
		default:
			blanks, ends = 0, 0
		}
		if blanks > maxBlanks || ends > maxEmpty {
			return bad("The link has a long stretch of blanks in it, which would hide what follows")
		}
	}
	return nil
}

// invisible are characters that count as letters, marks or signs and have no shape, or that carry hidden text.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// seen reports whether a character shows itself. The joiner of emoji and of some scripts does not, and changes what
// stands beside it, so it is let through.
func seen(r rune) bool {
	return r == '\u200d' || r == '\u200c' || unicode.IsGraphic(r) && !unicode.Is(invisible, r)
}
