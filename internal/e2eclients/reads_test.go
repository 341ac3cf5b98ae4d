//go:build clients

package e2eclients

import (
	"bufio"
	"os"
	"os/exec"
	"path"
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
	term := l.start(l.worktree, l.inHome(), trace, "-f", "-qq", "-s", "4096", "--seccomp-bpf", "-e", "trace="+looked, "-o", log, "--")
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
		p = filepath.Clean(p)
		for _, root := range [][2]string{{l.home, "HOME"}, {l.user, "USER"}, {l.worktree, "TREE"}, {l.repo, "REPO"}, {"/etc/claude-code", "ETC/claude-code"}, {"/etc/codex", "ETC/codex"}, {l.root, "ABOVE"}} {
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

// TestReadsAtStart holds testdata/reads-*.txt complete: everything that a client looks for at its start and in its first
// turn, in its home, in the tree, in the main checkout and above. What is on these lists is where something could be
// planted for an agent outside, so a new name here wants a look at the private home and at internal/selfrun.
func TestReadsAtStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is a tracer on Linux alone")
	}
	each(t, func(t *testing.T, c client) {
		l := newLair(t, c)
		for _, dir := range []string{l.worktree, l.repo} { // so that it looks into them
			for _, d := range []string{".claude", ".codex", ".agents"} {
				l.must(os.MkdirAll(dir+"/"+d, 0o755))
			}
			l.file(dir+"/.claude/settings.json", "{}")
			l.file(dir+"/.codex/config.toml", "")
		}
		file := "testdata/reads-" + c.id + ".txt"
		var known []string
		for line := range strings.SplitSeq(l.read(file), "\n") {
			if line != "" && !strings.HasPrefix(line, "#") {
				known = append(known, line)
			}
		}
		met := map[string]bool{}
		for _, p := range l.reads() {
			i := slices.IndexFunc(known, func(pattern string) bool { return within(pattern, p) })
			if i < 0 {
				t.Errorf("%s is looked for, and not on the list of %s", p, file)
				continue
			}
			met[known[i]] = true
		}
		if len(met) < len(known)/2 {
			t.Errorf("only %d of the %d lines were met: the list, or the trace, is of something else", len(met), len(known))
		}
	})
}

// within reports whether a path is that of a line. A line may have patterns in its elements, and end in /** for all below.
func within(line, p string) bool {
	if base, ok := strings.CutSuffix(line, "/**"); ok {
		n := strings.Count(base, "/") + 1
		parts := strings.Split(p, "/")
		if len(parts) < n {
			return false
		}
		line, p = base, strings.Join(parts[:n], "/")
	}
	ok, err := path.Match(line, p)
	return err == nil && ok
}
