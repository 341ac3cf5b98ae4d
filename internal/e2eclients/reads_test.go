//go:build clients

package e2eclients

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// looked are the system calls by which a program finds out that a file is there, or reads it.
const looked = "open,openat,openat2,execve,stat,lstat,newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat"

// quoted is the first path of a traced call that is absolute or relative to the working folder.
var quoted = regexp.MustCompile(`\w+\((?:AT_FDCWD, )?"((?:[^"\\]|\\.)*)"`)

// reads starts a client under a tracer in the private home, lets it answer one prompt, and returns the files that it
// looked for in the home, the worktree and the repository, there or not, with the places of their roots by name. What is
// only a folder on the way is in it too.
func (l *lair) reads() []string {
	l.t.Helper()
	trace, err := exec.LookPath("strace")
	if err != nil {
		l.t.Fatal("strace is needed to see what the clients read: install it")
	}
	log := l.root + "/trace"
	term := l.start(l.inHome(), trace, "-f", "-qq", "-s", "4096", "--seccomp-bpf", "-e", "trace="+looked, "-o", log, "--")
	l.say(term, "SAY traced")
	l.answered("traced")
	f, err := os.Open(log)
	l.must(err)
	defer f.Close()
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := quoted.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		p := m[1]
		if !filepath.IsAbs(p) {
			p = filepath.Join(l.worktree, p)
		}
		for _, root := range [][2]string{{l.home, "HOME"}, {l.user, "USER"}, {l.worktree, "TREE"}, {l.repo, "REPO"}, {"/etc", "ETC"}, {l.root, "ABOVE"}} {
			if rest, ok := strings.CutPrefix(p, root[0]); ok && (rest == "" || rest[0] == '/') {
				seen[root[1]+rest] = true
				break
			}
		}
	}
	l.must(lines.Err())
	out := make([]string, 0, len(seen))
	for p := range seen {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func TestReadsAtStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is a tracer on Linux alone")
	}
	each(t, func(t *testing.T, c client) {
		l := newLair(t, c)
		for _, p := range l.reads() {
			t.Log(p)
		}
	})
}
