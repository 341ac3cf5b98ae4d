package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/control"
)

// killRounds is how often the app is killed. `make kill-loop` asks for 500.
func killRounds(t *testing.T) int {
	if s := os.Getenv("TERMIC_KILL_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		must(t, err)
		return n
	}
	return 10
}

// The app is killed with SIGKILL at random instants while verbs run; after each kill an independent checker compares
// what was acknowledged with store, worktrees, refs, ledger, settings and processes.
func TestKillLoop(t *testing.T) {
	r := newRig(t)
	r.stop()
	bin := program(t)
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TERMIC_KILL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		must(t, err)
		seed = n
	}
	t.Logf("seed %d", seed)
	k := &killer{rig: r, bin: bin, rnd: rand.New(rand.NewPCG(seed, 1))}
	for w := range 4 {
		k.workers = append(k.workers, &worker{k: k, n: w, rnd: rand.New(rand.NewPCG(seed, uint64(w)+2)), tasks: map[string]*known{}})
	}
	rounds := killRounds(t)
	for round := range rounds {
		k.round(round)
		if t.Failed() {
			t.Fatalf("round %d of %d; the app said:\n%s", round, rounds, k.out.String())
		}
	}
	acked := 0
	for _, w := range k.workers {
		acked += w.acked
	}
	t.Logf("%d kills, %d acknowledged calls", rounds, acked)
	if acked < rounds {
		t.Errorf("too little happened between the kills: %d calls", acked)
	}
}

type killer struct {
	*rig
	bin     string
	rnd     *rand.Rand
	workers []*worker
	out     strings.Builder
	cmd     *exec.Cmd
}

