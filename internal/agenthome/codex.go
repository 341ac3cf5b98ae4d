package agenthome

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"termic/internal/tomledit"
)

// codex is what is known of Codex.
func codex() recipe {
	return recipe{
		folder: ".codex", env: "CODEX_HOME",
		find:   func(o Options) string { return moved(o, "CODEX_HOME", ".codex") },
		logins: []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"},
		// By argument as well as in its file: a trusted project's own file would win over ours.
		args: func(Options) []string { return []string{"-c", `sandbox_mode="danger-full-access"`} },
		seed: seedCodex,
		login: &loginForm{
			file: "auth.json",
			at: func(doc object) [][]string {
				if _, is := doc.child("tokens").text("refresh_token"); is {
					return [][]string{{"tokens"}}
				}
				return nil
			},
			fields: []field{
				{name: "id_token", kind: jwt}, {name: "access_token", kind: jwt}, {name: "refresh_token", kind: token},
				{name: "last_refresh", kind: stamp, above: true},
			},
			expiry: expiryOfJWT("access_token"),
			keep:   []string{"account_id"},
			same:   []string{"account_id"},
			beside: []string{"OPENAI_API_KEY", "auth_mode"},
		},
	}
}

// codexPlain are keys at the top of config.toml that name a model, a taste or a way to log in. Their values are plain.
var codexPlain = []string{"model", "model_provider", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity",
	"model_context_window", "model_max_output_tokens", "model_auto_compact_token_limit", "plan_mode_reasoning_effort", "review_model",
	"personality", "service_tier", "forced_login_method", "forced_chatgpt_workspace_id", "preferred_auth_method", "openai_base_url",
	"chatgpt_base_url", "hide_agent_reasoning", "show_raw_agent_reasoning", "file_opener", "suppress_unstable_features_warning"}

// codexProvider are the keys of a model provider that are no program; its "auth" runs one.
var codexProvider = []string{"name", "base_url", "wire_api", "env_key", "env_key_instructions", "query_params", "http_headers",
	"env_http_headers", "request_max_retries", "stream_max_retries", "stream_idle_timeout_ms", "requires_openai_auth",
	"experimental_bearer_token", "supports_websockets"}

func seedCodex(s *seeding) error {
	if err := s.codexConfig(); err != nil {
		return err
	}
	for _, name := range []string{"AGENTS.md", "AGENTS.override.md"} {
		if err := s.copyFile(filepath.Join(s.from, name), ".codex/"+name); err != nil {
			return err
		}
	}
	for _, dir := range []string{"prompts", "skills"} {
		if err := s.copyFolder(filepath.Join(s.from, dir), ".codex/"+dir); err != nil {
			return err
		}
	}
	return s.copyFolder(filepath.Join(s.RealHome, ".agents/skills"), ".agents/skills")
}

// setting is one value of a TOML file.
type setting struct {
	path  []string
	value any
	// once: what is in the home already stays, since the agent or the person at it may have chosen it.
	once bool
}

// codexConfig writes config.toml.
func (s *seeding) codexConfig() error {
	const rel = ".codex/config.toml"
	user := map[string]any{}
	if data := s.source(filepath.Join(s.from, "config.toml"), tomledit.MaxSize); data != nil {
		var err error
		if user, err = tomledit.Decode(data); err != nil {
			s.left("%s is not understood, so nothing of it is used.", filepath.Join(s.from, "config.toml"))
			user = map[string]any{}
		}
	}
	for _, k := range []string{"mcp_servers", "notify", "hooks", "plugins", "marketplaces", "otel"} {
		if _, has := user[k]; has {
			s.left("%s of Codex's configuration is not in the cage: it runs programs or reaches outside.", k)
		}
	}
	doc, err := s.tree.read(rel, tomledit.MaxSize)
	if err != nil {
		doc = nil // none, or not an agent's
	}
	all := append(s.codexOurs(), codexUsers(user)...)
	out, err := setAll(doc, all)
	if err != nil {
		// What the cage left there cannot be edited: begin anew.
		if out, err = setAll(nil, all); err != nil {
			return fmt.Errorf("write %s: %w", rel, err)
		}
	}
	s.codexLogins(user)
	if exists(filepath.Join(s.from, ".env")) {
		s.left("%s is not in the cage; a key in it can be given by the agent's environment.", filepath.Join(s.from, ".env"))
	}
	return s.write(rel, out, false)
}

