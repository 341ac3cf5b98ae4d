package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"termic/internal/fault"
)

// MaxMessage is the longest message of a commit, in bytes.
const MaxMessage = 64 << 10

// CommitOptions describe a commit.
type CommitOptions struct {
	Message string
	All     bool // stage every change first
}

// Committed says what Commit made.
type Committed struct {
	ID       string
	Branch   string // "" when HEAD is on none
	Subject  string
	Files    int
	Warnings []string // sentences for the user: hooks that did not run, a signature that it lacks
}

// Commit makes a commit of what is staged in the checkout at wt, in the name that git is set up with, and moves its branch.
// No hook runs and nothing is signed. It is for ordinary commits: in the middle of a merge or a rebase it is refused.
//
// Errors: fault.InvalidArgument for a message without text, fault.Conflict when nothing is staged, when files have
// conflicts (data.files), in the middle of an operation, when the branch is checked out elsewhere too or moves at the same
// moment; fault.Unavailable when git does not know who the user is. After an error there is no commit; with All the files
// may be staged.
func (r *Repo) Commit(ctx context.Context, wt string, o CommitOptions) (Committed, error) {
	message, err := cleanMessage(o.Message)
	if err != nil {
		return Committed{}, err
	}
	return changing(ctx, r, wt, func(c *change) (Committed, error) { return c.commit(ctx, message, o.All) })
}

// cleanMessage takes blanks from the ends of lines and of the whole.
func cleanMessage(s string) (string, error) {
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		out = append(out, strings.TrimRight(line, " \t\r"))
	}
	s = strings.Trim(strings.Join(out, "\n"), "\n")
	switch {
	case strings.TrimSpace(s) == "":
		return "", fault.New(fault.InvalidArgument, "The commit needs a message")
	case strings.ContainsRune(s, 0) || !utf8.ValidString(s):
		return "", fault.New(fault.InvalidArgument, "The message is not text")
	case len(s) > MaxMessage:
		return "", fault.New(fault.InvalidArgument, "The message is %d KiB long; at most %d are taken", len(s)>>10, MaxMessage>>10)
	}
	return s + "\n", nil
}

func (c *change) commit(ctx context.Context, message string, all bool) (Committed, error) {
	if err := c.committable(ctx); err != nil {
		return Committed{}, err
	}
	out := Committed{Branch: c.st.Branch, Subject: subject(message)}
	if all {
		staged, err := c.stage(ctx, Choice{All: true})
		if err != nil {
			return out, err
		}
		out.Warnings = staged.Warnings
	}
	who, err := c.identity(ctx)
	if err != nil {
		return out, err
	}
	tree, err := c.writeTree(ctx)
	if err != nil {
		return out, err
	}
	if out.Files, err = c.filesIn(ctx, tree); err != nil {
		return out, err
	}
	if out.Files == 0 {
		err := fault.New(fault.Conflict, "Nothing is staged")
		if len(c.names) > 0 {
			return out, err.WithHint("Stage the files that belong to the commit, or commit all of them.")
		}
		return out, err.WithHint("Nothing has changed since the last commit.")
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	if c.st.Head != "" {
		args = append(args, "-p", c.st.Head)
	}
	out.ID, err = c.r.git.text(ctx, command{at: c.at, args: args, stdin: strings.NewReader(message), writes: true, config: who})
	if err != nil {
		return out, err
	}
	if err := c.advance(ctx, out, all); err != nil {
		return Committed{}, err
	}
	out.Warnings = append(out.Warnings, c.r.notRun(ctx)...)
	return out, nil
}

// advance makes the index that of the commit, and moves HEAD to it. The index comes first: if the app dies in between,
// everything is staged and nothing is lost.
func (c *change) advance(ctx context.Context, out Committed, all bool) error {
	if err := c.hold(ctx); err != nil {
		return err
	}
	if all {
		if err := c.install(); err != nil {
			return err
		}
	}
	// By its own name: an agent could make HEAD lead elsewhere at this moment. Git writes the log of HEAD along.
	ref := []string{"--no-deref", "HEAD"}
	if c.st.Branch != "" {
		ref = []string{"refs/heads/" + c.st.Branch}
	}
	_, err := c.r.git.run(ctx, command{at: c.at, writes: true,
		args: append(append([]string{"update-ref", "--create-reflog", "-m", "commit: " + out.Subject}, ref...), out.ID, orZeros(c.st.Head, c.r.zeros))})
	if exitOf(err) >= 0 {
		return fault.Wrap(err, fault.Conflict, "The branch moved at the same moment, so nothing was committed").
			WithHint("Look at the changes again. git says: %s", said(err))
	}
	return err
}

// committable refuses a worktree in a state that an ordinary commit would spoil.
func (c *change) committable(ctx context.Context) error {
	if c.st.Conflicted > 0 {
		var files []string
		for _, name := range c.names {
			if c.files[name].conflict && len(files) < maxItems {
				files = append(files, name)
			}
		}
		return fault.New(fault.Conflict, "%s has a conflict that is not resolved", printable(files[0], 200)).
			WithHint("Resolve it in the file and stage it.").WithData("files", files)
	}
	if what := c.st.InProgress; what != "" && what != "bisect" {
		return fault.New(fault.Conflict, "The worktree is in the middle of a %s", what).
			WithHint("Finish it in a terminal of the task: `git %s --continue`, or `--abort`.", what)
	}
	if c.st.Branch == "" {
		return nil
	}
	list, err := c.r.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.Bare && e.Branch == c.st.Branch && canonical(e.Path) != canonical(c.at.workTree) {
			return fault.New(fault.Conflict, "The branch %s is checked out in %s too", printable(e.Branch, 200), printable(e.Path, 200)).
				WithHint("A commit here would change it there. Switch to another branch in one of them.")
		}
	}
	return nil
}

