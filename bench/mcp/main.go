// Command mcp measures the MCP endpoint beside other servers in one run: the official Go SDK's, mcp-go's, and a bare
// handler that reads the request and writes the same bytes. It is a module of its own, so that those are no dependency of
// the product.
//
//	go run .            from this folder, after `make headless`
//
// Each server is a process of its own. CPU per request is that process's, so that whatever sends the requests does not
// count; it needs Linux. Rounds of all servers take turns, and the median of each counts. It ends with an error when a
// floor is not held: these are ratios, which a machine cannot excuse.
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
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "peer" {
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "peer:", err)
			os.Exit(1)
		}
		return
	}
	requests := flag.Int("n", 4000, "requests of a round")
	rounds := flag.Int("rounds", 5, "rounds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *requests, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// peers are the servers, ours first.
var peers = []string{"termic", "go-sdk", "mcp-go", "bare"}

// connections is how many requests are under way at once.
const connections = 32

func run(ctx context.Context, requests, rounds int) error {
	all := map[string]*server{}
	defer func() {
		for _, s := range all {
			s.stop()
		}
	}()
	ours, err := startTermic()
	if err != nil {
		return err
	}
	all["termic"] = ours
	samples, err := record(ctx, ours)
	if err != nil {
		return err
	}
	for _, name := range peers[1:] {
		if all[name], err = startPeer(name, samples); err != nil {
			return err
		}
	}
	fmt.Printf("%s, %s/%s, %d processors, %s\n", time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	var failed []error
	for _, w := range work {
		got := map[string]*figures{}
		for round := range rounds + 1 {
			for _, name := range peers {
				f, err := load(ctx, all[name], w, requests)
				if err != nil {
					return fmt.Errorf("%s of %s: %w", w.method, name, err)
				}
				if round == 0 {
					got[name] = &figures{} // the first round only warms up
					continue
				}
				got[name].add(f)
			}
		}
		failed = append(failed, report(w, got)...)
	}
	return errors.Join(failed...)
}

// figures are what rounds of one server gave.
type figures struct{ cpu, rate []float64 }

func (f *figures) add(o figures) { f.cpu, f.rate = append(f.cpu, o.cpu...), append(f.rate, o.rate...) }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// report prints the table of one kind of work and returns the floors that are not held.
func report(w kind, got map[string]*figures) []error {
	bare, mcpgo := got["bare"], got["mcp-go"]
	fmt.Printf("\n%s, %d connections\n\n| server | CPU per request | of the bare handler | requests/s | of mcp-go | of go-sdk |\n|---|---|---|---|---|---|\n", w, connections)
	for _, name := range peers {
		f := got[name]
		fmt.Printf("| %s | %.0f µs | %.2f | %.0f | %.2f | %.2f |\n", name, median(f.cpu)*1e6, median(f.cpu)/median(bare.cpu), median(f.rate), median(f.rate)/median(mcpgo.rate), median(f.rate)/median(got["go-sdk"].rate))
	}
	var failed []error
	ours, sdk := got["termic"], got["go-sdk"]
	if r := median(ours.rate) / median(sdk.rate); w.leastSDK > 0 && r < w.leastSDK {
		failed = append(failed, fmt.Errorf("%s: %.2f times the requests/s of go-sdk, the floor is %.0f", w, r, w.leastSDK))
	}
	if r := median(ours.cpu) / median(bare.cpu); r > w.mostCPU {
		failed = append(failed, fmt.Errorf("%s: %.2f times the CPU of the bare handler, the floor is %.1f", w, r, w.mostCPU))
	}
	if r := median(ours.rate) / median(mcpgo.rate); w.leastRate > 0 && r < w.leastRate {
		failed = append(failed, fmt.Errorf("%s: %.2f times the requests/s of mcp-go, the floor is %.0f", w, r, w.leastRate))
	}
	return failed
}
