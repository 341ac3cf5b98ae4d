package agenthome

import (
	"path/filepath"

	"termic/internal/tomledit"
)

// The recipes of this file are written from the documentation of the programs; none was tried.

// gemini is what is known of Gemini CLI.
func gemini() recipe {
	return recipe{
		folder: ".gemini",
		find: func(o Options) string {
			if home := o.Env["GEMINI_CLI_HOME"]; filepath.IsAbs(home) {
				return filepath.Join(home, ".gemini")
			}
			return filepath.Join(o.RealHome, ".gemini")
		},
		logins: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI",
			"GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"},
		seed: func(s *seeding) error {
			s.out.Env["GEMINI_CLI_HOME"] = s.Inside
			s.out.Env["GEMINI_SANDBOX"] = "false"
			user := s.sourceObject(filepath.Join(s.from, "settings.json"))
			o := s.homeObject(".gemini/settings.json")
			o.graft(user, [][]string{{"security", "auth", "selectedType"}, {"ui", "theme"}, {"ui", "hideBanner"}, {"ui", "hideTips"},
				{"general", "vimMode"}, {"general", "previewFeatures"}, {"model", "name"}, {"selectedAuthType"}, {"theme"}, {"vimMode"}, {"privacy", "usageStatisticsEnabled"}})
			general := o.child("general")
			general.set("disableAutoUpdate", true)
			general.set("enableAutoUpdate", false)
			o.set("general", general)
			if err := s.writeObject(".gemini/settings.json", o); err != nil {
				return err
			}
			trust := s.homeObject(".gemini/trustedFolders.json")
			for _, dir := range s.Trusted {
				trust.set(dir, "TRUST_FOLDER")
			}
			if err := s.writeObject(".gemini/trustedFolders.json", trust); err != nil {
				return err
			}
			for _, name := range []string{"google_accounts.json", "GEMINI.md"} {
				if err := s.copyFile(filepath.Join(s.from, name), ".gemini/"+name); err != nil {
					return err
				}
			}
			return s.copyFolders(".gemini", "commands", "skills")
		},
		login: &loginForm{
			file: "oauth_creds.json",
			at: func(doc object) [][]string {
				if _, is := doc.text("refresh_token"); is {
					return [][]string{{}}
				}
				return nil
			},
			fields: []field{{name: "access_token", kind: token}, {name: "refresh_token", kind: token},
				{name: "id_token", kind: jwt, optional: true}, {name: "expiry_date", kind: millis}},
			expiry: expiryField("expiry_date"),
			keep:   []string{"scope", "token_type"},
			same:   []string{"scope"},
		},
	}
}

