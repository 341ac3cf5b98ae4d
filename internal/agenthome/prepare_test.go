//go:build unix

package agenthome

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

// user is a person with a home, and a place for private homes.
type user struct {
	t     *testing.T
	root  string
	real  string
	homes string
	env   map[string]string
}

func newUser(t *testing.T) *user {
	t.Helper()
	root := t.TempDir()
	u := &user{t: t, root: root, real: root + "/user", homes: root + "/homes"}
	for _, d := range []string{u.real, u.homes, root + "/repo", root + "/tree"} {
		u.must(os.MkdirAll(d, 0o700))
	}
	u.env = map[string]string{"HOME": u.real, "PATH": os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM": "1"}
	return u
}

func (u *user) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

// has writes a file of the user's, relative to the home, or absolute.
func (u *user) has(path, text string) {
	u.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(u.real, path)
	}
	u.must(os.MkdirAll(filepath.Dir(path), 0o700))
	u.must(os.WriteFile(path, []byte(text), 0o600))
}

func (u *user) home(id string) string { return filepath.Join(u.homes, id) }

func (u *user) options(agent string) Options {
	return Options{Agent: agent, RealHome: u.real, Home: u.home("one"), Trusted: []string{u.root + "/tree", u.root + "/repo"}, Repo: u.root + "/repo",
		Env: u.env, Unasked: true, CopyBack: true}
}

func (u *user) prepare(o Options) Prepared {
	u.t.Helper()
	p, err := Prepare(context.Background(), o)
	u.must(err)
	return p
}

func (u *user) read(path string) string {
	u.t.Helper()
	b, err := os.ReadFile(path)
	u.must(err)
	return string(b)
}

func (u *user) object(path string) object {
	u.t.Helper()
	o, err := parseObject([]byte(u.read(path)))
	u.must(err)
	return o
}

func (u *user) toml(path string) map[string]any {
	u.t.Helper()
	m, err := tomledit.Decode([]byte(u.read(path)))
	u.must(err)
	return m
}

// all is the text of every file below a folder, with names.
func (u *user) all(dir string) string {
	u.t.Helper()
	var b strings.Builder
	u.must(filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if e.Type().IsRegular() {
			fmt.Fprintf(&b, "== %s\n%s\n", p, u.read(p))
		}
		return nil
	}))
	return b.String()
}

