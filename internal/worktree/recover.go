package worktree

import (
	"context"
	"strconv"
	"strings"
)

// DropBranch deletes a branch that still is where it was created, and does nothing when it has moved, is checked out, or
// is not there: it takes back the branch of a creation that was cut short.
func (r *Repo) DropBranch(ctx context.Context, name, commit string) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Branch == name {
			return nil
		}
	}
	found, err := r.commits(ctx, r.here(), "refs/heads/"+name)
	if err != nil || found[0] != commit {
		return err
	}
	_, err = r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", "-d", "refs/heads/" + name, commit}, writes: true})
	return err
}

// Backups returns the backup refs that removals with this RemoveOptions.ID left, oldest first.
func (r *Repo) Backups(ctx context.Context, id string) ([]string, error) {
	prefix := BackupPrefix + id + "-"
	out, err := r.git.text(ctx, command{at: r.here(), args: []string{"for-each-ref", "--format=%(refname)", "--sort=refname", BackupPrefix}})
	if err != nil {
		return nil, err
	}
	byNumber := map[int]string{}
	highest := 0
	for _, ref := range strings.Fields(out) {
		rest, ok := strings.CutPrefix(ref, prefix)
		if n, err := strconv.Atoi(rest); ok && err == nil {
			byNumber[n] = ref
			highest = max(highest, n)
		}
	}
	var refs []string
	for n := 0; n <= highest && len(byNumber) > len(refs); n++ {
		if ref, ok := byNumber[n]; ok {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}
