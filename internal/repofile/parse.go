package repofile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// modes from open to tight.
var modes = []string{"off", "monitor", "enforce-fs", "enforce"}

// Parse reads the content of a file. An empty one says nothing.
func Parse(raw []byte) (File, error) {
	f := File{Digest: digest(raw), Text: string(raw)}
	if !utf8.Valid(raw) {
		return f, errors.New("it is not UTF-8 text")
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return f, short(err)
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return f, errors.New("it holds more than one document")
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return f, nil
	}
	root, err := mapping(doc.Content[0], "the file")
	if err != nil {
		return f, err
	}
	for _, e := range root {
		switch e.key {
		case "version":
			if e.value.Value != "1" {
				return f, fmt.Errorf("line %d: version %s is not known", e.value.Line, quoted(e.value.Value))
			}
		case "sandbox":
			err = f.sandbox(e.value)
		case "scripts":
			err = f.scripts(e.value)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// sandbox reads the part in which every key counts. Some keys have the names that other readers of the file know.
func (f *File) sandbox(n *yaml.Node) error {
	entries, err := mapping(n, "sandbox")
	for _, e := range entries {
		if err != nil {
			return err
		}
		switch e.key {
		case "mode":
			err = f.tighten(e.value)
		case "enabled_by_default":
			var on bool
			if on, err = boolean(e.value); on {
				f.atLeast("enforce")
			}
		case "mcp":
			var on bool
			on, err = boolean(e.value)
			f.NoMCP = err == nil && !on
		case "projects":
			f.Projects, err = texts(e.value, f.Projects)
		case "agents":
			f.Agents, err = texts(e.value, f.Agents)
		case "read":
			f.Read, err = texts(e.value, f.Read)
		case "write", "allowed_paths":
			f.Write, err = texts(e.value, f.Write)
		case "hosts", "allowed_hosts":
			f.Hosts, err = texts(e.value, f.Hosts)
		default:
			err = fmt.Errorf("line %d: sandbox has no key %s", e.line, quoted(e.key))
		}
	}
	return err
}

func (f *File) tighten(n *yaml.Node) error {
	mode, err := text(n)
	if err != nil {
		return err
	}
	if !slices.Contains(modes, mode) {
		return fmt.Errorf("line %d: %s is not a sandbox mode; use one of %s", n.Line, quoted(mode), strings.Join(modes, ", "))
	}
	f.atLeast(mode)
	return nil
}

func (f *File) atLeast(mode string) {
	if slices.Index(modes, mode) > slices.Index(modes, f.Mode) {
		f.Mode = mode
	}
}

// scripts reads the commands. What else stands there is for other readers.
func (f *File) scripts(n *yaml.Node) error {
	entries, err := mapping(n, "scripts")
	if err != nil {
		return err
	}
	for _, name := range []string{"setup", "run", "archive"} {
		for _, e := range entries {
			if e.key != name || isNull(e.value) {
				continue
			}
			command, err := text(e.value)
			switch {
			case err != nil:
				return err
			case len(command) > maxCode || strings.ContainsRune(command, 0):
				return fmt.Errorf("line %d: the script %s is too long or holds a zero byte", e.line, name)
			case strings.TrimSpace(command) != "":
				f.Scripts = append(f.Scripts, Script{Name: name, Command: command})
			}
		}
	}
	return nil
}

// entry is one key of a mapping.
type entry struct {
	key   string
	line  int
	value *yaml.Node
}

// mapping lists the keys of a mapping. A repeated key and one that is no text are errors, and so are aliases and merges:
// what a person is shown must be what stands there.
func mapping(n *yaml.Node, what string) ([]entry, error) {
	if isNull(n) {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: %s must be a list of keys and values", n.Line, what)
	}
	seen := map[string]bool{}
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!merge":
			return nil, fmt.Errorf("line %d: a key must be a plain word", k.Line)
		case seen[k.Value]:
			return nil, fmt.Errorf("line %d: %s stands twice", k.Line, quoted(k.Value))
		}
		seen[k.Value] = true
		out = append(out, entry{k.Value, k.Line, v})
	}
	return out, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func boolean(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		var b bool
		if err := n.Decode(&b); err == nil {
			return b, nil
		}
	}
	return false, fmt.Errorf("line %d: must be true or false", n.Line)
}

func text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return "", fmt.Errorf("line %d: must be a text", n.Line)
	}
	return n.Value, nil
}

// texts adds the items of a list to those that another key gave. A list that stands there without items is empty, not
// absent.
func texts(n *yaml.Node, have []string) ([]string, error) {
	if have == nil {
		have = []string{}
	}
	if isNull(n) {
		return have, nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxList {
		return nil, fmt.Errorf("line %d: must be a list of at most %d texts", n.Line, maxList)
	}
	for _, item := range n.Content {
		s, err := text(item)
		switch {
		case err != nil:
			return nil, err
		case s == "" || len(s) > maxItem || strings.ContainsFunc(s, unicode.IsControl):
			return nil, fmt.Errorf("line %d: an item is empty, too long, or holds a control character", item.Line)
		}
		have = append(have, s)
	}
	return have, nil
}

// short takes the library's name off its errors.
func short(err error) error {
	return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " "))
}

// quoted shows a piece of the file in a sentence.
func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s, "?"))
}
