package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// revision is the protocol's, as every server here speaks it.
const revision = "2026-07-28"

// kind is one kind of request, with the floors that ours has to hold.
type kind struct {
	method, tool string
	mostCPU      float64 // times that of the bare handler
	leastRate    float64 // times that of mcp-go; 0: not compared
}

var work = []kind{
	{method: "tools/list", mostCPU: 2, leastRate: 3},
	{method: "tools/call", tool: "task_agents", mostCPU: 4},
}

func (k kind) String() string { return strings.TrimSpace(k.method + " " + k.tool) }

// request makes a request of the kind.
func (k kind) request(ctx context.Context, s *server) (*http.Request, error) {
	params := ""
	if k.tool != "" {
		params = `"name":"` + k.tool + `","arguments":{},`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + k.method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision +
		`","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + s.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": revision, "Mcp-Method": k.method, "Mcp-Name": k.tool} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// ask sends one request and returns the answer.
func (k kind) ask(ctx context.Context, client *http.Client, s *server) ([]byte, error) {
	req, err := k.request(ctx, s)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it was read to its end
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result"`)) || bytes.Contains(body, []byte(`"isError":true`))) {
		err = fmt.Errorf("status %d: %.300s", res.StatusCode, body)
	}
	return body, err
}

// load sends requests over all connections and measures the server.
func load(ctx context.Context, s *server, k kind, requests int) (figures, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	var left atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	errs := make(chan error, connections)
	before, err := cpuOf(s.pid)
	if err != nil {
		return figures{}, err
	}
	start := time.Now()
	for range connections {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := k.ask(ctx, client, s); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	after, err := cpuOf(s.pid)
	if err != nil {
		return figures{}, err
	}
	select {
	case err := <-errs:
		return figures{}, err
	default:
	}
	return figures{cpu: []float64{(after - before).Seconds() / float64(requests)}, rate: []float64{float64(requests) / took.Seconds()}}, nil
}

// tick is the unit of CPU times in /proc, which is the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process has used.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // after the name, which may hold anything
	var sum time.Duration
	for _, i := range []int{11, 12} { // utime, stime
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
