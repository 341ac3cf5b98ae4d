package clientsetup

import (
	"encoding/json"
	"path/filepath"
)

// The clients below speak no more than older revisions as far as is known, and most cannot get a token when they connect.
// A row is all that it takes once that changes: From, and for a client that gets to read files, its shape.

func gemini() kind {
	return jsonClient(Client{ID: "gemini", Name: "Gemini CLI", Support: Support{Seen: "0.61.0", On: "2026-11-29",
		Words: "Gemini CLI speaks the protocol as of 2025-06-18, and the endpoint only as of " + Revision + ". It takes headers from variables only, so a new token would not reach it either"}},
		jsonConfig{path: []string{"mcpServers"}}, shape{address: "url"}, []string{"gemini"}, nil,
		func(p Place) string { return filepath.Join(p.Home, ".gemini", "settings.json") })
}

// opencode reads a header from a file by itself. Its file may be JSON or JSON with comments, under either name.
func opencode() kind {
	return jsonClient(Client{ID: "opencode", Name: "opencode", Support: Support{Seen: "1.18.33", On: "2026-11-29", Carries: true,
		Words: "opencode speaks the protocol as of 2025-11-25, and the endpoint only as of " + Revision}},
		jsonConfig{path: []string{"mcp"}},
		shape{address: "url", headers: "headers", opening: "{file:", closing: "}",
			fixed:     []field{{"type", "remote"}, {"oauth", false}, {"enabled", true}},
			transport: []string{"type", "url", "headers", "oauth", "command", "environment"}},
		[]string{"opencode"}, nil,
		func(p Place) string {
			dir := filepath.Join(p.config(), "opencode")
			for _, name := range []string{"opencode.jsonc", "opencode.json"} {
				if p.exists(filepath.Join(dir, name)) {
					return filepath.Join(dir, name)
				}
			}
			return filepath.Join(dir, "opencode.json")
		})
}

func cursor() kind {
	return jsonClient(Client{ID: "cursor", Name: "Cursor", Documented: true, Support: Support{On: "2026-11-29",
		Words: "Cursor's documentation names no version of the protocol as new as the endpoint's, " + Revision + ". It takes headers from variables only, so a new token would not reach it either"}},
		jsonConfig{path: []string{"mcpServers"}}, shape{address: "url"}, []string{"cursor"}, []string{"/Applications/Cursor.app"},
		func(p Place) string { return filepath.Join(p.Home, ".cursor", "mcp.json") })
}

func vscode() kind {
	return jsonClient(Client{ID: "vscode", Name: "VS Code", Documented: true, Support: Support{Seen: "1.132.0", On: "2026-11-29",
		Words: "VS Code speaks an older version of the protocol than the endpoint's, " + Revision + ". It takes headers as text or asks a person for them, so a new token would not reach it either"}},
		jsonConfig{path: []string{"servers"}}, shape{address: "url"}, []string{"code"}, []string{"/Applications/Visual Studio Code.app"},
		func(p Place) string { return filepath.Join(p.appConfig("Code"), "User", "mcp.json") })
}

func zed() kind {
	return jsonClient(Client{ID: "zed", Name: "Zed", Documented: true, Support: Support{On: "2026-11-29",
		Words: "Zed's documentation names the protocol as of 2025-11-25, and the endpoint speaks it only as of " + Revision + ". It takes headers as text, so a new token would not reach it either"}},
		jsonConfig{path: []string{"context_servers"}}, shape{address: "url"}, []string{"zed", "zeditor"}, []string{"/Applications/Zed.app"},
		func(p Place) string { return filepath.Join(p.config(), "zed", "settings.json") })
}

// windsurf reads a header from a file by itself, by its documentation.
func windsurf() kind {
	return jsonClient(Client{ID: "windsurf", Name: "Windsurf", Documented: true, Support: Support{On: "2026-11-29", Carries: true,
		Words: "Windsurf's documentation names no version of the protocol as new as the endpoint's, " + Revision}},
		jsonConfig{path: []string{"mcpServers"}, strict: true},
		shape{address: "serverUrl", headers: "headers", opening: "${file:", closing: "}",
			transport: []string{"serverUrl", "url", "headers", "command", "args", "env"}},
		[]string{"windsurf"}, []string{"/Applications/Windsurf.app"},
		func(p Place) string { return filepath.Join(p.Home, ".codeium", "windsurf", "mcp_config.json") })
}

func claudeDesktop() kind {
	return jsonClient(Client{ID: "claude-desktop", Name: "Claude Desktop", Documented: true, Support: Support{On: "2026-11-29",
		Words: "Claude Desktop starts servers as programs that speak through pipes, and reaches addresses only through its maker's machines, from where this one cannot be seen. Claude Code on the same machine can be registered"}},
		jsonConfig{path: []string{"mcpServers"}, strict: true}, shape{address: "url"}, nil, []string{"/Applications/Claude.app"},
		func(p Place) string { return filepath.Join(p.appConfig("Claude"), "claude_desktop_config.json") })
}

// jsonClient is a client whose JSON file we edit.
func jsonClient(c Client, config jsonConfig, s shape, programs, apps []string, file func(Place) string) kind {
	return &fileKind{client: c, programs: programs, apps: apps, shape: s, file: file, editor: config,
		fallback: func(_ Place, file string, fields []field) Block {
			e := &jsonEdit{unit: "  ", newline: "\n"}
			text := e.nest(append(append([]string{}, config.path...), Name), fields, "")
			if !json.Valid(text) {
				return Block{}
			}
			return Block{Where: file, Language: "json", Text: string(text) + "\n"}
		}}
}
