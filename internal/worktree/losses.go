package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
)

// Kinds of api.Loss, and what Remove does about each with consent.
const (
	LossStaged     = "staged"     // changes in the index: kept by the backup
	LossDirty      = "dirty"      // changed, deleted and conflicted files: kept by the backup, byte for byte
	LossUntracked  = "untracked"  // files that are in no commit: kept by the backup
	LossIgnored    = "ignored"    // ignored files that the main checkout has not, or has otherwise: NOT kept
	LossUnpushed   = "unpushed"   // commits in no remote, tag or other branch: kept by the branch, or by the backup
	LossStash      = "stash"      // stashes made on this branch: they stay, and the backup keeps them as well
	LossRebase     = "rebase"     // an operation in progress: its commits are kept by the backup, its plan is not
	LossLocked     = "locked"     // somebody locked the worktree
	LossSubmodule  = "submodule"  // submodules with work of their own, or that were not looked into: NOT kept
	LossRepository = "repository" // repositories nested in the worktree: NOT kept
	LossUnread     = "unread"     // folders that neither git nor we can look into: NOT kept
)

// maxItems bounds api.Loss.Items; Count is always whole.
const maxItems = 20

// Losses lists what would exist nowhere else once the worktree at wt is removed: uncommitted and untracked files that
// the main checkout has not just so, ignored files (with counts and sizes, since nobody misses most of them and somebody
// a few), folders that cannot be looked into, commits of HEAD and of branch that no remote, tag or other local branch has, stashes, an operation in progress, a
// lock, submodules and nested repositories. Commits count even when the branch stays: until they are pushed, merged or
// applied, this machine is where they are. Those whose every file the main checkout has just so were applied, and count
// only when deleting says that branch is deleted as well. Nothing to lose is an empty list. A worktree whose folder is gone
// can lose commits and stashes only.
func (r *Repo) Losses(ctx context.Context, wt, branch string, deleting bool) ([]api.Loss, error) {
	h, err := r.holdings(ctx, wt, branch, deleting)
	if err != nil {
		return nil, err
	}
	return h.losses, nil
}

// holdings is what a worktree holds, for the list of losses and for the backup.
type holdings struct {
	reg    registration
	at     place
	gone   bool // no folder
	locked bool
	status Status // zero when gone
	head   string
	tip    string   // of the branch; "" = no such branch
	keep   []string // commits that the backup must keep reachable beside HEAD
	copies int      // changed files that the main checkout has as well: no loss, and worth a backup
	// ignored stands for the ignored files that are lost: their names, sizes and the times of their last change.
	ignored string
	losses  []api.Loss
}

func (h *holdings) add(kind string, count int, items []string) {
	if count > 0 {
		h.losses = append(h.losses, api.Loss{Kind: kind, Count: count, Items: items[:min(len(items), maxItems)]})
	}
}

// worth reports whether there is anything that a backup can keep.
func (h *holdings) worth() bool {
	if h.copies > 0 {
		return true
	}
	for _, l := range h.losses {
		switch l.Kind {
		case LossStaged, LossDirty, LossUntracked, LossUnpushed, LossStash, LossRebase:
			return true
		}
	}
	return false
}

