package agent

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// hash is FNV-1a over the rows; trailing blanks make no difference.
func (s Screen) hash() uint64 {
	h := fnv.New64a()
	for _, row := range s.Lines {
		h.Write([]byte(strings.TrimRight(row, " ")))
		h.Write([]byte{'\n'})
	}
	return h.Sum64()
}

// tail returns the last n rows down to the last that is not blank, blank ones between them left out.
func (s Screen) tail(n int) []string {
	out := make([]string, 0, n)
	for i := len(s.Lines) - 1; i >= 0 && len(out) < n; i-- {
		if strings.TrimSpace(s.Lines[i]) != "" {
			out = append(out, s.Lines[i])
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// field is an input field on the screen.
type field struct {
	row   int    // its first row
	end   int    // its last row
	text  string // what stands in it, its rows joined by newlines
	empty bool
}

// rule matches a row that is nothing but a border, which may have a label in it: claude writes the name of its
// conversation there.
var rule = regexp.MustCompile(`^[\s│┃╭╮╰╯┌┐└┘├┤]*[─━═▀▄]{3,}(?: \S.* [─━═▀▄]+)?[\s─━═▀▄╭╮╰╯┌┐└┘├┤│┃]*$`)

// scrolled matches the border of a field whose first rows do not fit: the row below it is not the field's first one, and
// has no marker.
var scrolled = regexp.MustCompile(`^[\s╭┌]*[─━═▀▄]{3,} ↑ \d+ more `)

// sides matches the sides of a box.
var sides = regexp.MustCompile(`^[\s│┃▌▍▎]+|[\s│┃▐█]+$`)

// composer finds the input field: the lowest row that matches, not too far above the bottom, without a dialog below it.
func (k Kind) composer(s Screen) (field, bool) {
	footer := k.Hints.Footer
	if footer == 0 {
		footer = 6
	}
	below, inside := 0, false // inside: the border below the field was passed
	for i := len(s.Lines) - 1; i >= 0 && len(k.Hints.Composer) > 0; i-- {
		row := s.Lines[i]
		if strings.TrimSpace(row) == "" && !k.cut(s, i) {
			continue
		}
		if f, ok := k.fieldAt(s, i); ok {
			from := i + 1
			if k.Hints.Framed || k.Hints.Cursor {
				from = f.end + 1 // what is surely inside the field is text, whatever it looks like
			}
			_, asks := k.dialogIn(Screen{Lines: s.Lines[from:]}.tail(dialogRows))
			return f, !asks
		}
		// A tall field has many rows below its first; only rows outside of it count.
		border := rule.MatchString(row)
		inside = inside || border && k.Hints.Framed
		if !inside && !(s.CursorVisible && s.CursorY >= i) && !border {
			below++
		}
		if below > footer {
			break
		}
	}
	return field{}, false
}

// fieldAt reads the field whose first row is i, if there is one.
func (k Kind) fieldAt(s Screen, i int) (field, bool) {
	row := s.Lines[i]
	if k.cut(s, i) {
		f := field{row: i, end: i, text: sides.ReplaceAllString(row, "")}
		k.readField(s, &f, 0)
		f.empty = false
		return f, true
	}
	for _, re := range k.Hints.Composer {
		m := re.FindStringSubmatchIndex(row)
		if m == nil || k.Hints.Framed && !framed(s, i) {
			continue
		}
		f := field{row: i, end: i}
		start := m[1]
		if len(m) >= 4 && m[2] >= 0 {
			start = m[2]
			f.text = strings.TrimSpace(row[m[2]:m[3]])
		}
		k.readField(s, &f, len([]rune(row[:start])))
		if k.Hints.Cursor && !(s.CursorVisible && s.CursorY >= i) {
			continue
		}
		return f, true
	}
	return field{}, false
}

// cut reports that row i is the first that is shown of a field whose first rows do not fit.
func (k Kind) cut(s Screen, i int) bool {
	return k.Hints.Framed && i > 0 && scrolled.MatchString(s.Lines[i-1])
}

// framed reports a border right above row i.
func framed(s Screen, i int) bool { return i > 0 && rule.MatchString(s.Lines[i-1]) }

// readField adds the further rows of a field and tells whether it is empty: nothing in it, or only a suggestion, or a
// cursor (some agents hide it, and place it all the same) that stands before all of its text.
func (k Kind) readField(s Screen, f *field, start int) {
	first := f.text
	for i := f.row + 1; i < len(s.Lines); i++ {
		row := s.Lines[i]
		blank := strings.TrimSpace(row) == ""
		if rule.MatchString(row) || blank && !(k.Hints.Framed || k.Hints.Cursor && i <= s.CursorY) {
			break
		}
		f.text += "\n" + sides.ReplaceAllString(row, "")
		f.end = i
	}
	f.empty = strings.TrimSpace(first) == "" && !strings.Contains(f.text, "[") && strings.TrimSpace(f.text) == "" ||
		anyMatch(k.Hints.Placeholder, first) ||
		s.CursorY == f.row && s.CursorX <= start
}

// Patterns of dialogs that need no hint.
var (
	menuCursor = regexp.MustCompile(`^[\s│┃|]*[❯›▶→➤►●>*]\s*(\d+)[.)]\s+\S`)
	menuOption = regexp.MustCompile(`^[\s│┃|❯›▶→➤►●○>*]*(\d+)[.)]\s+\S`)
	menuInline = regexp.MustCompile(`(?:^|\s)1[.)]\s+\S.*\s2[.)]\s+\S`)
	pressEnter = regexp.MustCompile(`(?i)(press (enter|return|any key) to (continue|confirm|proceed|accept)|\benter to (confirm|select|continue|accept)\b)`)
	yesNo      = regexp.MustCompile(`(?i)(\[y/n\]|\(y/n\)|\[yes/no\]|\(yes/no[^)]*\)|\by/n)\s*[?:>]?\s*$`)
	secretAsk  = regexp.MustCompile(`(?i)(password|passphrase|passcode|verification code|one-time code)[^:]{0,60}:\s*$`)
)

// dialogRows is how far up from the bottom a dialog is looked for; the greatest that was measured has 16 rows.
const dialogRows = 20

// dialog reports whether an Enter would answer a question instead of sending a prompt, and the row that says so. A
// visible composer excludes a dialog: those of all known agents take its place.
func (k Kind) dialog(s Screen) (row string, ok bool) {
	if _, there := k.composer(s); there {
		return "", false
	}
	return k.dialogIn(s.tail(dialogRows))
}

// dialogIn looks for a dialog in rows.
func (k Kind) dialogIn(rows []string) (row string, ok bool) {
	for _, r := range rows {
		if anyMatch(k.Hints.Modal, r) {
			return cleanText(sides.ReplaceAllString(r, "")), true
		}
	}
	return anyDialog(rows)
}

// anyDialog finds menus, yes/no questions and questions for a secret in the last rows of a screen.
func anyDialog(rows []string) (string, bool) {
	if len(rows) == 0 {
		return "", false
	}
	last := rows[len(rows)-1]
	if yesNo.MatchString(last) || secretAsk.MatchString(last) {
		return cleanText(last), true
	}
	if row, ok := anyMenu(rows); ok {
		return row, true
	}
	for i := len(rows) - 1; i >= 0 && i >= len(rows)-3; i-- {
		if menuInline.MatchString(rows[i]) || pressEnter.MatchString(rows[i]) {
			return cleanText(sides.ReplaceAllString(rows[i], "")), true
		}
	}
	return "", false
}

// anyMenu finds a numbered menu with a cursor on one of at least two options in a row, near the bottom.
func anyMenu(rows []string) (string, bool) {
	cursor, count, prev, end := "", 0, 0, -1
	for i, r := range rows {
		m := menuOption.FindStringSubmatch(r)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		if n != prev+1 || n == 1 {
			cursor, count = "", 0
		}
		prev = n
		count++
		if menuCursor.MatchString(r) {
			cursor = r
		}
		if cursor != "" && count >= 2 {
			end = i
		}
	}
	if end < 0 || len(rows)-1-end > 4 {
		return "", false
	}
	return cleanText(sides.ReplaceAllString(cursor, "")), true
}

// ink is what of a text survives wrapping, boxes, fonts and width tables: letters, digits and most ASCII punctuation.
func ink(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r > ' ' && r < 0x7F && r != '|' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pasted matches what agents show in place of a long paste.
var pasted = regexp.MustCompile(`(?i)\[(?:#\d+ )?past(?:e|ed)\b[^\]\n]{0,60}\]`)

// markRunes is how much of the ends of a text is looked for on the screen: enough to be this text and no other, and
// short enough to fit into a field that shows only a part.
const markRunes = 24

// mark is what to look for on the screen to see a text.
type mark struct{ head, tail string }

func markOf(text string) mark {
	r := []rune(ink(text))
	n := min(len(r), markRunes)
	return mark{head: string(r[:n]), tail: string(r[len(r)-n:])}
}

// none reports a text without ink, such as one of pictures alone.
func (m mark) none() bool { return m.tail == "" }

// count says how often the text, or a stand-in for a long paste, can be seen in a piece of screen.
func (m mark) count(rows string) (texts, standIns int) {
	standIns = len(pasted.FindAllString(rows, -1))
	if m.none() {
		return 0, standIns
	}
	in := ink(rows)
	return max(strings.Count(in, m.tail), strings.Count(in, m.head)), standIns
}
