package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/selfrun"
	"termic/internal/store"
	"termic/sandbox"
)

// This file is about files that run by themselves: settings and hooks of agents and editors, files of shells and tools. A
// caged agent may write them into its tree like any other. Where something without a cage comes to that tree, the owner
// is asked about those that differ from what the task began with.

// Bounds of what is told about such files.
const (
	maxSelfRun = 200 // files
)

// tightness orders modes from open to tight.
func tightness(mode string) int {
	for i, m := range []sandbox.Mode{sandbox.Off, sandbox.Monitor, sandbox.EnforceFs, sandbox.Enforce} {
		if mode == string(m) {
			return i
		}
	}
	return 0
}

// mark is a file that is there from the first caged start of a task until the owner has seen what its agents wrote.
func (c *Core) mark(taskID string) string { return filepath.Join(c.dataDir, "written", taskID) }

// inherited is what the mark of a task holds that never had a cage, and whose tree another task's cage may have written.
const inherited = "inherited\n"

// markWritten notes that what runs from now on in the tree of a task may write files that run by themselves, or, with
// inherited, that another's cage did. A mark that is there stays as it is.
func (c *Core) markWritten(taskID, what string) error {
	err := os.MkdirAll(filepath.Dir(c.mark(taskID)), 0o700)
	if err == nil && !c.marked(taskID) {
		err = os.WriteFile(c.mark(taskID), []byte(what), 0o600)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "It cannot be noted that a caged agent writes this tree")
	}
	return nil
}

func (c *Core) marked(taskID string) bool {
	_, err := os.Lstat(c.mark(taskID))
	return !errors.Is(err, fs.ErrNotExist)
}

// written reports whether a cage wrote, or may be writing, the tree of a task, and the owner has not seen to that. All
// tasks of a main checkout share its tree.
func (c *Core) written(ctx context.Context, t store.Task) bool {
	if caged(t) || c.marked(t.ID) {
		return true
	}
	if !t.IsMain {
		return false
	}
	found, err := c.besideCaged(ctx, t)
	return found || err != nil
}

// besideCaged reports whether another task that works in the same main checkout is, or was, in a cage.
func (c *Core) besideCaged(ctx context.Context, t store.Task) (bool, error) {
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{ProjectID: t.ProjectID})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(tasks, func(o store.Task) bool {
		return o.ID != t.ID && o.IsMain && (writtenByCage(o) || c.marked(o.ID))
	}), nil
}

