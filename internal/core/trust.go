package core

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/selfrun"
	"termic/internal/store"
	"termic/internal/worktree"
)

// This file is about the measure for files that run by themselves. A cage of a project shares its repository: it can move
// branches, make tags and rewrite what a name stands for. So once a cage has run in a project, no name is a measure, only
// commits that were noted before: those of the project before its first caged start, and those that the owner has agreed
// to since.

// maxTrusted bounds the commits of one project that are noted; the oldest make way, but for the first ones.
const maxTrusted = 12

func (c *Core) trustFile(projectID string) string {
	return filepath.Join(c.dataDir, "trusted", projectID)
}

// trusted are the commits of a project that are a measure; none while no cage has run in it.
func (c *Core) trusted(projectID string) ([]string, error) {
	text, err := os.ReadFile(c.trustFile(projectID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "It cannot be told which commits a cage had no hand in")
	}
	return strings.Fields(string(text)), nil
}

// trust adds commits. The caller holds no lock: the last writer wins, which loses no more than a question.
func (c *Core) trust(projectID string, commits ...string) error {
	have, err := c.trusted(projectID)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		if commit == "" || slices.Contains(have, commit) {
			continue
		}
		if have = append(have, commit); len(have) > maxTrusted {
			have = slices.Delete(have, 3, 4)
		}
	}
	if err = os.MkdirAll(filepath.Dir(c.trustFile(projectID)), 0o700); err == nil {
		err = atomicfile.WriteFile(c.trustFile(projectID), []byte(strings.Join(have, "\n")+"\n"), 0o600)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "It cannot be noted which commits a cage had no hand in")
	}
	return nil
}

// trustBefore notes what a project is before its first cage runs. Later starts change nothing.
func (c *Core) trustBefore(ctx context.Context, t store.Task) error {
	if have, err := c.trusted(t.ProjectID); err != nil || have != nil {
		return err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil || project.NonGit {
		return err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	commits := []string{t.BaseCommit}
	for _, name := range []string{project.BaseBranch, "HEAD"} {
		if base, err := repo.ResolveBase(ctx, name); err == nil { // what names nothing is no measure
			commits = append(commits, base.Commit)
		}
	}
	return c.trust(t.ProjectID, commits...)
}

// measures are the files of every commit that the tree of a task is measured against, the newest first. Each is read when it
// is asked for: a tree that is as the first one has it needs no other.
func (c *Core) measures(ctx context.Context, t store.Task) iter.Seq2[map[string]selfrun.Entry, error] {
	return func(yield func(map[string]selfrun.Entry, error) bool) {
		repo, commits, err := c.measuredBy(ctx, t)
		if err != nil {
			yield(nil, err)
			return
		}
		found := false
		for _, commit := range slices.Backward(commits) {
			var entries map[string]selfrun.Entry
			list, err := repo.TreeList(ctx, commit)
			if code := fault.CodeOf(err); code == fault.NotFound || code == fault.InvalidArgument {
				continue // it is gone from the repository
			}
			if err == nil {
				entries, err = selfrun.ParseTree(list)
			}
			found = true
			if !yield(entries, err) || err != nil {
				return
			}
		}
		if !found {
			yield(nil, nil) // everything there counts
		}
	}
}

// measuredBy are the commits that the tree of a task is measured against; none where there is no repository.
func (c *Core) measuredBy(ctx context.Context, t store.Task) (*worktree.Repo, []string, error) {
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil || project.NonGit {
		return nil, nil, err
	}
	commits, err := c.trusted(t.ProjectID)
	if err != nil {
		return nil, nil, err
	}
	if len(commits) == 0 {
		commits = []string{t.BaseCommit}
	}
	repo, err := c.repoOf(ctx, project)
	return repo, commits, err
}

// inherit notes that a new or restored task without a cage may hold what a cage of its project wrote, until its first start
// has found nothing or the owner has agreed.
func (c *Core) inherit(t store.Task) error {
	if caged(t) {
		return nil // its own start leaves a mark
	}
	commits, err := c.trusted(t.ProjectID)
	if err != nil || commits == nil {
		return err
	}
	return c.markWritten(t.ID, inherited)
}

// agree notes that the owner agreed to what is in the tree of a task: also as what its project may begin with.
func (c *Core) agree(t store.Task) {
	c.seenTo(t.ID)
	if err := c.trust(t.ProjectID, t.BaseCommit); err != nil {
		c.log.Warn("it could not be noted that the owner agreed to a commit", "task", t.ID, "err", err) // it is asked again
	}
}
