//go:build linux

package e2e

import (
	"strconv"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// Whatever asks for a terminal while its task is archived either has it ended with the others, or is refused: no program
// is left in an archived task.
func TestNothingStartsInATaskThatIsArchived(t *testing.T) {
	r := newRig(t)
	r.addProject()
	for i := range 6 {
		id := r.newTask("t"+strconv.Itoa(i), "osc7501", "").Task.ID
		r.live(id)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := try[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": id, "discard": true}); err != nil {
				t.Errorf("archive: %v", err)
			}
		})
		for range 4 {
			wg.Go(func() {
				for {
					_, err := try[api.TaskTabResult](r, "task_tab", map[string]any{"task": id, "kind": "terminal"})
					if code := fault.CodeOf(err); code == fault.Conflict || code == fault.NotFound {
						return // archived
					} else if err != nil {
						t.Errorf("tab: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		if left := ofTask(t, id); len(left) > 0 {
			t.Fatalf("left in an archived task: %q", left)
		}
	}
}

// A tab that is started again while it is closed is closed in the end, and nothing runs in it.
func TestNothingStartsInATabThatIsClosed(t *testing.T) {
	r := newRig(t)
	r.addProject()
	id := r.newTask("t", "osc7501", "").Task.ID
	r.live(id)
	call[any](r, "task_stop", map[string]any{"task": id})
	for range 8 {
		tab := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": id, "kind": "terminal"}).TabID
		call[any](r, "task_stop", map[string]any{"task": id})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := try[api.TaskTabResult](r, "task_tab", map[string]any{"task": id, "restart": tab})
				if code := fault.CodeOf(err); err != nil && code != fault.Conflict && code != fault.NotFound {
					t.Errorf("restart: %v", err)
				}
			})
		}
		wg.Go(func() { call[any](r, "task_tab_close", map[string]any{"task": id, "tab": tab}) })
		wg.Wait()
		if left := ofTask(t, id); len(left) > 0 {
			t.Fatalf("left of a closed tab: %q", left)
		}
	}
}
