package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
	leastSDK     float64 // times that of go-sdk; 0: not compared
}

var work = []kind{
	{method: "tools/list", mostCPU: 1.5, leastRate: 4, leastSDK: 8},
	{method: "tools/call", tool: "task_agents", mostCPU: 3},
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
	return body, good(res, body, err)
}

// good says why a response is none that counts.
func good(res *http.Response, body []byte, err error) error {
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result"`)) || bytes.Contains(body, []byte(`"isError":true`))) {
		err = fmt.Errorf("status %d: %.300s", res.StatusCode, body)
	}
	return err
}

// line is one connection to a server. It sends the same bytes again and again and reads whole answers, for far less of the
// processor than http.Client takes: with that, what sends the requests used up more than what answers them, and the faster
// servers were all as fast as it.
type line struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	body    bytes.Buffer
}

func dial(ctx context.Context, s *server, k kind) (*line, error) {
	req, err := k.request(ctx, s)
	if err != nil {
		return nil, err
	}
	l := &line{}
	var raw bytes.Buffer
	if err := req.Write(&raw); err != nil {
		return nil, err
	}
	l.request = raw.Bytes()
	if l.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", req.URL.Host); err != nil {
		return nil, err
	}
	l.in = bufio.NewReaderSize(l.conn, 64<<10)
	return l, l.conn.SetDeadline(time.Now().Add(5 * time.Minute))
}

func (l *line) ask() error {
	if _, err := l.conn.Write(l.request); err != nil {
		return err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return err
	}
	l.body.Reset()
	_, err = l.body.ReadFrom(res.Body)
	return good(res, l.body.Bytes(), err)
}

// load sends requests over all connections and measures the server.
func load(ctx context.Context, s *server, k kind, requests int) (figures, error) {
	lines := make([]*line, connections)
	for i := range lines {
		l, err := dial(ctx, s, k)
		if err != nil {
			return figures{}, err
		}
		defer l.conn.Close()
		lines[i] = l
	}
	var left atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	errs := make(chan error, connections)
	before, err := cpuOf(s.pid)
	if err != nil {
		return figures{}, err
	}
	start := time.Now()
	for _, l := range lines {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := l.ask(); err != nil {
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

// cpuOf is the processor time that the threads of a process have used, as the scheduler counts it: to the nanosecond, where
// /proc/PID/stat counts hundredths of a second. A thread that has ended is not counted; Go's do not end.
func cpuOf(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, errors.Join(err, fmt.Errorf("the threads of process %d cannot be read", pid))
	}
	var sum time.Duration
	for _, path := range threads {
		b, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		ns, _, _ := strings.Cut(string(b), " ") // running, waiting, slices
		n, err := strconv.ParseInt(ns, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n)
	}
	return sum, nil
}
