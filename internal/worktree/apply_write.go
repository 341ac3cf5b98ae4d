package worktree

import (
	"context"
	"errors"
	"strings"
	"time"

	"termic/internal/fault"
)

// write makes the change. dst is clean, so that a failure can be taken back by going back to its HEAD.
func (a *application) write(ctx context.Context) (Applied, error) {
	out := Applied{Warnings: a.warnings}
	if a.patch != "" {
		if err := a.applyPatch(ctx); err != nil {
			return Applied{}, err
		}
		out.Tracked = a.files
	}
	n, err := a.copyUntracked()
	if err == nil {
		out.Tree, err = a.wholeTree(ctx)
	}
	if err == nil && a.sealed != "" && a.sealed != out.Tree {
		a.takeBack(ctx)
		return Applied{}, fault.New(fault.Conflict, "The task was changed while it was being applied, and nothing was changed").WithHint("Apply again.")
	}
	if err != nil {
		a.takeBack(ctx)
		return Applied{}, fault.Wrap(err, fault.Unavailable, "The untracked files could not be copied, and nothing was changed")
	}
	out.Untracked = n
	if a.patch == "" {
		return out, nil
	}
	if out.Conflicts, err = a.unmerged(ctx, ""); err != nil {
		return out, err
	}
	if len(out.Conflicts) > 0 {
		return out, conflictError("The change was applied, with conflicts in %s", out.Conflicts, true).
			WithHint("Resolve them in %s.", printable(a.r.root, 200)).WithData("tracked_files", out.Tracked).WithData("untracked_files", out.Untracked)
	}
	return out, nil
}

// applyPatch runs the patch for real. git compares times before it compares content, so the index is refreshed first.
func (a *application) applyPatch(ctx context.Context) error {
	g := a.r.git
	_, err := g.run(ctx, command{at: a.dst, writes: true, args: []string{"update-index", "-q", "--refresh"}})
	if err != nil && exitOf(err) != 1 {
		return err
	}
	_, err = g.run(ctx, command{at: a.dst, writes: true, timeout: g.createTimeout, args: []string{"apply", "--3way", "--whitespace=nowarn", "--", a.patch}})
	if err == nil {
		return nil
	}
	if exitOf(err) == 1 && len(a.conflicts) > 0 {
		marked, lookErr := a.unmerged(ctx, "")
		if lookErr == nil && len(marked) > 0 {
			return nil
		}
	}
	a.takeBack(ctx)
	if exitOf(err) < 0 {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "git could not apply the change, and nothing was changed").WithHint("git says: %s", said(err))
}

// takeBack undoes a failed write, path by path: what the change added goes, and what it changed is again as HEAD has it.
// No other file is touched, as one may have been saved meanwhile, or hide its changes behind an index flag.
func (a *application) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var errs []error
	for _, name := range a.copied {
		errs = append(errs, clear1(a.dstRoot, name))
	}
	var all, former strings.Builder
	for _, c := range a.pending {
		all.WriteString(c.path + "\x00")
		if a.hadBefore(c) {
			former.WriteString(c.path + "\x00")
		} else {
			errs = append(errs, clear1(a.dstRoot, c.path))
		}
	}
	if all.Len() > 0 {
		_, err := a.r.git.run(ctx, command{at: a.dst, writes: true, stdin: strings.NewReader(all.String()),
			args: []string{"--literal-pathspecs", "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"}})
		errs = append(errs, err)
	}
	if former.Len() > 0 {
		_, err := a.r.git.run(ctx, command{at: a.dst, writes: true, stdin: strings.NewReader(former.String()),
			args: []string{"checkout-index", "--force", "--index", "-z", "--stdin"}})
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		a.r.git.log.ErrorContext(ctx, "a failed apply was not wholly taken back", "root", a.r.root, "err", err)
	}
}

// hadBefore reports whether dst tracked the file of a change before it was written.
func (a *application) hadBefore(c treeChange) bool {
	if had, differs := a.inDst[c.path]; differs {
		return had
	}
	return c.oldMode != noMode
}
