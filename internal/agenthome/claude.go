package agenthome

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

// claude is what is known of Claude Code. In a home everything of it lies in .claude, its state file included, because
// CLAUDE_CONFIG_DIR is always set there.
func claude() recipe {
	return recipe{
		folder: ".claude", env: "CLAUDE_CONFIG_DIR",
		find: func(o Options) string { return moved(o, "CLAUDE_CONFIG_DIR", ".claude") },
		logins: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
			"ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
			"DISABLE_TELEMETRY", "MAX_THINKING_TOKENS"},
		seed: seedClaude,
		login: &loginForm{
			file: ".credentials.json",
			at: func(doc object) [][]string {
				if _, is := doc.child("claudeAiOauth").text("refreshToken"); is {
					return [][]string{{"claudeAiOauth"}}
				}
				return nil
			},
			fields: []field{
				{name: "accessToken", kind: token, form: regexp.MustCompile(`^sk-ant-oat[0-9]{2}-`)},
				{name: "refreshToken", kind: token, form: regexp.MustCompile(`^sk-ant-ort[0-9]{2}-`)},
				{name: "expiresAt", kind: millis},
				{name: "refreshTokenExpiresAt", kind: millis, optional: true},
			},
			expiry: expiryField("expiresAt"),
			keep:   []string{"scopes", "subscriptionType", "subscriptionTypeSource", "subscriptionTypeVerifiedAt", "rateLimitTier", "clientId"},
			same:   []string{"scopes", "clientId"},
			beside: []string{"organizationUuid"},
			// Its tokens are opaque, so this is what an honest claude notes beside them; it proves nothing.
			owner: func(state object) string {
				id, _ := state.child("oauthAccount").text("accountUuid") // "" when there is none
				return id
			},
			homeState: ".claude/.claude.json",
			userState: func(o Options) string { return claudeState(o, moved(o, "CLAUDE_CONFIG_DIR", ".claude")) },
		},
	}
}

// moved is the folder of an agent: where its variable says, or in the user's home.
func moved(o Options, name, rel string) string {
	if dir := o.Env[name]; filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(o.RealHome, rel)
}

// claudeState is the user's state file: it moves with CLAUDE_CONFIG_DIR, and an older name of it wins where it is.
func claudeState(o Options, dir string) string {
	if old := filepath.Join(dir, ".config.json"); exists(old) {
		return old
	}
	if filepath.IsAbs(o.Env["CLAUDE_CONFIG_DIR"]) {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(o.RealHome, ".claude.json")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func seedClaude(s *seeding) error {
	if err := s.claudeState(); err != nil {
		return err
	}
	if err := s.claudeSettings(); err != nil {
		return err
	}
	if s.Unasked {
		// As root claude refuses to work without asking unless it is told that a boundary is around it, as there is.
		s.out.Env["IS_SANDBOX"] = "1"
	}
	s.out.Env["DISABLE_AUTOUPDATER"] = "1" // its program is read-only in a cage
	// Otherwise it clones its vendor's plugins into each new home.
	s.out.Env["CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL"] = "1"
	if err := s.copyFile(filepath.Join(s.from, "CLAUDE.md"), ".claude/CLAUDE.md"); err != nil {
		return err
	}
	for _, dir := range []string{"commands", "skills", "rules"} {
		if err := s.copyFolder(filepath.Join(s.from, dir), ".claude/"+dir); err != nil {
			return err
		}
	}
	return nil
}

// claudeState writes the state file: what a first start would ask.
func (s *seeding) claudeState() error {
	const rel = ".claude/.claude.json"
	user := s.sourceObject(claudeState(s.Options, s.from))
	o := s.homeObject(rel)
	o.pickMissing(user, "theme", "editorMode", "lastOnboardingVersion", "autoCompactEnabled", "verbose")
	o.pick(user, "hasCompletedOnboarding", "primaryApiKey", "hasAvailableSubscription")
	account := object{}
	account.pick(user.child("oauthAccount"), "accountUuid", "emailAddress", "organizationUuid", "organizationName", "organizationRole",
		"workspaceRole", "displayName", "billingType", "hasExtraUsageEnabled", "organizationType", "organizationRateLimitTier", "seatTier")
	if len(account) > 0 {
		o.set("oauthAccount", account)
	} else {
		delete(o, "oauthAccount") // the user logged out
	}
	var answers struct{ Approved, Rejected []string }
	if json.Unmarshal(user["customApiKeyResponses"], &answers) == nil && len(answers.Approved)+len(answers.Rejected) > 0 {
		o.set("customApiKeyResponses", map[string][]string{"approved": answers.Approved, "rejected": answers.Rejected})
	}
	if s.Unasked {
		o.set("bypassPermissionsModeAccepted", true)
	}
	o.set("autoUpdates", false)
	projects := o.child("projects")
	for _, dir := range s.Trusted {
		p := projects.child(dir)
		p.set("hasTrustDialogAccepted", true)
		p.set("hasCompletedProjectOnboarding", true)
		projects.set(dir, p)
	}
	o.set("projects", projects)
	if string(o["hasCompletedOnboarding"]) != "true" {
		s.left("Claude Code was never set up by this user, so it asks its first questions in the cage.")
	}
	return s.writeObject(rel, o)
}

// claudeEnv are the variables of its settings' env block that are login or model.
func claudeEnv() []string { return claude().logins }

// claudeSettings writes the settings: model and taste of the user, and that the agent's own sandbox stands down.
func (s *seeding) claudeSettings() error {
	const rel = ".claude/settings.json"
	user := s.sourceObject(filepath.Join(s.from, "settings.json"))
	for _, k := range []string{"hooks", "statusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper", "enabledPlugins", "fileSuggestion"} {
		if _, has := user[k]; has {
			s.left("%s of Claude Code's settings is not in the cage: it runs programs.", k)
		}
	}
	o := s.homeObject(rel)
	o.pickMissing(user, "model", "effortLevel", "alwaysThinkingEnabled", "language", "theme", "outputStyle", "includeCoAuthoredBy",
		"cleanupPeriodDays", "respectGitignore", "spinnerTipsEnabled", "prefersReducedMotion", "forceLoginMethod", "forceLoginOrgUUID")
	env := o.child("env")
	env.pick(user.child("env"), claudeEnv()...)
	if len(env) > 0 {
		o.set("env", env)
	}
	if deny := texts(user.child("permissions")["deny"]); len(deny) > 0 {
		p := o.child("permissions")
		p.set("deny", deny) // it only takes away
		o.set("permissions", p)
	}
	if s.Unasked {
		o.set("skipDangerousModePermissionPrompt", true)
	}
	o.set("disableDeepLinkRegistration", "disable")
	o.set("sandbox", map[string]any{"enabled": false})
	return s.writeObject(rel, o)
}

// texts reads a list of strings; anything else is empty.
func texts(raw json.RawMessage) []string {
	var out []string
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
