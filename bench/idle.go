package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"termic/internal/api"
)

// Idle conditions: how many quiet terminals, and for how long they are watched.
const (
	idleTerminals = 20
	idleWatch     = 20 * time.Second
)

// idle measures the app with quiet terminals against itself without any: processor time, wake-ups and memory.
func idle(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.serve()
	if err != nil {
		return nil, err
	}
	pid := r.cmd.Process.Pid
	var added api.ProjectAddResult
	if err := b.call(ctx, "project_add", map[string]any{"path": b.repo, "name": "bench"}, &added); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second) // what the call itself started has ended
	empty, err := watch(pid)
	if err != nil {
		return nil, err
	}
	for i := range idleTerminals {
		var n api.TaskNewResult
		if err := b.call(ctx, "task_new", map[string]any{"name": fmt.Sprint("idle ", i), "project": "bench", "agent": "quiet", "mode": "main"}, &n); err != nil {
			return nil, err
		}
	}
	err = until(ctx, 100*time.Millisecond, func() (bool, error) {
		var list api.TaskListResult
		err := b.call(ctx, "task_list", map[string]any{"quiet": true}, &list)
		live := 0
		for _, t := range list.Tasks {
			var s api.TaskStatusResult
			if err := b.call(ctx, "task_status", map[string]any{"task": t.ID}, &s); err != nil {
				return false, err
			}
			for _, tab := range s.Task.Tabs {
				if tab.Live {
					live++
				}
			}
		}
		return live >= idleTerminals, err
	})
	if err != nil {
		return nil, err
	}
	time.Sleep(10 * time.Second) // the signs of a start are waited for, then nothing is
	full, err := watch(pid)
	if err != nil {
		return nil, err
	}
	if err := r.stop(); err != nil {
		return nil, err
	}
	return []row{
		{fmt.Sprintf("processor time with %d quiet terminals, against none", idleTerminals), percent(full.cpu), percent(empty.cpu), "+" + percent(full.cpu-empty.cpu)},
		{"wake-ups a second", fmt.Sprintf("%.2f", full.wakes), fmt.Sprintf("%.2f", empty.wakes), fmt.Sprintf("%+.2f", full.wakes-empty.wakes)},
		{"private memory, and of it a quiet terminal", kib(full.memory), kib(empty.memory), kib((full.memory-empty.memory)/idleTerminals) + " each"},
	}, nil
}

// watched is what was seen of a process over a while.
type watched struct {
	cpu    float64 // fraction of one processor
	wakes  float64 // voluntary context switches of all threads, a second
	memory int     // private dirty KiB at the end
}

func percent(f float64) string { return fmt.Sprintf("%.2f %%", 100*f) }

func kib(n int) string { return fmt.Sprintf("%d KiB", n) }

func watch(pid int) (watched, error) {
	c0, w0, err := counters(pid)
	if err != nil {
		return watched{}, err
	}
	time.Sleep(idleWatch)
	c1, w1, err := counters(pid)
	if err != nil {
		return watched{}, err
	}
	memory, err := privateDirty(pid)
	return watched{cpu: (c1 - c0).Seconds() / idleWatch.Seconds(), wakes: float64(w1-w0) / idleWatch.Seconds(), memory: memory}, err
}

// counters reads processor time and voluntary switches of all threads. Both are the kernel's own.
func counters(pid int) (cpu time.Duration, wakes int, err error) {
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return 0, 0, err
	}
	for _, d := range dirs {
		sched, err := os.ReadFile(filepath.Join(d, "schedstat")) // nanoseconds on the processor, first field
		if err != nil {
			continue // the thread has ended
		}
		ns, err := strconv.ParseInt(strings.Fields(string(sched))[0], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		cpu += time.Duration(ns)
		n, err := field(filepath.Join(d, "status"), "voluntary_ctxt_switches:")
		if err != nil {
			continue
		}
		wakes += n
	}
	return cpu, wakes, nil
}

func privateDirty(pid int) (int, error) {
	return field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Private_Dirty:")
}

// field reads a number from a file of named lines.
func field(path, name string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
