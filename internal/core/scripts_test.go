package core

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/store"
	"termic/sandbox"
)

// create makes a task in the rig's project as the verb does, and waits until it is there.
func (r *idRig) create(name string) store.Task {
	r.t.Helper()
	made, err := r.TaskNew(r.t.Context(), r.ownCall(store.Task{}), api.TaskNewParams{Name: name, Project: "p", NoAgent: true, Mode: "main"})
	must(r.t, err)
	var task store.Task
	r.awaitChange("the task", func() bool {
		task, err = r.store.Task(r.t.Context(), made.Task.ID)
		must(r.t, err)
		return task.State == api.TaskLive
	})
	return task
}

// TestSetupScriptWaitsForConsent: it runs in a tab of its own from the consent on, and a task says when it did not.
func TestSetupScriptWaitsForConsent(t *testing.T) {
	r := newIDRig(t)
	ran := filepath.Join(r.dir, "ran")
	r.repo("scripts: {setup: 'echo \"$TERMIC_TASK ${TERMIC_MCP_TOKEN-none}\" >> ran; exec sleep 0'}")
	waiting := r.create("first")
	r.awaitChange("the warning", func() bool {
		task, err := r.store.Task(t.Context(), waiting.ID)
		must(t, err)
		return slices.ContainsFunc(task.Warnings, func(s string) bool { return strings.Contains(s, "consent") })
	})
	if _, err := os.Stat(ran); err == nil {
		t.Error("a script ran that nobody agreed to")
	}
	shown, err := r.ProjectConsent(t.Context(), r.ownCall(store.Task{}), api.ProjectConsentParams{Name: "p"})
	must(t, err)
	_, err = r.ProjectConsent(t.Context(), r.ownCall(store.Task{}), api.ProjectConsentParams{Name: "p", Digest: shown.Repo.Digest})
	must(t, err)
	task := r.create("second")
	var tabs []store.Tab
	r.awaitChange("the end of the script", func() bool {
		tabs, err = r.store.Tabs(t.Context(), task.ID)
		must(t, err)
		return len(tabs) == 1 && tabs[0].Exited
	})
	out, err := os.ReadFile(ran)
	if err != nil || string(out) != "second none\n" || tabs[0].Kind != store.TabScript || tabs[0].ExitCode != 0 || tabs[0].IsDefault {
		t.Errorf("%q, %v, %+v", out, err, tabs[0])
	}
	r.repo("scripts: {setup: 'echo changed >> ran'}")
	r.create("third")
	if out, err := os.ReadFile(ran); err != nil || string(out) != "second none\n" {
		t.Errorf("after a change of the script: %q, %v", out, err)
	}
}

// TestScriptsFromACageStayInIt: the script of a task that a caged agent created has the walls of its agent, and nothing
// starts where they cannot be built; that of a person's task has none.
func TestScriptsFromACageStayInIt(t *testing.T) {
	r := newIDRig(t)
	task, _ := r.placed("child", "monitor", true, store.TabAgent, "talker")
	script, err := r.store.CreateTab(t.Context(), store.Tab{TaskID: task.ID, Kind: store.TabScript, Title: "Setup", Command: []string{"/bin/sh", "-c", "exec sleep 60"}})
	must(t, err)
	l := r.start(task, script)
	if l.walls.made || l.identity.connected() || r.good(l) || capabilityOf(l).Mode() != sandbox.Off {
		t.Errorf("a person's: walls %v, token %v", l.walls.made, l.identity.connected())
	}
	must(t, r.endTab(t.Context(), l, "stopped"))
	_, err = r.store.UpdateTask(t.Context(), task.ID, func(t *store.Task) error { t.FromCage = true; return nil })
	must(t, err)
	l = r.start(task, script)
	if !l.walls.made || l.identity.connected() || capabilityOf(l).Mode() != sandbox.Monitor {
		t.Errorf("a caged agent's: walls %v, token %v, %s", l.walls.made, l.identity.connected(), capabilityOf(l).Mode())
	}
	must(t, r.endTab(t.Context(), l, "stopped"))
	// It may do no more than the agent that asked for the task.
	limit := sandbox.Capability{}
	if _, err := r.startTab(t.Context(), task.ID, script.ID, startHow{limit: &limit}); err == nil || r.liveOf(script.ID) != nil {
		t.Errorf("beyond the limit: %v", err)
	}
	r.cages = noMode{ownCages{r.Core}}
	if _, err := r.startTab(t.Context(), task.ID, script.ID, startHow{}); err == nil || r.liveOf(script.ID) != nil {
		t.Errorf("without a cage: %v", err)
	}
}

// noMode are cages of which none can be had.
type noMode struct{ ownCages }

func (noMode) Check(sandbox.Mode) error { return errors.New("no cages here") }

// TestProgramThatEndsAtOnce: one that is over before it was written down as live does not stay live, nor its row.
func TestProgramThatEndsAtOnce(t *testing.T) {
	r := newIDRig(t)
	task, _ := r.placed("quick", "off", false, store.TabAgent, "talker")
	for range 40 {
		tab, err := r.store.CreateTab(t.Context(), store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: "Quick", Command: []string{"/bin/true"}})
		must(t, err)
		l, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{})
		must(t, err)
		<-l.term.Done()
		if r.liveOf(tab.ID) != nil {
			t.Fatal("a program that has ended is live")
		}
		if tab, err = r.store.Tab(t.Context(), tab.ID); err != nil || !tab.Exited {
			t.Fatalf("its end is not stored: %+v, %v", tab, err)
		}
	}
	rows, err := r.store.Terminals(t.Context())
	if must(t, err); slices.ContainsFunc(rows, func(row store.Terminal) bool { return row.TaskID == task.ID }) {
		t.Errorf("rows of ended programs are left: %+v", rows)
	}
}
