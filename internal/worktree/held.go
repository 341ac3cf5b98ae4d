package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"termic/internal/api"
)

// Held is what removing a worktree would lose, as Losses lists it, and a digest of all that it holds: commits, index, changed,
// untracked and ignored files, stashes, operations, locks. Files are told apart by their content where that is read in reasonable
// time, else by size and time of their last change.
func (r *Repo) Held(ctx context.Context, wt, branch string, deleting bool) (losses []api.Loss, digest string, err error) {
	if _, listed, err := r.registered(wt); err != nil {
		return nil, "", err
	} else if _, err := os.Lstat(wt); !listed && errors.Is(err, os.ErrNotExist) {
		return nil, heldNothing, nil
	}
	h, err := r.removable(ctx, wt, branch, deleting)
	if err != nil {
		return nil, "", err
	}
	digest, err = r.heldDigest(h)
	return h.losses, digest, err
}

// heldNothing is the digest where neither folder nor entry of a worktree is left.
const heldNothing = "gone"

// removable is holdings as Remove looks at them: a worktree whose folder is gone keeps its branch unless that is deleted too.
func (r *Repo) removable(ctx context.Context, wt, branch string, deleting bool) (*holdings, error) {
	h, err := r.holdings(ctx, wt, branch, deleting)
	if err == nil && h.gone && !deleting {
		h, err = r.holdings(ctx, wt, "", false)
	}
	return h, err
}

func (r *Repo) heldDigest(h *holdings) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "termic held 1\n%q %q %v %v %q %q %d\n", h.head, h.tip, h.gone, h.locked, h.keep, h.ignored, h.copies)
	for _, l := range h.losses {
		if l.Kind == LossIgnored {
			continue // its digest says it better
		}
		fmt.Fprintf(sum, "%s %d %q\n", l.Kind, l.Count, l.Items)
	}
	for _, f := range h.status.files {
		fmt.Fprintf(sum, "%c%c %q %q\n", f.Index, f.Worktree, f.Path, f.OldPath)
	}
	if !h.gone && len(h.status.files) > 0 {
		files, err := r.signatures(h.at, h.status)
		if err != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(sum, "%q %s\n", name, files[name])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
