package settings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

func asSyntax(err error) (*tomledit.SyntaxError, bool) {
	return errors.AsType[*tomledit.SyntaxError](err)
}

// target is what a dotted key names: a setting, a shortcut, a field of an entry, or a whole entry.
type target struct {
	setting Setting // Key is not empty
	list    string  // agents, prompts
	entry   string  // id
	field   Field   // Key is empty: the whole entry
	action  string  // of keys
}

// resolve reads a dotted key.
func resolve(key string) (target, error) {
	if s, ok := find(key); ok {
		return target{setting: s}, nil
	}
	section, rest, _ := strings.Cut(key, ".")
	switch section {
	case "keys":
		if rest != "" && oneLine(rest) == "" && len(rest) <= 100 {
			return target{action: rest}, nil
		}
	case "agents", "prompts":
		entry, name, _ := strings.Cut(rest, ".")
		fields, why := AgentFields(), id(entry)
		if section == "prompts" {
			fields, why = PromptFields(), promptID(entry)
		}
		if why != "" {
			break
		}
		if name == "" {
			return target{list: section, entry: entry}, nil
		}
		for _, f := range fields {
			if f.Key == name && name != "id" {
				return target{list: section, entry: entry, field: f}, nil
			}
		}
	}
	return target{}, fault.New(fault.InvalidArgument, "There is no setting %q", key).
		WithHint("`termic settings get` lists them all.").OrNear(key, known(section, rest)).WithData("key", key)
}

// known are the keys that a mistyped one may have been meant for; those of an entry with its own id.
func known(section, rest string) []string {
	var keys []string
	for _, s := range Table() {
		keys = append(keys, s.Key)
	}
	entry, _, _ := strings.Cut(rest, ".")
	for list, fields := range map[string][]Field{"agents": AgentFields(), "prompts": PromptFields()} {
		for _, f := range fields {
			if section == list && f.Key != "id" {
				keys = append(keys, list+"."+entry+"."+f.Key)
			}
		}
	}
	return keys
}

// accept checks a value for the target and returns it as it is to be written.
func (t target) accept(key string, v any) (any, error) {
	var good any
	var why string
	switch {
	case t.setting.Key != "":
		good, why = t.setting.accept(v)
	case t.action != "":
		good, why = acceptKey(t.action, v)
	case t.field.Key != "":
		good, why = t.field.accept(v)
	default:
		why = "is a whole entry; set its keys one by one"
	}
	if why != "" {
		return nil, fault.New(fault.InvalidArgument, "%s %s", key, why).WithData("key", key)
	}
	return good, nil
}

// ParseValue reads the VALUE of `settings set KEY VALUE`: a TOML literal, or, where a text is wanted, the bare text. It
// refuses unknown keys and values that the key does not allow.
func ParseValue(key, text string) (any, error) {
	t, err := resolve(key)
	if err != nil {
		return nil, err
	}
	kind := t.setting.Kind
	switch {
	case t.action != "":
		kind = Text
	case t.field.Key != "":
		kind = t.field.Kind
	}
	if text == "" {
		return t.empty(key, kind)
	}
	v, isLiteral := literal(text)
	if kind == Text || kind == Choice || kind == Path {
		// Anything that is not a text in quotes is meant as it stands: `settings set git.path /usr/bin/git`, or a font
		// that happens to be called 3270.
		if _, ok := v.(string); !ok {
			v = text
		}
	} else if !isLiteral {
		v = text // is refused below, in the words of its kind
	}
	return t.accept(key, v)
}

// empty is what no text at all means: an empty text or list. Other kinds have no empty value.
func (t target) empty(key string, kind Kind) (any, error) {
	var v any = ""
	switch kind {
	case List:
		v = []string{}
	case Map:
		v = map[string]string{}
	}
	good, err := t.accept(key, v)
	if f := fault.From(err); f != nil {
		return nil, f.WithHint("`termic settings reset %s` takes it back to what it is without your settings.", key)
	}
	return good, nil
}

// literal reads one TOML value.
func literal(text string) (any, bool) {
	m, err := tomledit.Decode([]byte("v = " + text))
	if err != nil || len(m) != 1 {
		return nil, false
	}
	return m["v"], true
}

// Values returns what is in force, by dotted key: each setting of Table as the file or the default spells it, and
// "agents", "prompts" and "keys" with the entries of the file.
func (s *snapshot) all() map[string]any {
	out := maps.Clone(s.values)
	for k, v := range out {
		if list, ok := v.([]string); ok {
			out[k] = slices.Clone(list)
		}
	}
	agents, prompts := []any{}, []any{}
	for _, a := range s.settings.Agents {
		agents = append(agents, entryMap(AgentFields(), func(f Field) any { return f.agent(&a) }))
	}
	for _, p := range s.settings.Prompts {
		prompts = append(prompts, entryMap(PromptFields(), func(f Field) any { return f.note(&p) }))
	}
	out["agents"], out["prompts"], out["keys"] = agents, prompts, maps.Clone(s.settings.Keys)
	return out
}

// entryMap spells an entry as the file would have it.
func entryMap(fields []Field, at func(Field) any) map[string]any {
	m := map[string]any{}
	for _, f := range fields {
		v, set := take(at(f))
		if !set {
			continue
		}
		switch x := v.(type) {
		case []string:
			v = slices.Clone(x)
		case map[string]string:
			v = maps.Clone(x)
		}
		if section, key, ok := strings.Cut(f.Key, "."); ok {
			sub, _ := m[section].(map[string]any)
			if sub == nil {
				sub = map[string]any{}
				m[section] = sub
			}
			sub[key] = v
			continue
		}
		m[f.Key] = v
	}
	return m
}

// one returns the value of a dotted key.
func (s *snapshot) one(key string) (any, error) {
	t, err := resolve(key)
	all := s.all()
	if err != nil {
		if v, ok := all[key]; ok {
			return v, nil
		}
		return nil, err
	}
	missing := fault.New(fault.NotFound, "%s is not set", key)
	switch {
	case t.setting.Key != "":
		return all[key], nil
	case t.action != "":
		if v, ok := s.settings.Keys[t.action]; ok {
			return v, nil
		}
		return nil, missing
	}
	for _, e := range all[t.list].([]any) {
		m := e.(map[string]any)
		if m["id"] != t.entry {
			continue
		}
		v := any(m)
		if t.field.Key != "" {
			for _, step := range strings.Split(t.field.Key, ".") {
				table, _ := v.(map[string]any)
				if v = table[step]; v == nil {
					return nil, missing
				}
			}
		}
		return v, nil
	}
	return nil, missing
}
