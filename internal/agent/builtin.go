package agent

import "regexp"

// Patterns that several agents share.
const (
	// rowBorder is what may stand before the content of a composer row: the side of a box.
	rowBorder = `^[\s│┃|▌▍▎]*`
)

func res(patterns ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(p)
	}
	return out
}

// builtins returns the recipes that ship. The flags are those of the programs' own help; titles, dialogs and reports of
// claude 2.1 and codex 0.171 were measured, those of the others are from their documentation and sources.
func builtins() []Kind {
	return []Kind{claude(), codex(), gemini(), opencode(), copilot(), grok()}
}

func claude() Kind {
	return Kind{
		ID: "claude", Name: "Claude Code", Command: "claude", Builtin: true, WorkDone: true,
		YoloArgs:      []string{"--dangerously-skip-permissions"},
		ResumeArgs:    []string{"--continue"},
		SessionIDArgs: []string{"--session-id", "{UUID}"},
		ResumeIDArgs:  []string{"--resume", "{UUID}"},
		NameArgs:      []string{"--name", "{TASK_SLUG}"},
		// It puts in the variables itself, so that the token is in no argument.
		MCPArgs: []string{"--mcp-config", `{"mcpServers":{"termic":{"type":"http","url":"${TERMIC_MCP_URL}",` +
			`"headers":{"Authorization":"Bearer ${TERMIC_MCP_TOKEN}"},"timeout":600000}}}`},
		Signals: Signals{
			Reports: true,
			// A leading star is shown at rest and while a question waits; any other leading symbol is its spinner.
			Idle: res(`^✳`),
			Busy: res(`^[\x{2800}-\x{28FF}◐◑◒◓]`),
			// Sent 60 s after every turn that nobody answered: no news.
			Ignore:  res(`(?i)is waiting for your input`),
			Pending: res(`(?i)waiting for \d+ background agents?`, `(?i)\b\d+ shells? still running`),
		},
		Hints: Hints{
			Framed:      true,
			Composer:    res(rowBorder + `[❯>](?:[\s\x{a0}]+(.*))?[\s│]*$`),
			Placeholder: res(`^Try "`, `^Press up to edit`),
			Modal: res(`(?i)do you trust the files`, `(?i)quick safety check`, `(?i)detected a custom api key`, `(?i)select login method`,
				`(?i)do you want to (proceed|make this edit|create|allow)`, `(?i)enter to confirm`, `(?i)choose the text style`),
		},
		// It trims a leading blank before it looks, and takes invisible characters out.
		Special: "/!", Guard: `\`, Mentions: "@", Result: ResultClaude,
		// More than that becomes "[Pasted text]", which its model may get between tags of its own.
		PasteLines: 2, PasteUnits: 800,
		SandboxPaths: []string{"~/.claude", "~/.claude.json"},
	}
}

func codex() Kind {
	return Kind{
		ID: "codex", Name: "Codex", Command: "codex", Builtin: true, WorkDone: true,
		YoloArgs:     []string{"--dangerously-bypass-approvals-and-sandbox"},
		ResumeArgs:   []string{"resume", "--last"},
		ResumeIDArgs: []string{"resume", "{UUID}"},
		// The update menu would eat the prompt.
		UnattendedArgs: []string{"-c", "check_for_update_on_startup=false"},
		// The background server is shared by every codex of one CODEX_HOME and would present one task's token for another.
		AlwaysArgs: []string{"-c", "features.daemon_auto_start=false"},
		// These are joined to what its config.toml has under the same name. A header command of that could not read the
		// token file from a cage, and codex gives up a server whose command fails, so ours takes its place.
		MCPArgs: []string{"-c", "features.mcp_2026_07_28=true", "-c", "suppress_unstable_features_warning=true",
			"-c", "mcp_servers.termic.url=\"{MCP_URL}\"", "-c", "mcp_servers.termic.enabled=true",
			"-c", "mcp_servers.termic.bearer_token_env_var=\"TERMIC_MCP_TOKEN\"",
			"-c", "mcp_servers.termic.env_http_headers.X-Termic-Token=\"TERMIC_MCP_TOKEN\"", // over one that is written there
			"-c", "mcp_servers.termic.http_headers_helper=\"printf {}\""},
		Signals: Signals{
			Reports:   true,
			Attention: res(`(?i)action required`, `(?i)^waiting\b`, `(?i)approval requested`),
			Busy:      res(`^[\x{2800}-\x{28FF}]`, `(?i)\b(working|thinking)\b`),
			Idle:      res(`(?i)\bready\b`, `^[^\x{2800}-\x{28FF}\[]`),
		},
		Hints: Hints{
			Cursor:   true,
			Composer: res(`^\s*›(?:\s+(.*))?\s*$`),
			Modal: res(`(?i)update available!`, `(?i)press enter to continue`, `(?i)do you trust the contents`, `(?i)sign in with chatgpt`,
				`(?i)would you like to (run|make|grant)`, `(?i)press enter to confirm`),
		},
		Special: "/!", Mentions: "@$", Result: ResultCodex,
		SandboxPaths: []string{"~/.codex"},
	}
}

func gemini() Kind {
	return Kind{
		ID: "gemini", Name: "Gemini CLI", Command: "gemini", Builtin: true, WorkDone: true,
		YoloArgs:   []string{"--yolo"},
		ResumeArgs: []string{"--resume", "latest"},
		Signals: Signals{
			Attention: res(`^✋`, `(?i)action required`),
			Busy:      res(`^[✦⏲]`),
			Idle:      res(`^◇`),
		},
		Hints: Hints{
			Composer:    res(rowBorder + `[>*!](?:\s+(.*))?[\s│]*$`),
			Placeholder: res(`(?i)type your message`),
			Modal:       res(`(?i)do you trust (this folder|the files)`, `(?i)how would you like to authenticate`, `(?i)waiting for auth`, `(?i)allow execution`, `(?i)apply this change`),
			Framed:      true,
			Footer:      8,
		},
		Special: "/!", Mentions: "@",
		SandboxPaths: []string{"~/.gemini"},
	}
}

func opencode() Kind {
	return Kind{
		ID: "opencode", Name: "OpenCode", Command: "opencode", Builtin: true, WorkDone: true,
		ResumeArgs:   []string{"--continue"},
		ResumeIDArgs: []string{"--session", "{UUID}"},
		Hints: Hints{
			Modal: res(`(?i)permission required`, `(?i)select provider`),
		},
		Special: "/!", Mentions: "@",
		SandboxPaths: []string{"~/.local/share/opencode", "~/.config/opencode"},
	}
}

func copilot() Kind {
	return Kind{
		ID: "copilot", Name: "GitHub Copilot", Command: "copilot", Builtin: true, WorkDone: true,
		YoloArgs:      []string{"--allow-all"},
		ResumeArgs:    []string{"--continue"},
		SessionIDArgs: []string{"--session-id", "{UUID}"},
		ResumeIDArgs:  []string{"--session-id", "{UUID}"},
		NameArgs:      []string{"--name", "{TASK_SLUG}"},
		Hints: Hints{
			Modal: res(`(?i)confirm folder trust`, `(?i)do you trust the files`, `(?i)you must be logged in`),
		},
		Special: "/!#", Mentions: "@",
		SandboxPaths: []string{"~/.copilot"},
	}
}

func grok() Kind {
	return Kind{
		ID: "grok", Name: "Grok", Command: "grok", Builtin: true, WorkDone: true,
		YoloArgs:       []string{"--always-approve"},
		ResumeArgs:     []string{"--continue"},
		UnattendedArgs: []string{"--no-auto-update"},
		Special:        "/!", Mentions: "@",
		SandboxPaths: []string{"~/.grok"},
	}
}
