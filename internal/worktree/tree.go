package worktree

import (
	"context"
	"strings"

	"termic/internal/fault"
)

// maxTreeList bounds the list of one commit's files, in bytes: some two million files.
const maxTreeList = 256 << 20

// TreeList lists every file of a commit as `git ls-tree -r -z --full-tree` prints it. commit comes from the caller, and
// is an id or HEAD of the repository itself.
func (r *Repo) TreeList(ctx context.Context, commit string) ([]byte, error) {
	if commit == "" || strings.HasPrefix(commit, "-") {
		return nil, fault.New(fault.InvalidArgument, "%q is no commit", printable(commit, 80))
	}
	out, err := r.git.run(ctx, command{at: r.here(), args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}, max: maxTreeList})
	if exitOf(err) >= 0 {
		return nil, fault.Wrap(err, fault.NotFound, "The commit %s is not in the repository any more", printable(commit, 80)).WithHint("git says: %s", said(err))
	}
	if err == nil && out.Truncated {
		err = fault.New(fault.Unsupported, "The commit %s has more files than Termic reads", printable(commit, 80))
	}
	return out.Stdout, err
}
