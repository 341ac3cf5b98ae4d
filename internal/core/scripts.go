package core

import (
	"context"

	"termic/internal/fault"
	"termic/internal/repofile"
	"termic/internal/store"
)

// inWalls reports whether the program of a tab belongs into the cage of its task. An agent does, a shell that was asked for
// in there, and a script of a task that a caged agent created: its tree may hold what a cage has written, and a script runs
// what is in the tree. What else a person opens, and scripts of tasks that a person created, are in none.
func (l *liveTab) inWalls() bool {
	switch l.tab.Kind {
	case store.TabAgent, store.TabCaged:
		return true
	}
	return l.tab.Kind == store.TabScript && l.task.FromCage
}

// setupOf is the setup script of a project's .termic.yaml: empty where there is none, and an error where there is one that must not
// run, as its owner did not agree to that very content.
func (c *Core) setupOf(ctx context.Context, p store.Project) (command string, err error) {
	f, agreed, err := c.agreedFile(ctx, p)
	for _, s := range f.Scripts {
		if s.Name == repofile.Setup {
			command = s.Command
		}
	}
	if err == nil && command != "" && !agreed {
		err = fault.New(fault.NeedsConsent, "It waits for your consent to the %s of the project", repofile.Name).
			WithHint("Look at it: `termic project consent %s`.", shellWord(p.Name))
	}
	return command, err
}

// setUp runs the setup script of a new task in a tab of its own, beside the task's first agent. Where setupOf gave an error the
// task says that it did not run.
func (c *Core) setUp(ctx context.Context, n *newTask, command string, err error) {
	if err == nil && command != "" {
		err = c.runScript(ctx, n, "Setup", command)
	}
	if err == nil {
		return
	}
	c.log.Warn("setup script did not run", "task", n.task.ID, "err", err)
	_, uerr := c.store.UpdateTask(context.WithoutCancel(ctx), n.task.ID, func(t *store.Task) error {
		t.Warnings = append(t.Warnings, "The setup script did not run. "+sentence(err))
		return nil
	})
	if uerr != nil {
		c.log.Error("a warning could not be stored", "task", n.task.ID, "err", uerr)
	}
	c.beacon.change()
}

// runScript opens a tab for a script and starts it.
func (c *Core) runScript(ctx context.Context, n *newTask, title, command string) error {
	tab, err := c.store.CreateTab(ctx, store.Tab{TaskID: n.task.ID, Kind: store.TabScript, Title: title, Command: []string{"/bin/sh", "-c", command}})
	if err != nil {
		return err
	}
	_, err = c.startTab(ctx, n.task.ID, tab.ID, startHow{limit: n.limit})
	return err
}
