//go:build clients

package e2eclients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
)

// TestBridges: what docs/clients.md says of each bridge is so. A client that speaks the old handshake on standard input and
// output reaches the endpoint through one that can translate, and through no other; the token is in no argument where the bridge
// can read it from a file.
func TestBridges(t *testing.T) {
	bin := os.Getenv("TERMIC_E2E_BRIDGES")
	if bin == "" {
		t.Fatal("the bridges were not fetched: start this with `make e2e-clients`")
	}
	for _, b := range []struct {
		name    string
		args    func(url, token, file string) []string
		reaches bool
	}{
		{"mcp-remote", func(url, _, file string) []string { return []string{url, "--protocol", "auto", "--header-file", file} }, true},
		{"mcp-remote", func(url, _, file string) []string { return []string{url, "--header-file", file} }, false}, // its default
		{"supergateway", func(url, token, _ string) []string { return []string{"--streamableHttp", url, "--oauth2Bearer", token} }, false},
	} {
		r := newRig(t, options{person: true})
		url := call[api.MCPResult](r, "mcp_enable", nil).URL
		file := call[api.TokenResult](r, "token_new", map[string]any{"name": "bridge", "scope": "readonly"}).Token.File
		token := strings.TrimSpace(r.read(file))
		headers := filepath.Join(r.root, "headers")
		r.file(headers, "Authorization: Bearer "+token+"\n")
		args := b.args(url, token, headers)
		t.Run(fmt.Sprint(b.name, " reaches ", b.reaches), func(t *testing.T) {
			got := r.bridged(filepath.Join(bin, b.name), args)
			if (strings.Contains(got, `"name":"task_list"`) && strings.Contains(got, `"structuredContent":{"tasks":[]}`)) != b.reaches {
				t.Errorf("%s %q: reaches is to be %v, and its client saw:\n%s", b.name, args[1:], b.reaches, got)
			}
			if strings.Contains(got, `"name":"task_new"`) {
				t.Error("a readonly token lists tools that write")
			}
		})
	}
}

// bridged is a client of the old handshake behind a bridge: it returns what the bridge printed until the last answer, or until
// the bridge ended.
func (r *rig) bridged(program string, args []string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	cmd.WaitDelay = patience / 10
	in, err := cmd.StdinPipe()
	r.must(err)
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	defer func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	}()
	var got strings.Builder
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	for i, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"task_list","arguments":{}}}`,
	} {
		if i == 1 {
			message = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + message
		}
		if _, err := fmt.Fprintln(in, message); err != nil {
			return got.String() // it has ended: that is an answer, too
		}
		for answered := false; !answered; {
			if !lines.Scan() {
				return got.String()
			}
			got.WriteString(lines.Text() + "\n")
			var frame struct{ ID int }
			answered = json.Unmarshal(lines.Bytes(), &frame) == nil && frame.ID == i+1
		}
	}
	return got.String()
}