// codexLogins lets the variable pass that holds the key of the user's model provider.
func (s *seeding) codexLogins(user map[string]any) {
	providers, _ := user["model_providers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p, _ := providers[name].(map[string]any)
		if key, ok := p["env_key"].(string); ok && key != "" {
			s.out.Logins = append(s.out.Logins, key)
		}
		headers, _ := p["env_http_headers"].(map[string]any)
		for _, h := range slices.Sorted(maps.Keys(headers)) {
			if key, ok := headers[h].(string); ok && key != "" {
				s.out.Logins = append(s.out.Logins, key)
			}
		}
	}
}

// codexOurs are the values that a cage needs.
func (s *seeding) codexOurs() []setting {
	out := []setting{
		{path: []string{"cli_auth_credentials_store"}, value: "file"}, // there is no keyring in a cage
		{path: []string{"check_for_update_on_startup"}, value: false},
		{path: []string{"sandbox_mode"}, value: "danger-full-access"},
		{path: []string{"features", "plugins"}, value: false, once: true}, // it would clone its vendor's into each new home
	}
	if s.Unasked {
		out = append(out, setting{path: []string{"approval_policy"}, value: "never"},
			setting{path: []string{"notice", "hide_full_access_warning"}, value: true})
	}
	for _, dir := range s.Trusted {
		out = append(out, setting{path: []string{"projects", dir, "trust_level"}, value: "trusted"})
	}
	return out
}

// codexUsers are the values that come from the user's file. A profile that is chosen there lies over the top level.
func codexUsers(user map[string]any) []setting {
	var out []setting
	top := maps.Clone(user)
	if name, ok := user["profile"].(string); ok {
		profiles, _ := user["profiles"].(map[string]any)
		chosen, _ := profiles[name].(map[string]any)
		maps.Copy(top, chosen)
	}
	for _, k := range codexPlain {
		if isPlainTOML(top[k]) {
			out = append(out, setting{path: []string{k}, value: top[k], once: true})
		}
	}
	providers, _ := user["model_providers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p, _ := providers[name].(map[string]any)
		for _, k := range codexProvider {
			if v := p[k]; isPlainTOML(v) || isTexts(v) {
				out = append(out, setting{path: []string{"model_providers", name, k}, value: v})
			}
		}
	}
	if tui, ok := user["tui"].(map[string]any); ok {
		for _, k := range []string{"theme", "animations", "show_tooltips"} {
			if isPlainTOML(tui[k]) {
				out = append(out, setting{path: []string{"tui", k}, value: tui[k], once: true})
			}
		}
	}
	return out
}

// setAll puts values into a TOML text.
func setAll(doc []byte, all []setting) ([]byte, error) {
	for _, v := range all {
		_, found, err := tomledit.Get(doc, v.path)
		if err != nil {
			return nil, err
		}
		if found && v.once {
			continue
		}
		if texts, is := v.value.(map[string]any); is {
			for _, k := range slices.Sorted(maps.Keys(texts)) {
				if doc, err = tomledit.Set(doc, append(slices.Clone(v.path), k), texts[k]); err != nil {
					return nil, err
				}
			}
			continue
		}
		if doc, err = tomledit.Set(doc, v.path, v.value); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// isPlainTOML reports whether a value is a string, a number or a boolean.
func isPlainTOML(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// isTexts reports whether a value is a table of strings.
func isTexts(v any) bool {
	m, ok := v.(map[string]any)
	for _, x := range m {
		if _, is := x.(string); !is {
			return false
		}
	}
	return ok && len(m) > 0
}
