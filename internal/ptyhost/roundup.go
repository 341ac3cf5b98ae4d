package ptyhost

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"

	"termic/internal/fault"
)

// process is what the kernel tells about one.
type process struct {
	pid, ppid, pgid, sid int
	start                uint64
	name                 string
	dead                 bool // a zombie without threads: nothing to end
}

type processKey struct {
	pid   int
	start uint64
}

func (p process) key() processKey { return processKey{p.pid, p.start} }

// killLimit bounds the wait for processes that were sent KILL. One that hangs in the kernel may stay longer.
const killLimit = 3 * time.Second

// roundUp ends processes: those of known sessions, those that carry a marker, and, with family, what descends from
// either. It looks again after each step, since a process may have forked meanwhile.
type roundUp struct {
	sessions map[int]bool // sessions that are ours, as long as one of their processes is seen
	held     map[int]bool // sessions whose number cannot change hands, since we hold their leader
	markers  map[string]bool
	family   bool
	since    uint64 // processes that are older carry no marker

	kin     map[processKey]bool // descendants found earlier, whose parents may be gone
	foreign map[processKey]bool // looked at and found without a marker
	targets map[processKey]*target
	ended   int
}

type target struct {
	process
	handle
	asked bool // was sent TERM
}

func newRoundUp(family bool) *roundUp {
	return &roundUp{sessions: map[int]bool{}, held: map[int]bool{}, markers: map[string]bool{}, family: family,
		kin: map[processKey]bool{}, foreign: map[processKey]bool{}, targets: map[processKey]*target{}}
}

// look finds what there is to end.
func (r *roundUp) look() error {
	all, err := listProcesses()
	if err != nil {
		return err
	}
	spare := ancestors(all)
	found := make(map[processKey]process)
	pids := make(map[int]bool)
	add := func(p process) {
		found[p.key()] = p
		pids[p.pid] = true
	}
	for _, p := range all {
		// What was a target once stays one until it is gone: a program that is dying, or that starts another one with a
		// clean environment, no longer shows its mark.
		if !p.dead && !spare[p.pid] && (r.targets[p.key()] != nil || r.sessions[p.sid] || r.kin[p.key()] || r.marked(p)) {
			add(p)
		}
	}
	for grown := r.family; grown; {
		grown = false
		for _, p := range all {
			if !p.dead && !spare[p.pid] && pids[p.ppid] && !pids[p.pid] {
				add(p)
				r.kin[p.key()] = true
				grown = true
			}
		}
	}
	r.settle(found)
	return nil
}

// settle makes targets what was found.
func (r *roundUp) settle(found map[processKey]process) {
	for key, t := range r.targets {
		if _, ok := found[key]; !ok {
			t.close()
			delete(r.targets, key)
			r.ended++
		}
	}
	alive := make(map[int]bool)
	for key, p := range found {
		if r.targets[key] == nil {
			h, ok := openProcess(p)
			if !ok {
				continue
			}
			r.targets[key] = &target{process: p, handle: h}
		}
		alive[p.sid] = true
	}
	for sid := range r.sessions { // without a process of ours its number may be given to strangers
		if !alive[sid] && !r.held[sid] {
			delete(r.sessions, sid)
		}
	}
}

// marked reports whether the process carries one of the markers in its environment.
func (r *roundUp) marked(p process) bool {
	if len(r.markers) == 0 || p.start < r.since || r.foreign[p.key()] {
		return false
	}
	env, ok := environment(p.pid)
	if !ok {
		return false
	}
	for _, entry := range env {
		if r.markers[entry] {
			return true
		}
	}
	r.foreign[p.key()] = true
	return false
}

// ancestors returns this process and those it descends from: they are never ended, even if they carry a marker, as when
// the app was started from a terminal of its own.
func ancestors(all []process) map[int]bool {
	parent := make(map[int]int, len(all))
	for _, p := range all {
		parent[p.pid] = p.ppid
	}
	spare := map[int]bool{1: true}
	for pid := os.Getpid(); pid > 0 && !spare[pid]; pid = parent[pid] {
		spare[pid] = true
	}
	return spare
}

