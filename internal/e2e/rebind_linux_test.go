package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// ticket is what a caged agent has of the endpoint.
type ticket struct{ url, token string }

func (c *walled) ticket() ticket {
	c.r.t.Helper()
	f := strings.Fields(c.run("echo $TERMIC_MCP_URL $TERMIC_MCP_TOKEN"))
	if len(f) < 2 || len(f[1]) != 64 {
		c.r.t.Fatalf("the agent has %q", f)
	}
	return ticket{f[0], f[1]}
}

// opens tries a token at an address, as any program of the machine can. It is answered with 401 if it is worthless.
func opens(url, token string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return 0
	}
	req.Header.Set("X-Termic-Token", token)
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0 // nobody is there
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// worthless reports whether an answer is that to a token which opens nothing.
func worthless(status int) bool { return status == 0 || status == http.StatusUnauthorized }

// TestRebindUnderWaits changes the port of the endpoint, and switches it off and on, while caged agents wait through it. Their
// waits end, their tokens open nothing any more at any address or door, and they are started again with ones of their own.
func TestRebindUnderWaits(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	agents := []*walled{r.cageTask("boss", "enforce", map[string]any{"mcp": true})}
	if _, err := try[api.TaskNewResult](r, "task_new", map[string]any{"name": "files", "project": "repo", "agent": "osc7501", "sandbox": "enforce-fs", "mcp": true}); err == nil {
		for _, s := range call[api.TaskListResult](r, "task_list", nil).Tasks {
			if s.Name == "files" {
				agents = append(agents, r.cageOf(s.ID))
			}
		}
	} else if fault.CodeOf(err) != fault.Unsupported {
		t.Fatal(err)
	}
	var old []ticket // all that were ever good
	for round, change := range []func(){
		func() { call[api.MCPResult](r, "mcp_enable", map[string]any{"newPort": true}) },
		func() {
			call[api.MCPResult](r, "mcp_disable", nil)
			time.Sleep(300 * time.Millisecond) // agents call in vain meanwhile
			call[api.MCPResult](r, "mcp_enable", nil)
		},
	} {
		var now []ticket
		var children []string
		for i, c := range agents {
			children = append(children, c.childOf(fmt.Sprintf("child %d of %d", round, i)))
			now = append(now, c.ticket())
		}
		old = append(old, now...)
		for i, c := range agents {
			call[api.TaskSendResult](r, "task_send", map[string]any{"task": children[i], "prompt": "#work 5m"})
			r.until(children[i], "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
			call[api.TaskSendResult](r, "task_send", map[string]any{"task": c.id, "prompt": fmt.Sprintf(`#tool waited task_wait {"task":%q,"timeoutMs":60000}`, children[i])})
			r.until(c.id, "waiting", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
		}
		time.Sleep(time.Second) // a read has no row before it ends, so nothing tells that the calls are under way
		var late atomic.Int32
		stop, ended := make(chan struct{}), sync.WaitGroup{}
		ended.Go(func() { // what was good is tried all the time, wherever the endpoint is
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
				}
				port, err := os.ReadFile(filepath.Join(r.data, "mcp-port"))
				url := "http://127.0.0.1:" + strings.TrimSpace(string(port)) + "/mcp"
				for _, o := range now {
					if err == nil && url != o.url && !worthless(opens(url, o.token)) {
						late.Add(1)
					}
				}
			}
		})
		change()
		url := call[api.MCPResult](r, "mcp_status", nil).URL
		for _, o := range old {
			if s := opens(url, o.token); !worthless(s) {
				t.Errorf("round %d: an old token is answered with %d", round, s)
			}
			if o.url != url && opens(o.url, o.token) != 0 {
				t.Errorf("round %d: somebody answers at %s", round, o.url)
			}
		}
		for i, c := range agents {
			r.until(c.id, "started again", func(d api.TaskDetail) bool {
				return d.Tabs[0].Live && d.Tabs[0].MCP == api.MCPConnected && d.WorkState != api.WorkWorking
			})
			if fresh := c.ticket(); fresh.url != url || fresh.token == now[i].token {
				t.Errorf("round %d: the agent has %s, the endpoint is at %s, the token is a new one: %v", round, fresh.url, url, fresh.token != now[i].token)
			}
		}
		close(stop)
		ended.Wait()
		if n := late.Load(); n > 0 {
			t.Errorf("round %d: an old token was let in %d times at the new address", round, n)
		}
		if got := r.waits(children); len(got) != len(agents) || slices.Contains(got, "ok") {
			t.Errorf("round %d: the waits ended with %q", round, got)
		}
		r.noTokenCrosses(agents, old)
	}
}

// waits are the outcomes of waits for tasks, as the ledger has them.
func (r *rig) waits(tasks []string) (out []string) {
	r.t.Helper()
	for _, id := range tasks {
		for _, row := range call[api.LedgerResult](r, "ledger", map[string]any{"task": id, "limit": 1000}).Rows {
			if row.Verb == "task_wait" && row.Outcome != "" {
				out = append(out, row.Outcome)
			}
		}
	}
	return out
}

// noTokenCrosses tries each agent's token through the doors of the others, and all old ones through each.
func (r *rig) noTokenCrosses(agents []*walled, old []ticket) {
	r.t.Helper()
	tokens := map[string]string{}
	for _, c := range agents {
		tokens[c.id] = c.ticket().token
	}
	for _, c := range agents {
		var others []string
		for id, token := range tokens {
			if id != c.id {
				others = append(others, token)
			}
		}
		for _, o := range old {
			others = append(others, o.token)
		}
		if r.live(c.id).Sandbox == "enforce-fs" {
			continue // it is on the machine's network, where each token of a task without a door is good
		}
		r.secrets.tell(others...) // they stand in a prompt
		out := c.run(`for t in ` + strings.Join(others, " ") + `; do curl -s --noproxy '*' -o /dev/null -m 5 -w '%{http_code} ' -X POST -H "X-Termic-Token: $t" "$TERMIC_MCP_URL"; done; curl -s --noproxy '*' -o /dev/null -m 5 -w 'own %{http_code}' -X POST -H "X-Termic-Token: $TERMIC_MCP_TOKEN" "$TERMIC_MCP_URL"`)
		if strings.Count(out, "401 ") != len(others) || strings.Contains(out, "own 401") || !strings.Contains(out, "own 4") {
			r.t.Errorf("%s: other tokens through its door: %s", c.id, out)
		}
	}
}
