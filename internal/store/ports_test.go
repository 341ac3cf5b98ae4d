package store

import (
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

func TestPortsConcurrently(t *testing.T) { // W28
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]string{}
	for i := range 50 {
		wg.Go(func() {
			task, err := s.CreateTask(ctx, Task{ProjectID: p.ID, Name: fmt.Sprint("task ", i)})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if other, ok := seen[task.Port]; ok {
				t.Errorf("%s and %s both have port %d", other, task.Name, task.Port)
			}
			seen[task.Port] = task.Name
		})
	}
	wg.Wait()
	for i := range 50 {
		if _, ok := seen[PortFirst+i*PortBlock]; !ok {
			t.Errorf("block %d was passed over", i)
		}
	}
}

// A block in which another program has a port is passed over, for new tasks and for those that come back; one of a task that
// is live stays, since its own programs may have the port. Where every block is used so, a task is made all the same.
func TestPortsInUse(t *testing.T) {
	used := map[int]bool{PortFirst + 3: true, PortFirst + PortBlock: true}
	everywhere := false
	o := Options{Now: newClock().now, PortFree: func(port int) bool { return !everywhere && !used[port] }}
	s, ctx := openAt(t, filepath.Join(t.TempDir(), "termic.db"), o), t.Context()
	p := addProject(t, s, "alpha")
	task := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one"}))
	if task.Port != PortFirst+2*PortBlock {
		t.Errorf("a new task has %d", task.Port)
	}
	used[task.Port+1] = true
	if kept := must[Task](t)(s.UpdateTask(ctx, task.ID, func(v *Task) error { v.Name = "renamed"; return nil })); kept.Port != task.Port {
		t.Errorf("a live task was moved to %d", kept.Port)
	}
	must[Task](t)(s.UpdateTask(ctx, task.ID, func(v *Task) error { v.ArchivedAt = time.Unix(5, 0); return nil }))
	if back := must[Task](t)(s.UpdateTask(ctx, task.ID, func(v *Task) error { v.ArchivedAt = time.Time{}; return nil })); back.Port != PortFirst+3*PortBlock {
		t.Errorf("a task that came back has %d", back.Port)
	}
	everywhere = true
	if last := must[Task](t)(s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "two"})); last.Port != PortFirst {
		t.Errorf("where every block is in use: %d", last.Port)
	}
}

// Whether a port is free is tried: one on which somebody listens is not, on either address of loopback or on all.
func TestPortFree(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err) // a machine without IPv6
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		if portFree(port) {
			t.Errorf("%s: a port that is taken counts as free", at)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !portFree(port) {
			t.Errorf("%s: a port that was given back counts as taken", at)
		}
	}
}

func TestPortsRunOut(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	p := addProject(t, s, "alpha")
	blocks := (PortEnd - PortFirst) / PortBlock
	err := s.Write(ctx, func(tx *Tx) error {
		for i := range blocks {
			if _, err := tx.q.ExecContext(ctx, `INSERT INTO tasks (id, project_id, name, state, created, port) VALUES (?,?,?,?,1,?)`,
				fmt.Sprint(i), p.ID, fmt.Sprint(i), api.TaskLive, PortFirst+i*PortBlock); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.CreateTask(ctx, Task{ProjectID: p.ID, Name: "one too many"})
	wantCode(t, err, fault.Unavailable)
}