// run ends everything: TERM at first, KILL after grace. When ctx ends, KILL is sent at once, and run returns an error if
// something is left then.
func (r *roundUp) run(ctx context.Context, grace time.Duration) error {
	defer func() {
		for _, t := range r.targets {
			t.close()
		}
	}()
	deadline := time.Now().Add(grace)
	for step := 4 * time.Millisecond; ; step = min(2*step, 50*time.Millisecond) {
		if err := r.look(); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The processes of a terminal could not be found")
		}
		if len(r.targets) == 0 {
			return nil
		}
		left := time.Until(deadline)
		for _, t := range r.targets {
			if left <= 0 || ctx.Err() != nil {
				t.signal(syscall.SIGKILL)
			} else {
				t.ask()
			}
		}
		if ctx.Err() != nil || left < -killLimit {
			return r.leftOver(context.Cause(ctx))
		}
		if left > 0 {
			step = min(step, left)
		}
		timer := time.NewTimer(step)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// ask asks a process to end. TERM lets an agent save its transcript; a shell that ignores it gets HUP, as from a closing
// terminal. That is done anew each time: a shell that is just about to read a line ignores TERM a moment later, and one
// that was hung up in that moment may go on to wait for the line. A stopped process must go on to hear either.
func (t *target) ask() {
	if !t.asked {
		t.asked = true
		t.signal(syscall.SIGTERM)
		t.signal(sigCont)
	}
	if term, hup := ignores(t.process.pid); term && !hup {
		t.signal(syscall.SIGHUP)
		t.signal(sigCont)
	}
}

func (r *roundUp) leftOver(cause error) error {
	var names []string
	for _, t := range r.targets {
		names = append(names, t.process.name)
	}
	return fault.Wrap(cause, fault.Unavailable, "Some processes of a terminal did not end in time").
		WithData("processes", strings.Join(names, " "))
}

// roundUp ends the session and whatever left it. The session's number stays taken until child.release, which comes after
// sweep.
func (t *Terminal) roundUp(ctx context.Context, grace time.Duration) error {
	t.endMu.Lock()
	defer t.endMu.Unlock()
	if t.released {
		return nil
	}
	if t.spec.Start != nil {
		return t.roundUpElsewhere(ctx, grace)
	}
	r := newRoundUp(true)
	r.sessions[t.pid], r.held[t.pid] = true, true
	r.markers[MarkerName+"="+t.spec.ID] = true
	r.since = t.start
	return r.run(ctx, grace)
}

// roundUpElsewhere asks a program that is no child of ours to end, and ends what is left all at once. Its number is not
// ours to hold: it counts only while the process that has it is the one that was started.
func (t *Terminal) roundUpElsewhere(ctx context.Context, grace time.Duration) error {
	defer t.child.release()
	if p, ok := readProcess(t.pid); !ok || p.start != t.start {
		return nil
	}
	r := newRoundUp(true)
	r.sessions[t.pid] = true
	r.markers[MarkerName+"="+t.spec.ID] = true
	r.since = t.start
	return r.run(ctx, grace)
}

// sweep ends what an ended program left behind, and then gives its number back.
func (t *Terminal) sweep() {
	if err := t.roundUp(context.Background(), t.host.opts.Grace); err != nil {
		t.host.opts.Log.Warn("processes of an ended terminal are left", "terminal", t.spec.ID, "error", err)
	}
	t.endMu.Lock()
	defer t.endMu.Unlock()
	t.released = true
	t.child.release()
}

// EndRemnants ends what terminals of a killed app left behind. It belongs at the start of the app, before anything is
// started: a marker may match new terminals too. A process is signalled only when it runs as the same user, or belongs
// to a session whose first process still has the recorded start time and boot, and in the first case its environment
// must hold one of markers ("TERMIC_TASK_ID=01J...") or the MarkerName of a remnant. A process that left its session and
// cleared its environment is not found. It returns how many processes were ended.
func EndRemnants(ctx context.Context, remnants []Remnant, markers []string, grace time.Duration) (ended int, err error) {
	if len(remnants) == 0 && len(markers) == 0 {
		return 0, nil
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	r := newRoundUp(false)
	boot := bootID()
	for _, m := range remnants {
		if m.Boot != "" && boot != "" && m.Boot != boot {
			continue // nothing survives a boot
		}
		if m.ID != "" {
			r.markers[MarkerName+"="+m.ID] = true
		}
		p, ok := readProcess(m.Pid)
		if ok && boot != "" && m.Boot == boot && m.Start != 0 && p.start == m.Start && p.sid == m.Sid {
			r.sessions[m.Sid] = true
		}
	}
	for _, m := range markers {
		if name, value, ok := strings.Cut(m, "="); ok && name != "" && value != "" {
			r.markers[m] = true
		}
	}
	err = r.run(ctx, grace)
	return r.ended, err
}