// holdings looks through the worktree at wt. deleting says that branch goes too.
func (r *Repo) holdings(ctx context.Context, wt, branch string, deleting bool) (*holdings, error) {
	if r.main != "" && canonical(wt) == canonical(r.main) {
		return nil, fault.New(fault.Unsupported, "%s is the main checkout, which is never removed", printable(wt, 200))
	}
	h := &holdings{}
	var err error
	h.at, err = r.enter(ctx, wt)
	if f := fault.From(err); f != nil && f.Data["missing"] == true {
		h.gone, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	if h.reg, _, err = r.registered(wt); err != nil {
		return nil, err
	}
	if h.gone {
		h.at = place{gitDir: h.reg.admin, common: r.common}
	} else if err := r.filesHeld(ctx, h); err != nil {
		return nil, err
	}
	if err := r.commitsHeld(ctx, h, branch, deleting); err != nil {
		return nil, err
	}
	if err := r.operationsHeld(ctx, h, branch); err != nil {
		return nil, err
	}
	return h, nil
}

// filesHeld adds what is on disk.
func (r *Repo) filesHeld(ctx context.Context, h *holdings) error {
	index, done, err := r.unhidden(ctx, h.at)
	if err != nil {
		return err
	}
	defer done()
	st, err := r.statusBy(ctx, h.at, index)
	if exitOf(err) >= 0 && r.plain { // a broken filter or submodule must not keep a worktree for ever
		guarded := *r
		guarded.plain = false
		if h.at.config, err = r.neutral(ctx, h.at); err == nil {
			st, err = guarded.statusBy(ctx, h.at, index)
		}
	}
	if err != nil {
		return err
	}
	h.status = st
	main := r.elsewhere(h.at)
	defer main.close()
	var staged, dirty, untracked, nested []string
	for _, f := range st.files {
		switch {
		case f.Index == '?' && strings.HasSuffix(f.Path, "/"):
			nested = append(nested, f.Path+" (not kept by the backup)")
		case main.has(f):
			h.copies++
		case f.Index == '?':
			untracked = append(untracked, f.Path)
		default:
			if f.Index != '.' && !f.Conflict {
				staged = append(staged, f.Path)
			}
			if f.Worktree != '.' || f.Conflict {
				dirty = append(dirty, f.Path)
			}
		}
	}
	h.add(LossStaged, len(staged), staged)
	h.add(LossDirty, len(dirty), dirty)
	h.add(LossUntracked, len(untracked), untracked)
	count, items, ignored, err := r.ignoredHeld(ctx, h.at)
	if err != nil {
		return err
	}
	h.ignored = ignored
	h.add(LossIgnored, count, items)
	h.add(LossRepository, len(nested), nested)
	if st.warned {
		unread, err := unreadIn(h.at.workTree)
		if err != nil {
			return err
		}
		h.add(LossUnread, len(unread), unread)
	}
	subs, err := r.submodulesHeld(ctx, h.at)
	h.add(LossSubmodule, len(subs), subs)
	return err
}

// unhidden returns an index in which no file that is on disk is marked as "assume unchanged" or "skip worktree": changes
// behind these marks are work like any other. "" = there are none, and the worktree's own index will do.
func (r *Repo) unhidden(ctx context.Context, at place) (index string, done func(), err error) {
	recs, err := r.git.records(ctx, command{at: at, args: []string{"ls-files", "-v", "-z"}})
	if err != nil {
		return "", nil, err
	}
	var names strings.Builder
	for _, rec := range recs {
		tag, name, ok := strings.Cut(rec, " ")
		if !ok || tag != "S" && tag == strings.ToUpper(tag) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at.workTree, filepath.FromSlash(name))); err == nil || tag != "S" {
			names.WriteString(name + "\x00")
		}
	}
	if names.Len() == 0 {
		return "", func() {}, nil
	}
	if index, done, err = copyIndex(at); err != nil {
		return "", nil, err
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} { // git takes one of them at a time
		_, err = r.git.run(ctx, command{at: at, index: index, writes: true, stdin: strings.NewReader(names.String()),
			args: []string{"update-index", flag, "-z", "--stdin"}})
		if err != nil {
			done()
			return "", nil, err
		}
	}
	return index, done, nil
}

