package theme

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "night.json", `{"name":"Night\u001b[31m sky","colorScheme":"dark","ui":{"frame":"#101","text":"#E7E8EA80","fram":"#111","line":"red; }","focus":7},"terminal":{"brightBlue":"#abcdef","__proto__":"#fff"}}`)
	write(t, dir, "plain.json", `{"colorScheme":"light"}`)
	themes, problems, err := Read(dir)
	if err != nil || len(problems) > 0 || len(themes) != 2 {
		t.Fatal(themes, problems, err)
	}
	night := themes[0]
	if night.ID != "night" || night.Name != "Night [31m sky" || night.Scheme != "dark" {
		t.Errorf("%+v", night)
	}
	if len(night.UI) != 2 || night.UI["frame"] != "#101" || night.UI["text"] != "#E7E8EA80" || len(night.Terminal) != 1 {
		t.Errorf("kept %v %v", night.UI, night.Terminal)
	}
	want := []string{`ui.focus is not a colour such as "#1b61b0".`, `There is no colour ui.fram. Did you mean "frame"?`, `ui.line is not a colour such as "#1b61b0".`, `There is no colour terminal.__proto__.`}
	if !slices.Equal(night.Problems, want) {
		t.Errorf("problems:\n%s", strings.Join(night.Problems, "\n"))
	}
	if themes[1].Name != "plain" {
		t.Errorf("a theme without a name: %+v", themes[1])
	}
}

// TestBadFiles: each is left out with a sentence, and holds nobody up.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", "{\n\"name\": \"x\",\n\"ui\": }")
	write(t, dir, "b.json", `{"colorScheme":"blue"}`)
	write(t, dir, "c.json", `{"colorScheme":"dark"} more`)
	write(t, dir, "d.json", `{"name":`)
	write(t, dir, "e.json", `{"name":7,"colorScheme":"dark"}`)
	write(t, dir, "f.json", strings.Repeat(" ", maxFile+1))
	write(t, dir, "g h.json", `{"colorScheme":"dark"}`)
	write(t, dir, "h.json", "")
	write(t, dir, "readme.txt", "no theme")
	if err := os.Mkdir(filepath.Join(dir, "i.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	notFile(t, filepath.Join(dir, "j.json"))
	if err := os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "k.json")); err != nil {
		t.Fatal(err)
	}
	themes, problems, err := Read(dir)
	if err != nil || len(themes) != 0 {
		t.Fatal(themes, err)
	}
	want := []string{
		`a.json: it is not a theme in JSON (line 3).`, `b.json: "colorScheme" has to be "dark" or "light".`,
		`c.json: something follows after the theme.`, `d.json: it is not a theme in JSON (it ends too early).`,
		`e.json: it is not a theme in JSON (line 1: "name" is a number).`, `f.json: it has more than 64 KiB.`,
		`g h.json: the name of a theme's file has letters, digits, dots, hyphens and underscores, at most 64.`,
		`h.json: it is not a theme in JSON (it ends too early).`, `i.json: it is no file.`, `j.json: it is no file.`, `k.json: it cannot be read.`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
	if themes, problems, err := Read(filepath.Join(dir, "none")); err != nil || themes != nil || problems != nil {
		t.Error("a folder that is not there", themes, problems, err)
	}
}

// TestTokens: a theme can set every colour that the window's style sheet has, and no other.
func TestTokens(t *testing.T) {
	css, err := os.ReadFile("../../frontend/src/ui/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^\s+--([a-z0-9-]+): (?:#|rgba?\()`).FindAllStringSubmatch(string(css), -1) {
		if !slices.Contains(have, m[1]) {
			have = append(have, m[1])
		}
	}
	slices.Sort(have)
	known := slices.Sorted(slices.Values(UITokens))
	if !slices.Equal(have, known) {
		t.Errorf("tokens.css has %v\nthemes may set %v", have, known)
	}
}

func FuzzTheme(f *testing.F) {
	f.Add([]byte(`{"name":"x","colorScheme":"dark","ui":{"frame":"#fff"}}`))
	f.Add([]byte(`{"colorScheme":"light","terminal":{"red":"#fff}"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		write(t, dir, "x.json", string(b))
		themes, _, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range themes {
			for _, v := range append(slices.Collect(maps.Values(one.UI)), slices.Collect(maps.Values(one.Terminal))...) {
				if strings.Trim(v, "#0123456789abcdefABCDEF") != "" || len(v) > 9 {
					t.Errorf("%q got through", v)
				}
			}
		}
	})
}

func TestRGB(t *testing.T) {
	for text, want := range map[string][3]uint8{"#16171a": {0x16, 0x17, 0x1a}, "#FFF": {255, 255, 255}, "#1234": {0x11, 0x22, 0x33}, "#a0b0c0d0": {0xa0, 0xb0, 0xc0}} {
		if r, g, b, ok := RGB(text); !ok || [3]uint8{r, g, b} != want {
			t.Errorf("%s is %d %d %d, %v", text, r, g, b, ok)
		}
	}
	for _, text := range []string{"", "#12", "16171a", "#12345", "red", "#16171g", "#16171a;x"} {
		if _, _, _, ok := RGB(text); ok {
			t.Errorf("%q is a colour", text)
		}
	}
}