// filled is a user in whose files everything that runs, and everything that is nobody's business, says POISON.
func filled(t *testing.T) *user {
	u := newUser(t)
	hooks := `{"SessionStart":[{"hooks":[{"type":"command","command":"POISON"}]}]}`
	u.has(".claude.json", `{"hasCompletedOnboarding":true,"theme":"light","editorMode":"vim","userID":"POISON","tipsHistory":{"POISON":1},
		"oauthAccount":{"accountUuid":"acc","emailAddress":"a@example.invalid","POISON":"x"},"customApiKeyResponses":{"approved":["tail-of-a-key"],"rejected":["other-key"]},
		"mcpServers":{"m":{"command":"POISON"}},"projects":{"/elsewhere":{"mcpServers":{"m":{"command":"POISON"}},"history":["POISON"]}}}`)
	u.has(".claude/settings.json", `{"model":"opus","theme":"light","hooks":`+hooks+`,"statusLine":{"command":"POISON"},"apiKeyHelper":"POISON","awsAuthRefresh":"POISON",
		"awsCredentialExport":"POISON","otelHeadersHelper":"POISON","enabledPlugins":{"POISON@x":true},"extraKnownMarketplaces":{"POISON":{}},"env":{"ANTHROPIC_BASE_URL":"http://proxy.invalid","NODE_OPTIONS":"--require POISON"},
		"permissions":{"allow":["POISON"],"deny":["Read(./.env)"],"additionalDirectories":["/POISON"]},"enableAllProjectMcpServers":true,"language":["POISON"]}`)
	u.has(".claude/settings.local.json", `{"hooks":`+hooks+`}`)
	u.has(".claude/CLAUDE.md", "remember")
	u.has(".claude/commands/deep/c.md", "command")
	u.has(".claude/skills/s/SKILL.md", "skill")
	u.has(".claude/skills/s/node_modules/x.js", "POISON")
	u.has(".claude/skills/s/.git/config", "POISON")
	u.has(".claude/plugins/p.json", "POISON")
	u.has(".claude/agents/a.md", "POISON")
	u.has(".claude/projects/p/x.jsonl", "POISON")
	u.has(".claude/history.jsonl", "POISON")
	u.has(".claude/.credentials.json", claudeLogin("one", 8)[:len(claudeLogin("one", 8))-1]+`,"mcpOAuth":{"x":"POISON"},"organizationUuid":"org"}`)
	u.has(".codex/config.toml", `model = "gpt"
model_provider = "mine"
model_reasoning_effort = "high"
notify = ["POISON"]
profile = "work"
sandbox_mode = "read-only"
developer_instructions = "POISON"
[profiles.work]
model = "gpt-work"
notify = ["POISON"]
[model_providers.mine]
name = "Mine"
base_url = "http://model.invalid/v1"
env_key = "MINE_KEY"
http_headers = { "X-A" = "b" }
env_http_headers = { "X-Key" = "MINE_HEADER" }
auth = { command = "POISON" }
[mcp_servers.m]
command = "POISON"
[hooks]
x = "POISON"
[tui]
theme = "dark"
notifications = ["POISON"]
[shell_environment_policy]
set = { X = "POISON" }
[projects."/elsewhere"]
trust_level = "POISON"
`)
	u.has(".codex/auth.json", codexLogin("acc", "one", 10))
	u.has(".codex/AGENTS.md", "remember")
	u.has(".codex/prompts/p.md", "prompt")
	u.has(".codex/hooks.json", "POISON")
	u.has(".codex/rules/default.rules", "POISON")
	u.has(".codex/.env", "POISON=1")
	u.has(".agents/skills/s/SKILL.md", "skill")
	u.has(".agents/plugins/marketplace.json", "POISON")
	u.has(".gemini/settings.json", `{"security":{"auth":{"selectedType":"oauth-personal"}},"ui":{"theme":"GitHub","customThemes":{"POISON":{}}},"model":{"name":"pro"},"mcpServers":{"m":{"command":"POISON"}},
		"hooks":`+hooks+`,"tools":{"discoveryCommand":"POISON","callCommand":"POISON","sandbox":"POISON"},"general":{"vimMode":true,"preferredEditor":"POISON"}}`)
	u.has(".gemini/oauth_creds.json", `{"access_token":"access-token-1","refresh_token":"refresh-token-1","expiry_date":1800000000000,"scope":"s","token_type":"Bearer","POISON":"x"}`)
	u.has(".gemini/GEMINI.md", "remember")
	u.has(".gemini/commands/c.toml", "prompt = 'x'")
	u.has(".gemini/extensions/e/gemini-extension.json", "POISON")
	u.has(".gemini/.env", "POISON=1")
	u.has(".config/opencode/opencode.json", `{"model":"m/x","mcp":{"m":{"command":["POISON"]}},"plugin":["POISON"],"formatter":{"x":{"command":["POISON"]}},"provider":{"p":{"npm":"POISON"}}}`)
	u.has(".config/opencode/plugin/p.js", "POISON")
	u.has(".config/opencode/AGENTS.md", "remember")
	u.has(".local/share/opencode/auth.json", `{"anthropic":{"type":"oauth","access":"access-token-1","refresh":"refresh-token-1","expires":1800000000000,"POISON":"x"},"openai":{"type":"api","key":"sk-key-of-openai"},"odd":"POISON"}`)
	u.has(".copilot/config.json", `{"logged_in_users":[{"host":"h","login":"l"}],"copilot_tokens":{"h:l":"token"},"model":"m","trusted_folders":["/POISON"],"installed_plugins":["POISON"]}`)
	u.has(".copilot/mcp-config.json", "POISON")
	u.has(".copilot/hooks/h.json", "POISON")
	u.has(".grok/auth.json", `{"https://auth.invalid::id":{"key":"key-of-grok","refresh_token":"r","POISON":"x"}}`)
	u.has(".grok/config.toml", "[models]\ndefault = \"grok-x\"\n[mcp_servers.m]\ncommand = \"POISON\"\n[hooks]\nx = \"POISON\"\n")
	u.has(".gitconfig", "[user]\n\tname = Ann \\\"A\\\" B\n\temail = ann@example.invalid\n[include]\n\tpath = more\n[includeIf \"gitdir:"+u.root+"/repo/\"]\n\tpath = work\n[alias]\n\tst = !POISON\n"+
		"[core]\n\tfsmonitor = POISON\n\thooksPath = POISON\n\tpager = POISON\n\teditor = POISON\n\tsshCommand = POISON\n\texcludesFile = ~/ignore-these\n[credential]\n\thelper = POISON\n[init]\n\tdefaultBranch = trunk\n\ttemplateDir = POISON\n"+
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = POISON\n\trequired = true\n[filter \"x\"]\n\tclean = POISON\n[url \"https://POISON@example.invalid/\"]\n\tinsteadOf = https://example.invalid/\n[commit]\n\tgpgsign = true\n\ttemplate = POISON\n[gpg]\n\tprogram = POISON\n[diff]\n\texternal = POISON\n\talgorithm = histogram\n")
	u.has("more", "[pull]\n\trebase = true\n[sequence]\n\teditor = POISON\n")
	u.has("work", "[user]\n\temail = ann@work.invalid\n")
	u.has("ignore-these", "*.swp\n")
	u.has(".bashrc", "POISON")
	u.has(".ssh/id_ed25519", "POISON")
	u.has(".netrc", "POISON")
	return u
}

func gitProgram(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	return git
}

// Nothing that runs and nothing that is nobody's business gets into a home, whichever agent it is for; login, memory and
// taste do.
func TestAllowList(t *testing.T) {
	want := map[string][]string{
		"claude": {"sk-ant-oat01-one", `"organizationUuid":"org"`, `"theme": "light"`, `"editorMode": "vim"`, "tail-of-a-key", "other-key", "a@example.invalid", `"model": "opus"`, "proxy.invalid", "Read(./.env)",
			"remember", ".claude/commands/deep/c.md", ".claude/skills/s/SKILL.md", `"bypassPermissionsModeAccepted": true`},
		"codex":    {"gpt-work", "model.invalid", "MINE_KEY", "X-A", "high", `theme = "dark"`, "refresh-token-one", "remember", ".codex/prompts/p.md", ".agents/skills/s/SKILL.md"},
		"gemini":   {"oauth-personal", "GitHub", `"name": "pro"`, `"vimMode": true`, "TRUST_FOLDER", "refresh-token-1", "remember", "c.toml"},
		"opencode": {`"model": "m/x"`, "refresh-token-1", "sk-key-of-openai", "remember"},
		"copilot":  {"copilot_tokens", "trusted_folders", `"model": "m"`},
		"grok":     {"key-of-grok", "grok-x"},
		"unheard":  {"Ann"},
	}
	for agent, parts := range want {
		t.Run(agent, func(t *testing.T) {
			u := filled(t)
			before := u.all(u.real)
			o := u.options(agent)
			o.Git = gitProgram(t)
			p := u.prepare(o)
			got := u.all(o.Home)
			if i := strings.Index(got, "POISON"); i >= 0 {
				t.Errorf("it got in: ...%s", got[max(0, i-200):min(len(got), i+100)])
			}
			for _, s := range append(parts, `name = "Ann \"A\" B"`) {
				if !strings.Contains(got, s) {
					t.Errorf("%q is not in the home:\n%s", s, got)
				}
			}
			if strings.Contains(fmt.Sprint(p), "POISON") {
				t.Errorf("it is in what the start needs: %+v", p)
			}
			if u.all(u.real) != before {
				t.Error("the user's own files were changed")
			}
			u.modes(o.Home)
		})
	}
}

// modes checks that a home is for nobody else, the files too.
func (u *user) modes(home string) {
	u.t.Helper()
	u.must(filepath.WalkDir(home, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			u.t.Errorf("%s is open to others: %v", p, info.Mode())
		}
		return err
	}))
}

