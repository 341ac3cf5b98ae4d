package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"termic/internal/fault"
)

// BackupPrefix is where the backups of removed worktrees are kept, as <prefix><id>-<n>: fetched and pushed by nobody who
// does not name it.
const BackupPrefix = "refs/termic/backup/"

// RemoveOptions describe a removal.
type RemoveOptions struct {
	Path         string
	Branch       string // the worktree's branch, for its losses and for DeleteBranch; may be empty
	ID           string // names the backup ref; "" = made from Branch
	Consent      bool   // remove although work is lost; a backup ref is left
	DeleteBranch bool
	ParentsUpTo  string // empty parent folders strictly below this one are removed too; "" = none
	// Still is asked before anything is kept or removed, with the digest that Held gives: an error ends it there. May be nil.
	Still func(digest string) error
}

// Removed says what Remove did.
type Removed struct {
	BackupRef     string // "" when there was nothing that a backup could keep
	Head          string // commit that the worktree was on, for RestoreOptions.Commit
	BranchDeleted bool
	Warnings      []string // sentences for the user
}

// Remove deletes the worktree at Path, and git's entry of it alone. As long as Losses lists anything it refuses with
// fault.NeedsConsent, data.losses being the list ([]api.Loss). With consent it first makes a backup, and removes nothing
// when that fails. Links in the tree are removed, never followed. A worktree whose folder is gone already is only
// forgotten; then commits count as lost only when no branch has them, or DeleteBranch takes theirs away.
//
// A folder that git does not list as a worktree is never deleted (fault.NotFound).
func (r *Repo) Remove(ctx context.Context, o RemoveOptions) (Removed, error) {
	_, listed, err := r.registered(o.Path)
	if err != nil {
		return Removed{}, err
	}
	if _, err := os.Lstat(o.Path); !listed && errors.Is(err, os.ErrNotExist) {
		if o.Still != nil {
			if err := o.Still(heldNothing); err != nil {
				return Removed{}, err
			}
		}
		return r.removeGone(ctx, o)
	}
	h, err := r.removable(ctx, o.Path, o.Branch, o.DeleteBranch)
	if err != nil {
		return Removed{}, err
	}
	out := Removed{Head: h.head}
	if len(h.losses) > 0 && !o.Consent {
		return Removed{}, fault.New(fault.NeedsConsent, "Removing this worktree would lose %s", lossText(h)).
			WithHint("Commit and push what you need, or consent to the loss; a backup is kept of what git can keep.").WithData("losses", h.losses)
	}
	if o.Still != nil {
		digest, err := r.heldDigest(h)
		if err == nil {
			err = o.Still(digest)
		}
		if err != nil {
			return Removed{}, err
		}
	}
	if h.worth() {
		if out.BackupRef, err = r.backup(ctx, h, o); err != nil {
			return Removed{}, err
		}
	}
	if err := r.removeFiles(ctx, h, o, &out); err != nil {
		return Removed{BackupRef: out.BackupRef}, err
	}
	removeEmptyParents(h.reg.path, o.ParentsUpTo)
	r.deleteBranch(ctx, o, h.tip, &out)
	return out, nil
}

// removeGone is Remove for a worktree of which neither folder nor entry is left: only its branch can be deleted.
func (r *Repo) removeGone(ctx context.Context, o RemoveOptions) (Removed, error) {
	out := Removed{}
	removeEmptyParents(o.Path, o.ParentsUpTo)
	if !o.DeleteBranch || o.Branch == "" {
		return out, nil
	}
	h := &holdings{gone: true, at: r.here()}
	if err := r.commitsOf(ctx, h, o.Branch); err != nil {
		return out, err
	}
	if len(h.losses) > 0 && !o.Consent {
		return out, fault.New(fault.NeedsConsent, "Deleting the branch %s would lose %s", o.Branch, lossText(h)).
			WithHint("Keep the branch, or consent to the loss; a backup is kept.").WithData("losses", h.losses)
	}
	if len(h.losses) > 0 {
		ref, err := r.newRef(ctx, backupName(o), h.tip)
		if err != nil {
			return out, err
		}
		out.BackupRef = ref
	}
	r.deleteBranch(ctx, o, h.tip, &out)
	return out, nil
}

// commitsOf is commitsHeld for a branch alone.
func (r *Repo) commitsOf(ctx context.Context, h *holdings, branch string) error {
	if err := checkBranch(branch); err != nil {
		return err
	}
	found, err := r.commits(ctx, h.at, "refs/heads/"+branch)
	if err != nil || found[0] == "" {
		return err
	}
	h.tip = found[0]
	recs, err := r.git.records(ctx, command{at: h.at, args: []string{"log", "-z", "--no-color", "--no-show-signature", "--format=%h %s", h.tip,
		"--not", "--exclude=" + branch, "--branches", "--tags", "--remotes", "--"}})
	h.add(LossUnpushed, len(recs), recs)
	return err
}

func lossText(h *holdings) string {
	var parts []string
	for _, l := range h.losses {
		word := map[string]string{LossStaged: "staged changes", LossDirty: "changed files", LossUntracked: "untracked files",
			LossIgnored: "ignored files", LossUnpushed: "commits that are nowhere else", LossStash: "stashes", LossRebase: "operation in progress",
			LossLocked: "lock", LossSubmodule: "submodules", LossRepository: "nested repositories", LossUnread: "unreadable folders"}[l.Kind]
		parts = append(parts, fmt.Sprintf("%d %s", l.Count, word))
	}
	return strings.Join(parts, ", ")
}