// commitsHeld adds the commits of HEAD and branch that are nowhere else.
func (r *Repo) commitsHeld(ctx context.Context, h *holdings, branch string, deleting bool) error {
	names := []string{"HEAD"}
	if branch != "" {
		if err := checkBranch(branch); err != nil {
			return err
		}
		names = append(names, "refs/heads/"+branch)
	}
	found, err := r.commits(ctx, h.at, names...)
	if err != nil {
		return err
	}
	h.head = found[0]
	if branch != "" {
		h.tip = found[1]
	}
	own, err := r.ownRefs(ctx, h.at)
	if err != nil {
		return err
	}
	starts := unique(append(found, own...))
	if len(starts) == 0 {
		return nil
	}
	args := append([]string{"log", "-z", "--no-color", "--no-show-signature", "--no-decorate", "--format=%h %s"}, starts...)
	args = append(args, "--not")
	if branch != "" {
		args = append(args, "--exclude="+branch)
	}
	recs, err := r.git.records(ctx, command{at: h.at, args: append(args, "--branches", "--tags", "--remotes", "--")})
	if err != nil {
		return err
	}
	h.keep = append(append(h.keep, h.tip), own...)
	if len(recs) > 0 && !deleting && len(own) == 0 && r.applied(ctx, h) {
		return nil
	}
	for i := range recs {
		recs[i] = printable(recs[i], 200)
	}
	h.add(LossUnpushed, len(recs), recs)
	return nil
}

// maxOwnRefs bounds the refs of a worktree that are looked at.
const maxOwnRefs = 200

// ownRefs returns the commits of the refs that belong to a worktree alone and go with it.
func (r *Repo) ownRefs(ctx context.Context, at place) ([]string, error) {
	out, err := r.git.text(ctx, command{at: at, args: []string{"for-each-ref", "--count=" + strconv.Itoa(maxOwnRefs), "--format=%(refname)", "refs/worktree", "refs/bisect", "refs/rewritten"}})
	if err != nil || out == "" {
		return nil, err
	}
	found, err := r.commits(ctx, at, strings.Fields(out)...)
	return unique(found), err
}

// operationsHeld adds stashes, an operation in progress and a lock.
func (r *Repo) operationsHeld(ctx context.Context, h *holdings, branch string) error {
	if branch != "" {
		recs, err := r.git.records(ctx, command{at: place{gitDir: r.common, common: r.common},
			args: []string{"log", "-z", "-g", "--first-parent", "--no-color", "--no-show-signature", "--format=%H%x1f%gs", "refs/stash", "--"}})
		if err != nil && exitOf(err) < 0 {
			return err
		}
		var items []string // without refs/stash git fails, and there are none
		for _, rec := range recs {
			id, what, _ := strings.Cut(rec, "\x1f")
			if strings.HasPrefix(what, "WIP on "+branch+":") || strings.HasPrefix(what, "On "+branch+":") {
				items = append(items, printable(what, 200))
				if len(h.keep) < 200 {
					h.keep = append(h.keep, id)
				}
			}
		}
		h.add(LossStash, len(items), items)
	}
	if what := inProgress(h.reg.admin); what != "" && !h.gone {
		h.add(LossRebase, 1, []string{what})
		if err := r.keepOperation(ctx, h); err != nil {
			return err
		}
	}
	reason, err := readIn(h.reg.admin, "locked")
	if h.locked = err == nil; h.locked {
		h.add(LossLocked, 1, []string{printable(strings.TrimSpace(string(reason)), 200)})
	} else if !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The lock of the worktree cannot be read")
	}
	return nil
}

// keepOperation notes the commits that an operation in progress started from or brings in.
func (r *Repo) keepOperation(ctx context.Context, h *holdings) error {
	names := []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}
	// The last three hold what was uncommitted when the operation began, and are in no ref and no stash.
	for _, f := range []string{"rebase-merge/orig-head", "rebase-apply/orig-head", "rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"} {
		if b, err := readIn(h.reg.admin, f); err == nil {
			if id := strings.TrimSpace(string(b)); commitLine.MatchString(id + " commit 0") {
				names = append(names, id)
			}
		}
	}
	found, err := r.commits(ctx, h.at, names...)
	h.keep = append(h.keep, found...)
	return err
}
