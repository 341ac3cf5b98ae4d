package clientsetup

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/fault"
)

// claudePolicy is one settings file of Claude Code, as far as it decides which servers may be loaded. `claude mcp remove`
// does not ask it and `claude mcp add-json` does (2.1.332): an entry that it forbids would be taken out and not come back.
type claudePolicy struct {
	file    string
	managed bool           // it is the administrator's
	Allowed *[]claudeMatch `json:"allowedMcpServers"`
	Denied  []claudeMatch  `json:"deniedMcpServers"`
	Only    bool           `json:"allowManagedMcpServersOnly"`
}

// claudeMatch names a server by one of its sides.
type claudeMatch struct {
	Name string `json:"serverName"`
	URL  string `json:"serverUrl"` // * stands for anything
}

// managed is the folder in which an administrator's files for Claude Code stand.
func (k *claudeKind) managed(p Place) string {
	switch p.GOOS {
	case "darwin":
		return p.system("/Library/Application Support/ClaudeCode")
	case "windows":
		return p.system(`C:\Program Files\ClaudeCode`)
	}
	return p.system("/etc/claude-code")
}

// forbidden says whether Claude Code would not load our entry, and why.
func (k *claudeKind) forbidden(p Place, e Entry) (Shadow, bool) {
	managed := k.managed(p)
	if file := filepath.Join(managed, "managed-mcp.json"); p.exists(file) {
		return Shadow{Scope: "managed", File: file, Where: file,
			Words: fmt.Sprintf("Claude Code loads the servers of %s on this machine and no others", file)}, true
	}
	files := []string{filepath.Join(managed, "managed-settings.json")}
	more, _ := filepath.Glob(filepath.Join(managed, "managed-settings.d", "*.json")) // the pattern is well-formed
	files = append(append(files, more...), filepath.Join(k.settings(p), "settings.json"))
	var all []claudePolicy
	for i, file := range files {
		text, missing, err := readFile(file, maxConfig)
		if err != nil || missing {
			continue // what cannot be read decides nothing that we could tell
		}
		policy := claudePolicy{file: file, managed: i < len(files)-1}
		if json.Unmarshal(text, &policy) == nil {
			all = append(all, policy)
		}
	}
	return judgePolicies(all, e)
}

// settings is the folder of the person's own settings.
func (k *claudeKind) settings(p Place) string {
	if dir := k.folder(p); dir != p.Home {
		return dir
	}
	return filepath.Join(p.Home, ".claude")
}

func judgePolicies(all []claudePolicy, e Entry) (Shadow, bool) {
	var allowed []claudeMatch
	lists := "" // the last file that has a list of what is allowed
	only := slices.ContainsFunc(all, func(p claudePolicy) bool { return p.managed && p.Only })
	for _, p := range all {
		for _, m := range p.Denied {
			if m.Name == Name || m.URL != "" && matches(m.URL, e.URL) {
				return Shadow{Scope: "denied", File: p.file, Where: "deniedMcpServers",
					Words: fmt.Sprintf("deniedMcpServers in %s keeps Claude Code from loading the entry", p.file)}, true
			}
		}
		if p.Allowed != nil && (p.managed || !only) {
			allowed, lists = append(allowed, *p.Allowed...), p.file
		}
	}
	byURL := slices.ContainsFunc(allowed, func(m claudeMatch) bool { return m.URL != "" })
	if lists == "" || slices.ContainsFunc(allowed, func(m claudeMatch) bool {
		return m.URL != "" && matches(m.URL, e.URL) || !byURL && m.Name == Name // where addresses are listed, names do not count
	}) {
		return Shadow{}, false
	}
	return Shadow{Scope: "allowed", File: lists, Where: "allowedMcpServers",
		Words: fmt.Sprintf("allowedMcpServers in %s does not name %s, so Claude Code does not load the entry", lists, e.URL)}, true
}

// matches compares an address with a pattern in which * stands for anything.
func matches(pattern, address string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(address, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// allowed refuses what Claude Code would refuse halfway.
func (k *claudeKind) allowed(p Place, e Entry) error {
	s, forbidden := k.forbidden(p, e)
	if !forbidden {
		return nil
	}
	return fault.New(fault.Conflict, "%s", s.Words).
		WithHint("Nothing was changed. Allow it there first, or ask whoever looks after this machine; then register again.")
}
