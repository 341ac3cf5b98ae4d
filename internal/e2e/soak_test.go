package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termic/internal/api"
)

// What a soak is made of: more terminals than anybody has, with a quarter of the agents at work, and as many calls as a
// badly written client would make.
const (
	soakTasks  = 200
	soakBusy   = 50
	soakRate   = 1000 // calls in a second, over all callers but the greedy one
	soakConns  = 16   // callers that share the rate
	soakSlow   = 24   // connections that send half a request, or never read an answer
	soakSample = 10 * time.Second
)

// soakGauge is what the app holds at one moment.
type soakGauge struct {
	heap, rss               uint64 // bytes
	descriptors, goroutines int
}

func gauge(t *testing.T) soakGauge {
	t.Helper()
	runtime.GC()
	runtime.GC() // what has finalizers goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("NOT TESTED: a soak reads /proc: %v", err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	must(t, err)
	var size, resident uint64
	_, err = fmt.Sscan(string(statm), &size, &resident)
	must(t, err)
	return soakGauge{m.HeapAlloc, resident * uint64(os.Getpagesize()), len(fds), runtime.NumGoroutine()}
}

// TestSoak runs for as long as TERMIC_SOAK says (`make soak`): many live terminals, a stream of calls, a caller that takes all it can get,
// and clients that are slow or dead. Nothing may grow, nobody may be starved, and what is archived is given back.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("TERMIC_SOAK"))
	if err != nil {
		t.Skip("it runs with make soak")
	}
	r := rigLogging(t, "error")
	o := r.outside()
	r.addProject()
	empty := gauge(t)
	began := time.Now()
	ids := soakTerminals(r)
	made := time.Since(began)
	full := gauge(t)

	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var group sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}
	polite, greedy := &soakCaller{}, &soakCaller{}
	for n := range soakConns {
		group.Go(func() { polite.run(ctx, client, o, ids, n, time.Second*soakConns/soakRate) })
	}
	group.Go(func() { greedy.run(ctx, client, o, ids, 0, 0) })
	soakSlowClients(ctx, &group, o)

	warm := min(length/4, time.Minute)
	time.Sleep(warm)
	first, samples := gauge(t), []soakGauge{}
	for ctx.Err() == nil {
		select {
		case <-time.After(soakSample):
			samples = append(samples, gauge(t))
		case <-ctx.Done():
		}
	}
	group.Wait()
	client.CloseIdleConnections()
	last := first
	if len(samples) > 0 {
		last = samples[len(samples)-1]
	}
	for _, id := range ids {
		call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": id, "discard": true})
	}
	call[api.MCPResult](r, "mcp_disable", nil)
	after := soakSettles(t, empty)

	rows := []string{
		fmt.Sprintf("| tasks with a live terminal, %d of them at work | %d, made in %.0f s |", soakBusy, len(ids), made.Seconds()),
		fmt.Sprintf("| calls, and those that failed | %d, %d |", polite.calls.Load()+greedy.calls.Load(), polite.failed.Load()+greedy.failed.Load()),
		fmt.Sprintf("| calls in a second: of %d callers together, and of one that takes all it gets | %.0f, %.0f |", soakConns, float64(polite.calls.Load())/length.Seconds(), float64(greedy.calls.Load())/length.Seconds()),
		fmt.Sprintf("| a call beside the greedy one and %d slow connections: median, p99 | %.1f ms, %.1f ms |", soakSlow, polite.percentile(50), polite.percentile(99)),
	}
	for _, g := range []struct {
		what string
		of   func(soakGauge) float64
	}{
		{"heap, MiB", func(g soakGauge) float64 { return float64(g.heap) / (1 << 20) }},
		{"resident, MiB", func(g soakGauge) float64 { return float64(g.rss) / (1 << 20) }},
		{"descriptors", func(g soakGauge) float64 { return float64(g.descriptors) }},
		{"goroutines", func(g soakGauge) float64 { return float64(g.goroutines) }},
	} {
		rows = append(rows, fmt.Sprintf("| %s: empty, with the tasks, after %.0f s of calls, at the end, after the last task | %.0f, %.0f, %.0f, %.0f, %.0f |", g.what, warm.Seconds(),
			g.of(empty), g.of(full), g.of(first), g.of(last), g.of(after)))
	}
	fmt.Printf("\n| soak of %s | |\n|---|---|\n%s\n\n", length, strings.Join(rows, "\n"))

	if last.heap > first.heap+first.heap/5+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", first.heap, last.heap)
	}
	if last.descriptors > first.descriptors+16 || last.goroutines > first.goroutines+64 { // a few connections come and go
		t.Errorf("from %+v to %+v", first, last)
	}
	if after.heap > empty.heap+16<<20 || after.descriptors > empty.descriptors+8 || after.goroutines > empty.goroutines+8 {
		t.Errorf("not given back: %+v, at first %+v", after, empty)
	}
	if n := polite.failed.Load(); n > 0 {
		t.Errorf("%d calls failed, the first with: %v", n, polite.first.Load())
	}
	if polite.percentile(99) > 1000*10 { // ten times any wait that a person would notice is a caller that was held up by another
		t.Errorf("p99 %.0f ms", polite.percentile(99))
	}
}

