package worktree

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// Oldest git that is accepted: 2.32 is the first whose `apply` takes --3way and --cached together, which is how Apply
// finds out what would happen before it touches a file.
const (
	minMajor = 2
	minMinor = 32
)

// Default limits of Options.
const (
	DefaultTimeout       = 60 * time.Second // one ordinary git
	DefaultCreateTimeout = 15 * time.Minute // a checkout of a whole tree, or of its submodules
	DefaultFetchTimeout  = 20 * time.Second // the fetch before a worktree is created
	DefaultHookTimeout   = 60 * time.Second // the post-checkout hook after a worktree is created
)

// Options say how git is run. The zero value finds git in the PATH of this process.
type Options struct {
	// Bin is the git program; empty = the first one in the PATH of Env.
	Bin string
	// Env is the environment that children start from, as name=value; nil = a short list of this process's own
	// variables. GIT_ variables are taken out of either, but for the few that belong to the user's set-up.
	Env []string
	// Log gets one debug line per run; nil = silent.
	Log *slog.Logger

	Timeout       time.Duration // 0 = DefaultTimeout
	CreateTimeout time.Duration // 0 = DefaultCreateTimeout
	FetchTimeout  time.Duration // 0 = DefaultFetchTimeout
	HookTimeout   time.Duration // 0 = DefaultHookTimeout
}

// Git is the user's git program. It holds no state but where repositories are, and may be used from several goroutines.
type Git struct {
	bin     string
	env     []string
	log     *slog.Logger
	version version
	places  places
	plain   plainTrees

	timeout, createTimeout, fetchTimeout, hookTimeout time.Duration
}

// New looks git up and asks it for its version. It fails with fault.Unavailable when there is no git, or one that is too
// old.
func New(o Options) (*Git, error) {
	g := &Git{
		bin: o.Bin, env: baseEnv(o.Env), log: o.Log,
		timeout: orDuration(o.Timeout, DefaultTimeout), createTimeout: orDuration(o.CreateTimeout, DefaultCreateTimeout),
		fetchTimeout: orDuration(o.FetchTimeout, DefaultFetchTimeout), hookTimeout: orDuration(o.HookTimeout, DefaultHookTimeout),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.bin == "" {
		g.bin = lookPath("git", g.env)
	}
	if g.bin == "" {
		return nil, fault.New(fault.Unavailable, "git was not found").WithHint("Install git %d.%d or newer, and make sure that it is in the PATH.", minMajor, minMinor)
	}
	r, err := childproc.Run(context.Background(), childproc.Cmd{Path: g.bin, Args: []string{"version"}, Env: g.env, Timeout: g.timeout})
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "git could not be started").WithHint("Try `%s version` in a terminal.", g.bin)
	}
	g.version, err = parseVersion(string(r.Stdout))
	if err != nil || r.Code != 0 {
		return nil, fault.Wrap(errors.Join(err, errors.New(r.Stderr)), fault.Unavailable, "git does not tell its version").WithHint("Try `%s version` in a terminal.", g.bin)
	}
	if !g.version.atLeast(minMajor, minMinor) {
		return nil, fault.New(fault.Unavailable, "git %s is too old", g.version.text).WithHint("Install git %d.%d or newer.", minMajor, minMinor)
	}
	return g, nil
}

// Version returns git's version as git writes it, such as "2.39.5".
func (g *Git) Version() string { return g.version.text }

// Bin returns the path of the git program.
func (g *Git) Bin() string { return g.bin }

type version struct {
	major, minor int
	text         string
}

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

var versionForm = regexp.MustCompile(`^git version ((\d+)\.(\d+)\S*)`)

// parseVersion reads the line that `git version` prints. Vendors add words after the number.
func parseVersion(s string) (version, error) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil {
		return version{}, errors.New("unknown form of version: " + strconv.Quote(s))
	}
	major, err1 := strconv.Atoi(m[2])
	minor, err2 := strconv.Atoi(m[3])
	return version{major, minor, m[1]}, errors.Join(err1, err2)
}

// inherited are the variables that a nil Options.Env takes from this process.
var inherited = []string{"HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// kept are the GIT_ variables that say where the user's configuration is and how the user's ssh is run. All others say
// where a repository is or change what git prints, and are not for our runs.
var kept = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_SSL_CAINFO"}

// baseEnv makes the environment that every run starts from.
func baseEnv(given []string) []string {
	if given == nil {
		for _, name := range append(inherited, kept...) {
			if v, ok := os.LookupEnv(name); ok {
				given = append(given, name+"="+v)
			}
		}
	}
	env := make([]string, 0, len(given)+1)
	for _, kv := range given {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && !contains(kept, name) || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" {
			continue
		}
		env = append(env, kv)
	}
	return append(env, "LC_ALL=C")
}

// lookPath finds a program in the PATH of env; "" when there is none.
func lookPath(name string, env []string) string {
	path, ok := "", false
	for _, kv := range env {
		if v, found := strings.CutPrefix(kv, "PATH="); found {
			path, ok = v, true
		}
	}
	if !ok {
		path = os.Getenv("PATH")
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a relative entry would find whatever lies in the current folder
		}
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p
		}
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

func orDuration(v, def time.Duration) time.Duration {
	if v > 0 {
		return v
	}
	return def
}
