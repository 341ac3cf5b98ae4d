package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"termic/internal/near"
	"termic/internal/tomledit"
)

// snapshot is what one reading of the file gave. It is never changed.
type snapshot struct {
	settings Settings
	values   map[string]any // by key of Table, as the file or the default spells it
	problems []Problem
	notes    []Problem // unknown keys
	broken   bool      // the file did not parse
}

// defaults is the snapshot of an empty file.
func defaults(home string) *snapshot {
	s := &snapshot{values: map[string]any{}, settings: Settings{Keys: map[string]string{}}}
	for _, one := range Table() {
		s.values[one.Key] = one.Default
		one.store(&s.settings, one.Default, home)
	}
	return s
}

// Defaults returns the settings of an empty file; home replaces ~.
func Defaults(home string) Settings { return defaults(home).settings }

// read makes a snapshot of a document. Where a value is not good, that of prev is used.
func read(doc []byte, home string, prev *snapshot) *snapshot {
	m, err := tomledit.Decode(doc)
	if err != nil {
		return unreadable(prev, parseProblem(err))
	}
	r := &reading{line: tomledit.Lines(doc), home: home, prev: prev, next: defaults(home)}
	r.singles(m)
	r.agents(m["agents"])
	r.prompts(m["prompts"])
	r.keys(m["keys"])
	r.unknown(m)
	byLine := func(a, b Problem) int { return a.Line - b.Line }
	slices.SortStableFunc(r.next.problems, byLine)
	slices.SortStableFunc(r.next.notes, byLine)
	r.next.problems = capped(r.next.problems, "problems")
	r.next.notes = capped(r.next.notes, "keys that are not known")
	return r.next
}

// capped keeps a list readable and counts the rest.
func capped(list []Problem, what string) []Problem {
	more := len(list) - maxNamed
	if more <= 0 {
		return list
	}
	return append(list[:maxNamed:maxNamed], Problem{Text: fmt.Sprintf("and %d more %s", more, what)})
}

// unreadable is the last snapshot with the problem that keeps the file from being read.
func unreadable(prev *snapshot, p Problem) *snapshot {
	s := *prev
	s.problems, s.broken = []Problem{p}, true
	return &s
}

func parseProblem(err error) Problem {
	p := Problem{Text: "the file does not parse: " + err.Error()}
	if e, ok := asSyntax(err); ok {
		p.Line, p.Text = e.Line, "the file does not parse: "+e.Reason
	}
	return p
}

// reading is the work of read.
type reading struct {
	line func(path []string) int
	home string
	prev *snapshot
	next *snapshot
}

// bad notes a value that was not taken.
func (r *reading) bad(path []string, key, why string) {
	r.next.problems = append(r.next.problems, Problem{Line: r.line(path), Key: key,
		Text: key + " " + why + "; the last good value stays"})
}

func (r *reading) singles(m map[string]any) {
	wrong := map[string]bool{} // sections that are no tables
	for _, s := range Table() {
		section, key, _ := strings.Cut(s.Key, ".")
		v, ok := m[section]
		if ok {
			table, isTable := v.(map[string]any)
			if !isTable {
				if !wrong[section] {
					r.bad([]string{section}, section, "must be a table, written as ["+section+"]")
				}
				wrong[section] = true
				r.keep(s)
				continue
			}
			v, ok = table[key]
		}
		if !ok {
			continue
		}
		good, why := s.accept(v)
		if why != "" {
			r.bad([]string{section, key}, s.Key, why)
			r.keep(s)
			continue
		}
		r.next.values[s.Key] = good
		s.store(&r.next.settings, good, r.home)
	}
}

// keep takes the last good value of a setting.
func (r *reading) keep(s Setting) {
	v := r.prev.values[s.Key]
	r.next.values[s.Key] = v
	s.store(&r.next.settings, v, r.home)
}

// entries splits an array of tables, naming what is none; false if it is no array.
func (r *reading) entries(v any, name string, most int) ([]map[string]any, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	if !ok {
		r.bad([]string{name}, name, "must be written as [["+name+"]]")
		return nil, false
	}
	if len(list) > most {
		r.next.problems = append(r.next.problems, Problem{Line: r.line([]string{name, strconv.Itoa(most)}), Key: name,
			Text: fmt.Sprintf("%s has more than %d entries; the rest is not taken", name, most)})
		list = list[:most]
	}
	out := make([]map[string]any, len(list))
	for i, e := range list {
		if out[i], ok = e.(map[string]any); !ok {
			r.next.problems = append(r.next.problems, Problem{Line: r.line([]string{name, strconv.Itoa(i)}), Key: name,
				Text: fmt.Sprintf("%s must hold tables only", name)})
		}
	}
	return out, true
}

// entryID returns the id of an entry that may be used, or names what is wrong with it.
func (r *reading) entryID(e map[string]any, name string, i int, seen map[string]bool) (string, bool) {
	at := []string{name, strconv.Itoa(i)}
	text, _ := e["id"].(string)
	why := id(text)
	if name == "prompts" {
		why = promptID(text)
	}
	if why == "" && seen[text] {
		why = "is used twice; the first entry counts"
	}
	if why != "" {
		if _, has := e["id"]; has {
			at = append(at, "id")
		}
		r.next.problems = append(r.next.problems, Problem{Line: r.line(at), Key: name,
			Text: fmt.Sprintf("id %q in %s %s", text, name, why)})
		return "", false
	}
	seen[text] = true
	return text, true
}

