//go:build clients

package e2eclients

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/agent"
	"termic/internal/agenthome"
	"termic/internal/fakemodel"
	"termic/internal/ptyhost"
)

// lair is a user with a well-filled home, a repository with a worktree, and a private home made from all that. Whatever
// in the user's files runs by itself leaves a mark.
type lair struct {
	t        *testing.T
	c        client
	root     string
	user     string // the user's own home
	home     string // the private one
	repo     string
	worktree string
	marks    string // a folder in which everything that ran leaves a file
	env      map[string]string
	model    *fakemodel.Server
	prepared agenthome.Prepared
}

func newLair(t *testing.T, c client) *lair {
	t.Helper()
	root, err := os.MkdirTemp(os.Getenv("TERMIC_E2E_SCRATCH"), "lair")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	l := &lair{t: t, c: c, root: root, user: root + "/user", home: root + "/homes/task", repo: root + "/repo", worktree: root + "/tasks/first", marks: root + "/marks"}
	l.model, err = fakemodel.Start(fakemodel.Options{})
	l.must(err)
	t.Cleanup(func() {
		if err := l.model.Close(); err != nil {
			t.Errorf("fake model: %v", err)
		}
	})
	for _, d := range []string{l.user + "/.claude/commands", l.user + "/.claude/skills/greet", l.user + "/.codex/prompts", l.repo, l.marks, root + "/tasks", root + "/homes"} {
		l.must(os.MkdirAll(d, 0o700))
	}
	l.env = map[string]string{"HOME": l.user, "PATH": os.Getenv("PATH"), "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "SHELL": "/bin/sh",
		"ANTHROPIC_BASE_URL": l.model.URL(), "ANTHROPIC_API_KEY": key, "FAKE_MODEL_KEY": "dummy", "GIT_CONFIG_NOSYSTEM": "1"}
	l.fill()
	l.git(l.repo, "init", "-q", "-b", "main")
	l.file(l.repo+"/README.md", "one\n")
	l.git(l.repo, "add", "-A")
	l.git(l.repo, "commit", "-qm", "first")
	l.git(l.repo, "worktree", "add", "-q", "-b", "first", l.worktree)
	l.prepare()
	return l
}

// prepare makes the private home, or brings it up to date.
func (l *lair) prepare() {
	l.t.Helper()
	git, err := exec.LookPath("git")
	l.must(err)
	l.prepared, err = agenthome.Prepare(context.Background(), agenthome.Options{Agent: l.c.id, RealHome: l.user, Home: l.home,
		Trusted: []string{l.worktree, l.repo}, Repo: l.repo, Env: l.env, Unasked: true, CopyBack: true, Git: git})
	l.must(err)
}

// fill writes what a user has, with something in it at every place that runs by itself.
func (l *lair) fill() {
	mark := func(name string) string { return fmt.Sprintf("/usr/bin/touch %s/%s", l.marks, name) }
	l.file(l.user+"/.gitconfig", "[user]\n\tname = Test\n\temail = test@example.invalid\n[alias]\n\tst = !"+mark("git-alias")+"\n")
	l.file(l.user+"/.claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":[%q],"rejected":[]},
		"mcpServers":{"mark":{"type":"stdio","command":"/bin/sh","args":["-c",%q]}}}`, key[len(key)-20:], mark("claude-server")))
	l.file(l.user+"/.claude/settings.json", "{"+l.hooks()+`,"model":"fake-model"}`)
	l.file(l.user+"/.claude/CLAUDE.md", "MEMORY-OF-THE-USER\n")
	l.file(l.user+"/.claude/commands/hello.md", "Say hello.\n")
	l.file(l.user+"/.claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: greets a person\n---\nGreet.\n")
	l.file(l.user+"/.codex/AGENTS.md", "MEMORY-OF-THE-USER\n")
	l.file(l.user+"/.codex/config.toml", fmt.Sprintf(`model = "fake"