// backup saves what the worktree holds under a new ref.
func (r *Repo) backup(ctx context.Context, h *holdings, o RemoveOptions) (string, error) {
	st := h.status
	if h.gone {
		st = Status{Branch: o.Branch, Head: h.head}
	}
	at := h.at
	off, err := r.neutral(ctx, at)
	at.config = off
	var s snapshot
	if err == nil {
		s, err = r.save(ctx, at, st, h.tip, h.keep)
	}
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			err = fault.Wrap(err, fault.Unavailable, "No backup of the worktree could be made, so it was not removed").WithHint("git says: %s", said(err))
		}
		return "", err
	}
	return r.newRef(ctx, backupName(o), s.commit)
}

// backupName is the part of a backup ref that tells whose it is.
func backupName(o RemoveOptions) string {
	for _, s := range []string{o.ID, o.Branch} {
		if n := strings.Trim(strings.ReplaceAll(s, "/", "-"), "-"); n != "" && checkBranch(n) == nil {
			return n
		}
	}
	return "worktree"
}

// newRef points the first free backup ref of a name at commit.
func (r *Repo) newRef(ctx context.Context, name, commit string) (string, error) {
	for n := 1; n <= maxNumber; n++ {
		ref := fmt.Sprintf("%s%s-%d", BackupPrefix, name, n)
		found, err := r.git.text(ctx, command{at: r.here(), args: []string{"for-each-ref", "--count=1", "--format=%(refname)", ref}})
		if err != nil {
			return "", err
		}
		if found != "" {
			continue
		}
		// The zeros make git refuse a ref that somebody made in between.
		_, err = r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", "-m", "termic: backup", "--create-reflog", ref, commit, r.zeros}, writes: true})
		if err != nil {
			return "", fault.Wrap(err, fault.Unavailable, "The backup could not be given a name, so nothing was removed").WithHint("git says: %s", said(err))
		}
		return ref, nil
	}
	return "", fault.New(fault.Conflict, "There are too many backups named %s", name).WithHint("Delete old ones: `git for-each-ref %s`.", BackupPrefix)
}

// removeFiles deletes the folder and git's entry. The folder first gets another name, so that it is there whole or not
// at all, whenever this is cut short; Forget deletes what a cut left under that name.
func (r *Repo) removeFiles(ctx context.Context, h *holdings, o RemoveOptions, out *Removed) error {
	if h.gone {
		return r.Forget(ctx, h.reg.path)
	}
	aside := asideOf(h.reg.path)
	if err := removeTree(aside); err != nil || os.Rename(h.reg.path, aside) != nil {
		return r.removeInPlace(ctx, h, o) // a mount point, a folder above that cannot be written, a very long name
	}
	if err := r.forget(ctx, h.reg.path); err != nil {
		return errors.Join(err, os.Rename(aside, h.reg.path))
	}
	if err := removeTree(aside); err != nil {
		r.git.log.WarnContext(ctx, "a removed worktree was not deleted whole", "left", aside, "err", err)
		out.Warnings = append(out.Warnings, fmt.Sprintf("Not all of the worktree could be deleted; the rest is in %s", printable(aside, 200)))
	}
	return nil
}

// removeInPlace deletes a folder under its own name. git does it; what it leaves, such as folders without write
// permission, or a tree whose .git file was changed so that git does not know it, is ours.
func (r *Repo) removeInPlace(ctx context.Context, h *holdings, o RemoveOptions) error {
	_, gitErr := r.git.run(ctx, command{at: r.here(), args: []string{"worktree", "remove", "--force", "--force", "--", h.reg.path}, writes: true, timeout: r.git.createTimeout})
	if ctx.Err() != nil {
		return gitErr
	}
	err := removeTree(h.reg.path)
	if err == nil {
		err = r.forget(ctx, h.reg.path)
	}
	if err != nil {
		return fault.Wrap(errors.Join(err, gitErr), fault.Unavailable, "The worktree %s could not be deleted whole", printable(o.Path, 200)).
			WithHint("Delete the folder by hand; `git worktree list` shows whether git still has it.")
	}
	return nil
}

// deleteBranch deletes the branch if it is still where its losses were judged. The worktree is gone by now, so what goes
// wrong is a warning.
func (r *Repo) deleteBranch(ctx context.Context, o RemoveOptions, tip string, out *Removed) {
	if !o.DeleteBranch || o.Branch == "" || tip == "" {
		return
	}
	found, err := r.commits(ctx, r.here(), "refs/heads/"+o.Branch)
	if err == nil && found[0] != tip {
		out.Warnings = append(out.Warnings, fmt.Sprintf("The branch %s moved meanwhile and was kept", o.Branch))
		return
	}
	if err == nil {
		_, err = r.git.run(ctx, command{at: r.here(), args: []string{"branch", "--delete", "--force", "--quiet", "--end-of-options", o.Branch}, writes: true})
	}
	if err != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("The branch %s was kept (%s)", o.Branch, reason(err)))
		return
	}
	out.BranchDeleted = true
}
