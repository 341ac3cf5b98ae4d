package core

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// boundTo holds what an approval was given for: for each part of the state, by name, the digest of what was shown. An act that is
// bound asks about each part when nobody else can change it any more, right before it acts.
type boundTo map[string]string

// Parts of the state.
const (
	partTask     = "task:"     // the row of a task
	partPrograms = "programs:" // what runs in it, and what waits to be typed
	partTree     = "tree:"     // what its worktree holds
	partApply    = "apply:"    // what applying it writes to what
	partTab      = "tab:"      // a tab and its program
	partProject  = "project:"  // a project and which tasks it has
)

// partWords say what changed, as the beginning of a sentence.
var partWords = map[string]string{partTask: "The task", partPrograms: "What runs in the task", partTree: "What the worktree holds",
	partApply: "The task or the main checkout", partTab: "The tab or its program", partProject: "The project"}

// errStale is an act that was not carried out since what it was bound to changed.
func errStale(part string) error {
	kind, _, _ := strings.Cut(part, ":")
	return &staleError{fault.New(fault.Conflict, "%s changed since this was asked for, so nothing was done", orElse(partWords[kind+":"], "Something")).
		WithHint("Ask again: the new request shows how it is now.")}
}

// staleError marks a fault that made an approval stale.
type staleError struct{ why *fault.Error }

func (e *staleError) Error() string { return e.why.Error() }

// Unwrap gives the fault that is told.
func (e *staleError) Unwrap() error { return e.why }

// still refuses to go on with a bound call when a part is not as it was. Calls that are not bound go on.
func (c *Call) still(part, now string) error {
	if c.bound == nil || c.bound[part] == now {
		return nil
	}
	return errStale(part)
}

// isBound reports whether anything has to be looked at for still.
func (c *Call) isBound() bool { return c.bound != nil }

// hashOf is SHA-256 over a value as JSON.
func hashOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = fmt.Appendf(nil, "%+v", v)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// taskFacts is the digest of what matters of the row of a task.
func taskFacts(t store.Task, p store.Project) string {
	return hashOf([]any{t.ID, t.Name, t.ProjectID, t.Path, t.Branch, t.BaseRef, t.BaseCommit, t.State, t.Sandbox, t.AppliedTree, t.FromCage, t.IsMain, p.Name, p.RootPath})
}

// programFacts is the digest of what runs in a task and what waits there.
func (c *Core) programFacts(ctx context.Context, taskID string) (string, error) {
	queued, err := c.queueOf(ctx, taskID)
	if err != nil {
		return "", err
	}
	var facts []any
	for _, l := range c.sortedLive(taskID) {
		facts = append(facts, c.liveFacts(l))
	}
	for _, q := range queued {
		facts = append(facts, q.ID)
	}
	return hashOf(facts), nil
}

func (c *Core) sortedLive(taskID string) []*liveTab {
	tabs := slices.Clone(c.liveTabs(taskID))
	slices.SortFunc(tabs, func(a, b *liveTab) int { return cmp.Compare(a.tab.ID, b.tab.ID) })
	return tabs
}

func (c *Core) liveFacts(l *liveTab) []any {
	return []any{l.tab.ID, l.row, l.started.UnixNano(), l.working()}
}

// working reports whether an agent is at work.
func (l *liveTab) working() bool {
	if l.det == nil {
		return false
	}
	state, _ := l.workState()
	return state == api.WorkWorking
}

// tabFacts is the digest of a tab and its program.
func (c *Core) tabFacts(ctx context.Context, tab store.Tab) (string, error) {
	queued, err := c.store.Prompts(ctx, tab.ID)
	if err != nil {
		return "", err
	}
	facts := []any{tab.ID, tab.TaskID, tab.Kind, tab.Agent, tab.Title, tab.Name, tab.IsDefault, tab.ClosedAt.IsZero()}
	if l := c.liveOf(tab.ID); l != nil {
		facts = append(facts, c.liveFacts(l))
	}
	for _, q := range queued {
		facts = append(facts, q.ID)
	}
	return hashOf(facts), nil
}

// held is what removing the worktree of a task would lose, and its digest.
func (c *Core) held(ctx context.Context, t store.Task, project store.Project, deleteBranch bool) ([]api.Loss, string, error) {
	if !ownsTree(t, project) {
		return nil, "", nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return nil, "", err
	}
	return c.repoFor(repo, t).Held(ctx, t.Path, t.Branch, deleteBranch)
}

// stillArchivable asks about every part that an archive is bound to. What the worktree holds is asked about once more when no agent
// can write it any more.
func (c *Core) stillArchivable(ctx context.Context, call *Call, t store.Task, project store.Project, deleteBranch bool) error {
	if !call.isBound() {
		return nil
	}
	if err := call.still(partTask+t.ID, taskFacts(t, project)); err != nil {
		return err
	}
	programs, err := c.programFacts(ctx, t.ID)
	if err == nil {
		err = call.still(partPrograms+t.ID, programs)
	}
	if err != nil {
		return err
	}
	_, tree, err := c.held(ctx, t, project, deleteBranch)
	if err == nil {
		err = call.still(partTree+t.ID, tree)
	}
	return err
}

// stillAllArchivable asks for all tasks of a project before the first is archived; each is asked about again when it is.
func (c *Core) stillAllArchivable(ctx context.Context, call *Call, tasks []store.Task, project store.Project) error {
	for _, t := range tasks {
		if err := c.stillArchivable(ctx, call, t, project, false); err != nil {
			return err
		}
	}
	return nil
}

// projectFacts is the digest of a project and of which tasks it has.
func projectFacts(p store.Project, tasks []store.Task) string {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	return hashOf([]any{p.ID, p.Name, p.RootPath, sorted(ids)})
}
