// Package selfrun knows which files of a source tree run by themselves: that make an agent, an editor, a shell or git
// run something, or steer an agent, without anybody asking for it at that moment.
//
// It promises:
//   - Match: one list, by name, in any case of letters, at any depth.
//   - Changed: the files of the list that a tree has other than a base had. It reads the tree itself and compares
//     contents, so ignored and untracked files count, and neither an index with its flags nor a filter hides one.
//   - A tree that a caged program may change at that moment is read without following links and without waiting for
//     pipes, in bounded time and memory. What cannot be read counts as changed.
//
// It does not cover what runs only when a person says so: build files, scripts of package managers, tests. It does not
// look into node_modules. It judges no content: a harmless change of a listed file is a change.
package selfrun

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Kind says what would run or read a file.
type Kind string

// The kinds, in the order in which a person should look at them.
const (
	Agent        Kind = "agent"        // hooks, servers, commands and settings of coding agents
	Instructions Kind = "instructions" // text that agents take for the user's word
	Editor       Kind = "editor"       // tasks, settings and extensions that an editor acts on when the folder is opened
	Shell        Kind = "shell"        // what a shell with the usual add-ons does on entering the folder
	Git          Kind = "git"          // what git does on its ordinary commands
	Tool         Kind = "tool"         // configuration with which an ordinary tool runs another program
	CI           Kind = "ci"           // what a forge runs on a push
	Ours         Kind = "termic"       // proposals to Termic itself
)

// Rule is one entry of the list.
type Rule struct {
	// Name is the path, with slashes, that a file must have or end in. One that ends in a slash is a folder and stands for
	// all that is in it, and for a file or link in its place. The last element may be a pattern as path.Match has them.
	Name string
	Kind Kind
	// Root: it counts at the top of the tree alone.
	Root bool
}

