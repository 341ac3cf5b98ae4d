package core

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
	"termic/internal/worktree"
)

// How much of what was discarded is kept.
const (
	maxDiscards    = 50                  // of one task
	discardsKept   = 30 * 24 * time.Hour // also when the task is archived
	maxShownOfKept = 20                  // paths
)

// discards is the account of what was discarded in the tasks, a file for each task in a folder that no cage sees. What is
// kept is in the repositories, where a cage could change what a ref leads to; the commits are written down here. Safe for
// concurrent use.
type discards struct {
	dir string
	mu  sync.Mutex // held for the time of one act on a file
}

// taskDiscards is one file.
type taskDiscards struct {
	Project string        `json:"project"`
	List    []keptDiscard `json:"list"` // newest first
}

type keptDiscard struct {
	ID       string    `json:"id"`
	Ref      string    `json:"ref"`
	Commit   string    `json:"commit"`
	Time     time.Time `json:"time"`
	Paths    [][]byte  `json:"paths"` // the first ones, as the bytes that they are
	Files    int       `json:"files"`
	Unstaged bool      `json:"unstaged,omitempty"`
}

func (k *keptDiscard) take(d worktree.Discarded) {
	k.Commit, k.Files, k.Time, k.Paths = d.Commit, len(d.Paths), time.Now(), nil
	for _, p := range d.Paths[:min(len(d.Paths), maxShownOfKept)] {
		k.Paths = append(k.Paths, []byte(p))
	}
}

func (k keptDiscard) view() api.Discarded {
	out := api.Discarded{ID: k.ID, Time: stamp(k.Time), Files: k.Files, Unstaged: k.Unstaged, Paths: []string{}}
	for _, p := range k.Paths {
		out.Paths = append(out.Paths, strings.ToValidUTF8(string(p), "\uFFFD"))
	}
	return out
}

func (d *discards) file(taskID string) string { return filepath.Join(d.dir, taskID+".json") }

// of is what can be put back into a task.
func (d *discards) of(taskID string) (taskDiscards, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read(taskID)
}

func (d *discards) read(taskID string) (taskDiscards, error) {
	var t taskDiscards
	text, err := os.ReadFile(d.file(taskID))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fault.Wrap(err, fault.Unavailable, "The list of what was discarded cannot be read: %s", d.file(taskID))
	}
	return t, nil
}

func (d *discards) write(taskID string, t taskDiscards) error {
	if len(t.List) == 0 {
		err := os.Remove(d.file(taskID))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	text, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(d.file(taskID), text, 0o600)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "It could not be noted what is discarded, so nothing was")
	}
	return nil
}

func (d *discards) add(t store.Task, k keptDiscard) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all, err := d.read(t.ID)
	if err != nil {
		return err
	}
	all.Project, all.List = t.ProjectID, slices.Insert(all.List, 0, k)
	return d.write(t.ID, all)
}

// drop forgets one. That it cannot be written is no reason to fail: an undo of it is refused then, by what lies there.
func (d *discards) drop(taskID, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if all, err := d.read(taskID); err == nil {
		all.List = slices.DeleteFunc(all.List, func(k keptDiscard) bool { return k.ID == id })
		_ = d.write(taskID, all)
	}
}

func (d *discards) find(taskID, id string) (keptDiscard, error) {
	all, err := d.of(taskID)
	if err != nil {
		return keptDiscard{}, err
	}
	if len(all.List) == 0 {
		return keptDiscard{}, fault.New(fault.NotFound, "Nothing was discarded here that could be put back")
	}
	if id == "last" {
		return all.List[0], nil
	}
	for _, k := range all.List {
		if k.ID == strings.ToUpper(id) {
			return k, nil
		}
	}
	return keptDiscard{}, fault.New(fault.NotFound, "Nothing with the id %q was discarded here, or it was put back already", id).
		WithHint("Without paths, `termic discard TASK` lists what can be put back.")
}

// old takes what is too much or too old out of the lists of a project.
func (d *discards) old(projectID string, now time.Time) ([]keptDiscard, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := os.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var gone []keptDiscard
	for _, e := range entries {
		taskID, is := strings.CutSuffix(e.Name(), ".json")
		if !is || !ids.Valid(taskID) {
			continue
		}
		all, rerr := d.read(taskID)
		if rerr != nil || all.Project != projectID {
			err = errors.Join(err, rerr)
			continue
		}
		keep := all.List[:0:0]
		for i, k := range all.List {
			if i < maxDiscards && now.Sub(k.Time) < discardsKept {
				keep = append(keep, k)
			} else {
				gone = append(gone, k)
			}
		}
		if len(keep) < len(all.List) {
			all.List = keep
			err = errors.Join(err, d.write(taskID, all))
		}
	}
	return gone, err
}

// pruneDiscards deletes what was discarded long ago, in all tasks of a project.
func (c *Core) pruneDiscards(ctx context.Context, project store.Project, repo *worktree.Repo) {
	gone, err := c.discards.old(project.ID, time.Now())
	if len(gone) > 0 {
		done := c.refs.ours(project.ID, repo, func(name string) bool {
			return slices.ContainsFunc(gone, func(k keptDiscard) bool { return k.Ref == name })
		})
		defer done()
	}
	for _, k := range gone {
		err = errors.Join(err, repo.DropDiscard(context.WithoutCancel(ctx), k.Ref, k.Commit))
	}
	if err != nil {
		c.log.Warn("what was discarded long ago could not all be deleted", "project", project.ID, "err", err)
	}
}
