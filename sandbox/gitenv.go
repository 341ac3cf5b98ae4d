package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// gitConfig are the settings that git is given in a cage, so that it leaves alone what it cannot change there: the settings
// of branches, packed refs, and other worktrees' logs and folders.
var gitConfig = [...][2]string{
	{"branch.autoSetupMerge", "false"},
	{"gc.packRefs", "false"},
	{"gc.reflogExpire", "never"},
	{"gc.reflogExpireUnreachable", "never"},
	{"gc.worktreePruneExpire", "never"},
}

// GitEnvironment returns an environment in which git works inside the cage: with the settings above behind those that the
// environment has already. It is unchanged where no cage is built.
func (p Policy) GitEnvironment(env []string) []string {
	if !p.Caged() {
		return env
	}
	const count = "GIT_CONFIG_COUNT="
	n := 0
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		number, ok := strings.CutPrefix(v, count)
		if ok {
			n, _ = strconv.Atoi(number) // what is no number, git refuses too
		}
		return ok
	})
	for _, setting := range gitConfig {
		at := strconv.Itoa(n)
		out = append(out, "GIT_CONFIG_KEY_"+at+"="+setting[0], "GIT_CONFIG_VALUE_"+at+"="+setting[1])
		n++
	}
	return append(out, count+strconv.Itoa(n))
}
