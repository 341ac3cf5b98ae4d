package worktree

import (
	"context"
	"errors"

	"termic/internal/api"
)

var errSoon = errors.New("under construction")

// Applied says what Apply changed.
type Applied struct {
	Tracked, Untracked int
	Conflicts          []string
}

// Apply carries everything that the worktree at wt has over base into Root, uncommitted.
func (r *Repo) Apply(ctx context.Context, wt, base string) (Applied, error) { return Applied{}, errSoon }

// Losses lists what would exist nowhere else once the worktree at wt is removed.
func (r *Repo) Losses(ctx context.Context, wt, branch string) ([]api.Loss, error) { return nil, errSoon }

// RemoveOptions describe a removal.
type RemoveOptions struct {
	Path         string
	Branch       string // the worktree's branch, for its losses and for DeleteBranch
	ID           string // names the backup ref: refs/termic/backup/<ID>-<n>; "" = made from Branch
	Consent      bool   // remove although work is lost; a backup ref is left
	DeleteBranch bool
	ParentsUpTo  string // empty parent folders strictly below this one are removed too; "" = none
}

// Removed says what Remove did.
type Removed struct {
	BackupRef     string // "" when there was nothing to keep
	Head          string // commit that the worktree was on
	BranchDeleted bool
	Warnings      []string
}

// Remove deletes the worktree. Without consent it refuses with fault.NeedsConsent and data.losses ([]api.Loss).
func (r *Repo) Remove(ctx context.Context, o RemoveOptions) (Removed, error) { return Removed{}, errSoon }

// RestoreOptions describe a worktree that comes back.
type RestoreOptions struct {
	Path      string
	Branch    string
	BackupRef string            // "" = none was left
	Commit    string            // Removed.Head: where a branch is created again that has neither ref nor backup
	Guarded   bool              // as in CreateOptions
	Progress  func(line string) // may be nil
}

// Restore creates an archived or deleted worktree again.
func (r *Repo) Restore(ctx context.Context, o RestoreOptions) (Created, error) { return Created{}, errSoon }

