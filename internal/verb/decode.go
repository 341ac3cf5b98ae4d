package verb

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"termic/internal/fault"
	"termic/internal/grant"
)

// MaxParams is the largest parameter object that any face takes, in bytes: the prompt limit of 900 KiB, six times for
// the worst JSON escaping would be more than a line of the control protocol holds, so the cap is that line's: 1 MiB.
const MaxParams = 1 << 20

// MaxPrompt is the largest prompt that any face takes, in bytes of UTF-8.
const MaxPrompt = 900 << 10

// decode turns a parameter object into the verb's parameter struct. It is exact: unknown, repeated and differently
// spelled names, wrong types, values outside an enumeration, missing required ones, text that is not UTF-8 and
// anything after the object are refused by name. An absent object is an empty one. The fields are the object's, as they were sent.
func (v *Verb) decode(caller grant.Caller, raw json.RawMessage) (params any, fields map[string]json.RawMessage, err error) {
	if len(raw) > MaxParams {
		return nil, nil, fault.New(fault.InvalidArgument, "The arguments are %d bytes long; at most %d are taken", len(raw), MaxParams)
	}
	if !utf8.Valid(raw) {
		return nil, nil, fault.New(fault.InvalidArgument, "The arguments are not UTF-8 text")
	}
	if text := bytes.TrimSpace(raw); len(text) > 0 && string(text) != "{}" { // which most reads send: nothing to look for
		if fields, err = objectFields(raw); err != nil {
			return nil, nil, err
		}
	}
	offered := v.ParamsFor(caller.Face, caller.Class)
	for _, name := range sortedKeys(fields) {
		i := slices.IndexFunc(offered, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return nil, nil, unknownParam(v, name, offered)
		}
		if err := offered[i].check(fields[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, p := range offered {
		if value, ok := fields[p.Name]; p.Required && (!ok || string(value) == `""` && !p.Empty) {
			return nil, nil, fault.New(fault.InvalidArgument, "%s needs %s: %s", v.nameOn(caller.Face), p.quotedOn(caller.Face), p.Doc)
		}
	}
	if err := together(offered, fields, caller.Face); err != nil {
		return nil, nil, err
	}
	out := reflect.New(v.params)
	if len(fields) > 0 {
		if err := json.Unmarshal(raw, out.Interface()); err != nil {
			return nil, nil, fault.Wrap(err, fault.InvalidArgument, "The arguments of %s do not have the right form", v.Name)
		}
	}
	return out.Elem().Interface(), fields, nil
}

// objectFields reads one JSON object, refusing a repeated name and anything that follows it.
func objectFields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	bad := func(err error) error {
		return fault.Wrap(err, fault.InvalidArgument, "The arguments are not one JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, bad(err)
	}
	fields := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, bad(err)
		}
		name := t.(string) // the decoder only gives strings here
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, bad(err)
		}
		if _, twice := fields[name]; twice {
			return nil, fault.New(fault.InvalidArgument, "The argument %q is given twice", name)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, bad(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(err)
	}
	return fields, nil
}

// check compares a raw value with the parameter's type and enumeration.
func (p Param) check(raw json.RawMessage) error {
	var ok bool
	var text string
	switch p.Type {
	case String:
		ok = json.Unmarshal(raw, &text) == nil && raw[0] == '"'
	case Bool:
		ok = string(raw) == "true" || string(raw) == "false"
	case Integer:
		var n int64
		ok = json.Unmarshal(raw, &n) == nil && string(raw) != "null"
		if ok && n < 0 {
			return fault.New(fault.InvalidArgument, "%q must not be negative", p.Name)
		}
	case Strings:
		var list []string
		ok = json.Unmarshal(raw, &list) == nil && raw[0] == '['
	}
	if !ok {
		return fault.New(fault.InvalidArgument, "%q must be %s", p.Name, article(p.Type))
	}
	if p.Enum != nil && !slices.Contains(p.Enum, text) {
		return fault.New(fault.InvalidArgument, "%q must be one of: %s", p.Name, strings.Join(p.Enum, ", "))
	}
	if len(text) > MaxPrompt {
		return fault.New(fault.InvalidArgument, "%q is %d bytes long; at most %d are taken", p.Name, len(text), MaxPrompt).
			WithHint("Write the text to a file in the worktree and ask the agent to read it.")
	}
	return nil
}

func article(t Type) string {
	switch t {
	case Bool:
		return "true or false"
	case Integer:
		return "a whole number"
	case Strings:
		return "a list of strings"
	}
	return "a string"
}

func unknownParam(v *Verb, name string, offered []Param) error {
	names := make([]string, len(offered))
	for i, p := range offered {
		names[i] = p.Name
	}
	err := fault.New(fault.InvalidArgument, "%s has no argument %q", v.Name, name)
	if len(names) == 0 {
		return err.WithHint("It takes none.")
	}
	return err.WithHint("It takes: %s.", strings.Join(names, ", ")).OrNear(name, names)
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
