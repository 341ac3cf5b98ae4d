package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"termic/internal/fault"
)

// The kill test: a child process writes through the store and acknowledges each change on a pipe; it is killed at a
// random instant, and a checker that never saw the child's memory compares the file with what was acknowledged.

const (
	killEnv    = "STORE_TEST_CHILD"
	killRounds = 220
)

// ack is what the child says of one change, before it starts it (Done false) and after the store returned (Done true).
type ack struct {
	N    int    `json:"n"` // number of the change within all rounds
	Op   string `json:"op"`
	ID   string `json:"id"`
	Done bool   `json:"done"`
}

// childMain is the child's program; false in the ordinary test process.
func childMain() bool {
	path := os.Getenv(killEnv)
	if path == "" {
		return false
	}
	seed, _ := strconv.ParseUint(os.Getenv(killEnv+"_SEED"), 10, 64)
	first, _ := strconv.Atoi(os.Getenv(killEnv + "_FIRST"))
	ctx := context.Background()
	s, err := Open(ctx, path, Options{GroupDelay: time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	rng := rand.New(rand.NewPCG(seed, 1))
	for n := first; ; n++ {
		op := killOps[rng.IntN(len(killOps))]
		id := fmt.Sprintf("%s-%d", op.name, n)
		if err := out.Encode(ack{N: n, Op: op.name, ID: id}); err != nil {
			os.Exit(1)
		}
		if err := op.write(ctx, s, id, n); err != nil {
			fmt.Fprintln(os.Stderr, op.name, err)
			os.Exit(1)
		}
		// A read's row is grouped: it is not acknowledged, but must never tear the chain.
		if err := s.AppendGrouped(ctx, LedgerRow{Phase: PhaseDone, Call: id, Principal: "owner", Face: "cli", Verb: "task_list"}); err != nil {
			os.Exit(1)
		}
		if err := out.Encode(ack{N: n, Op: op.name, ID: id, Done: true}); err != nil {
			os.Exit(1)
		}
	}
}

// killOp is one kind of change: write makes it, check says whether it is there whole (true), not at all (false), or in
// part (an error).
type killOp struct {
	name  string
	write func(ctx context.Context, s *Store, id string, n int) error
	check func(ctx context.Context, s *Store, id string, n int) (bool, error)
}

// all makes a verdict of several findings that belong together.
func all(found ...error) (bool, error) {
	there := 0
	for _, err := range found {
		switch {
		case err == nil:
			there++
		case fault.CodeOf(err) != fault.NotFound:
			return false, err
		}
	}
	if there != 0 && there != len(found) {
		return false, fmt.Errorf("%d of %d parts are there: %w", there, len(found), errors.Join(found...))
	}
	return there > 0, nil
}

var killOps = []killOp{
	{"project", func(ctx context.Context, s *Store, id string, n int) error {
		_, _, err := s.AddProject(ctx, Project{ID: id, Name: id, RootPath: "/" + id})
		return err
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		_, err := s.Project(ctx, id)
		return all(err)
	}},
	{"task", func(ctx context.Context, s *Store, id string, n int) error { // a whole task_new: seven rows or none
		return s.Write(ctx, func(tx *Tx) error {
			p, _, err := tx.AddProject(ctx, Project{ID: id + "-p", Name: id + "-p", RootPath: "/" + id})
			if err != nil {
				return err
			}
			if _, err := tx.CreateTask(ctx, Task{ID: id, ProjectID: p.ID, Name: id, Log: []string{"a", "b"}}); err != nil {
				return err
			}
			if _, err := tx.CreateTab(ctx, Tab{ID: id + "-t", TaskID: id, Kind: TabAgent, IsDefault: true}); err != nil {
				return err
			}
			if _, err := tx.EnqueuePrompt(ctx, Prompt{ID: id + "-q", TabID: id + "-t", Text: id}); err != nil {
				return err
			}
			if _, err := tx.BeginIntent(ctx, Intent{ID: id + "-i", Kind: "k"}); err != nil {
				return err
			}
			if _, err := tx.StartJob(ctx, Job{ID: id + "-j", Verb: "task_new"}); err != nil {
				return err
			}
			_, _, err = tx.ClaimKey(ctx, IdempotencyKey{Face: "cli", Principal: "p", Verb: "v", Key: id, Digest: "d"}, id)
			return err
		})
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		_, e1 := s.Project(ctx, id+"-p")
		_, e2 := s.Task(ctx, id)
		_, e3 := s.Tab(ctx, id+"-t")
		_, e4 := s.Prompt(ctx, id+"-q")
		_, e5 := s.Job(ctx, id+"-j")
		e6 := error(fault.New(fault.NotFound, "no intent"))
		intents, err := s.Intents(ctx)
		if err != nil {
			return false, err
		}
		for _, in := range intents {
			if in.ID == id+"-i" {
				e6 = nil
			}
		}
		e7 := error(fault.New(fault.NotFound, "no key"))
		if ref, found, err := s.LookupKey(ctx, IdempotencyKey{Face: "cli", Principal: "p", Verb: "v", Key: id, Digest: "d"}); err != nil {
			return false, err
		} else if found && ref == id {
			e7 = nil
		}
		return all(e1, e2, e3, e4, e5, e6, e7)
	}},
	{"archive", func(ctx context.Context, s *Store, id string, n int) error { // two transactions; the second has two effects
		p, _, err := s.AddProject(ctx, Project{ID: id + "-p", Name: id + "-p", RootPath: "/" + id})
		if err != nil {
			return err
		}
		err = s.Write(ctx, func(tx *Tx) error {
			if _, err := tx.CreateTask(ctx, Task{ID: id, ProjectID: p.ID, Name: id}); err != nil {
				return err
			}
			if _, err := tx.CreateTab(ctx, Tab{ID: id + "-t", TaskID: id, Kind: TabAgent}); err != nil {
				return err
			}
			_, err := tx.EnqueuePrompt(ctx, Prompt{ID: id + "-q", TabID: id + "-t", Text: id})
			return err
		})
		if err != nil {
			return err
		}
		_, err = s.UpdateTask(ctx, id, archive)
		return err
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		task, err := s.Task(ctx, id)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		q, err := s.Prompt(ctx, id+"-q")
		if err != nil {
			return false, err
		}
		if task.Archived() != (q.State == PromptCancelled) || task.Archived() != (task.Revision == 2) {
			return false, fmt.Errorf("task %+v with prompt %+v", task, q)
		}
		return task.Archived(), nil
	}},
	{"terminal", func(ctx context.Context, s *Store, id string, n int) error {
		_, err := s.PutTerminal(ctx, Terminal{ID: id, TabID: id, TaskID: id, PID: n})
		return err
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		list, err := s.Terminals(ctx)
		for _, v := range list {
			if v.ID == id && v.PID == n {
				return true, err
			}
		}
		return false, err
	}},
	{"job", func(ctx context.Context, s *Store, id string, n int) error {
		if _, err := s.StartJob(ctx, Job{ID: id, Verb: "v"}); err != nil {
			return err
		}
		return s.EndJob(ctx, id, JobEnd{State: JobDone, Outcome: "ok"})
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		v, err := s.Job(ctx, id)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		return v.State == JobDone && v.Outcome == "ok", err
	}},
	{"ledger", func(ctx context.Context, s *Store, id string, n int) error {
		return s.Append(ctx, LedgerRow{Phase: PhaseAsked, Call: id, Principal: "owner", Face: "cli", Verb: "task_new", Target: id},
			LedgerRow{Phase: PhaseDone, Call: id, Principal: "owner", Face: "cli", Verb: "task_new", Target: id})
	}, func(ctx context.Context, s *Store, id string, n int) (bool, error) {
		rows, _, err := s.Ledger(ctx, LedgerFilter{Target: id})
		if len(rows) == 1 {
			return false, errors.New("one row of two")
		}
		return len(rows) == 2, err
	}},
}

func TestKill(t *testing.T) {
	shards := 4
	rounds := killRounds / shards
	if testing.Short() || raceDetector {
		rounds = 5
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			killLoop(t, rounds, rand.New(rand.NewPCG(seed, uint64(shard))))
		})
	}
}

