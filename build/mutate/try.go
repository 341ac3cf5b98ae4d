package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// result is what became of a mutant.
type result string

// The results.
const (
	untried   result = "not tried"
	killed    result = "killed"
	endless   result = "timed out" // counts as killed
	survived  result = "survived"
	unreached result = "not reached" // no test comes by
	excused   result = "equivalent"  // it is in the list, and was not tried
)

// batch is what one process of a test program runs.
type batch struct {
	pkg   string
	tests []*test
	took  time.Duration
}

// tryAll tries the mutants until the deadline.
func (r *runner) tryAll(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, r.deadline)
	defer cancel()
	r.kills = map[string]map[*test]int{}
	jobs := make(chan *mutant)
	var all sync.WaitGroup
	for range r.workers {
		all.Go(func() {
			for m := range jobs {
				m.result = untried
				if ctx.Err() == nil {
					r.try(ctx, m)
				}
				if r.verbose {
					fmt.Fprintf(os.Stderr, "%s:%d %s: %s %s\n", m.file, m.line, m.key(), m.result, m.killer)
				}
			}
		})
	}
	for _, m := range r.mutants {
		jobs <- m
	}
	close(jobs)
	all.Wait()
}

// try runs the tests that come by a mutant, until one turns red.
func (r *runner) try(ctx context.Context, m *mutant) {
	if m.reason != "" && !r.all {
		m.result = excused
		return
	}
	batches := r.batches(m)
	if len(batches) == 0 {
		m.result = unreached
		return
	}
	for _, b := range batches {
		names := make([]string, len(b.tests))
		for i, t := range b.tests {
			names[i] = t.name
		}
		limit := leastTime + slower*b.took
		out, err := r.run(ctx, b.pkg, []string{fmt.Sprintf("TERMIC_MUTANT=%d", m.id)}, limit, "-test.failfast", "-test.run=^("+strings.Join(names, "|")+")$")
		switch {
		case ctx.Err() != nil:
			return
		case out.TimedOut:
			m.result = endless
			return
		case err != nil || out.Code != 0:
			m.result = killed
			r.credit(m, b, out.Stdout)
			return
		}
	}
	m.result = survived
}

// failure is how a test program names a test that turned red.
var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// credit remembers which test noticed a mutant: it may well notice the next one, too.
func (r *runner) credit(m *mutant, b batch, out []byte) {
	found := failure.FindSubmatch(out)
	for _, t := range b.tests {
		if found == nil && len(b.tests) == 1 || found != nil && t.name == string(found[1]) {
			m.killer = t.pkg + "." + t.name
			r.mu.Lock()
			for _, where := range []string{m.file, m.file + " " + m.function} {
				if r.kills[where] == nil {
					r.kills[where] = map[*test]int{}
				}
				r.kills[where][t]++
			}
			r.mu.Unlock()
			return
		}
	}
}

// rounds are how much the first batches may take, for each package. The quickest tests stand alone, so that none that waits for a network
// comes before them.
var rounds = []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, time.Hour}

// batches are the tests that come by a mutant, those first that are quick or noticed its neighbours.
func (r *runner) batches(m *mutant) []batch {
	var tests []*test
	for _, t := range r.tests {
		if t.comesBy[m.id] && slices.Contains(m.tests, t.pkg) {
			tests = append(tests, t)
		}
	}
	r.mu.Lock()
	score := map[*test]float64{}
	for _, t := range tests {
		score[t] = t.took.Seconds() / float64(1+r.kills[m.file][t]+10*r.kills[m.file+" "+m.function][t])
	}
	r.mu.Unlock()
	slices.SortFunc(tests, func(a, b *test) int {
		switch {
		case score[a] < score[b]:
			return -1
		case score[a] > score[b]:
			return 1
		}
		return 0
	})
	var all time.Duration
	for i, t := range tests {
		if all += t.took; all > r.most && i > 0 {
			tests = tests[:i]
			break
		}
	}
	var out []batch
	for _, most := range rounds {
		out, tests = fill(out, tests, most)
	}
	return out
}

// fill makes batches of at most that long, one for each package, and returns what is left. The first test has one in any case.
func fill(out []batch, tests []*test, most time.Duration) ([]batch, []*test) {
	var left []*test
	first := len(out)
	for i, t := range tests {
		at := slices.IndexFunc(out[first:], func(b batch) bool { return b.pkg == t.pkg })
		switch {
		case at < 0 && (t.took <= most || i == 0):
			out = append(out, batch{t.pkg, []*test{t}, t.took})
		case at >= 0 && out[first+at].took+t.took <= most:
			b := &out[first+at]
			b.tests, b.took = append(b.tests, t), b.took+t.took
		default:
			left = append(left, t)
		}
	}
	return out, left
}