// What an agent needs to start without asking is there, under the folders as it sees them.
func TestTrustAndBoundary(t *testing.T) {
	u := filled(t)
	o := u.options("claude")
	o.Inside = u.real
	p := u.prepare(o)
	state := u.object(o.Home + "/.claude/.claude.json")
	for _, dir := range o.Trusted {
		if got := string(state.child("projects").child(dir)["hasTrustDialogAccepted"]); got != "true" {
			t.Errorf("trust of %s: %s", dir, got)
		}
	}
	if p.Env["HOME"] != u.real || p.Env["CLAUDE_CONFIG_DIR"] != u.real+"/.claude" || p.Env["IS_SANDBOX"] != "1" {
		t.Errorf("environment %v", p.Env)
	}
	settings := u.object(o.Home + "/.claude/settings.json")
	if string(settings.child("sandbox")["enabled"]) != "false" || string(settings["skipDangerousModePermissionPrompt"]) != "true" {
		t.Errorf("settings %s", settings)
	}
	o = u.options("codex")
	p = u.prepare(o)
	conf := u.toml(o.Home + "/.codex/config.toml")
	if conf["sandbox_mode"] != "danger-full-access" || conf["approval_policy"] != "never" || conf["cli_auth_credentials_store"] != "file" {
		t.Errorf("configuration %v", conf)
	}
	trust, _ := conf["projects"].(map[string]any)
	if len(trust) != 2 {
		t.Errorf("trust %v", trust)
	}
	if p.Env["CODEX_HOME"] != o.Home+"/.codex" || !slices.Contains(p.Logins, "MINE_KEY") || !slices.Contains(p.Logins, "MINE_HEADER") || len(p.Args) != 2 {
		t.Errorf("start %+v", p)
	}
	o.Unasked = false
	o.Home = u.home("asked")
	u.prepare(o)
	if conf := u.toml(o.Home + "/.codex/config.toml"); conf["approval_policy"] != nil {
		t.Errorf("an agent that shall ask does not: %v", conf)
	}
}

