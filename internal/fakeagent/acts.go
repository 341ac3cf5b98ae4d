package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"termic/mcp"
)

// actLimit bounds one act: a wait over MCP takes its default of 50 s at most.
const actLimit = 70 * time.Second

// shell runs a command as an agent's tool would, and puts what it printed and "exit N" into a file of the working
// directory, in one step: whoever sees the file sees all of it.
func (a *agent) runShell(rest string) {
	name, command, _ := strings.Cut(rest, " ")
	ctx, cancel := context.WithTimeout(context.Background(), actLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	a.leave(name, fmt.Appendf(out, "\nexit %d %v\n", cmd.ProcessState.ExitCode(), err))
}

// tool calls a tool of the endpoint that the environment names, and puts status and body of the answer into a file.
func (a *agent) tool(rest string) {
	name, call, _ := strings.Cut(rest, " ")
	tool, args, _ := strings.Cut(call, " ")
	status, body, err := callTool(os.Getenv("TERMIC_MCP_URL"), os.Getenv("TERMIC_MCP_TOKEN"), tool, args)
	text, merr := json.Marshal(map[string]any{"status": status, "body": string(body), "error": fmt.Sprint(err)})
	if merr != nil {
		text = []byte(merr.Error())
	}
	a.leave(name, text)
}

func callTool(url, token, tool, args string) (status int, body []byte, err error) {
	params := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": mcp.Revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}
	method := "tools/list"
	if tool != "" {
		method = "tools/call"
		params["name"] = tool
		params["arguments"] = json.RawMessage(args)
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": mcp.Revision, "Mcp-Method": method, "Mcp-Name": tool} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	client := http.Client{Transport: &http.Transport{}} // no proxy: the endpoint is on loopback
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, 4<<20))
	return res.StatusCode, body, err
}

// leave writes a file of the working directory, whole or not at all.
func (a *agent) leave(name string, text []byte) {
	if !filepath.IsLocal(name) {
		a.say("● refused to write " + name)
		return
	}
	err := os.WriteFile(name+".part", text, 0o644)
	if err == nil {
		err = os.Rename(name+".part", name)
	}
	a.say(fmt.Sprintf("● left %s: %v", name, err))
}