// killLoop kills children over one database, and checks it after each.
func killLoop(t *testing.T, rounds int, rng *rand.Rand) {
	path := filepath.Join(t.TempDir(), "termic.db")
	next, acked, torn := 0, 0, 0
	for round := range rounds {
		said := runAndKill(t, path, rng, next)
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("round %d: open after the kill: %v", round, err)
		}
		for _, a := range said {
			next = max(next, a.N+1)
			there, err := opNamed(a.Op).check(t.Context(), s, a.ID, a.N)
			switch {
			case err != nil:
				t.Fatalf("round %d: %s was left half done: %v", round, a.ID, err)
			case a.Done && !there:
				t.Fatalf("round %d: %s was acknowledged and is not there", round, a.ID)
			case a.Done:
				acked++
			default:
				torn++
			}
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds, %d acknowledged changes, %d killed under way", rounds, acked, torn)
	if acked < rounds || torn < rounds/10 {
		t.Errorf("the kills came too early or too late to show anything: %d acknowledged, %d under way", acked, torn)
	}
}

func opNamed(name string) killOp {
	for _, o := range killOps {
		if o.name == name {
			return o
		}
	}
	return killOp{}
}

// runAndKill starts a child, waits until it has said a random number of words and then for a random instant, kills it,
// and returns the last word on each change, in order.
func runAndKill(t *testing.T, path string, rng *rand.Rand, first int) []ack {
	t.Helper()
	words, delay := 1+rng.IntN(12), time.Duration(rng.IntN(4000))*time.Microsecond
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killEnv+"="+path, fmt.Sprintf("%s_SEED=%d", killEnv, rng.Uint64()), fmt.Sprintf("%s_FIRST=%d", killEnv, first))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []ack
	for lines.Scan() {
		if words--; words == 0 {
			kill := time.AfterFunc(delay, func() { _ = child.Process.Kill() })
			defer kill.Stop()
		}
		var a ack
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			continue // cut by the kill, so not acknowledged
		}
		if n := len(said); n > 0 && said[n-1].N == a.N {
			said[n-1] = a
		} else {
			said = append(said, a)
		}
	}
	err = child.Wait()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return said
}
