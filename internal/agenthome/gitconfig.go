package agenthome

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"termic/internal/childproc"
)

// gitTimeout bounds how long git may take to list its settings.
const gitTimeout = 10 * time.Second

// gitSafe are the settings of git that say who the user is or how text is shown and kept, and that run nothing and lead
// nowhere. Names are in git's own lower case.
var gitSafe = []string{
	"user.name", "user.email", "user.useconfigonly", "author.name", "author.email", "committer.name", "committer.email",
	"init.defaultbranch", "core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.abbrev", "core.ignorecase",
	"core.precomposeunicode", "core.symlinks", "core.whitespace", "core.commentchar", "core.longpaths", "core.protectntfs",
	"apply.whitespace", "commit.cleanup", "commit.verbose", "commit.status", "color.ui", "color.diff", "color.status", "color.branch",
	"column.ui", "branch.sort", "branch.autosetuprebase", "tag.sort", "log.date", "log.decorate", "log.follow", "format.pretty",
	"diff.algorithm", "diff.renames", "diff.colormoved", "diff.mnemonicprefix", "diff.context", "diff.indentheuristic",
	"merge.conflictstyle", "merge.ff", "merge.renames", "merge.log", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote",
	"push.followtags", "push.recursesubmodules", "rebase.autostash", "rebase.autosquash", "rebase.updaterefs", "rerere.enabled", "rerere.autoupdate",
	"fetch.prune", "fetch.prunetags", "status.branch", "status.short", "status.showstash", "status.showuntrackedfiles",
	"submodule.recurse", "blame.date", "grep.linenumber", "i18n.commitencoding", "i18n.logoutputencoding", "stash.showpatch", "advice.detachedhead",
	"advice.skippedcherrypicks", "feature.manyfiles", "index.threads", "index.version",
}

// gitKnown are settings that run a program and are taken only with exactly these values: those of Git LFS, without
// which the files of many repositories are not theirs.
var gitKnown = map[string]string{
	"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f", "filter.lfs.process": "git-lfs filter-process",
	"filter.lfs.required": "true",
}

// gitForced are set by the environment, over the repository's own settings. The repository's file is read-only in a
// cage, so a branch cannot note what it follows; there is no key to sign with, and no store of passwords to ask.
var gitForced = [][2]string{{"branch.autoSetupMerge", "false"}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"credential.helper", ""}}

// git writes the private .gitconfig and ignore file.
func (s *seeding) git() error {
	s.out.Env["GIT_CONFIG_COUNT"] = strconv.Itoa(len(gitForced))
	for i, kv := range gitForced {
		s.out.Env["GIT_CONFIG_KEY_"+strconv.Itoa(i)] = kv[0]
		s.out.Env["GIT_CONFIG_VALUE_"+strconv.Itoa(i)] = kv[1]
	}
	s.out.Unset = append(s.out.Unset, "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "GIT_ASKPASS", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND",
		"GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_EXEC_PATH")
	if s.Git == "" {
		return nil
	}
	have := s.gitSettings()
	keep := map[string]string{}
	for _, k := range gitSafe {
		if v, is := have[k]; is && !strings.ContainsAny(v, "\x00\n\r") {
			keep[k] = v
		}
	}
	for k, v := range gitKnown {
		if have[k] == v {
			keep[k] = v
		}
	}
	if keep["user.name"] == "" && keep["user.email"] == "" {
		s.left("git has no name and address of this user, so commits in the cage need them from somewhere else.")
	}
	if err := s.write(".gitconfig", gitText(keep), false); err != nil {
		return err
	}
	return s.copyFile(s.gitIgnore(have["core.excludesfile"]), ".config/git/ignore")
}

// gitSettings asks git for the user's own settings, as they hold in the main checkout. Nothing of the repository is in
// them. The last value of a name counts.
func (s *seeding) gitSettings() map[string]string {
	out := map[string]string{}
	env := make([]string, 0, len(s.Env)+1)
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !strings.HasPrefix(k, "GIT_") || k == "GIT_CONFIG_GLOBAL" || k == "GIT_CONFIG_NOSYSTEM" {
			env = append(env, k+"="+s.Env[k])
		}
	}
	env = append(env, "HOME="+s.RealHome)
	for _, dir := range []string{s.Repo, s.RealHome} {
		if dir == "" {
			continue
		}
		r, err := childproc.Run(s.ctx, childproc.Cmd{Path: s.Git, Args: []string{"config", "--list", "-z", "--show-scope", "--includes"},
			Dir: dir, Env: env, Timeout: gitTimeout, MaxOutput: maxConfig})
		if err != nil || r.Code != 0 || r.Truncated {
			continue
		}
		parts := strings.Split(string(r.Stdout), "\x00")
		for i := 0; i+1 < len(parts); i += 2 {
			key, value, has := strings.Cut(parts[i+1], "\n")
			if !has {
				value = "true" // a name without a value is that
			}
			if parts[i] == "global" {
				out[key] = value
			}
		}
		return out
	}
	s.left("git's settings of this user could not be read.")
	return out
}

// gitIgnore is where the user's own ignore file is.
func (s *seeding) gitIgnore(set string) string {
	switch rest, home := strings.CutPrefix(set, "~/"); {
	case home:
		return filepath.Join(s.RealHome, rest)
	case filepath.IsAbs(set):
		return set
	}
	return filepath.Join(moved(s.Options, "XDG_CONFIG_HOME", ".config"), "git/ignore")
}

// gitText writes settings in git's form.
func gitText(settings map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Made for this task's cage: who you are and how git shows things. Helpers, aliases, hooks and includes stay outside.\n")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`)
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		first, last := strings.Index(k, "."), strings.LastIndex(k, ".")
		section := k[:first]
		if last > first {
			section += fmt.Sprintf(" %q", k[first+1:last])
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, k[last+1:], quote.Replace(settings[k]))
	}
	return []byte(b.String())
}
