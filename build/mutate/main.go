// Command mutate changes the code that decides, one place at a time, and looks whether a test turns red:
//
//	go run -tags headless ./build/mutate [-budget 15m] [-only REGEXP] [-all] [-workers N]
//
// A change is a mutant: a comparison that is shifted or negated, && for ||, a dropped !, a refusal that does not return, a step that is left
// out. A mutant that no test notices is a survivor, and the command fails. Some change nothing that anybody could see; those stand in
// equivalent.txt, each with its reason, and one that stands there and is gone is a failure too.
//
// No source in the tree is touched; property tests that turn red note their case below testdata/rapid, which git does not see. All mutants are compiled into the test programs at once, behind a switch that an environment variable
// sets, so that a mutant costs the run of a few tests and no compiler. First each test runs by itself, and tells which mutants it comes
// by; then each mutant meets the tests that do, the quick ones first. Tests that build the app and start it as another program do not see
// mutants, so what they alone would notice survives. Only the files that plan.go names are looked at.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"
)

func main() {
	var o options
	flag.DurationVar(&o.budget, "budget", 15*time.Minute, "stop after this time; what was not tried then is a failure")
	flag.DurationVar(&o.most, "most", 90*time.Second, "how long the tests may be that one mutant meets, measured without it")
	flag.StringVar(&o.only, "only", "", "only mutants whose FILE FUNCTION matches")
	flag.BoolVar(&o.all, "all", false, "try those of equivalent.txt as well")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "tests that run at the same time")
	flag.BoolVar(&o.verbose, "v", false, "say what becomes of each mutant")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := mutate(ctx, os.Stdout, plan, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	budget, most time.Duration
	only         string
	all, verbose bool
	workers      int
}

// listFile is where mutants stand that change nothing.
const listFile = "build/mutate/equivalent.txt"

// errSurvived is returned when the table shows that something is missing.
var errSurvived = errors.New("not every change turned a test red; write the test, or say in " + listFile + " why there can be none")

// mutate runs the whole plan in the current folder, which is the root of the repository.
func mutate(ctx context.Context, w io.Writer, plan []target, o options) error {
	start := time.Now()
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	listed, err := readList(listFile)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	mutants, overlay, err := rewrite(plan, dir)
	if err != nil {
		return err
	}
	stale := listed.mark(mutants)
	r := &runner{options: o, plan: plan, dir: dir, deadline: start.Add(o.budget), mutants: wanted(mutants, only)}
	if err := r.build(ctx, overlay); err != nil {
		return err
	}
	if err := r.learn(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "mutate: %d mutants, %d tests, ready after %v\n", len(r.mutants), len(r.tests), time.Since(start).Round(time.Second))
	r.tryAll(ctx)
	return conclude(w, r, stale, time.Since(start))
}

// wanted are the mutants that a pattern chooses, by file and function.
func wanted(all []*mutant, only *regexp.Regexp) []*mutant {
	var out []*mutant
	for _, m := range all {
		if only.MatchString(m.file + " " + m.function) {
			out = append(out, m)
		}
	}
	return out
}
