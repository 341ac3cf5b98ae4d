package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// place says where a git runs. All of it is given to git explicitly, so that a `.git` file which an agent rewrote is
// never followed.
type place struct {
	gitDir   string // of this checkout
	common   string // of the repository
	workTree string // "" = without one
	// config holds for every run here. It switches filters and merge drivers off: whatever reads files or only writes an
	// index may run them, to tell files apart that changed within one tick of the clock.
	config []setting
	// wall starts what reads the files of the tree; nil = a child of ours.
	wall Wall
}

// setting is one configuration value for the time of one run.
type setting struct{ key, value string }

// command is one run of git.
type command struct {
	at      place
	args    []string
	stdin   io.Reader
	stdout  io.Writer         // nil = in the result
	index   string            // another index file; "" = the worktree's own
	config  []setting         // on top of the safe ones
	env     []string          // on top of all others
	timeout time.Duration     // 0 = Git.timeout
	max     int64             // of the kept standard output; 0 = childproc.DefaultMaxOutput
	writes  bool              // may take locks that are not strictly needed
	onLine  func(line string) // lines of standard error
	started func()            // called once it runs; may be nil
}

// gitError is a git that ran and ended with an exit code other than zero. Its text is for logs, and for the part of a
// user's message that quotes git; nothing is decided by it.
type gitError struct {
	args   []string
	code   int
	stderr string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", strings.Join(e.args, " "), e.code, strings.TrimSpace(e.stderr))
}

// exitOf returns the exit code of the git in err's chain; -1 when git did not get that far.
func exitOf(err error) int {
	var e *gitError
	if errors.As(err, &e) {
		return e.code
	}
	return -1
}

// said returns the line of git's standard error that says why it failed, for a message to the user.
func said(err error) string {
	var e *gitError
	if !errors.As(err, &e) {
		return "it gave no reason"
	}
	first := ""
	for _, line := range strings.Split(e.stderr, "\n") {
		line = strings.TrimSpace(line)
		for _, p := range []string{"fatal: ", "error: "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				return printable(rest, 300)
			}
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		return "it gave no reason"
	}
	return printable(first, 300)
}

// How often a git that met a worktree which another one was just making is asked again, and after what pause: making one takes
// git a millisecond.
const (
	halfMadeTries = 20
	halfMadePause = 25 * time.Millisecond
)

// run starts git and waits for it. An exit code other than zero is a *gitError; a git that did not end in time is
// fault.Unavailable.
func (g *Git) run(ctx context.Context, c command) (childproc.Result, error) {
	for try := 1; ; try++ {
		r, err := g.once(ctx, c)
		again := c.stdin == nil && c.stdout == nil && try < halfMadeTries // what was read or told once cannot be taken back
		if err == nil || !again || !halfMade(err) || ctx.Err() != nil {
			return r, err
		}
		select {
		case <-time.After(halfMadePause):
		case <-ctx.Done():
			return r, err
		}
	}
}

// halfMade reports whether git gave up, before it did anything, because it read the list of worktrees at the moment when another git
// had made the file that says where a worktree belongs, and had not yet written it. It says so in words alone.
func halfMade(err error) bool {
	var e *gitError
	if !errors.As(err, &e) {
		return false
	}
	for line := range strings.Lines(e.stderr) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "fatal: failed to read ")
		if ok && strings.Contains(rest, "/worktrees/") && strings.Contains(rest, "/commondir: ") {
			return true
		}
	}
	return false
}

