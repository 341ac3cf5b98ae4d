package clientsetup

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

// codexFlag is the switch behind which Codex 0.148 to 0.171 speak the revision.
const codexFlag = "mcp_2026_07_28"

// codex is registered by an edit of its config.toml: its own `codex mcp add` cannot write a command for headers, and drops
// one that is there.
func codex() kind {
	return &fileKind{
		client: Client{ID: "codex", Name: "Codex", Support: Support{From: "0.148.0", Seen: "0.171.0", On: "2026-11-29", Carries: true,
			Words: "Codex speaks it behind the switch " + codexFlag + ", which registering turns on"}},
		programs: []string{"codex"},
		scrubbed: true,
		shape: shape{address: "url", command: "http_headers_helper",
			fixed: []field{{"tool_timeout_sec", int64(ToolTimeout.Seconds())}},
			transport: []string{"url", "http_headers_helper", "http_headers", "env_http_headers", "bearer_token", "bearer_token_env_var",
				"command", "args", "env", "env_vars", "cwd", "type", "transport", "auth", "oauth", "oauth_resource", "oauth_client_id",
				"scopes", "environment_id", "experimental_environment"}},
		file:     func(p Place) string { return filepath.Join(codexHome(p), "config.toml") },
		editor:   codexConfig{},
		lookMore: codexShadows,
		fallback: codexBlock,
		notes: []string{"Codex shows a notice about features under development whenever it starts; `suppress_unstable_features_warning = true` in its config.toml silences it",
			"A Codex that runs reads the entry when it is started again"},
	}
}