model_provider = "fake"
notify = ["/usr/bin/touch", "%[1]s/codex-notify"]
[model_providers.fake]
name = "fake"
base_url = %[2]q
wire_api = "responses"
env_key = "FAKE_MODEL_KEY"
[mcp_servers.mark]
command = "/bin/sh"
args = ["-c", "/usr/bin/touch %[1]s/codex-server"]
`, l.marks, l.model.URL()+"/v1"))
}

func (l *lair) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lair) file(path, text string) {
	l.t.Helper()
	l.must(os.WriteFile(path, []byte(text), 0o600))
}

func (l *lair) git(dir string, args ...string) {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + l.user, "PATH=" + l.env["PATH"], "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// kind is the recipe of the client with the program that is tested.
func (l *lair) kind() agent.Kind {
	l.t.Helper()
	reg, problems := agent.NewRegistry(nil)
	if len(problems) > 0 {
		l.t.Fatal(problems)
	}
	k, err := reg.Resolve(l.c.id)
	l.must(err)
	k.Command = l.c.command
	return k
}

// inHome is the environment in the private home: nothing of the user's but what the home lets pass.
func (l *lair) inHome() map[string]string {
	out := map[string]string{}
	for _, k := range append([]string{"PATH", "TERM", "COLORTERM", "LANG", "SHELL"}, l.prepared.Logins...) {
		if v, has := l.env[k]; has {
			out[k] = v
		}
	}
	maps.Copy(out, l.prepared.Env)
	return out
}

// start starts the client in a folder; before is put before its program.
func (l *lair) start(dir string, env map[string]string, before ...string) *ptyhost.Terminal {
	l.t.Helper()
	argv, _, err := agent.Launch(l.kind(), agent.LaunchOptions{Yolo: true, Unattended: true, Vars: agent.Vars{TaskSlug: "first"}})
	l.must(err)
	argv = append(slices.Concat(before, argv), l.prepared.Args...)
	list := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	host := ptyhost.New(ptyhost.Options{})
	term, err := host.Start(ptyhost.Spec{ID: fmt.Sprintf("t%d", time.Now().UnixNano()), Argv: argv, Dir: dir, Env: list, Size: ptyhost.Size{Cols: 120, Rows: 40}})
	l.must(err)
	l.t.Cleanup(func() {
		if l.t.Failed() {
			l.t.Logf("the screen:\n%s", strings.Join(term.Screen().Lines, "\n"))
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := host.Close(ctx); err != nil {
			l.t.Error(err)
		}
	})
	return term
}

// say waits for an empty field and gives it a prompt. Nobody tells what a program paints, so it looks again and again.
func (l *lair) say(term *ptyhost.Terminal, prompt string) {
	l.t.Helper()
	field := map[string]string{"claude": "❯", "codex": "›"}[l.c.id]
	deadline := time.Now().Add(patience)
	for calm := 0; calm < 10; time.Sleep(100 * time.Millisecond) {
		s := term.Screen()
		text := strings.Join(s.Lines, "\n")
		for _, re := range l.kind().Hints.Modal {
			if m := re.FindString(text); m != "" && s.Seq > 0 {
				l.t.Fatalf("it asks a person: %q", m)
			}
		}
		calm++
		if !s.BracketedPaste || !strings.Contains(text, field) {
			calm = 0
		}
		if time.Now().After(deadline) {
			l.t.Fatal("it never reached its field")
		}
		select {
		case <-term.Done():
			l.t.Fatalf("it ended: %+v", term.Exit())
		default:
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.must(term.Write(ctx, []byte("\x1b[200~"+prompt+"\x1b[201~")))
	for !strings.Contains(strings.Join(term.Screen().Lines, "\n"), prompt) {
		if time.Now().After(deadline) {
			l.t.Fatal("the prompt never came up")
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.must(term.Write(ctx, []byte("\r")))
	if _, err := l.model.Await(ctx, func(q fakemodel.Request) bool { return q.Main && q.Prompt() == prompt }); err != nil {
		l.t.Fatal("the model was never asked")
	}
}

// answered waits until the transcript in the private home has an answer.
func (l *lair) answered(want string) {
	l.t.Helper()
	l.answeredIn(l.home, agenthome.Transcripts(l.home), l.worktree, want)
}

func (l *lair) answeredIn(home string, env map[string]string, dir, want string) {
	l.t.Helper()
	q := agent.ResultQuery{Kind: l.kind(), Home: home, Env: env, Dir: dir}
	deadline := time.Now().Add(patience)
	for {
		found, err := agent.Result(q)
		if err == nil && found.Text == want {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("the transcript says %q (%v), want %q", found.Text, err, want)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// marked lists what ran by itself.
func (l *lair) marked() []string {
	l.t.Helper()
	entries, err := os.ReadDir(l.marks)
	l.must(err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// A private home is enough: the client comes to its field unaided, answers, runs a command without asking, and nothing of
// the user's runs with it. The user's own files stay as they are.
func TestPrivateHome(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		l := newLair(t, c)
		before := l.listing(l.user)
		term := l.start(l.worktree, l.inHome())
		l.say(term, "SAY the private answer")
		l.answered("the private answer")
		tool := map[string]string{"claude": `CALL Bash {"command":"git config user.email && echo $HOME","description":"look"}`,
			"codex": `CALL exec_command {"cmd":"git config user.email && echo $HOME"}`}[c.id]
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		l.say(term, tool)
		q, err := l.model.Await(ctx, func(q fakemodel.Request) bool { return q.Main && len(q.Results) > 0 })
		l.must(err)
		if r := strings.Join(q.Results, "\n"); !strings.Contains(r, "test@example.invalid") || !strings.Contains(r, l.home) {
			t.Errorf("the command said %q", r)
		}
		if marks := l.marked(); len(marks) > 0 {
			t.Errorf("these ran in the private home: %q", marks)
		}
		if after := l.listing(l.user); after != before {
			t.Errorf("the user's home has changed:\nbefore\n%s\nafter\n%s", before, after)
		}
		for _, name := range l.prepared.Seeded {
			t.Logf("seeded %s", name)
		}
	})
}

// A subscription's login is enough for claude, without a key in the environment, and what it leaves of it is taken for
// the same login. (Codex's login leads to its vendor's servers alone.)
func TestLoginInPrivateHome(t *testing.T) {
	l := newLair(t, clients[0])
	login := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-%[1]s","refreshToken":"sk-ant-ort01-%[1]s","expiresAt":%[2]d,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`,
		strings.Repeat("a", 80), time.Now().Add(8*time.Hour).UnixMilli())
	l.file(l.user+"/.claude/.credentials.json", login)
	delete(l.env, "ANTHROPIC_API_KEY")
	l.prepare()
	l.say(l.start(l.worktree, l.inHome()), "SAY by login")
	l.answered("by login")
	r, err := agenthome.Return(context.Background(), agenthome.ReturnOptions{Agent: "claude", RealHome: l.user, Env: l.env, Homes: []string{l.home}})
	if err != nil || len(r.Taken)+len(r.Pushed)+len(r.Refused) > 0 || l.read(l.user+"/.claude/.credentials.json") != login {
		t.Errorf("returned %+v, %v", r, err)
	}
}

