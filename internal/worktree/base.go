package worktree

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"termic/internal/fault"
)

// ErrEmpty is in the chain of errors about a repository that has no commit yet.
var ErrEmpty = errors.New("the repository has no commit yet")

// Base is a resolved start or comparison point.
type Base struct {
	Ref      string // full ref, "HEAD", or what was given when that is no ref
	Name     string // short form for people: origin/main, main, HEAD
	Commit   string // full commit id
	Fallback bool   // what was asked for is not there; Ref is what was taken instead
}

// DefaultBase returns what a new worktree starts from when the user names nothing, such as "origin/main", and its remote
// ("" when there is none). The remote is origin, else the first one; the base is that remote's HEAD, or, where no clone
// has recorded one, its main or master; without any of these it is the current branch. A repository without a commit
// answers with the name of its unborn branch; a detached HEAD with "HEAD". No network is used.
func (r *Repo) DefaultBase(ctx context.Context) (base, remote string, err error) {
	remotes, err := r.remotes(ctx)
	if err != nil {
		return "", "", err
	}
	if len(remotes) > 0 {
		remote = remotes[0]
		for _, name := range remotes {
			if name == "origin" {
				remote = name
			}
		}
		if base, err = r.remoteBase(ctx, remote); err != nil || base != "" {
			return base, remote, err
		}
	}
	head, err := r.git.text(ctx, command{at: r.rootPlace(), args: []string{"symbolic-ref", "-q", "HEAD"}})
	if exitOf(err) == 1 {
		return "HEAD", remote, nil
	}
	return strings.TrimPrefix(head, "refs/heads/"), remote, err
}

// remoteBase returns the branch of remote that new work starts from; "" when nothing was ever fetched from it.
func (r *Repo) remoteBase(ctx context.Context, remote string) (string, error) {
	prefix := "refs/remotes/" + remote + "/"
	head, err := r.git.text(ctx, command{at: r.here(), args: []string{"symbolic-ref", "-q", prefix + "HEAD"}})
	if err != nil && exitOf(err) < 0 {
		return "", err
	}
	names := []string{prefix + "main", prefix + "master"}
	if err == nil && head != "" {
		names = append([]string{head}, names...)
	}
	found, err := r.commits(ctx, r.here(), names...)
	if err != nil {
		return "", err
	}
	for i, c := range found {
		if c != "" {
			return strings.TrimPrefix(names[i], "refs/remotes/"), nil
		}
	}
	return "", nil
}

// remotes lists the configured remotes in the order of the configuration.
func (r *Repo) remotes(ctx context.Context) ([]string, error) {
	keys, err := r.git.records(ctx, command{at: r.here(), args: []string{"config", "--null", "--name-only", "--get-regexp", `^remote\..*\.url$`}})
	if exitOf(err) == 1 {
		return nil, nil
	}
	var names []string
	for _, k := range keys {
		if n := strings.TrimSuffix(strings.TrimPrefix(k, "remote."), ".url"); !contains(names, n) {
			names = append(names, n)
		}
	}
	return names, err
}

// rootPlace is where HEAD means the HEAD of Root. For a bare repository it is the repository's own.
func (r *Repo) rootPlace() place {
	if r.root == "" || r.root == r.main {
		return r.here()
	}
	if at, err := r.in(r.root); err == nil {
		return at
	}
	return r.here()
}

// commits returns the commit id of each name as the checkout at sees it, "" for those that do not exist or are no commit.
// One process answers all.
func (r *Repo) commits(ctx context.Context, at place, names ...string) ([]string, error) {
	for _, n := range names {
		if strings.ContainsAny(n, "\n\x00") {
			return nil, fault.New(fault.InvalidArgument, "%q is not the name of a branch or commit", printable(n, 80))
		}
	}
	in := strings.Join(names, "^{commit}\n") + "^{commit}\n"
	out, err := r.git.text(ctx, command{at: at, args: []string{"cat-file", "--batch-check"}, stdin: strings.NewReader(in)})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != len(names) {
		return nil, errors.New("cat-file: answers and questions differ in number")
	}
	for i, l := range lines {
		if m := commitLine.FindStringSubmatch(l); m != nil {
			lines[i] = m[1]
		} else {
			lines[i] = ""
		}
	}
	return lines, nil
}