func codexHome(p Place) string {
	if dir := p.env("CODEX_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".codex")
}

var (
	codexServers = "mcp_servers"
	codexEntry   = []string{codexServers, Name}
	codexSwitch  = []string{"features", codexFlag}
)

// What can have come with the switch.
const (
	madeTable  = "features"   // the whole table
	madeHeader = "[features]" // its header; there were tables below it, or dotted keys
)

// codexConfig edits config.toml.
type codexConfig struct{}

func (codexConfig) parse(doc []byte) (facts, error) {
	m, err := tomledit.Decode(doc)
	if err != nil {
		return facts{}, err
	}
	f := facts{was: Was{Flag: flagNone}}
	if v, ok := m[codexServers]; ok {
		servers, ok := v.(map[string]any)
		if !ok {
			return facts{}, surprise("mcp_servers is no table")
		}
		if v, ok := servers[Name]; ok {
			if f.entry, ok = v.(map[string]any); !ok {
				return facts{}, surprise("mcp_servers.termic is no table")
			}
		}
	}
	v, ok := m["features"]
	if !ok {
		f.was.Made = []string{madeTable}
		return f, nil
	}
	features, ok := v.(map[string]any)
	if !ok {
		return facts{}, surprise("features is no table")
	}
	if v, ok := features[codexFlag]; ok {
		on, ok := v.(bool)
		if !ok {
			return facts{}, surprise("features." + codexFlag + " is neither true nor false")
		}
		f.was.Flag, f.ready = fmt.Sprint(on), on
	}
	if !tomledit.HasHeader(doc, codexSwitch[:1]) {
		f.was.Made = []string{madeHeader}
	}
	return f, nil
}

// set gives the entry its keys, in whatever spelling it has, and turns the switch on.
func (codexConfig) set(doc []byte, have, want map[string]any, order []field) ([]byte, error) {
	doc, err := tomledit.Set(doc, codexSwitch, true)
	if err != nil {
		return nil, err
	}
	for _, f := range order {
		if doc, err = tomledit.Set(doc, codexKey(f.key), f.value); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if _, stays := want[key]; !stays {
			if doc, err = tomledit.Delete(doc, codexKey(key)); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

func codexKey(name string) []string { return append(slices.Clone(codexEntry), name) }

// cut takes the entry out, puts back what was there, and leaves the switch as it was.
func (codexConfig) cut(doc []byte, was Was, former map[string]any) ([]byte, error) {
	doc, err := tomledit.Delete(doc, codexEntry)
	if err != nil {
		return nil, err
	}
	if former != nil && len(former) == 0 {
		if doc, err = tomledit.Set(doc, codexEntry, former); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(former)) {
		if doc, err = tomledit.Set(doc, codexKey(key), former[key]); err != nil {
			return nil, err
		}
	}
	on, _, err := tomledit.Get(doc, codexSwitch)
	if err != nil || on != true {
		return doc, err
	}
	switch was.Flag {
	case flagOff:
		return tomledit.Set(doc, codexSwitch, false)
	case flagNone:
		features, _, err := tomledit.Get(doc, codexSwitch[:1])
		if err != nil {
			return nil, err
		}
		if m, ok := features.(map[string]any); ok && len(m) == 1 && slices.Contains(was.Made, madeTable) {
			return tomledit.Delete(doc, codexSwitch[:1])
		}
		if doc, err = tomledit.Delete(doc, codexSwitch); err == nil && slices.Contains(was.Made, madeHeader) {
			return tomledit.DropHeader(doc, codexSwitch[:1])
		}
		return doc, err
	}
	return doc, nil
}

// packed is the key under which an entry is written down by itself.
const packed = "entry"

func (codexConfig) pack(entry map[string]any) ([]byte, error) {
	return tomledit.Set(nil, []string{packed}, entry)
}

func (codexConfig) unpack(text []byte) map[string]any {
	m, err := tomledit.Decode(text)
	if err != nil {
		return nil
	}
	entry, _ := m[packed].(map[string]any)
	return entry
}

// outside compares what is neither our entry nor the switch.
func (codexConfig) outside(before, after []byte) error {
	x, err := tomledit.Decode(before)
	if err != nil {
		return err
	}
	y, err := tomledit.Decode(after)
	if err != nil {
		return err
	}
	strip(x, codexEntry)
	strip(x, codexSwitch)
	strip(y, codexEntry)
	strip(y, codexSwitch)
	if !tomledit.Equal(x, y) {
		return errOutside
	}
	return nil
}

// strip takes a path out of decoded tables, and a table that is empty then.
func strip(m map[string]any, path []string) {
	if len(path) > 1 {
		kid, ok := m[path[0]].(map[string]any)
		if !ok {
			return
		}
		if strip(kid, path[1:]); len(kid) > 0 {
			return
		}
	}
	delete(m, path[0])
}

// codexShadows looks for what wins over our entry: a profile that turns the switch off, and a project's own file.
func codexShadows(p Place, doc []byte, st *State) {
	m, err := tomledit.Decode(doc)
	if err != nil {
		return
	}
	if st.Registered && !nested(m, codexSwitch[0], codexFlag).isTrue() {
		st.Stale = append(st.Stale, Stale{Key: "flag", Have: plain(nested(m, codexSwitch[0], codexFlag).v), Want: "true",
			Words: "The switch " + codexFlag + " is off, so Codex would speak an older revision, which the endpoint refuses"})
	}
	if name, ok := m["profile"].(string); ok {
		if flag := nested(m, "profiles", name, "features", codexFlag); flag.v == false {
			st.Shadows = append(st.Shadows, Shadow{Scope: "profile", File: st.File, Where: "profiles." + name,
				Words: "The profile " + name + ", which is on, turns the switch " + codexFlag + " off"})
		}
	}
	for _, dir := range p.Folders {
		file := filepath.Join(dir, ".codex", "config.toml")
		if file == st.File {
			continue
		}
		doc, missing, err := readFile(file, maxConfig)
		if err != nil || missing {
			continue
		}
		if m, err := tomledit.Decode(doc); err == nil && nested(m, codexEntry...).v != nil {
			st.Shadows = append(st.Shadows, Shadow{Scope: "project", File: file, Where: dir,
				Words: "In " + dir + " the project's own entry is joined to ours, if Codex trusts the project"})
		}
	}
}

// value is what stands at a path, or nothing.
type value struct{ v any }

func (v value) isTrue() bool { return v.v == true }

func nested(v any, path ...string) value {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return value{}
		}
		v = m[name]
	}
	return value{v}
}

func codexBlock(_ Place, file string, fields []field) Block {
	var b strings.Builder
	b.WriteString("# Where your file has a table [features] already, put the next line below that header instead.\n[features]\n" + codexFlag + " = true\n")
	doc := []byte(b.String())
	for _, f := range fields {
		next, err := tomledit.Set(doc, codexKey(f.key), f.value)
		if err != nil { // a value that no entry of ours has
			return Block{}
		}
		doc = next
	}
	return Block{Where: file, Language: "toml", Text: string(doc)}
}

// surprise refuses a shape that is not understood.
func surprise(what string) error {
	return fault.New(fault.Conflict, "%s", what).
		WithHint("Termic left the file as it is. Correct it by hand, or put the block that is offered for copying in its place.")
}
