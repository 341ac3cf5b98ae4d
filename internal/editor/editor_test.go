package editor

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"code":                    {"code"},
		"  code\t--wait  ":        {"code", "--wait"},
		`"/a b/code" --x='1 2'`:   {"/a b/code", "--x=1 2"},
		`a\ b c\"d`:               {"a b", `c"d`},
		`'$(rm -rf ~)' ; | > "&"`: {"$(rm -rf ~)", ";", "|", ">", "&"},
		`x ""`:                    {"x", ""},
		`'a\b'`:                   {`a\b`},
		"":                        nil,
	} {
		got, err := Split(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`'`, `a "b`, `c\`} {
		if _, err := Split(text); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Law: what is quoted comes out as it was, whatever it holds.
func TestSplitGivesBackWhatWasQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.StringMatching(`[^\x00]{1,8}`), 1, 4).Draw(t, "words")
		var quoted []string
		for _, w := range want {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		if got, err := Split(strings.Join(quoted, " ")); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	})
}

// has is a machine with these programs.
func has(programs ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		if slices.Contains(programs, name) {
			return "/bin/" + filepath.Base(name), nil
		}
		return "", errors.New("none")
	}
}

func TestChoose(t *testing.T) {
	file, folder := Target{File: "/w/a b", Line: 7, Dir: "/w"}, Target{Dir: "/w"}
	desktop := map[string]string{"DISPLAY": ":0", "EDITOR": "vim -p"}
	for _, c := range []struct {
		name     string
		w        Wish
		t        Target
		want     string
		terminal bool
	}{
		{"a known one", Wish{Command: "code", Look: has("code")}, file, "/bin/code --goto /w/a b:7", false},
		{"with its own arguments", Wish{Command: "code -n", Look: has("code")}, folder, "/bin/code -n /w", false},
		{"an unknown one", Wish{Command: "mine -x", Look: has("mine")}, file, "/bin/mine -x /w/a b", false},
		{"places to fill", Wish{Command: "mine {DIR} +{LINE}:{FILE} {LINE}", Look: has("mine")}, file, "/bin/mine /w +7:/w/a b 7", false},
		{"no line", Wish{Command: "mine {FILE}:{LINE}", Look: has("mine")}, Target{File: "/w/a", Dir: "/w"}, "/bin/mine /w/a:1", false},
		{"one for terminals", Wish{Command: "nvim", Look: has("nvim")}, file, "/bin/nvim +7 /w/a b", true},
		{"what is put in is not filled again", Wish{Command: "mine {FILE}", Look: has("mine")}, Target{File: "/w/{DIR}", Dir: "/w"}, "/bin/mine /w/{DIR}", false},
		{"the first of a desktop", Wish{Env: desktop, Look: has("kate", "zed", "vim")}, file, "/bin/zed /w/a b:7", false},
		{"a folder goes to the system", Wish{Env: desktop, Look: has("xdg-open", "vim")}, folder, "/bin/xdg-open /w", false},
		{"a file never does", Wish{Env: desktop, Look: has("xdg-open", "vim")}, file, "/bin/vim -p +7 /w/a b", true},
		{"no desktop", Wish{Env: map[string]string{}, Look: has("code", "nano")}, file, "/bin/nano +7 /w/a b", true},
		{"VISUAL first", Wish{Env: map[string]string{"VISUAL": "hx", "EDITOR": "vi"}, Look: has("hx", "vi")}, file, "/bin/hx /w/a b:7", true},
		{"as text on a Mac", Wish{GOOS: "darwin", Look: has("open")}, file, "/bin/open -t /w/a b", false},
	} {
		if c.w.GOOS == "" {
			c.w.GOOS = "linux"
		}
		got, err := Choose(c.w, c.t)
		if err != nil || strings.Join(got.Argv, " ") != c.want || got.Terminal != c.terminal {
			t.Errorf("%s: %+v, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, w := range []Wish{{Command: "nosuch", Look: has("vim")}, {Look: has()}, {Env: desktop, Look: has()}} {
		w.GOOS = "linux"
		if _, err := Choose(w, file); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
