package worktree

import (
	"context"
	"errors"

	"termic/internal/api"
)

var errSoon = errors.New("under construction")

// Open finds the repository that path lies in. path may be the root or any folder of a checkout, a linked worktree, a
// bare repository, or a .git folder. Errors: fault.NotFound when there is no such folder, fault.Unsupported when it is in
// no repository, or in one that git refuses to open.
func (g *Git) Open(ctx context.Context, path string) (*Repo, error) { return nil, errSoon }

// Repo is one repository, opened through one of its checkouts. It holds no open files and no cache of what git says, and
// may be used from several goroutines.
type Repo struct{}

// Root returns the checkout that Open was pointed at: the main checkout, or the linked worktree that the path lay in; ""
// when it was a bare repository. Apply writes here.
func (r *Repo) Root() string { return "" }

// Main returns the repository's main checkout, "" when it is bare.
func (r *Repo) Main() string { return "" }

// CommonDir returns the folder with the objects and refs that all worktrees share: the identity of the repository.
func (r *Repo) CommonDir() string { return "" }

// Bare reports whether the repository has no main checkout.
func (r *Repo) Bare() bool { return false }

// Plain returns the same repository for trees whose agent is not caged: filters, merge drivers and submodules act as in
// the user's shell. Hooks stay off.
func (r *Repo) Plain() *Repo { return r }

// DefaultBase returns what a new worktree starts from when the user names nothing, such as "origin/main", and its remote
// ("" when there is none). The remote is origin, else the first one; the base is that remote's HEAD; without a remote it
// is the current branch. A repository without a commit answers with the name of its unborn branch. No network is used.
func (r *Repo) DefaultBase(ctx context.Context) (base, remote string, err error) { return "", "", errSoon }

// Base is a resolved start or comparison point.
type Base struct {
	Ref      string // full ref or "HEAD", or the commit id as it was given
	Name     string // short form for people: origin/main, main, HEAD
	Commit   string // full commit id
	Fallback bool   // what was asked for is not there; Ref is what was taken instead
}

// ErrEmpty is in the chain of errors about a repository that has no commit yet.
var ErrEmpty = errors.New("the repository has no commit yet")

// ResolveBase finds the commit that base names. "" means DefaultBase. A base of a remote (origin/x) falls back to the
// local branch x and then to HEAD; anything else is a branch, tag or commit that must exist (fault.NotFound). A
// repository without a commit gives an error with ErrEmpty in its chain.
func (r *Repo) ResolveBase(ctx context.Context, base string) (Base, error) { return Base{}, errSoon }

// Fetch brings base up to date when it names a branch of a remote, and does nothing otherwise. It never prompts and ends
// at Options.FetchTimeout; its error is for a warning, not for giving up.
func (r *Repo) Fetch(ctx context.Context, base string) error { return errSoon }

// CreateOptions describe a new worktree.
type CreateOptions struct {
	Path        string            // folder to create, absolute; parents are made
	PathFixed   bool              // an existing Path is an error; otherwise -2, -3, ... is put behind it
	Branch      string            // branch to create or reuse
	BranchTyped bool              // a person chose Branch: an existing one is reused, never numbered
	Base        string            // as for ResolveBase
	Fetch       bool              // bring Base up to date first, best effort
	Guarded     bool              // the base could have been written by a cage: no hooks, no filters, no submodules
	Progress    func(line string) // lines for a log; may be nil
}

// Created is a new, restored or recreated worktree.
type Created struct {
	Path         string // as git knows it, symlinks resolved
	Branch       string // "" when HEAD is detached
	BaseRef      string // name of what it started from, such as origin/main
	BaseCommit   string
	ReusedBranch bool
	Warnings     []string // sentences for the user
}

// Create makes a worktree. Errors: fault.InvalidArgument for a bad name, fault.Conflict for a branch or path that is in
// use or a repository without a commit, fault.NotFound for an unknown base. After an error nothing of it is left behind.
func (r *Repo) Create(ctx context.Context, o CreateOptions) (Created, error) { return Created{}, errSoon }

// Entry is one line of `git worktree list`.
type Entry struct {
	Path        string
	Head        string // commit id, "" for a bare repository; zeros for an unborn branch
	Branch      string // without refs/heads/; "" when detached
	Main        bool   // the first one: the main checkout, or the bare repository itself
	Bare        bool
	Detached    bool
	Locked      bool
	LockReason  string
	Prunable    bool // its folder is gone
	PruneReason string
}

// List returns the worktrees of the repository, the main one first.
func (r *Repo) List(ctx context.Context) ([]Entry, error) { return nil, errSoon }

// Adopt returns the registered worktree at path. Errors: fault.NotFound when path is no worktree of this repository,
// fault.Unsupported when it is the main checkout, fault.Conflict when its folder is gone.
func (r *Repo) Adopt(ctx context.Context, path string) (Entry, error) { return Entry{}, errSoon }

// Status is the state of one worktree.
type Status struct {
	Branch        string // "" when detached
	Head          string // "" when there is no commit
	Upstream      string
	Ahead, Behind int    // against Upstream
	InProgress    string // rebase, merge, cherry-pick, revert, bisect, am; "" = none

	Staged, Unstaged, Untracked, Conflicted int // counts of files
	Files                                   []FileStatus
	Truncated                               bool // Files was cut at MaxStatusFiles; the counts are whole
}

// FileStatus is one changed file, with the two letters of `git status`.
type FileStatus struct {
	Path      string
	OldPath   string // of a rename or copy
	Index     byte   // ' ' = unchanged in the index; '?' = untracked
	Worktree  byte   // ' ' = unchanged in the worktree
	Conflict  bool
	Submodule bool
}

// MaxStatusFiles bounds Status.Files; upstream tools choke on more, and no person reads them.
const MaxStatusFiles = 5000

// Dirty counts the files that differ from HEAD in any way.
func (s Status) Dirty() int { return 0 }

// Status reads the state of the worktree at wt.
func (r *Repo) Status(ctx context.Context, wt string) (Status, error) { return Status{}, errSoon }

// DiffOptions limit a Diff.
type DiffOptions struct {
	Patch    bool  // with the text of the change
	MaxBytes int64 // of Patch; 0 = 4 MiB
	StatOnly bool  // leave out Files and Commits
}

// Diff is everything that a worktree has and its base has not.
type Diff struct {
	Base       Base
	MergeBase  string // the commit that the worktree is compared with; "" in an empty repository
	Stat       api.DiffStat
	Files      []api.FileChange
	Commits    []api.Commit
	Patch      []byte
	Truncated  bool  // Patch was cut, or Files was
	TotalBytes int64 // of the whole patch
}

// Diff compares the worktree at wt with the merge base of base and its HEAD.
func (r *Repo) Diff(ctx context.Context, wt, base string, o DiffOptions) (Diff, error) {
	return Diff{}, errSoon
}

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

// Absence says what is left of a worktree.
type Absence struct {
	Gone       bool // no folder at the path
	Registered bool // git still lists it
	Locked     bool
	Branch     string // "" when unknown or detached
	Head       string
}

// Missing looks whether the worktree at path was deleted behind our back. Restore brings it back, Forget drops it.
func (r *Repo) Missing(ctx context.Context, path string) (Absence, error) { return Absence{}, errSoon }

// Forget drops git's entry of a worktree whose folder is gone, and no other entry.
func (r *Repo) Forget(ctx context.Context, path string) error { return errSoon }

// Slug turns a name into the name of a folder.
func Slug(name string) (string, error) { return "", errSoon }

// BranchFor derives a branch from a task's name.
func BranchFor(prefix, name string) string { return "" }