// commitLine is the answer of cat-file about a commit; 64 digits with SHA-256.
var commitLine = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}) commit \d+$`)

// ResolveBase finds the commit that base names. "" means DefaultBase. A base of a remote (origin/x) falls back to the
// local branch x and then to HEAD; anything else is a branch, tag or commit that must exist (fault.NotFound). A
// repository without a commit gives an error with ErrEmpty in its chain.
func (r *Repo) ResolveBase(ctx context.Context, base string) (Base, error) {
	b, _, err := r.resolve(ctx, base, nil)
	return b, err
}

// resolve is ResolveBase, and with the same process looks up the commits of more names.
func (r *Repo) resolve(ctx context.Context, base string, more []string) (Base, []string, error) {
	if base == "" {
		var err error
		if base, _, err = r.DefaultBase(ctx); err != nil {
			return Base{}, nil, err
		}
	}
	if b, rest, ok := r.peek(base, more); ok {
		return b, rest, nil
	}
	if strings.HasPrefix(base, "-") {
		return Base{}, nil, fault.New(fault.InvalidArgument, "%q is not the name of a branch or commit: it begins with a hyphen", printable(base, 80))
	}
	remote, local := "", ""
	if first, rest, ok := strings.Cut(strings.TrimPrefix(base, "refs/remotes/"), "/"); ok && rest != "" {
		remote, local = first, rest
	}
	candidates := []Base{
		{Ref: "refs/heads/" + base, Name: base}, {Ref: "refs/remotes/" + base, Name: base}, {Ref: "refs/tags/" + base, Name: base},
		{Ref: base, Name: base}, {Ref: "refs/heads/" + local, Name: local, Fallback: true}, {Ref: "HEAD", Name: "HEAD", Fallback: true},
	}
	names := make([]string, 0, len(candidates)+len(more))
	for _, c := range candidates {
		names = append(names, c.Ref)
	}
	found, err := r.commits(ctx, r.rootPlace(), append(names, more...)...)
	if err != nil {
		return Base{}, nil, err
	}
	rest := found[len(candidates):]
	isRemote := false
	for i, c := range candidates {
		if c.Commit = found[i]; c.Commit == "" {
			continue
		}
		if c.Fallback && !isRemote {
			if isRemote, err = r.hasRemote(ctx, remote); err != nil {
				return Base{}, nil, err
			}
			if !isRemote {
				break
			}
		}
		return c, rest, nil
	}
	if found[len(candidates)-1] == "" {
		return Base{}, rest, emptyRepository()
	}
	return Base{}, nil, fault.New(fault.NotFound, "There is no branch, tag or commit %q in this repository", printable(base, 80)).
		WithHint("`git branch --all` lists the branches that there are.").WithData("base", base)
}

// hasRemote reports whether name looks like a remote: it is configured, or origin, which people take away.
func (r *Repo) hasRemote(ctx context.Context, name string) (bool, error) {
	if name == "" || name == "origin" {
		return name != "", nil
	}
	all, err := r.remotes(ctx)
	return contains(all, name), err
}

func emptyRepository() error {
	return fault.Wrap(ErrEmpty, fault.Conflict, "This repository has no commit yet, so a worktree has nothing to start from").
		WithHint("Make a first commit, such as `git commit --allow-empty -m start`.")
}

// Fetch brings base up to date when it names a branch of a remote, and does nothing otherwise. It never prompts and ends
// at Options.FetchTimeout; its error is for a warning, not for giving up.
func (r *Repo) Fetch(ctx context.Context, base string) error {
	remote, branch, ok := strings.Cut(strings.TrimPrefix(base, "refs/remotes/"), "/")
	if !ok || strings.HasPrefix(base, "refs/heads/") || checkBranch(branch) != nil {
		return nil
	}
	remotes, err := r.remotes(ctx)
	if err != nil || !contains(remotes, remote) {
		return err
	}
	env, err := r.sshEnv(ctx)
	if err != nil {
		return err
	}
	_, err = r.git.run(ctx, command{
		at: r.here(), writes: true, timeout: r.git.fetchTimeout, env: env,
		args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", remote, "refs/heads/" + branch},
	})
	if exitOf(err) >= 0 {
		return fault.Wrap(err, fault.Unavailable, "%s could not be fetched", printable(base, 80)).WithHint("git says: %s", said(err))
	}
	return err
}

// sshEnv keeps ssh from asking. A user's own ssh command is left as it is: it may not be OpenSSH; it has no terminal to
// ask on.
func (r *Repo) sshEnv(ctx context.Context) ([]string, error) {
	for _, kv := range r.git.env {
		if strings.HasPrefix(kv, "GIT_SSH=") || strings.HasPrefix(kv, "GIT_SSH_COMMAND=") {
			return nil, nil
		}
	}
	_, err := r.git.text(ctx, command{at: r.here(), args: []string{"config", "--get", "core.sshCommand"}})
	if exitOf(err) == 1 {
		return []string{"GIT_SSH_COMMAND=ssh -o BatchMode=yes"}, nil
	}
	return nil, err
}

func isEmpty(err error) bool { return errors.Is(err, ErrEmpty) }