// The marks work: outside, the same user's files do run. (Without this the test above would prove nothing.)
func TestMarksFireOutside(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		l := newLair(t, c)
		l.say(l.startOutside(l.worktree), "SAY outside")
		want := map[string][]string{"claude": {"claude-prompt", "claude-server", "claude-start", "claude-status", "claude-stop"}, "codex": {"codex-notify", "codex-server"}}[c.id]
		for deadline := time.Now().Add(patience); !slices.Equal(l.marked(), want); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("ran outside: %q, want %q", l.marked(), want)
			}
		}
	})
}

// startOutside starts the client as the user would, in the user's own home, which has been asked its questions long ago.
func (l *lair) startOutside(dir string) *ptyhost.Terminal {
	l.t.Helper()
	env := maps.Clone(l.env)
	env["IS_SANDBOX"] = "1"
	switch l.c.id {
	case "claude":
		l.file(l.user+"/.claude.json", strings.Replace(l.read(l.user+"/.claude.json"), `{"has`,
			fmt.Sprintf(`{"bypassPermissionsModeAccepted":true,"projects":{%q:{"hasTrustDialogAccepted":true}},"has`, dir), 1))
	case "codex":
		l.file(l.user+"/.codex/config.toml", l.read(l.user+"/.codex/config.toml")+fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", l.repo))
	}
	return l.start(dir, env)
}

// What a cage leaves in its home does nothing outside: something is planted in every file of the home that makes the
// client run a program, and then the client starts in the user's own home. (In the private home itself they do run.)
func TestPlantedHome(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		l := newLair(t, c)
		l.plain()
		login := map[string]string{"claude": ".claude/.credentials.json", "codex": ".codex/auth.json"}[c.id]
		l.plant()
		term := l.start(l.worktree, l.inHome())
		l.say(term, "SAY inside")
		want := map[string][]string{"claude": {"claude-prompt", "claude-server", "claude-start", "claude-status", "claude-stop"}, "codex": {"codex-notify", "codex-server"}}[c.id]
		for deadline := time.Now().Add(patience); !slices.Equal(l.marked(), want); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("ran inside: %q, want %q", l.marked(), want)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		l.must(term.End(ctx, time.Second))
		l.must(os.RemoveAll(l.marks))
		l.must(os.Mkdir(l.marks, 0o700))
		l.file(l.home+"/"+login, map[string]string{"claude": `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-planted","refreshToken":"sk-ant-ort01-planted","expiresAt":99999999999999}}`,
			"codex": `{"tokens":{"access_token":"planted-token","refresh_token":"planted-token"}}`}[c.id])
		if _, err := agenthome.Return(ctx, agenthome.ReturnOptions{Agent: c.id, RealHome: l.user, Env: l.env, Homes: []string{l.home}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(l.user + "/" + login); !os.IsNotExist(err) {
			t.Errorf("a login out of nowhere: %v", err)
		}
		l.say(l.startOutside(l.repo), "SAY after all")
		l.answeredIn(l.user, map[string]string{}, l.repo, "after all")
		if marks := l.marked(); len(marks) > 0 {
			t.Errorf("these ran outside: %q", marks)
		}
	})
}

// plain makes the user's files such that nothing in them runs by itself.
func (l *lair) plain() {
	l.file(l.user+"/.claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":[%q],"rejected":[]}}`, key[len(key)-20:]))
	l.file(l.user+"/.claude/settings.json", `{"model":"fake-model"}`)
	conf, _, _ := strings.Cut(l.read(l.user+"/.codex/config.toml"), "[mcp_servers.mark]")
	l.file(l.user+"/.codex/config.toml", strings.Replace(conf, "notify", "# notify", 1))
}

// plant does in the private home what a caged program could.
func (l *lair) plant() {
	l.t.Helper()
	switch l.c.id {
	case "claude":
		state := l.read(l.home + "/.claude/.claude.json")
		l.file(l.home+"/.claude/.claude.json", strings.Replace(state, "{", fmt.Sprintf(`{"mcpServers":{"mark":{"type":"stdio","command":"/usr/bin/touch","args":[%q]}},`, l.marks+"/claude-server"), 1))
		settings := l.read(l.home + "/.claude/settings.json")
		l.file(l.home+"/.claude/settings.json", strings.Replace(settings, "{", "{"+l.hooks()+",", 1))
	case "codex":
		l.file(l.home+"/.codex/config.toml", fmt.Sprintf("notify = [\"/usr/bin/touch\", \"%[1]s/codex-notify\"]\n%[2]s\n[mcp_servers.mark]\ncommand = \"/usr/bin/touch\"\nargs = [\"%[1]s/codex-server\"]\n",
			l.marks, l.read(l.home+"/.codex/config.toml")))
	}
}

// hooks are claude's settings that run programs, each with a mark.
func (l *lair) hooks() string {
	hook := func(name string) string {
		return fmt.Sprintf(`[{"hooks":[{"type":"command","command":"/usr/bin/touch %s/%s"}]}]`, l.marks, name)
	}
	return fmt.Sprintf(`"hooks":{"SessionStart":%s,"UserPromptSubmit":%s,"Stop":%s},"statusLine":{"type":"command","command":"/usr/bin/touch %s/claude-status"}`,
		hook("claude-start"), hook("claude-prompt"), hook("claude-stop"), l.marks)
}

func (l *lair) read(path string) string {
	l.t.Helper()
	b, err := os.ReadFile(path)
	l.must(err)
	return string(b)
}

// listing is every file below a folder, with size and time of change.
func (l *lair) listing(dir string) string {
	l.t.Helper()
	var b strings.Builder
	l.must(filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && !e.IsDir() {
			fmt.Fprintf(&b, "%s %d %s\n", p, info.Size(), info.ModTime())
		}
		return err
	}))
	return b.String()
}
