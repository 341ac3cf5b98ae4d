package worktree

import (
	"context"
	"errors"
)

var errSoon = errors.New("under construction")

// Applied says what Apply changed.
type Applied struct {
	Tracked, Untracked int
	Conflicts          []string
}

// Apply carries everything that the worktree at wt has over base into Root, uncommitted.
func (r *Repo) Apply(ctx context.Context, wt, base string) (Applied, error) {
	return Applied{}, errSoon
}
