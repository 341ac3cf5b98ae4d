package settings

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/settings.md anew")

const manual = "../docs/settings.md"

// TestSettingsDoc holds docs/settings.md to the table.
func TestSettingsDoc(t *testing.T) {
	want := settingsDoc()
	if *update {
		if err := os.WriteFile(manual, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(manual)
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("docs/settings.md is not what the table says (%v); run: go test ./settings -run TestSettingsDoc -update", err)
	}
}

func settingsDoc() []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings

<!-- Made from settings/table.go and settings/entries.go by: go test ./settings -run TestSettingsDoc -update -->

Settings live in ` + "`settings.toml`" + ` in the data folder. Change them on the settings page, with ` + "`termic settings set KEY VALUE`" + `, or by
hand: the app takes a hand edit up while it runs, and keeps comments, order and keys that it does not know when it writes.

A file that does not parse is never overwritten: the app says on which line it stopped, runs on the last good settings, and
refuses to change any until the file is corrected. A value that is not allowed is named with its line, and only that key keeps
its last good value.

`)
	section := ""
	for _, s := range Table() {
		if name, _, _ := strings.Cut(s.Key, "."); name != section {
			section = name
			fmt.Fprintf(&b, "## [%s]\n\n| key | value | default | meaning |\n|---|---|---|---|\n", section)
		}
		_, key, _ := strings.Cut(s.Key, ".")
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", key, s.values(), literalOf(s.Default), s.Doc)
		if !strings.HasPrefix(next(s.Key), section+".") {
			b.WriteString("\n")
		}
	}
	b.WriteString("## [[agents]]\n\nOne entry for each agent of your own, or for a built-in one that you change. Keys that are left out keep their built-in value.\n\n")
	fieldTable(&b, AgentFields())
	b.WriteString("\n## [[prompts]]\n\nOne entry for each prompt of the library.\n\n")
	fieldTable(&b, PromptFields())
	b.WriteString(`
## [keys]

A shortcut for each action, such as ` + "`newTask = \"Ctrl+Shift+Y\"`" + `. An empty text takes the shortcut away. The settings page shows the
actions and names what it could not take; it writes their names here when you change one.

## An example

` + "```toml" + `
[tasks]
dir = "~/code/tasks"

[[agents]]
id = "mine"
name = "My agent"
command = "/opt/mine/bin/agent"
args = ["--no-splash"]
env = { MINE_COLOR = "1" }

[[agents]]
id = "claude"            # built in: only this key changes
yolo_args = []
` + "```" + `
`)
	return b.Bytes()
}

// next returns the key after one, empty at the end.
func next(key string) string {
	table := Table()
	for i, s := range table {
		if s.Key == key && i+1 < len(table) {
			return table[i+1].Key
		}
	}
	return ""
}

// values says in words what a setting may be.
func (s Setting) values() string {
	switch s.Kind {
	case Bool:
		return "true or false"
	case Number:
		return fmt.Sprintf("%d to %d %s", s.Min, s.Max, s.Unit)
	case Choice:
		return "`" + strings.Join(s.Choices, "`, `") + "`"
	case Path:
		return "path, absolute or from `~/`"
	case List:
		return "list of texts"
	}
	return fmt.Sprintf("text, at most %d bytes", s.Max)
}

func literalOf(v any) string {
	if text, ok := v.(string); ok {
		return `"` + text + `"`
	}
	return fmt.Sprint(v)
}

func fieldTable(b *bytes.Buffer, fields []Field) {
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, f := range fields {
		kind := map[Kind]string{Bool: "true or false", Text: "text", List: "list of texts", Map: "table of texts"}[f.Kind]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Key, kind, f.Doc)
	}
}

// TestExampleOfTheManual reads the example as a user would paste it.
func TestExampleOfTheManual(t *testing.T) {
	_, rest, _ := strings.Cut(string(settingsDoc()), "```toml\n")
	example, _, _ := strings.Cut(rest, "```")
	f := fresh(t, example)
	if s := f.Get(); f.Problem() != "" || len(f.Notes()) > 0 || s.Tasks.Dir != home+"/code/tasks" || len(s.Agents) != 2 || s.Agents[0].Env["MINE_COLOR"] != "1" {
		t.Errorf("%+v, %s", s, f.Problem())
	}
}
