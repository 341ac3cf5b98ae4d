package clientsetup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

// field is a key of an entry and its value, in the order in which they are written.
type field struct {
	key   string
	value any
}

// shape says how a client spells an entry.
type shape struct {
	address string // key of the URL
	command string // key of a command that prints the headers; empty if the client runs none
	bearer  bool   // ... which has to be Authorization for the client to run it again when the token is refused
	headers string // else: key of a table of headers, in which a value can name a file, between opening and closing
	opening string
	closing string

	fixed     []field  // what else we write
	transport []string // further keys that decide how the client connects; a registration takes them away
}

// fields spells e.
func (s shape) fields(e Entry) ([]field, error) {
	out := []field{{s.address, e.URL}}
	switch {
	case s.command != "" && s.bearer:
		out = append(out, field{s.command, e.Bearer})
	case s.command != "":
		out = append(out, field{s.command, e.Command})
	case strings.Contains(e.TokenFile, s.closing):
		return nil, fault.New(fault.Unsupported, "This client cannot name a file with %q in its path: %s", s.closing, e.TokenFile)
	default:
		out = append(out, field{s.headers, map[string]any{TokenHeader: s.opening + e.TokenFile + s.closing}})
	}
	return append(out, s.fixed...), nil
}

// verdict is what a look at an entry tells.
type verdict struct {
	ours     bool     // Termic made it, perhaps for another address or folder
	byTermic bool     // its command is that of ByTermic
	edits    []string // of an entry of ours: what we did not write
	stale    []Stale
}

// judge compares an entry with what e would be.
func (s shape) judge(have map[string]any, e Entry) verdict {
	address, _ := have[s.address].(string)
	src, ok := s.source(have)
	if !ok || !ourURL(address) {
		return verdict{}
	}
	v := verdict{ours: true, byTermic: src.binary != ""}
	if address != e.URL {
		v.stale = append(v.stale, Stale{Key: "url", Have: address, Want: e.URL,
			Words: fmt.Sprintf("The endpoint is at port %s, the entry says %s", port(e.URL), port(address))})
	}
	v.stale = append(v.stale, src.stale(e)...)
	if src.bearer != s.bearer {
		v.stale = append(v.stale, Stale{Key: "command", Have: headerOf(src.bearer), Want: headerOf(s.bearer),
			Words: fmt.Sprintf("The entry gives the token as %s; this client needs it as %s", headerOf(src.bearer), headerOf(s.bearer))})
	}
	mine := []string{s.address, s.command, s.headers}
	for _, f := range s.fixed {
		mine = append(mine, f.key)
		value, there := have[f.key]
		if there && !same(value, f.value) {
			v.edits = append(v.edits, f.key)
		}
		if st, bad := fixedStale(f, value, there); bad {
			v.stale = append(v.stale, st)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if key == "" || !slices.Contains(mine, key) {
			v.edits = append(v.edits, key)
		}
	}
	if have["enabled"] == false || have["disabled"] == true {
		v.stale = append(v.stale, Stale{Key: "disabled", Have: "off", Want: "on", Words: "The entry is switched off"})
	}
	return v
}

// fixedStale says whether a value that is not as we write it keeps the registration from working well.
func fixedStale(f field, have any, there bool) (Stale, bool) {
	switch {
	case f.key == "enabled", there && same(have, f.value):
		return Stale{}, false // a switch is judged elsewhere
	case strings.Contains(f.key, "timeout"):
		if n, ok := number(have); ok {
			if want, _ := number(f.value); n >= want {
				return Stale{}, false
			}
		}
		return Stale{Key: "timeout", Have: plain(have), Want: plain(f.value),
			Words: "The client would give up waiting for a tool before the tool does"}, true
	}
	return Stale{Key: "transport", Have: plain(have), Want: plain(f.value),
		Words: fmt.Sprintf("The entry has %s = %s where %s is needed", f.key, plain(have), plain(f.value))}, true
}

// merged is the entry that a registration leaves: ours, with what a person added to ours that does not change how the
// client connects. Of somebody else's entry nothing is kept: what it allows was meant for other tools.
func (s shape) merged(have map[string]any, e Entry) (map[string]any, []field, error) {
	fields, err := s.fields(e)
	if err != nil {
		return nil, nil, err
	}
	out := map[string]any{}
	if s.judge(have, e).ours {
		for key, value := range have {
			if !slices.Contains(s.transport, key) && (key != "enabled" && key != "disabled" || value == (key == "enabled")) {
				out[key] = value
			}
		}
	}
	for _, f := range fields {
		out[f.key] = f.value
	}
	return out, fields, nil
}

// losses lists what would be lost with an entry that is not as we wrote it, for people.
func (s shape) losses(have map[string]any, r *Receipt, e Entry) []string {
	if have == nil || r != nil && len(r.Entry) > 0 && same(have, decodeEntry(r.Entry)) {
		return nil
	}
	v := s.judge(have, e)
	if !v.ours {
		return []string{"The entry " + Name + " was not written by Termic, or was changed by hand so that it cannot be told"}
	}
	var out []string
	for _, key := range v.edits {
		out = append(out, "In the entry "+Name+", "+key+" was added or changed by hand")
	}
	return out
}

// source is where an entry gets the headers from.
type source struct {
	command string // to run
	file    string // the token file that is read, by the command or the client
	binary  string // the program that is asked instead of the file
	folder  string // ... for the data folder
	bearer  bool   // the header is Authorization
}

// headerOf names the header that a command prints.
func headerOf(bearer bool) string {
	if bearer {
		return "Authorization"
	}
	return TokenHeader
}

// source finds out how an entry gets the token; false if that is not a way of ours.
func (s shape) source(have map[string]any) (source, bool) {
	if s.command != "" {
		command, _ := have[s.command].(string)
		return readSource(command)
	}
	headers, _ := have[s.headers].(map[string]any)
	text, _ := headers[TokenHeader].(string)
	path, ok := strings.CutPrefix(text, s.opening)
	if ok {
		path, ok = strings.CutSuffix(path, s.closing)
	}
	return source{file: path}, ok && path != "" && len(headers) == 1
}

func (s source) stale(e Entry) []Stale {
	switch {
	case s.binary == "" && s.file != e.TokenFile:
		return []Stale{{Key: "token", Have: s.file, Want: e.TokenFile,
			Words: "The entry reads the token of another data folder: " + s.file}}
	case s.binary != "" && s.folder != e.Folder:
		return []Stale{{Key: "token", Have: s.folder, Want: e.Folder,
			Words: "The entry asks for the token of another data folder: " + s.folder}}
	case s.binary != "":
		if _, err := os.Stat(s.binary); err != nil {
			return []Stale{{Key: "command", Have: s.binary, Want: e.Command,
				Words: "The entry runs a program that is no longer there: " + s.binary}}
		}
	}
	return nil
}

func port(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	return u.Port()
}

// same compares values of JSON and TOML: 600 equals 600.0.
func same(a, b any) bool {
	if tomledit.Equal(a, b) { // also what JSON has not
		return true
	}
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

func number(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case float64:
		return x, true
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	}
	return 0, false
}

// plain shows a value of one of our own keys; those are never secrets.
func plain(v any) string {
	if v == nil {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