// opencode is what is known of OpenCode. Its login lies with its data, its configuration elsewhere.
func opencode() recipe {
	return recipe{
		folder: ".local/share/opencode",
		find: func(o Options) string {
			return filepath.Join(moved(o, "XDG_DATA_HOME", ".local/share"), "opencode")
		},
		logins: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"},
		seed: func(s *seeding) error {
			s.out.Unset = append(s.out.Unset, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT")
			dir := filepath.Join(moved(s.Options, "XDG_CONFIG_HOME", ".config"), "opencode")
			user := s.sourceObject(filepath.Join(dir, "opencode.json"))
			o := s.homeObject(".config/opencode/opencode.json")
			o.pickMissing(user, "model", "small_model", "theme", "username")
			o.set("autoupdate", false)
			if s.Unasked {
				o.set("permission", "allow")
			}
			if err := s.writeObject(".config/opencode/opencode.json", o); err != nil {
				return err
			}
			if err := s.copyFile(filepath.Join(dir, "AGENTS.md"), ".config/opencode/AGENTS.md"); err != nil {
				return err
			}
			for _, name := range []string{"command", "commands", "skills", "themes"} {
				if err := s.copyFolder(filepath.Join(dir, name), ".config/opencode/"+name); err != nil {
					return err
				}
			}
			return nil
		},
		login: &loginForm{
			file: "auth.json",
			at: func(doc object) [][]string {
				var out [][]string
				for name := range doc {
					if kind, _ := doc.child(name).text("type"); kind == "oauth" {
						out = append(out, []string{name})
					}
				}
				return out
			},
			fields: []field{{name: "access", kind: token}, {name: "refresh", kind: token}, {name: "expires", kind: millis}},
			expiry: expiryField("expires"),
			keep:   []string{"type", "accountId", "enterpriseUrl"},
			same:   []string{"type", "accountId", "enterpriseUrl"},
			// The other entries are API keys, which do not change by themselves.
			plain: []string{"type", "key"},
		},
	}
}

// copilot is what is known of GitHub Copilot CLI. Its login is in the system's keychain, or, without one, in its state.
func copilot() recipe {
	return recipe{
		folder: ".copilot", env: "COPILOT_HOME",
		find:   func(o Options) string { return moved(o, "COPILOT_HOME", ".copilot") },
		logins: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_MODEL", "GH_HOST"},
		seed: func(s *seeding) error {
			user := s.sourceObject(filepath.Join(s.from, "config.json"))
			o := s.homeObject(".copilot/config.json")
			for _, k := range []string{"logged_in_users", "last_logged_in_user", "copilot_tokens"} {
				if len(user[k]) > 0 && len(user[k]) <= maxLogin {
					o[k] = user[k] // login; it has no program in it
				}
			}
			if len(user["copilot_tokens"]) == 0 {
				s.left("A Copilot login in the system's keychain does not reach into a cage; COPILOT_GITHUB_TOKEN in the agent's environment does.")
			}
			o.set("trusted_folders", s.Trusted)
			if err := s.writeObject(".copilot/config.json", o); err != nil {
				return err
			}
			settings := s.homeObject(".copilot/settings.json")
			settings.pickMissing(s.sourceObject(filepath.Join(s.from, "settings.json")), "model", "theme", "banner", "auto_update", "render_markdown")
			settings.pickMissing(user, "model", "theme", "banner", "render_markdown")
			settings.set("auto_update", false)
			if err := s.writeObject(".copilot/settings.json", settings); err != nil {
				return err
			}
			if err := s.copyFile(filepath.Join(s.from, "copilot-instructions.md"), ".copilot/copilot-instructions.md"); err != nil {
				return err
			}
			return s.copyFolders(".copilot", "instructions", "skills")
		},
	}
}

// grok is what is known of Grok Build. A login names its fields in more than one way; only the one of its
// documentation is taken back.
func grok() recipe {
	return recipe{
		folder: ".grok", env: "GROK_HOME",
		find:   func(o Options) string { return moved(o, "GROK_HOME", ".grok") },
		logins: []string{"XAI_API_KEY", "GROK_DEFAULT_MODEL", "GROK_MODELS_BASE_URL", "GROK_XAI_API_BASE_URL"},
		seed: func(s *seeding) error {
			s.out.Unset = append(s.out.Unset, "GROK_CONFIG", "GROK_CONFIG_PATH")
			if data := s.source(filepath.Join(s.from, "auth.json"), maxLogin); data != nil {
				doc, err := parseObject(data)
				if err != nil {
					s.left("The login of Grok is not understood, so it is not in the cage.")
				} else if err := s.writeObject(".grok/auth.json", grokLogin(doc)); err != nil {
					return err
				}
			}
			s.out.Env["GROK_SANDBOX"], s.out.Env["GROK_DISABLE_AUTOUPDATER"] = "off", "1"
			if err := s.grokConfig(); err != nil {
				return err
			}
			if err := s.copyFile(filepath.Join(s.from, "AGENTS.md"), ".grok/AGENTS.md"); err != nil {
				return err
			}
			return s.copyFolders(".grok", "commands", "skills")
		},
	}
}

// grokLogin keeps the plain fields of the entries of grok's login.
func grokLogin(doc object) object {
	out := object{}
	for name := range doc {
		entry := object{}
		entry.pick(doc.child(name), "key", "access_token", "refresh_token", "refresh", "expires_at", "expires", "auth_mode", "create_time",
			"user_id", "email", "team_id", "coding_data_retention_opt_out")
		if len(entry) > 0 {
			out.set(name, entry)
		}
	}
	return out
}

// grokConfig writes its configuration: the model and nothing else.
func (s *seeding) grokConfig() error {
	var model any
	if data := s.source(filepath.Join(s.from, "config.toml"), tomledit.MaxSize); data != nil {
		var err error
		if model, _, err = tomledit.Get(data, []string{"models", "default"}); err != nil {
			s.left("%s is not understood, so nothing of it is used.", filepath.Join(s.from, "config.toml"))
		}
	}
	if !isPlainTOML(model) {
		return nil
	}
	doc, err := s.tree.read(".grok/config.toml", tomledit.MaxSize)
	if err != nil {
		doc = nil // none, or not an agent's
	}
	one := []setting{{path: []string{"models", "default"}, value: model, once: true}}
	out, err := setAll(doc, one)
	if err != nil {
		if out, err = setAll(nil, one); err != nil {
			return err
		}
	}
	return s.write(".grok/config.toml", out, false)
}

// copyFolders copies folders of the agent that have the same name on both sides.
func (s *seeding) copyFolders(rel string, names ...string) error {
	for _, name := range names {
		if err := s.copyFolder(filepath.Join(s.from, name), rel+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// graft copies plain members that lie deeper, where they are missing.
func (o object) graft(from object, paths [][]string) {
	for _, p := range paths {
		if len(p) == 1 {
			o.pickMissing(from, p[0])
			continue
		}
		sub := o.child(p[0])
		sub.graft(from.child(p[0]), [][]string{p[1:]})
		if len(sub) > 0 {
			o.set(p[0], sub)
		}
	}
}