func (r *reading) agents(v any) {
	seen := map[string]bool{}
	entries, ok := r.entries(v, "agents", maxAgents)
	if !ok {
		r.next.settings.Agents = r.prev.settings.Agents
	}
	for i, e := range entries {
		if e == nil {
			continue
		}
		name, ok := r.entryID(e, "agents", i, seen)
		if !ok {
			continue
		}
		old := agentByID(r.prev.settings.Agents, name)
		var a Agent
		for _, f := range AgentFields() {
			r.field(e, f, "agents", name, i, f.agent(&a), f.agent(&old))
		}
		r.next.settings.Agents = append(r.next.settings.Agents, a)
	}
}

func agentByID(list []Agent, name string) Agent {
	for _, a := range list {
		if a.ID == name {
			return a
		}
	}
	return Agent{}
}

func (r *reading) prompts(v any) {
	seen := map[string]bool{}
	entries, ok := r.entries(v, "prompts", maxPrompts)
	if !ok {
		r.next.settings.Prompts = r.prev.settings.Prompts
	}
	for i, e := range entries {
		if e == nil {
			continue
		}
		name, ok := r.entryID(e, "prompts", i, seen)
		if !ok {
			continue
		}
		var p, old Prompt
		for _, have := range r.prev.settings.Prompts {
			if have.ID == name {
				old = have
			}
		}
		for _, f := range PromptFields() {
			r.field(e, f, "prompts", name, i, f.note(&p), f.note(&old))
		}
		r.next.settings.Prompts = append(r.next.settings.Prompts, p)
	}
}

// field stores one field of an entry at to; one that is not good keeps what is at old.
func (r *reading) field(e map[string]any, f Field, list, name string, i int, to, old any) {
	path := strings.Split(f.Key, ".")
	v, ok := any(e), true
	for _, step := range path {
		table, isTable := v.(map[string]any)
		if !isTable {
			return // signals is no table: unknown names it
		}
		if v, ok = table[step]; !ok {
			return
		}
	}
	good, why := f.accept(v)
	if why == "" {
		put(to, good)
		return
	}
	r.bad(append([]string{list, strconv.Itoa(i)}, path...), list+"."+name+"."+f.Key, why)
	if v, set := take(old); set {
		put(to, v)
	}
}

func (r *reading) keys(v any) {
	if v == nil {
		return
	}
	table, ok := v.(map[string]any)
	if !ok {
		r.bad([]string{"keys"}, "keys", "must be a table, written as [keys]")
		r.next.settings.Keys = maps.Clone(r.prev.settings.Keys)
		return
	}
	for _, action := range slices.Sorted(maps.Keys(table)) {
		text, why := acceptKey(action, table[action])
		if why == "" && len(r.next.settings.Keys) >= maxKeys {
			why = fmt.Sprintf("is one of more than %d shortcuts", maxKeys)
		}
		if why != "" {
			r.bad([]string{"keys", action}, "keys."+action, why)
			if old, ok := r.prev.settings.Keys[action]; ok {
				r.next.settings.Keys[action] = old
			}
			continue
		}
		r.next.settings.Keys[action] = text
	}
}

// acceptKey checks one shortcut.
func acceptKey(action string, v any) (text, why string) {
	text, ok := v.(string)
	switch {
	case !ok:
		return "", "must be a text in quotes"
	case len(action) > 100 || len(text) > 100 || oneLine(action) != "" || oneLine(text) != "":
		return "", "must be one short line"
	}
	return text, ""
}

// unknown notes the keys that have no meaning here; they are kept.
func (r *reading) unknown(m map[string]any) {
	known := map[string]bool{"agents": true, "prompts": true, "keys": true}
	for _, s := range Table() {
		section, _, _ := strings.Cut(s.Key, ".")
		known[section], known[s.Key] = true, true
	}
	r.unknownIn(m, known, "", nil)
	entry := map[string]bool{}
	for _, f := range AgentFields() {
		section, _, _ := strings.Cut(f.Key, ".")
		entry[section], entry[f.Key] = true, true
	}
	r.unknownEntries(m["agents"], "agents", entry)
	entry = map[string]bool{}
	for _, f := range PromptFields() {
		entry[f.Key] = true
	}
	r.unknownEntries(m["prompts"], "prompts", entry)
}

func (r *reading) unknownEntries(v any, name string, known map[string]bool) {
	list, _ := v.([]any)
	for i, e := range list {
		if table, ok := e.(map[string]any); ok {
			r.unknownIn(table, known, "", []string{name, strconv.Itoa(i)})
		}
	}
}

// unknownIn notes unknown keys of a table and of the known sections in it.
func (r *reading) unknownIn(m map[string]any, known map[string]bool, prefix string, at []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		path := append(at[:len(at):len(at)], key)
		if !known[prefix+key] {
			name := strings.Join(path, ".")
			r.next.notes = append(r.next.notes, Problem{Line: r.line(path), Key: name, Text: name + " is not known; it is kept and has no effect" + meant(key, known, prefix)})
			continue
		}
		sub, ok := m[key].(map[string]any)
		if !ok || prefix != "" || !hasSection(known, key) {
			if !ok && hasSection(known, key) && len(at) > 0 {
				r.bad(path, strings.Join(path, "."), "must be a table")
			}
			continue
		}
		r.unknownIn(sub, known, key+".", path)
	}
}

// hasSection reports whether key is a table of known keys.
func hasSection(known map[string]bool, key string) bool {
	for k := range known {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

// meant guesses which of the known keys of a table an unknown one stands for.
func meant(key string, known map[string]bool, prefix string) string {
	var have []string
	for k := range known {
		if rest, ok := strings.CutPrefix(k, prefix); ok && !strings.Contains(rest, ".") {
			have = append(have, rest)
		}
	}
	if guess, ok := near.Match(key, have); ok {
		return " (did you mean " + guess + "?)"
	}
	return ""
}