// soakTerminals makes the tasks and sets some of their agents to work.
func soakTerminals(r *rig) []string {
	r.t.Helper()
	var ids []string
	for n := range soakTasks {
		made := call[api.TaskNewResult](r, "task_new", map[string]any{"name": fmt.Sprintf("soak %d", n), "project": "repo", "agent": "osc7501"})
		ids = append(ids, made.Task.ID)
	}
	for _, id := range ids {
		r.live(id)
	}
	for _, id := range ids[:soakBusy] {
		call[api.TaskSendResult](r, "task_send", map[string]any{"task": id, "prompt": "#work 10h"})
	}
	return ids
}

// soakCaller counts what calls came to.
type soakCaller struct {
	calls, failed atomic.Int64
	first         atomic.Value // what the first failure said

	mu   sync.Mutex
	took []time.Duration
}

// run calls tools in turns until ctx ends, at most one in a while; 0: as fast as it goes.
func (c *soakCaller) run(ctx context.Context, client *http.Client, o outside, ids []string, n int, each time.Duration) {
	var tick <-chan time.Time
	if each > 0 {
		t := time.NewTicker(each)
		defer t.Stop()
		tick = t.C
	}
	for ; ; n++ {
		if each > 0 {
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		id := ids[n%len(ids)]
		name, args := "task_agents", map[string]any{}
		switch n % 64 { // most that a client asks for needs no git; what does takes tens of milliseconds of it, whoever asks
		case 1:
			name, args = "task_status", map[string]any{"task": id}
		case 3, 19, 35, 51:
			name, args = "task_log", map[string]any{"task": id, "lastBytes": 2000}
		case 5, 37:
			name, args = "project_list", map[string]any{}
		}
		start := time.Now()
		err := o.fetch(ctx, client, name, args)
		if ctx.Err() != nil {
			return // it was cut off by the end
		}
		c.calls.Add(1)
		if err != nil {
			c.first.CompareAndSwap(nil, err)
			c.failed.Add(1)
		}
		c.mu.Lock()
		if len(c.took) < 1<<20 { // enough to know the percentiles
			c.took = append(c.took, time.Since(start))
		}
		c.mu.Unlock()
	}
}

// percentile is how long so many percent of the calls took at most, in milliseconds.
func (c *soakCaller) percentile(n int) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.took) == 0 {
		return 0
	}
	slices.Sort(c.took)
	return float64(c.took[min(len(c.took)-1, len(c.took)*n/100)].Microseconds()) / 1000
}

// fetch is tool with a client of its own, for calls whose result nobody reads.
func (o outside) fetch(ctx context.Context, client *http.Client, name string, args map[string]any) error {
	req, err := o.request(ctx, name, args)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // read to its end below
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || !bytes.Contains(text.Bytes(), []byte(`"structuredContent"`)) || bytes.Contains(text.Bytes(), []byte(`"isError":true`)) {
		return fmt.Errorf("status %d: %.200s", res.StatusCode, text.Bytes())
	}
	return nil
}

// soakSlowClients keep connections that never become anything: half a head, half a body, and answers that nobody reads.
func soakSlowClients(ctx context.Context, group *sync.WaitGroup, o outside) {
	host := strings.TrimSuffix(strings.TrimPrefix(o.url, "http://"), "/mcp")
	head := "POST /mcp HTTP/1.1\r\nHost: " + host + "\r\nX-Termic-Token: " + o.token + "\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n"
	for n := range soakSlow {
		group.Go(func() {
			for ctx.Err() == nil {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
				if err != nil {
					return
				}
				text := []string{"POST /mcp HT", head, head + "\r\n{\"jsonrpc\""}[n%3]
				if _, err := conn.Write([]byte(text)); err == nil {
					select {
					case <-time.After(20 * time.Second):
					case <-ctx.Done():
					}
				}
				_ = conn.Close() // it was made to be dropped
			}
		})
	}
}

// soakSettles waits until what was taken for the tasks is given back, or half a minute.
func soakSettles(t *testing.T, empty soakGauge) soakGauge {
	t.Helper()
	for range 60 {
		g := gauge(t)
		if g.descriptors <= empty.descriptors && g.goroutines <= empty.goroutines {
			return g
		}
		time.Sleep(500 * time.Millisecond)
	}
	return gauge(t)
}
