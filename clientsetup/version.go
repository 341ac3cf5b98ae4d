package clientsetup

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"termic/internal/childproc"
)

// versionTimeout is how long a program may take to say its version. Codex takes a second, more on a busy machine.
const versionTimeout = 15 * time.Second

var versionText = regexp.MustCompile(`\b\d+\.\d+(\.\d+)*\b`)

// version asks a program for its version. Empty if it does not say.
func (p Place) version(ctx context.Context, program string) string {
	if program == "" || filepath.Ext(program) == ".app" {
		return ""
	}
	r, err := childproc.Run(ctx, childproc.Cmd{Path: program, Args: []string{"--version"}, Dir: p.Home, Env: p.Environ,
		Timeout: versionTimeout, MaxOutput: maxWords})
	if err != nil || r.Code != 0 {
		return ""
	}
	return versionText.FindString(string(r.Stdout))
}

// atLeast compares versions by their numbers.
func atLeast(version, from string) bool {
	a, b := strings.Split(version, "."), strings.Split(from, ".")
	for i := range max(len(a), len(b)) {
		x, y := part(a, i), part(b, i)
		if x != y {
			return x > y
		}
	}
	return true
}

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return 0
	}
	return n
}
