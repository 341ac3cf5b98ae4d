package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"termic/internal/api"
)

// TestTwoAppsShareNoPorts: two apps of one user, each with a data folder of its own, give their tasks different ports while
// these are in use. It is alone, as the next one is: apps of other tests take ports, too.
func TestTwoAppsShareNoPorts(t *testing.T) {
	a, b := anotherRig(t), anotherRig(t)
	seen := map[int]string{}
	for i := range 2 {
		for name, r := range map[string]*rig{"one": a, "other": b} {
			d := r.live(r.cageTask(fmt.Sprint("server ", i), "enforce", nil).id)
			if by := seen[d.Port]; by != "" {
				t.Errorf("a task of app %s and one of app %s have port %d", by, name, d.Port)
			}
			seen[d.Port] = name
			if notes := strings.Join(d.Tabs[0].Cage.Notes, " "); strings.Contains(notes, "in use") {
				t.Errorf("its ports are taken: %s", notes)
			}
		}
	}
}

// TestPortThatIsTaken: where a port of a caged task belongs to another program when the agent is started, the task's status
// says so.
func TestPortThatIsTaken(t *testing.T) {
	r := anotherRig(t)
	c := r.cageTask("server", "enforce", nil)
	d := r.live(c.id)
	call[api.TaskStopResult](r, "task_stop", map[string]any{"task": c.id})
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", d.Port+3))
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "restart": d.Tabs[0].ID})
	d = r.live(c.id)
	want := fmt.Sprintf("The port %d of this task is in use by another program", d.Port+3)
	if notes := strings.Join(d.Tabs[0].Cage.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("the notes are %q, without %q", notes, want)
	}
}