// Where the user keeps an agent's files elsewhere, they are found there, and the variable leads into the home.
func TestUsersOwnLocations(t *testing.T) {
	u := newUser(t)
	u.env["CLAUDE_CONFIG_DIR"], u.env["CODEX_HOME"], u.env["XDG_CONFIG_HOME"], u.env["XDG_DATA_HOME"] = u.root+"/c", u.root+"/x", u.root+"/conf", u.root+"/data"
	u.has(u.root+"/c/.claude.json", `{"hasCompletedOnboarding":true,"theme":"moved"}`)
	u.has(u.root+"/c/CLAUDE.md", "moved memory")
	u.has(u.root+"/x/config.toml", `model = "moved"`)
	u.has(u.root+"/conf/opencode/opencode.json", `{"model":"moved"}`)
	u.has(u.root+"/conf/git/config", "[user]\n\tname = Moved\n")
	u.has(u.root+"/conf/git/ignore", "moved-ignored\n")
	u.has(u.root+"/data/opencode/auth.json", `{"o":{"type":"api","key":"moved-key"}}`)
	u.has(".claude.json", `{"theme":"STALE"}`)
	u.has(".codex/config.toml", `model = "STALE"`)
	for agent, parts := range map[string][]string{"claude": {"moved memory", `"moved"`}, "codex": {`model = "moved"`}, "opencode": {`"model": "moved"`, "moved-key"}} {
		o := u.options(agent)
		o.Home, o.Git = u.home(agent), gitProgram(t)
		p := u.prepare(o)
		got := u.all(o.Home)
		for _, s := range append(parts, `name = "Moved"`, "moved-ignored") {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %q is not there:\n%s", agent, s, got)
			}
		}
		if strings.Contains(got, "STALE") {
			t.Errorf("%s: the file of the default place was used:\n%s", agent, got)
		}
		for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
			if v := p.Env[name]; v != "" && !strings.HasPrefix(v, o.Home) {
				t.Errorf("%s: %s leads to %s", agent, name, v)
			}
			if p.Env[name] == "" && !slices.Contains(p.Unset, name) {
				t.Errorf("%s: %s is left as it is", agent, name)
			}
		}
	}
}

