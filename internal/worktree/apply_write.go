package worktree

import (
	"context"
	"errors"
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
	names := make([]string, len(a.untracked))
	for i, f := range a.untracked {
		names[i] = f.Path
	}
	n, err := a.copyUntracked()
	if err == nil {
		out.Tree, err = a.trackedTree(ctx, a.src, a.srcStatus, append(names, a.loosened...))
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
		return out, conflictError("The change was applied, with conflicts in %d files", out.Conflicts, true).
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

// takeBack brings dst back to its HEAD after a failed write. It was clean, and every file that the change adds was not
// there, so nothing else can be lost.
func (a *application) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var errs []error
	for _, name := range a.copied {
		errs = append(errs, clear1(a.dstRoot, name))
	}
	for _, c := range a.pending {
		if c.oldMode == noMode {
			errs = append(errs, clear1(a.dstRoot, c.path))
		}
	}
	if a.dstStatus.Head != "" {
		_, err := a.r.git.run(ctx, command{at: a.dst, writes: true, args: []string{"reset", "--hard", "--quiet", "HEAD"}})
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		a.r.git.log.ErrorContext(ctx, "a failed apply was not wholly taken back", "root", a.r.root, "err", err)
	}
}
