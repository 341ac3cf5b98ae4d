// Command bench measures Termic against a peer in one run and prints the ratios as a table. It asserts nothing: what a
// machine can do differs, what a ratio says does not.
//
//	go run -tags headless ./bench [-run start,tasknew,flood,idle,cage,watch,scale,checks]
//
// It starts build/bin/termic-headless on profiles of its own below the temporary folder, and a small agent of its own
// that does nothing, and removes both afterwards. A chapter that fails leaves the others be; the run then ends with an error, and
// `make bench` writes no table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is one line of the table.
type row struct{ what, ours, peer, ratio string }

// measure is one chapter of the table.
type measure struct {
	name string
	run  func(context.Context, *bench) ([]row, error)
}

var measures = []measure{{"start", start}, {"tasknew", taskNew}, {"flood", flood}, {"idle", idle}, {"cage", runCage}, {"watch", runWatch}, {"scale", scale}, {"checks", checks}}

func main() {
	if len(os.Args) == 3 && os.Args[1] == benchClient {
		if err := send(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	only := flag.String("run", "", "names of the measures to run, joined by commas; all when left out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	b, err := newBench()
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("%s, %s/%s, %d processors, %s\n\n", time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	fmt.Println("| measure | Termic | peer | ratio |")
	fmt.Println("|---|---|---|---|")
	var failed []error
	for _, m := range chosen {
		began := time.Now()
		rows, err := m.run(ctx, b)
		fmt.Fprintf(os.Stderr, "bench: %s took %s\n", m.name, time.Since(began).Round(time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the other chapters are measured all the same, and the error keeps the table from being taken for whole
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
		}
		for _, r := range rows {
			fmt.Printf("| %s | %s | %s | %s |\n", r.what, r.ours, r.peer, r.ratio)
		}
	}
	return errors.Join(failed...)
}

// choose picks the measures by their names, joined by commas; all for none.
func choose(only string) ([]measure, error) {
	if only == "" {
		return measures, nil
	}
	var out []measure
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no measure %q", name)
		}
		out = append(out, measures[i])
	}
	return out, nil
}

// median of durations; they are sorted in place.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }
