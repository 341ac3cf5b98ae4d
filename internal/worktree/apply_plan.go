package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"sort"
	"strings"

	"termic/internal/fault"
)

// What a planned file is about.
const (
	PlanAdd    = "add"
	PlanModify = "modify"
	PlanDelete = "delete"
	PlanCopy   = "copy" // an untracked file of the task
)

// PlannedFile is a path that applying would write or take away.
type PlannedFile struct{ Path, Action string }

// ApplyPlan is what ApplySince would do if it were called now. It tells paths and never content.
type ApplyPlan struct {
	Files     []PlannedFile // by path; none when Refusal is set
	Tracked   int           // files of the patch, as in Applied
	Untracked int           // files that would be copied
	Conflicts []string      // files that would have conflict marks
	Warnings  []string
	Refusal   *fault.Error // what ApplySince would answer, nothing being written; nil when it would go on
	Digest    string       // of what would be written to what; empty when nothing would be
	Head      string       // commit of the worktree
	Main      string       // commit of Root
}

// PlanApply finds out what ApplySince would do, and changes no file, index or ref. Nothing that it finds holds for longer than the
// worktree and Root stay as they are; Digest tells whether they did.
func (r *Repo) PlanApply(ctx context.Context, wt, base, since string) (ApplyPlan, error) {
	a, err := r.newApply(ctx, wt)
	if err != nil {
		return refusedPlan(ApplyPlan{}, err)
	}
	defer a.close()
	a.since = since
	p := ApplyPlan{Head: a.srcStatus.Head, Main: a.dstStatus.Head}
	done, _, err := a.ready(ctx, base)
	p.Warnings = a.warnings
	if done || err != nil {
		return refusedPlan(p, err)
	}
	if err := a.seal(ctx); err != nil {
		return p, err
	}
	p.Digest, p.Tracked = a.digest(), a.files
	p.Conflicts = a.conflicts
	return p, a.planned(ctx, &p)
}

// refusedPlan is the plan of what would be refused for a reason that lies in the checkouts. Other errors stay errors.
func refusedPlan(p ApplyPlan, err error) (ApplyPlan, error) {
	if code := fault.CodeOf(err); code == fault.Conflict || code == fault.ApplyConflict {
		p.Refusal, err = fault.From(err), nil
	}
	return p, err
}

// planned fills in the files.
func (a *application) planned(ctx context.Context, p *ApplyPlan) error {
	actions := map[string]string{}
	leaving := map[string]bool{}
	for _, c := range a.pending {
		switch {
		case c.mode == "0":
			actions[c.path], leaving[c.path] = PlanDelete, true
		case c.oldMode == noMode:
			actions[c.path] = PlanAdd
		default:
			actions[c.path] = PlanModify
		}
	}
	patched, err := a.patchPaths(ctx)
	if err != nil {
		return err
	}
	for _, name := range patched {
		if actions[name] == "" {
			actions[name] = PlanModify
		}
	}
	for _, f := range a.untracked {
		state, err := a.compareUntracked(f.Path, leaving)
		if err != nil {
			return err
		}
		if state == copyFree {
			actions[f.Path] = PlanCopy
			p.Untracked++
		}
	}
	for name, action := range actions {
		p.Files = append(p.Files, PlannedFile{name, action})
	}
	sort.Slice(p.Files, func(i, j int) bool { return p.Files[i].Path < p.Files[j].Path })
	return nil
}

// seal notes all that the task has, so that what changes afterwards is seen.
func (a *application) seal(ctx context.Context) (err error) {
	a.sealed, err = a.wholeTree(ctx)
	return err
}

// wholeTree is the tree of the task with its untracked files.
func (a *application) wholeTree(ctx context.Context) (string, error) {
	names := make([]string, 0, len(a.untracked)+len(a.loosened))
	for _, f := range a.untracked {
		names = append(names, f.Path)
	}
	return a.trackedTree(ctx, a.src, a.srcStatus, append(names, a.loosened...))
}

// digest is over everything that decides what is written: both sides, and where the change starts.
func (a *application) digest() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "termic apply 1\n%q %q %q %q %q %q\n", a.against, a.since, a.srcStatus.Head, a.sealed, a.dstStatus.Head, a.dstTree)
	for _, f := range a.dstStatus.files {
		fmt.Fprintf(sum, "%c%c %q\n", f.Index, f.Worktree, f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Drift is how far a worktree and the base that it came from have gone apart. It tells paths and never content.
type Drift struct {
	Ref       string   // what the base is called
	Base      string   // commit that the task began at
	Now       string   // commit that the base is at; equal to Base when it did not move
	Rewritten bool     // Now does not come after Base
	Ahead     int      // commits of the task that the base has not
	Behind    int      // commits of the base that the task has not
	Moved     []string // files that the base changed since the two parted
	Mine      []string // files that the task has otherwise than where they parted, uncommitted ones included
	Conflicts []string // of them, those that do not merge
	Known     bool     // Conflicts is known: this git can merge without a checkout
}

// Drift compares the worktree at wt with the base called ref as it is now. started is the commit that it began at. No ref, index or
// file is changed, and nothing is fetched.
func (r *Repo) Drift(ctx context.Context, wt, ref, started string) (Drift, error) {
	at, err := r.enter(ctx, wt)
	if err != nil {
		return Drift{}, err
	}
	st, err := r.status(ctx, at)
	if err != nil {
		return Drift{}, err
	}
	base, err := r.ResolveBase(ctx, ref)
	if err != nil {
		return Drift{}, err
	}
	d := Drift{Ref: base.Name, Base: started, Now: base.Commit}
	if d.Base == "" {
		d.Base = d.Now
	}
	if err := r.parted(ctx, at, &d); err != nil {
		return d, err
	}
	a := &application{r: r, src: at, dst: at, srcStatus: st, dstTree: base.Commit + "^{tree}"}
	var untracked []string
	for _, f := range st.files {
		if f.Index == '?' && !strings.HasSuffix(f.Path, "/") && !unkeepable(f.Path) {
			untracked = append(untracked, f.Path)
		}
	}
	if a.srcTree, err = a.trackedTree(ctx, at, st, untracked); err != nil {
		return d, err
	}
	if a.against, err = r.mergeBase(ctx, at, base.Commit); err != nil {
		return d, err
	}
	for _, side := range []struct {
		tree string
		into *[]string
	}{{a.dstTree, &d.Moved}, {a.srcTree, &d.Mine}} {
		changes, err := a.treeDiff(ctx, a.against, side.tree)
		if err != nil {
			return d, err
		}
		for _, c := range changes {
			*side.into = append(*side.into, c.path)
		}
	}
	return d, a.clashes(ctx, &d)
}

// clashes fills in what does not merge.
func (a *application) clashes(ctx context.Context, d *Drift) error {
	if d.Known = a.r.git.version.atLeast(2, 38); !d.Known {
		return nil
	}
	if len(d.Moved) == 0 || len(d.Mine) == 0 {
		return nil
	}
	_, names, err := a.mergeTrees(ctx)
	for _, n := range names {
		d.Conflicts = append(d.Conflicts, path.Clean(n))
	}
	sort.Strings(d.Conflicts)
	return err
}

// parted counts the commits of both sides.
func (r *Repo) parted(ctx context.Context, at place, d *Drift) error {
	counts, err := r.git.text(ctx, command{at: at, args: []string{"rev-list", "--count", "--left-right", "HEAD..." + d.Now, "--"}})
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(counts, "%d %d", &d.Ahead, &d.Behind); err != nil {
		return fmt.Errorf("rev-list: %w", err)
	}
	if d.Base == d.Now {
		return nil
	}
	_, err = r.git.run(ctx, command{at: at, args: []string{"merge-base", "--is-ancestor", d.Base, d.Now}})
	if d.Rewritten = exitOf(err) == 1; d.Rewritten {
		return nil
	}
	return err
}
