package repofile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"termic/internal/fault"
)

const whole = `# how we run agents
version: 1
sandbox:
  mode: enforce-fs
  mcp: false
  projects: [web, api]
  agents:
    - claude
  read: [/opt/sdk]
  write: [$HOME/.cache/go]
  hosts:
    - example.com
    - "*.example.com"
scripts:
  archive: make clean
  setup: |
    npm ci
    make
  preview_url: http://localhost:$TERMIC_PORT
exclude: [dist]
`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := File{Digest: digest([]byte(whole)), Text: whole, Mode: "enforce-fs", NoMCP: true, Projects: []string{"web", "api"}, Agents: []string{"claude"},
		Read: []string{"/opt/sdk"}, Write: []string{"$HOME/.cache/go"}, Hosts: []string{"example.com", "*.example.com"},
		Scripts: []Script{{"setup", "npm ci\nmake\n"}, {"archive", "make clean"}}}
	if diff := cmp.Diff(want, got); diff != "" || !got.Proposes() {
		t.Errorf("%s", diff)
	}
	for raw, want := range map[string]File{
		"":                                   {},
		"# nothing\n":                        {},
		"---\n":                              {},
		"version: 1":                         {},
		"exclude: [a]\nextra_named_ports: 3": {},
		"sandbox:\n":                         {},
		"sandbox: {mcp: true}":               {},
		"sandbox: {projects: []}":            {Projects: []string{}},
		"sandbox: {agents: null}":            {Agents: []string{}},
		"sandbox: {hosts: null}":             {Hosts: []string{}},
		"scripts: {setup: '  ', run: null}":  {},
		// The names that other readers know: on means the tightest, and an explicit mode does not loosen it.
		"sandbox: {enabled_by_default: true}":                    {Mode: "enforce"},
		"sandbox: {enabled_by_default: true, mode: off}":         {}, // off is a truth value in some dialects, and no text here
		"sandbox: {enabled_by_default: true, mode: \"monitor\"}": {Mode: "enforce"},
		"sandbox: {allowed_hosts: [a.b], hosts: [c.d]}":          {Hosts: []string{"a.b", "c.d"}},
		"sandbox: {write: [/a], allowed_paths: [/b]}":            {Write: []string{"/a", "/b"}},
	} {
		got, err := Parse([]byte(raw))
		if strings.Contains(raw, "mode: off}") {
			if err == nil && got.Mode != "enforce" {
				t.Errorf("%q: %+v", raw, got)
			}
			continue
		}
		want.Digest, want.Text = digest([]byte(raw)), raw
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", raw, err, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	many := "sandbox: {read: [" + strings.Repeat("/a, ", maxList+1) + "]}"
	for raw, want := range map[string]string{
		"sandbox:\n  mdoe: enforce":             `line 2: sandbox has no key "mdoe"`,
		"sandbox:\n\n  mode: tight":             `line 3: "tight" is not a sandbox mode`,
		"sandbox: {mode: [enforce]}":            "line 1: must be a text",
		"sandbox: {mcp: no-way}":                "must be true or false",
		"sandbox: [mode]":                       "sandbox must be a list of keys",
		"[]":                                    "the file must be",
		"- a":                                   "the file must be",
		"text":                                  "the file must be",
		"version: 2":                            "version \"2\" is not known",
		"sandbox: {mode: monitor}\nsandbox: {}": "stands twice",
		"sandbox: {mcp: false, mcp: true}":      "stands twice",
		"a: 1\n---\nb: 2":                       "more than one document",
		"a: [":                                  "line 1",
		"sandbox: {projects: web}":              "must be a list",
		"sandbox: {projects: [1]}":              "must be a text",
		"sandbox: {read: [\"\"]}":               "an item is empty",
		"sandbox: {read: [\"/a\\nb\"]}":         "control character",
		"x: &a {mode: off}\nsandbox: *a":        "sandbox must be",
		"x: &a {mcp: false}\nsandbox: {<<: *a}": "a key must be a plain word",
		"scripts: {setup: [a]}":                 "must be a text",
		"scripts: {setup: \"a\\0b\"}":           "zero byte",
		"a: \xff":                               "not UTF-8",
		many:                                    "at most 256",
	} {
		if _, err := Parse([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", raw, err, want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if _, found, err := Read(dir); found || err != nil {
		t.Errorf("nothing there: %v, %v", found, err)
	}
	check(t, os.WriteFile(path, []byte(whole), 0o644))
	if f, found, err := Read(dir); err != nil || !found || f.Mode != "enforce-fs" {
		t.Errorf("%+v, %v, %v", f, found, err)
	}
	for what, put := range map[string]func(){
		"a link":   func() { check(t, os.Symlink(filepath.Join(dir, "elsewhere"), path)) },
		"a folder": func() { check(t, os.Mkdir(path, 0o755)) },
		"too long": func() { check(t, os.WriteFile(path, make([]byte, MaxSize+1), 0o644)) },
		"broken":   func() { check(t, os.WriteFile(path, []byte("a: ["), 0o644)) },
	} {
		check(t, os.RemoveAll(path))
		check(t, os.WriteFile(filepath.Join(dir, "elsewhere"), []byte("version: 1"), 0o644))
		put()
		if _, found, err := Read(dir); found || fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v, %v", what, found, err)
		}
	}
}

// FuzzParse: whatever stands in the file, it is understood or refused, and what it proposes is bounded.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("sandbox: {<<: {mode: off}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse(raw)
		if err != nil {
			return
		}
		for _, l := range [][]string{file.Projects, file.Agents, file.Read, file.Write, file.Hosts} {
			if len(l) > 2*maxList {
				t.Errorf("%d items", len(l))
			}
			for _, s := range l {
				if s == "" || len(s) > maxItem || strings.ContainsAny(s, "\x00\n\x1b") {
					t.Errorf("item %q", s)
				}
			}
		}
		if file.Mode != "" && !strings.Contains(fmt.Sprint(modes), file.Mode) {
			t.Errorf("mode %q", file.Mode)
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestScriptsThatAreNotRun: a file that has none but scripts which Termic does not run asks for nothing.
func TestScriptsThatAreNotRun(t *testing.T) {
	for text, proposes := range map[string]bool{
		"scripts: {run: npm start, archive: make clean}":            false,
		"scripts: {run: npm start, setup: npm ci}":                  true,
		"scripts: {archive: x}\nsandbox: {hosts: [example.com]}":    true,
		"scripts: {archive: x}\nsandbox: {mode: enforce, read: []}": false,
	} {
		f, err := Parse([]byte(text))
		if err != nil || f.Proposes() != proposes {
			t.Errorf("%q: %v, %v", text, f.Proposes(), err)
		}
	}
}

// TestBombs: a file that is made to use memory or time up is refused, or read, soon and at little cost.
func TestBombs(t *testing.T) {
	aliases := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 40; i++ {
		aliases += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	var keys strings.Builder
	for i := 0; keys.Len() < MaxSize-20; i++ {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for what, text := range map[string]string{
		"aliases of aliases": aliases, "aliases in a knob": aliases + "sandbox: *a39\n", "an alias of itself": "sandbox: &a\n  read: *a\n",
		"merges": aliases + "sandbox:\n  <<: *a39\n", "nested lists": strings.Repeat("[", MaxSize-1), "nested maps": strings.Repeat("{a: ", MaxSize/4),
		"nested blocks": strings.Repeat("- ", MaxSize/2), "many keys": keys.String(), "many documents": strings.Repeat("---\n", MaxSize/4),
		"a long word": "sandbox: {mode: " + strings.Repeat("x", MaxSize-40) + "}", "anchors": strings.Repeat("- &a x\n", MaxSize/7),
		"tags": "sandbox: !!python/object/apply:os.system [id]\n", "a big number": "version: " + strings.Repeat("9", MaxSize-20),
		"a binary": "sandbox: {mode: !!binary ZW5mb3JjZQ==}\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		f, err := Parse([]byte(text))
		runtime.ReadMemStats(&after)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: took %s", what, took)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
			t.Errorf("%s: used %d MiB", what, used>>20)
		}
		if err == nil && (f.Mode != "" || f.Proposes()) {
			t.Errorf("%s: %+v", what, f)
		}
	}
}
