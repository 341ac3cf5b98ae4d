package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"termic/internal/childproc"
)

// test is one test function of a package.
type test struct {
	pkg, name string
	took      time.Duration
	comesBy   map[int]bool // the numbers of the mutants
}

// Limits of a run of tests.
const (
	leastTime = 5 * time.Second // what a mutant gets that makes the tests slower
	slower    = 4               // how many times slower it may make them
	soloTime  = 3 * time.Minute // of one test without a mutant
	mostData  = 4 << 20         // KiB of memory, for a mutant that never has enough
	mostWords = 1 << 20         // bytes of output that are kept
)

// runner runs tests with and without mutants.
type runner struct {
	options
	plan     []target
	dir      string
	deadline time.Time
	mutants  []*mutant
	tests    []*test

	mu    sync.Mutex               // guards the following
	kills map[string]map[*test]int // by file and function: which test noticed how many
}

func (r *runner) program(pkg string) string {
	return filepath.Join(r.dir, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// build compiles the test programs of the plan, all mutants in them, as far as the mutants that are wanted need them.
func (r *runner) build(ctx context.Context, overlay string) error {
	need := map[string]bool{}
	for _, m := range r.mutants {
		need[m.pkg] = true
	}
	var chosen []target
	for _, t := range r.plan {
		if need[t.pkg] {
			chosen = append(chosen, t)
		}
	}
	for _, pkg := range testPackages(chosen) {
		built, err := childproc.Run(ctx, childproc.Cmd{Path: "/bin/sh", Env: os.Environ(), Args: []string{"-c", `exec go test -c -vet=off "$@"`, "sh",
			"-tags", headless, "-overlay", overlay, "-o", r.program(pkg), "./" + pkg}})
		if err != nil || built.Code != 0 {
			return fmt.Errorf("build the tests of %s with mutants: %w\n%s%s", pkg, err, built.Stdout, built.Stderr)
		}
		out, err := r.run(ctx, pkg, nil, soloTime, "-test.list=.")
		if err != nil || out.Code != 0 {
			return fmt.Errorf("list the tests of %s: %w\n%s", pkg, err, out.Stderr)
		}
		for _, name := range strings.Fields(string(out.Stdout)) {
			if !strings.HasPrefix(name, "Benchmark") {
				r.tests = append(r.tests, &test{pkg: pkg, name: name, comesBy: map[int]bool{}})
			}
		}
	}
	return nil
}

// learn runs each test by itself, to see how long it takes and which mutants it comes by.
func (r *runner) learn(ctx context.Context) error {
	jobs := make(chan *test)
	var errs []error
	var all sync.WaitGroup
	for range r.workers {
		all.Go(func() {
			for t := range jobs {
				if err := r.learnOne(ctx, t); err != nil {
					r.mu.Lock()
					errs = append(errs, err)
					r.mu.Unlock()
				}
			}
		})
	}
	for _, t := range r.tests {
		jobs <- t
	}
	close(jobs)
	all.Wait()
	return errors.Join(errs...)
}

func (r *runner) learnOne(ctx context.Context, t *test) error {
	log, err := os.CreateTemp(r.dir, "reached-")
	if err != nil {
		return fmt.Errorf("make a file: %w", err)
	}
	_ = log.Close() // nothing was written
	_ = os.Chmod(log.Name(), 0o666)
	start := time.Now()
	out, err := r.run(ctx, t.pkg, []string{"TERMIC_MUTANT_REACHED=" + log.Name()}, soloTime, "-test.run=^"+t.name+"$")
	t.took = time.Since(start)
	if r.verbose {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", t.pkg, t.name, t.took.Round(time.Millisecond))
	}
	if err != nil || out.Code != 0 {
		return fmt.Errorf("%s of %s fails without a mutant: %w\n%s%s", t.name, t.pkg, err, out.Stdout, out.Stderr)
	}
	b, err := os.ReadFile(log.Name())
	if err != nil {
		return fmt.Errorf("read what %s came by: %w", t.name, err)
	}
	for _, line := range strings.Fields(string(b)) {
		if id, err := strconv.Atoi(line); err == nil {
			t.comesBy[id] = true
		}
	}
	return nil
}

// run starts a test program in its package's folder, with a limit of memory.
func (r *runner) run(ctx context.Context, pkg string, env []string, limit time.Duration, args ...string) (childproc.Result, error) {
	shell := []string{"-c", `ulimit -d ` + strconv.Itoa(mostData) + ` 2>/dev/null; exec nice "$@"`, "sh", r.program(pkg), "-test.timeout=" + (limit + time.Second).String()}
	return childproc.Run(ctx, childproc.Cmd{Path: "/bin/sh", Args: append(shell, args...), Dir: filepath.FromSlash(pkg),
		Env: append(os.Environ(), env...), Timeout: limit, Grace: time.Second, MaxOutput: mostWords})
}
