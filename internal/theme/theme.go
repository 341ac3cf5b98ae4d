// Package theme reads the colour themes that a person wrote for the window: JSON files in the folder "themes" beside the settings.
//
// It promises that what it returns holds nothing but known names and plain colours, so that it can be put into a style sheet as it
// is. A file that is wrong is left out, and a value that is wrong is dropped; both are said. It does not judge whether a theme can
// be read: the window measures that, since what a theme leaves out comes from the window's own colours.
package theme

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/internal/near"
)

// Limits of themes. They are far above use.
const (
	MaxFiles = 200      // files that are read
	maxFile  = 64 << 10 // bytes of one
	maxName  = 60       // characters of a name
)

// Theme is one file that could be read.
type Theme struct {
	ID       string            // name of the file without .json
	Name     string            // as it is shown
	Scheme   string            // dark or light: whose colours hold for what is left out
	UI       map[string]string // colours of the window by token, such as "frame"
	Terminal map[string]string // colours of terminals by name, such as "brightBlue"
	Problems []string          // values that were dropped, in sentences
}

// UITokens are the names that a theme may set of the window, TerminalColors those of terminals.
var (
	UITokens = strings.Fields(`content frame raised overlay field hover active active-over line line-2 line-3
		text text-2 text-3 primary primary-hover on-primary blue blue-tint amber amber-tint amber-line green green-tint
		red red-tint red-line red-fill on-red focus add add-word add-text del del-word del-text void
		t-dim t-blue t-green t-amber t-red t-cyan t-rust t-violet scrim scrim-soft`)
	TerminalColors = strings.Fields(`background foreground cursor cursorAccent selectionBackground selectionForeground
		selectionInactiveBackground black red green yellow blue magenta cyan white brightBlack brightRed brightGreen brightYellow
		brightBlue brightMagenta brightCyan brightWhite`)
)

// id is a file name that can stand in a setting; color is #rgb, #rgba, #rrggbb or #rrggbbaa.
var (
	id    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	color = regexp.MustCompile(`^#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$`)
)

// ValidID reports whether a text can be the id of a theme.
func ValidID(text string) bool { return id.MatchString(text) }

// Read returns the themes of a folder by id, and what is wrong with the files that it left out. A folder that is not there has
// none.
func Read(dir string) (themes []Theme, problems []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read themes: %w", err)
	}
	read := 0
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if read++; read > MaxFiles {
			problems = append(problems, fmt.Sprintf("There are more than %d themes; the others were left out.", MaxFiles))
			break
		}
		if !ValidID(name) {
			problems = append(problems, fmt.Sprintf("%s: the name of a theme's file has letters, digits, dots, hyphens and underscores, at most 64.", shown(e.Name())))
			continue
		}
		t, err := readOne(filepath.Join(dir, e.Name()))
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v.", e.Name(), err))
			continue
		}
		t.ID = name
		if t.Name == "" {
			t.Name = name
		}
		themes = append(themes, t)
	}
	return themes, problems, nil
}

// RGB is a colour as a theme writes it, without how transparent it is. ok is false for anything else.
func RGB(text string) (r, g, b uint8, ok bool) {
	if !color.MatchString(text) {
		return 0, 0, 0, false
	}
	digits := text[1:]
	if len(digits) < 6 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits[:6], 16, 32)
	return uint8(n >> 16), uint8(n >> 8), uint8(n), err == nil
}

// file is how a theme is written.
type file struct {
	Name     string         `json:"name"`
	Scheme   string         `json:"colorScheme"`
	UI       map[string]any `json:"ui"`
	Terminal map[string]any `json:"terminal"`
}

func readOne(path string) (Theme, error) {
	b, err := content(path)
	if err != nil {
		return Theme{}, err
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&f); err != nil {
		return Theme{}, fmt.Errorf("it is not a theme in JSON (%s)", where(b, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Theme{}, errors.New("something follows after the theme")
	}
	if f.Scheme != "dark" && f.Scheme != "light" {
		return Theme{}, errors.New(`"colorScheme" has to be "dark" or "light"`)
	}
	t := Theme{Name: shown(f.Name), Scheme: f.Scheme}
	t.UI = t.colors("ui", f.UI, UITokens)
	t.Terminal = t.colors("terminal", f.Terminal, TerminalColors)
	return t, nil
}

// content reads a file that is one: a pipe in its place would hold the app.
func content(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be read")
	case !st.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case st.Size() > maxFile:
		return nil, fmt.Errorf("it has more than %d KiB", maxFile>>10)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	return b, nil
}

// where says what the decoder found, and on which line.
func where(b []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		return fmt.Sprintf("line %d: %q is a %s", line(b, kind.Offset), kind.Field, kind.Value)
	}
	if at < 0 {
		return "it ends too early"
	}
	return fmt.Sprintf("line %d", line(b, at))
}

func line(b []byte, at int64) int {
	return 1 + bytes.Count(b[:min(max(at, 0), int64(len(b)))], []byte("\n"))
}

// colors keeps what is a colour with a known name, and says what else there was.
func (t *Theme) colors(part string, given map[string]any, known []string) map[string]string {
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, ok := given[name].(string)
		switch {
		case !slices.Contains(known, name):
			say := fmt.Sprintf("There is no colour %s.%s.", part, shown(name))
			if guess, ok := near.Match(name, known); ok {
				say += fmt.Sprintf(" Did you mean %q?", guess)
			}
			t.Problems = append(t.Problems, say)
		case !ok || !color.MatchString(value):
			t.Problems = append(t.Problems, fmt.Sprintf("%s.%s is not a colour such as \"#1b61b0\".", part, name))
		default:
			kept[name] = value
		}
	}
	return kept
}

// shown is a text from a file as a person may see it: one line of bounded length.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName]) + "…"
	}
	return strings.TrimSpace(s)
}