// seenTo notes that the owner agreed to what cages wrote so far.
func (c *Core) seenTo(taskID string) {
	if err := os.Remove(c.mark(taskID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("it could not be noted that the owner agreed", "task", taskID, "err", err) // it is asked again
	}
}

// refuseSelfRun asks the owner about files that run by themselves and that a cage could have written. what says what is
// about to happen, as the end of a sentence; agree is the command with which the owner agrees.
func (c *Core) refuseSelfRun(ctx context.Context, t store.Task, what, agree string) error {
	report, err := c.selfRunning(ctx, t)
	if err != nil || len(report.Changes) == 0 && report.Complete {
		return err
	}
	return askAbout(t, report, what, agree)
}

// refuseArriving asks the owner about files that run by themselves among those which are about to be written, by their paths.
func refuseArriving(t store.Task, paths []string, what, agree string) error {
	list, report := selfrun.New(), selfrun.Report{Complete: true}
	for _, p := range paths {
		if r, is := list.Match(p); is {
			report.Changes = append(report.Changes, selfrun.Change{Path: p, Kind: r.Kind, How: selfrun.Modified, Rule: r.Name})
		}
	}
	if len(report.Changes) == 0 {
		return nil
	}
	return askAbout(t, report, what, agree)
}

// askAbout is the question.
func askAbout(t store.Task, report selfrun.Report, what, agree string) error {
	files := make([]api.SelfRun, 0, min(len(report.Changes), maxSelfRun))
	names := []string{}
	for _, ch := range report.Changes {
		if len(files) == maxSelfRun {
			break
		}
		files = append(files, api.SelfRun{Path: ch.Path, Kind: string(ch.Kind), How: string(ch.How)})
		if len(names) < 3 {
			names = append(names, quoted(ch.Path))
		}
	}
	said := "A caged agent of the task " + quoted(t.Name) + " may have changed files that run by themselves or steer agents: " + strings.Join(names, ", ")
	if n := len(report.Changes) - len(names); n > 0 {
		said += " and " + countOf(n, "other")
	}
	if len(names) == 0 {
		said = "The tree of the task " + quoted(t.Name) + " has more files than are looked at, and a caged agent may have changed some that run by themselves"
	}
	return fault.New(fault.NeedsConsent, "%s", said).
		WithHint("Look at them before %s. Only the owner can agree: `termic %s`.", what, agree).
		WithData("files", files).WithData("total", len(report.Changes)).WithData("complete", report.Complete)
}

// selfRunning compares the tree of a task with what it began with. A tree that is gone runs nothing.
func (c *Core) selfRunning(ctx context.Context, t store.Task) (selfrun.Report, error) {
	if _, err := os.Lstat(t.Path); t.Path == "" || errors.Is(err, fs.ErrNotExist) {
		return selfrun.Report{Complete: true}, nil
	}
	var best selfrun.Report
	first := true
	for base, err := range c.measures(ctx, t) {
		if err != nil {
			return selfrun.Report{}, err
		}
		report, err := selfrun.New().Changed(ctx, t.Path, base)
		if err != nil {
			return report, fault.Wrap(err, fault.Unavailable, "The tree of the task %q cannot be looked at", t.Name)
		}
		if first || len(report.Changes) < len(best.Changes) {
			best, first = report, false
		}
		if len(best.Changes) == 0 {
			break
		}
	}
	return best, nil
}

// beforeStart notes that a caged program is about to write the tree of its task, and refuses an agent without a cage where
// a cage wrote files that run by themselves. What a person opens to type into is not refused: it is told of.
func (c *Core) beforeStart(ctx context.Context, l *liveTab, accept bool) error {
	switch {
	case caged(l.task) && l.inWalls():
		if err := c.trustBefore(ctx, l.task); err != nil {
			return err
		}
		return c.markWritten(l.task.ID, "")
	case caged(l.task) || l.tab.Kind != store.TabAgent || !c.written(ctx, l.task):
		return nil
	case accept:
		c.agree(l.task)
		return nil
	}
	err := c.refuseSelfRun(ctx, l.task, "an agent without a cage starts among them", "tab "+shellWord(l.task.Name)+" --restart "+l.tab.ID+" --accept-files")
	if err == nil && c.onlyInherited(l.task.ID) {
		c.seenTo(l.task.ID) // what it finds from now on its own agent has made
	}
	return err
}

// onlyInherited reports whether the mark of a task is there for what other tasks' cages wrote alone.
func (c *Core) onlyInherited(taskID string) bool {
	text, err := os.ReadFile(c.mark(taskID))
	return err == nil && string(text) == inherited
}

// besideRunning is what a person is told who starts an agent in a main checkout where another one runs, of which one is in a cage
// and one is not. What a start looks at says nothing about what is written afterwards.
func (c *Core) besideRunning(t store.Task) []string {
	if !t.IsMain {
		return nil
	}
	for _, l := range c.liveTabs("") {
		if o := l.task; o.ID != t.ID && o.IsMain && o.ProjectID == t.ProjectID && l.tab.Kind == store.TabAgent && caged(o) != caged(t) {
			return []string{"In the same folder runs an agent of the task " + quoted(o.Name) + ", and only one of the two is in a cage: what the caged one writes there, the other may run. " +
				"Give one of them a worktree of its own."}
		}
	}
	return nil
}

// hereRuns is what a person is told who opens a terminal where a cage writes or has written.
func (c *Core) hereRuns(ctx context.Context, t store.Task, kind string) []string {
	if kind == store.TabAgent {
		return c.besideRunning(t)
	}
	if kind != store.TabShell && kind != store.TabTerminal || !c.written(ctx, t) {
		return nil
	}
	return []string{"This terminal is in no cage, and a caged agent writes this folder: git, build tools, shells and editors that you start here may run what the agent wrote. " +
		"A shell inside the cage: `termic tab " + shellWord(t.Name) + " --kind caged-shell`."}
}