// once is run without another try.
func (g *Git) once(ctx context.Context, c command) (childproc.Result, error) {
	start := time.Now()
	limit := orDuration(c.timeout, g.timeout)
	dir := c.at.workTree
	if dir == "" {
		dir = c.at.common
	}
	r, err := childproc.Run(ctx, childproc.Cmd{
		Path: g.bin, Args: c.args, Dir: dir, Env: g.environ(c), Stdin: c.stdin, Stdout: c.stdout,
		Timeout: limit, MaxOutput: c.max, OnLine: c.onLine, Started: c.started, Elsewhere: g.elsewhere(c),
	})
	g.log.DebugContext(ctx, "git", "args", c.args, "dir", dir, "exit", r.Code, "took", time.Since(start))
	switch {
	case err != nil && r.TimedOut:
		return r, fault.Wrap(err, fault.Unavailable, "git %s did not finish in %s and was ended", c.args[0], limit).
			WithHint("Is the disk or the network of this repository slow? The log of the app has the whole command.")
	case err != nil:
		return r, fmt.Errorf("git %s: %w", c.args[0], err)
	case r.Code != 0:
		return r, unsteady(c, &gitError{args: c.args, code: r.Code, stderr: r.Stderr})
	}
	return r, nil
}

// text runs git and returns its standard output without the last newline.
func (g *Git) text(ctx context.Context, c command) (string, error) {
	out, _, err := g.warned(ctx, c)
	return out, err
}

// warned is text, and whether git had something to say on its standard error although it ended well.
func (g *Git) warned(ctx context.Context, c command) (out string, warned bool, err error) {
	r, err := g.run(ctx, c)
	if err == nil && r.Truncated {
		err = fault.New(fault.Unsupported, "git %s printed more than Termic reads (%d MiB)", c.args[0], r.Total>>20)
	}
	return strings.TrimSuffix(string(r.Stdout), "\n"), r.Stderr != "", err
}

// records runs git and splits its standard output at the NUL bytes.
func (g *Git) records(ctx context.Context, c command) ([]string, error) {
	out, err := g.text(ctx, c)
	if err != nil {
		return nil, err
	}
	return splitNUL(out), nil
}

func splitNUL(s string) []string {
	s = strings.TrimSuffix(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// safe is the configuration of every run: nothing starts another program but what the run is for, and nothing goes on
// in the background. The empty fsmonitor is the spelling of "no" that every version understands.
func safe() []setting {
	return []setting{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", ""}, {"core.pager", "cat"}, {"core.editor", "true"},
		{"core.askPass", ""}, {"core.safecrlf", "false"}, {"credential.interactive", "false"}, {"gc.auto", "0"},
		{"maintenance.auto", "false"}, {"submodule.recurse", "false"}, {"fetch.recurseSubmodules", "false"},
		{"commit.gpgSign", "false"}, {"log.showSignature", "false"}, {"status.submoduleSummary", "false"},
		{"advice.graftFileDeprecated", "false"},
	}
}

// environ is the whole environment of one run. Configuration goes through GIT_CONFIG_KEY_n, which has no trouble with
// an equals sign in a key.
func (g *Git) environ(c command) []string {
	env := append([]string(nil), g.env...)
	set := func(name, value string) { env = append(env, name+"="+value) }
	if c.at.common != "" {
		set("GIT_DIR", c.at.gitDir)
		set("GIT_COMMON_DIR", c.at.common)
		if c.at.workTree != "" {
			set("GIT_WORK_TREE", c.at.workTree)
		}
	}
	if c.index != "" {
		set("GIT_INDEX_FILE", c.index)
	}
	if !c.writes {
		set("GIT_OPTIONAL_LOCKS", "0")
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_FLUSH=0", "GIT_LITERAL_PATHSPECS=1")
	all := append(append(safe(), c.at.config...), c.config...)
	set("GIT_CONFIG_COUNT", strconv.Itoa(len(all)))
	for i, s := range all {
		set("GIT_CONFIG_KEY_"+strconv.Itoa(i), s.key)
		set("GIT_CONFIG_VALUE_"+strconv.Itoa(i), s.value)
	}
	return append(env, c.env...)
}

// plainEnv is the environment for a program that belongs to the user, such as a hook: no repository and no settings of
// ours, but still no prompts.
func (g *Git) plainEnv() []string {
	return append(append([]string(nil), g.env...), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_EDITOR=true", "GIT_PAGER=cat", "PAGER=cat")
}

// printable shortens untrusted text for a message and takes control characters out of it.
func printable(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