// rules is the list. What the real agents look for was taken by tracing them; the others are from documentation.
func rules() []Rule {
	var out []Rule
	add := func(kind Kind, root bool, names ...string) {
		for _, n := range names {
			out = append(out, Rule{Name: n, Kind: kind, Root: root})
		}
	}
	add(Agent, false, ".claude/", ".mcp.json", ".claude-plugin/", ".codex/", ".codex-plugin/", ".agents/", ".agent/", ".gemini/", ".opencode/", "opencode.json",
		"opencode.jsonc", ".copilot/", ".github/copilot/", ".github/hooks/", ".github/agents/", ".github/mcp.json", ".github/lsp.json", ".grok/", ".cursor/", ".cursor-plugin/", ".windsurf/", ".continue/", ".aider.conf.yml",
		".amp/", ".kiro/", ".roo/", ".roomodes", ".kilocode/", ".clinerules/", ".factory/", ".goose/", ".goosehints", ".junie/", ".trae/", ".qwen/", ".crush.json",
		"crush.json", ".augment/", ".amazonq/", ".openhands/", ".pi/")
	add(Instructions, false, "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "AGENT.md", "GEMINI.md", "QWEN.md", "WARP.md", "CRUSH.md",
		".cursorrules", ".windsurfrules", ".clinerules", ".rules", ".github/copilot-instructions.md", ".github/instructions/", ".github/prompts/", ".github/chatmodes/", ".github/skills/", "llms.txt")
	add(Editor, false, ".vscode/", "*.code-workspace", ".idea/", ".fleet/", ".zed/", ".devcontainer/", ".devcontainer.json", ".vim/", ".nvim/", ".exrc", ".vimrc", ".nvimrc",
		".nvim.lua", ".dir-locals.el", ".dir-locals-2.el", ".projectile", ".helix/", ".kakrc", ".sublime-project", "*.sublime-project", ".editorconfig", ".gitpod.yml", ".theia/", ".neoconf.json", "build.rs")
	add(Shell, false, ".envrc", ".env", ".env.local", ".autoenv", ".autoenv.zsh", ".in", ".out", ".mise.toml", "mise.toml", ".mise/", "mise.local.toml", ".mise.local.toml", ".config/mise/", ".config/mise.toml", ".tool-versions", ".rtx.toml", "devbox.json", "flake.nix", "shell.nix",
		".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".direnv/")
	add(Git, false, ".gitattributes", ".gitmodules", ".gitconfig", ".githooks/", ".husky/", ".huskyrc*", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml", ".pre-commit-config.yaml",
		".pre-commit-hooks.yaml", ".overcommit.yml", ".lintstagedrc*", "lint-staged.config.*", ".simple-git-hooks.*", "commitlint.config.*", ".git/", ".lfsconfig")
	add(Tool, false, ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnpmfile.cjs", ".pnp.cjs", ".pnp.loader.mjs", "bunfig.toml", ".cargo/", "rust-toolchain", "rust-toolchain.toml", ".bazelrc", ".bazeliskrc",
		".mvn/", "sitecustomize.py", "usercustomize.py", "*.pth", ".pdbrc", ".gdbinit", ".lldbinit", ".ripgreprc", ".curlrc", ".wgetrc", ".netrc", ".irbrc", ".pryrc", ".rspec", "eslint.config.*", ".eslintrc*", ".prettierrc*", "prettier.config.*", ".stylelintrc*", "conftest.py", ".rubocop.yml")
	add(CI, true, ".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".travis.yml", "azure-pipelines.yml", ".azure-pipelines/", "bitbucket-pipelines.yml", "Jenkinsfile", ".buildkite/",
		".drone.yml", ".woodpecker.yml", ".woodpecker/", ".forgejo/", ".gitea/", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", ".cirrus.yml", ".builds/")
	add(Ours, true, ".termic.yaml", ".termic.yml")
	return out
}

// List is a list made ready for many names. Make it once with New.
type List struct {
	rules []Rule
	exact map[string][]Rule // by the last element, lower case, of rules without a pattern
	other []Rule            // with a pattern
}

// New makes the list ready.
func New() *List {
	l := &List{rules: rules(), exact: map[string][]Rule{}}
	for _, r := range l.rules {
		r.Name = strings.ToLower(r.Name)
		last := path.Base(r.Name)
		if strings.ContainsAny(last, "*?[") {
			l.other = append(l.other, r)
			continue
		}
		l.exact[last] = append(l.exact[last], r)
	}
	return l
}

// Rules are all entries, as they were written.
func (l *List) Rules() []Rule { return slices.Clone(l.rules) }

// Match finds the entry for a file, by its path in the tree, with slashes. Of several the first kind counts.
func (l *List) Match(name string) (Rule, bool) {
	parts := strings.Split(strings.ToLower(name), "/")
	var found []Rule
	for i, p := range parts {
		last := i == len(parts)-1
		for _, r := range l.exact[p] {
			if folder := strings.HasSuffix(r.Name, "/"); (folder || last) && r.at(parts[:i+1]) {
				found = append(found, r)
			}
		}
		for _, r := range l.other {
			if ok, err := path.Match(r.Name, p); last && err == nil && ok {
				found = append(found, r)
			}
		}
	}
	if len(found) == 0 {
		return Rule{}, false
	}
	return slices.MinFunc(found, func(a, b Rule) int { return cmp.Compare(a.Kind.rank(), b.Kind.rank()) }), true
}

// at reports whether the path that ends here is that of the rule.
func (r Rule) at(parts []string) bool {
	want := strings.Split(strings.TrimSuffix(r.Name, "/"), "/")
	if len(parts) < len(want) || r.Root && len(parts) != len(want) {
		return false
	}
	return slices.Equal(parts[len(parts)-len(want):], want)
}

// rank orders kinds by how soon a person should look.
func (k Kind) rank() int {
	return slices.Index([]Kind{Agent, Git, Shell, Editor, Tool, Instructions, CI, Ours}, k)
}