// serve starts the app and waits until it answers.
func (k *killer) serve() {
	k.t.Helper()
	k.out.Reset()
	k.cmd = exec.Command(k.bin, "serve", "--log-level", "debug")
	k.cmd.Stderr, k.cmd.Env = &k.out, k.environ()
	stdout, err := k.cmd.StdoutPipe()
	must(k.t, err)
	must(k.t, k.cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "termic: ready\n" {
		_ = k.cmd.Process.Kill()
		_ = k.cmd.Wait()
		k.t.Fatalf("the app did not come up: %q %v\n%s", line, err, k.out.String())
	}
}

func (k *killer) kill() {
	must(k.t, k.cmd.Process.Kill())
	_ = k.cmd.Wait() // its status is that it was killed
}

// round runs the workers against a fresh app, kills it, and checks what is left with another.
func (k *killer) round(n int) {
	k.serve()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, w := range k.workers {
		wg.Go(func() { w.run(ctx) })
	}
	time.Sleep(time.Duration(k.rnd.IntN(900)) * time.Millisecond)
	k.kill()
	cancel()
	wg.Wait()
	if n%2 == 1 { // a second kill, while the first is being mended
		k.cmd = exec.Command(k.bin, "serve")
		k.cmd.Env = k.environ()
		must(k.t, k.cmd.Start())
		time.Sleep(time.Duration(k.rnd.IntN(150)) * time.Millisecond)
		k.kill()
	}
	k.serve()
	k.check()
	must(k.t, k.cmd.Process.Signal(os.Interrupt))
	if err := k.cmd.Wait(); err != nil {
		k.t.Errorf("the app did not end cleanly: %v", err)
	}
}

// ask calls a verb over the control socket.
func (k *killer) ask(ctx context.Context, verb string, params, out any) error {
	c, err := control.Dial(ctx, control.AddressIn(k.data))
	if err != nil {
		return err
	}
	defer c.Close()
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	data, err := c.Call(ctx, verb, raw, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// known is what was acknowledged about a task; the maybe fields are of a call that was under way at a kill.
type known struct {
	id, name   string
	archived   bool
	maybeName  string
	maybeFlip  bool // archiving or restoring was under way
	file       string
	sent       map[string]bool // prompts that were said to be delivered
	maybeSent  string
	maybeMade  bool // the creation itself was under way
	tabs       map[string]bool
	maybeClose string
}

// worker calls verbs about tasks of its own, one after another.
type worker struct {
	k     *killer
	n     int
	rnd   *rand.Rand
	seq   int
	acked int
	tasks map[string]*known // by name at creation
	size  int               // terminal.font_size, of worker 0
	maybe int
	lost  bool // the connection broke during the newest call
}

func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.lost = false
		w.step(ctx)
		if w.lost {
			return
		}
		w.acked++
	}
}

// do calls a verb and reports whether it was acknowledged. A refusal is an acknowledgement that nothing happened.
func (w *worker) do(ctx context.Context, verb string, params map[string]any, out any) (ok bool) {
	err := w.k.ask(ctx, verb, params, out)
	if err != nil && (ctx.Err() != nil || isLost(err)) {
		w.lost = true
	}
	return err == nil
}

func (w *worker) step(ctx context.Context) {
	var live, archived []*known
	for _, t := range w.tasks {
		switch {
		case t.maybeMade:
		case t.archived:
			archived = append(archived, t)
		default:
			live = append(live, t)
		}
	}
	pick := func(l []*known) *known { return l[w.rnd.IntN(len(l))] }
	switch c := w.rnd.IntN(10); {
	case c == 0 && w.n == 0:
		w.setSize(ctx)
	case c < 4 && len(live) < 4 || len(live) == 0:
		w.create(ctx)
	case c < 6:
		w.send(ctx, pick(live))
	case c == 6:
		w.rename(ctx, pick(live))
	case c == 7 && len(archived) > 0:
		w.restore(ctx, pick(archived))
	case c == 8:
		w.tab(ctx, pick(live))
	default:
		w.archive(ctx, pick(live))
	}
}

func (w *worker) setSize(ctx context.Context) {
	w.maybe = 10 + w.rnd.IntN(14)
	var out api.SettingsResult
	if w.do(ctx, "settings_set", map[string]any{"key": "terminal.font_size", "value": strconv.Itoa(w.maybe)}, &out) {
		w.size = w.maybe
	}
	if !w.lost {
		w.maybe = 0
	}
}

func (w *worker) create(ctx context.Context) {
	w.seq++
	t := &known{name: fmt.Sprintf("w%d-%d", w.n, w.seq), maybeMade: true, sent: map[string]bool{}, tabs: map[string]bool{}}
	w.tasks[t.name] = t
	var out api.TaskNewResult
	p := map[string]any{"name": t.name, "project": "repo", "agent": "osc7501", "idempotency_key": t.name}
	if w.rnd.IntN(2) == 0 {
		t.file = t.name + ".txt"
		p["prompt"] = "#write " + t.file + " work of " + t.name
	}
	if w.do(ctx, "task_new", p, &out) {
		t.id, t.maybeMade = out.Task.ID, false
	} else if !w.lost {
		delete(w.tasks, t.name)
	}
}

func (w *worker) send(ctx context.Context, t *known) {
	w.seq++
	text := fmt.Sprintf("prompt %d of worker %d", w.seq, w.n)
	var out api.TaskSendResult
	t.maybeSent = text
	if w.do(ctx, "task_send", map[string]any{"task": t.id, "prompt": text}, &out) && out.Mode != api.SendQueued && out.Wait == nil {
		t.sent[text] = true
	}
	if !w.lost {
		t.maybeSent = ""
	}
}

func (w *worker) rename(ctx context.Context, t *known) {
	w.seq++
	t.maybeName = fmt.Sprintf("w%d-renamed-%d", w.n, w.seq)
	var out api.TaskRenameResult
	if w.do(ctx, "task_rename", map[string]any{"task": t.id, "name": t.maybeName}, &out) {
		t.name = t.maybeName
	}
	if !w.lost {
		t.maybeName = ""
	}
}

func (w *worker) archive(ctx context.Context, t *known) {
	var out api.TaskArchiveResult
	t.maybeFlip = true
	if w.do(ctx, "task_archive", map[string]any{"task": t.id, "discard": true, "deleteBranch": w.rnd.IntN(2) == 0}, &out) {
		t.archived = true
	}
	t.maybeFlip = w.lost
}

func (w *worker) restore(ctx context.Context, t *known) {
	var out api.TaskRestoreResult
	t.maybeFlip = true
	if w.do(ctx, "task_restore", map[string]any{"task": t.id}, &out) {
		t.archived = false
	}
	t.maybeFlip = w.lost
}

func (w *worker) tab(ctx context.Context, t *known) {
	for id := range t.tabs {
		var out api.TaskTabCloseResult
		t.maybeClose = id
		if w.do(ctx, "task_tab_close", map[string]any{"task": t.id, "tab": id}, &out) {
			delete(t.tabs, id)
		}
		if !w.lost {
			t.maybeClose = ""
		}
		return
	}
	var out api.TaskTabResult
	if w.do(ctx, "task_tab", map[string]any{"task": t.id, "kind": []string{"agent", "shell", "terminal"}[w.rnd.IntN(3)]}, &out) {
		t.tabs[out.TabID] = true
	}
}
