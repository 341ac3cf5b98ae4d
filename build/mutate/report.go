package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// conclude prints the table and everything that is wrong, and returns errSurvived if something is.
func conclude(w io.Writer, r *runner, stale []string, took time.Duration) error {
	fmt.Fprintf(w, "\n| package | mutants | killed | timed out | equivalent | survived | not reached |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	total := map[result]int{}
	for _, t := range r.plan {
		count := map[result]int{}
		for _, m := range r.mutants {
			if m.pkg == t.pkg {
				count[m.result]++
				total[m.result]++
			}
		}
		if len(count) > 0 {
			line(w, t.pkg, count)
		}
	}
	line(w, "together", total)
	fmt.Fprintf(w, "\n%d changes by %d tests in %v.\n", len(r.mutants), len(r.tests), took.Round(time.Second))
	wrong := false
	for _, m := range r.mutants {
		what := string(m.result)
		switch {
		case m.result == survived && m.reason != "":
			continue
		case (m.result == killed || m.result == endless) && m.reason != "":
			what = "is in the list, but a test notices it (" + m.killer + ")"
		case m.result == survived, m.result == unreached && m.reason == "":
		default:
			continue
		}
		wrong = true
		fmt.Fprintf(w, "%s:%d: %s: %s\n", m.file, m.line, what, m.key())
	}
	slices.Sort(stale)
	for _, key := range stale {
		wrong = true
		fmt.Fprintf(w, "in the list, but no mutant: %s\n", key)
	}
	if n := total[untried]; n > 0 {
		wrong = true
		fmt.Fprintf(w, "the time was over before %d mutants were tried: give more by -budget\n", n)
	}
	if wrong {
		return errSurvived
	}
	return nil
}

func line(w io.Writer, name string, count map[result]int) {
	all := 0
	for _, n := range count {
		all += n
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d |\n", name, all, count[killed], count[endless], count[excused], count[survived], count[unreached])
}