// git in the home knows who the user is, as it holds in this repository, and the private file says no more than that.
func TestGitIdentity(t *testing.T) {
	u := filled(t)
	git := gitProgram(t)
	cmd := exec.Command(git, "init", "-q", u.root+"/repo")
	cmd.Env = []string{"HOME=" + u.real, "PATH=" + u.env["PATH"], "GIT_TEMPLATE_DIR="}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o := u.options("claude")
	o.Git = git
	p := u.prepare(o)
	ask := func(name string) string {
		cmd := exec.Command(git, "config", "--get", name)
		cmd.Dir = u.root + "/repo"
		cmd.Env = []string{"PATH=" + u.env["PATH"], "GIT_CONFIG_NOSYSTEM=1"}
		for k, v := range p.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		out, _ := cmd.Output() // an unset name is an error of git's
		return strings.TrimSpace(string(out))
	}
	for name, want := range map[string]string{"user.name": `Ann "A" B`, "user.email": "ann@work.invalid", "init.defaultBranch": "trunk", "pull.rebase": "true",
		"branch.autoSetupMerge": "false", "commit.gpgSign": "false", "diff.algorithm": "histogram", "filter.lfs.clean": "git-lfs clean -- %f",
		"filter.lfs.smudge": "", "core.hooksPath": "", "core.fsmonitor": "", "alias.st": "", "core.editor": "", "credential.helper": ""} {
		if got := ask(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got := u.read(o.Home + "/.config/git/ignore"); got != "*.swp\n" {
		t.Errorf("ignored: %q", got)
	}
}

// The second start of an agent keeps what was chosen in the home, and brings what the user has changed outside.
func TestPrepareAgain(t *testing.T) {
	u := filled(t)
	o := u.options("claude")
	u.prepare(o)
	u.has(o.Home+"/.claude/settings.json", `{"model":"chosen-inside","sandbox":{"enabled":true}}`)
	u.has(o.Home+"/.claude/projects/x/t.jsonl", "a conversation")
	u.has(".claude/CLAUDE.md", "remember more")
	u.has(".claude/.credentials.json", claudeLogin("again", 20))
	u.prepare(o)
	settings := u.object(o.Home + "/.claude/settings.json")
	if m, _ := settings.text("model"); m != "chosen-inside" || string(settings.child("sandbox")["enabled"]) != "false" {
		t.Errorf("settings %s", settings)
	}
	if got := u.read(o.Home + "/.claude/CLAUDE.md"); got != "remember more" {
		t.Errorf("memory %q", got)
	}
	if got := u.read(o.Home + "/.claude/.credentials.json"); !strings.Contains(got, "sk-ant-oat01-again") {
		t.Errorf("login %q", got)
	}
	if got := u.read(o.Home + "/.claude/projects/x/t.jsonl"); got != "a conversation" {
		t.Errorf("conversation %q", got)
	}
	before, err := os.Stat(o.Home + "/.claude/.claude.json")
	u.must(err)
	u.has(o.Home+"/.claude/settings.json", strings.Join(strings.Fields(u.read(o.Home+"/.claude/settings.json")), ""))
	u.prepare(o)
	after, err := os.Stat(o.Home + "/.claude/.claude.json")
	u.must(err)
	if !os.SameFile(before, after) || !strings.HasPrefix(u.read(o.Home+"/.claude/settings.json"), `{"`) {
		t.Error("a file that meant the same was written again")
	}
	o.Agent = "codex"
	u.prepare(o)
	u.has(o.Home+"/.codex/config.toml", "model = \"chosen-inside\"\nsandbox_mode = \"read-only\"\n[broken\n")
	u.prepare(o)
	if conf := u.toml(o.Home + "/.codex/config.toml"); conf["sandbox_mode"] != "danger-full-access" || conf["model"] != "gpt-work" {
		t.Errorf("a broken configuration became %v", conf)
	}
}

// Whatever a cage puts in the place of what Prepare writes: nothing outside is read or written, and it ends.
func TestPrepareAmongTraps(t *testing.T) {
	outside := func(u *user) string { return u.root + "/outside" }
	for name, trap := range map[string]func(u *user, home string){
		"link for the folder": func(u *user, home string) {
			u.must(os.MkdirAll(outside(u), 0o700))
			u.must(os.Symlink(outside(u), home+"/.claude"))
		},
		"link for a file": func(u *user, home string) {
			u.must(os.Mkdir(home+"/.claude", 0o700))
			u.has(outside(u), "untouched")
			for _, n := range []string{".claude.json", "settings.json", "CLAUDE.md", ".credentials.json"} {
				u.must(os.Symlink(outside(u), home+"/.claude/"+n))
			}
			u.must(os.Symlink(outside(u), home+"/.gitconfig"))
		},
		"second name": func(u *user, home string) {
			u.must(os.Mkdir(home+"/.claude", 0o700))
			u.has(outside(u), "untouched")
			u.must(os.Link(outside(u), home+"/.claude/settings.json"))
			u.must(os.Link(outside(u), home+"/.claude/.credentials.json"))
		},
		"pipe": func(u *user, home string) {
			u.must(os.Mkdir(home+"/.claude", 0o700))
			for _, n := range []string{".claude.json", "settings.json", "CLAUDE.md", ".credentials.json"} {
				u.must(syscall.Mkfifo(home+"/.claude/"+n, 0o600))
			}
			u.must(syscall.Mkfifo(home+"/.config", 0o600))
		},
		"large": func(u *user, home string) {
			u.has(home+"/.claude/settings.json", `{"x":"`+strings.Repeat("y", maxConfig)+`"}`)
			u.has(home+"/.claude/.credentials.json", `{"x":"`+strings.Repeat("y", maxLogin)+`"}`)
		},
		"no JSON": func(u *user, home string) {
			for _, n := range []string{".claude.json", "settings.json", ".credentials.json"} {
				u.has(home+"/.claude/"+n, `["`)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := filled(t)
			o := u.options("claude")
			o.Git = gitProgram(t)
			u.must(os.Mkdir(o.Home, 0o700))
			trap(u, o.Home)
			u.prepare(o)
			if got := u.read(o.Home + "/.claude/.credentials.json"); !strings.Contains(got, "sk-ant-oat01-one") {
				t.Errorf("login %q", got)
			}
			if m, _ := u.object(o.Home + "/.claude/settings.json").text("model"); m != "opus" {
				t.Errorf("model %q", m)
			}
			if info, err := os.Lstat(outside(u)); err == nil && info.Mode().IsRegular() && u.read(outside(u)) != "untouched" {
				t.Errorf("outside was written: %q", u.read(outside(u)))
			}
			if entries, err := os.ReadDir(outside(u)); err == nil && len(entries) > 0 {
				t.Errorf("outside got %v", entries)
			}
		})
	}
}

// A folder in the place of a file cannot be replaced in one step; it is an error with a hint, not a home without it.
func TestPrepareRefuses(t *testing.T) {
	u := filled(t)
	o := u.options("claude")
	u.must(os.MkdirAll(o.Home+"/.claude/settings.json/x", 0o700))
	if _, err := Prepare(context.Background(), o); fault.CodeOf(err) != fault.Unavailable || fault.From(err).Hint == "" {
		t.Errorf("got %v", err)
	}
	o.Home = "relative"
	if _, err := Prepare(context.Background(), o); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("got %v", err)
	}
	o.Home = u.home("linked")
	u.must(os.Symlink(u.root+"/tree", o.Home))
	if _, err := Prepare(context.Background(), o); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
}

// What is too much of the user's is left out and said, and a link that leads nowhere stops nothing.
func TestWhatIsLeftOut(t *testing.T) {
	u := newUser(t)
	u.has(".claude/commands/large.md", strings.Repeat("x", maxMemory+1))
	u.has(".claude/commands/ok.md", "ok")
	u.must(os.Symlink("/nowhere", u.real+"/.claude/commands/broken.md"))
	u.must(os.Symlink(u.real+"/.claude/commands", u.real+"/.claude/commands/loop"))
	u.must(syscall.Mkfifo(u.real+"/.claude/CLAUDE.md", 0o600))
	u.has(".claude/settings.json", "{ not JSON")
	o := u.options("claude")
	p := u.prepare(o)
	said := strings.Join(p.Left, "\n")
	for _, s := range []string{"large.md", "loop", "CLAUDE.md", "settings.json is not understood", "never set up"} {
		if !strings.Contains(said, s) {
			t.Errorf("%q is not said:\n%s", s, said)
		}
	}
	if !slices.Contains(p.Seeded, ".claude/commands/ok.md") {
		t.Errorf("seeded %q", p.Seeded)
	}
}

// The conversations of a private home are found where the agents put them.
func TestTranscripts(t *testing.T) {
	got := Transcripts("/h")
	if got["CLAUDE_CONFIG_DIR"] != "/h/.claude" || got["CODEX_HOME"] != "/h/.codex" {
		t.Errorf("got %v", got)
	}
	if LoginFile("claude", "/h") != "/h/.claude/.credentials.json" || LoginFile("codex", "/h") != "/h/.codex/auth.json" || LoginFile("copilot", "/h") != "" {
		t.Error("login files")
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
