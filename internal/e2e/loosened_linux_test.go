package e2e

import (
	"encoding/json"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// childOf lets a caged agent create a task, and returns its id when its agent runs.
func (c *walled) childOf(name string) string {
	c.r.t.Helper()
	made := c.tool("task_new", map[string]any{"name": name, "project": "repo", "agent": "osc7501"})
	child := struct{ Task api.TaskSummary }{}
	if must(c.r.t, json.Unmarshal(made.result(), &child)); child.Task.ID == "" {
		c.r.t.Fatalf("task_new: %+v", made)
	}
	c.r.live(child.Task.ID)
	return child.Task.ID
}

// TestLoosenedChildIsLost: a task that a caged agent created is its own only while nothing there can do more than the agent.
// What the owner gave to the task is not read, ended or sent to by way of its creator, and what he takes back makes it the
// creator's again.
func TestLoosenedChildIsLost(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	parent := r.cageTask("parent", "enforce", map[string]any{"mcp": true})
	child := parent.childOf("child")
	tools := map[string]map[string]any{"task_status": {}, "task_log": {}, "task_diff": {}, "task_wait": {"timeoutMs": 10},
		"task_tab_close": {"tab": "1", "allowDefault": true}, "task_send": {"prompt": "#say hello"}}
	sees := func(state string, want bool) {
		t.Helper()
		for tool, args := range tools {
			if want && tool != "task_status" && tool != "task_log" {
				continue
			}
			args["task"] = "child"
			if a := parent.tool(tool, args); a.result() != nil != want {
				t.Errorf("%s: %s of the child: %+v", state, tool, a)
			}
		}
	}
	sees("as it was made", true)
	for what, step := range map[string][2]map[string]any{
		"a host":  {{"hosts": []string{"wider.example.com"}}, {"hosts": []string{""}}},
		"no cage": {{"mode": "off", "acceptFiles": true}, {"mode": "enforce"}},
	} {
		for i, want := range []bool{false, true} {
			step[i]["task"] = child
			if _, err := try[api.TaskSandboxResult](r, "task_sandbox", step[i]); fault.CodeOf(err) == fault.Unsupported {
				t.Logf("%s: not tried: %v", what, err)
				continue
			} else if err != nil {
				t.Fatal(what, err)
			}
			call[api.TaskTabResult](r, "task_tab", map[string]any{"task": child, "restart": r.tabOf(child)})
			r.live(child)
			sees(what, want)
		}
	}
	if !r.live(child).Tabs[0].Live {
		t.Error("the child was ended")
	}
	// One more host for the child alone, while its agent runs: what it prints from now on may come from there.
	call[api.SandboxAllowResult](r, "sandbox_allow", map[string]any{"task": child, "host": "wider.example.com"})
	sees("allowed", false)
}