// identity asks git for the name and address of commits, and refuses ones that it would have to guess. The settings that it
// returns keep git from guessing.
func (c *change) identity(ctx context.Context) ([]setting, error) {
	who := []setting{{"user.useConfigOnly", "true"}, {"i18n.commitEncoding", "UTF-8"}}
	for _, name := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := c.r.git.text(ctx, command{at: c.at, args: []string{"var", name}, config: who})
		if exitOf(err) >= 0 {
			return nil, fault.Wrap(err, fault.Unavailable, "git does not know in whose name to commit").
				WithHint("Tell it: `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.org`.")
		}
		if err != nil {
			return nil, err
		}
	}
	return who, nil
}

func (c *change) writeTree(ctx context.Context) (string, error) {
	if _, err := os.Lstat(c.index); err != nil {
		return c.r.emptyTree(ctx) // there is no index yet
	}
	tree, err := c.r.git.text(ctx, command{at: c.at, index: c.index, args: []string{"write-tree"}, writes: true})
	if exitOf(err) >= 0 {
		return "", fault.Wrap(err, fault.Unavailable, "git could not store what is staged").WithHint("git says: %s", said(err))
	}
	return tree, err
}

// filesIn counts the files that a tree has otherwise than HEAD.
func (c *change) filesIn(ctx context.Context, tree string) (int, error) {
	from := c.st.Head
	if from == "" {
		var err error
		if from, err = c.r.emptyTree(ctx); err != nil {
			return 0, err
		}
	}
	recs, err := c.r.git.records(ctx, command{at: c.at, args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", from, tree}})
	return len(recs), err
}

func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

// commitHooks are those that `git commit` would have run.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}

// notRun says what the user's own `git commit` would have done and this one did not.
func (r *Repo) notRun(ctx context.Context) []string {
	var out []string
	dir := filepath.Join(r.common, "hooks")
	if set, err := r.git.text(ctx, command{at: r.here(), args: []string{"config", "--show-origin", "--null", "--type=path", "--get-all", "core.hooksPath"}}); err == nil {
		dir = ownHooks(set, dir, r.main)
	}
	var hooks []string
	for _, name := range commitHooks {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			hooks = append(hooks, name)
		}
	}
	if len(hooks) > 0 {
		out = append(out, "Hooks do not run here: "+strings.Join(hooks, ", "))
	}
	signs := command{at: r.here(), args: []string{"config", "--show-origin", "--null", "--type=bool", "--get-all", "commit.gpgSign"}}
	if set, err := r.git.text(ctx, signs); err == nil && lastSetting(set) == "true" {
		out = append(out, "The commit is not signed, though commit.gpgSign is set")
	}
	return out
}

// lastSetting is the value that holds beside our own, which git calls the command line's: records of origin and value.
func lastSetting(out string) string {
	recs, last := splitNUL(out), ""
	for i := 0; i+1 < len(recs); i += 2 {
		if recs[i] != "command line:" {
			last = recs[i+1]
		}
	}
	return last
}

func ownHooks(out, def, root string) string {
	dir := lastSetting(out)
	switch {
	case dir == "":
		return def
	case !filepath.IsAbs(dir):
		return filepath.Join(root, dir)
	}
	return dir
}
