package clientsetup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of one exchange with the endpoint.
const (
	answerTimeout = 10 * time.Second
	maxAnswer     = 4 << 20
)

// codeVersion is the error of an unsupported revision.
const codeVersion = -32022

// answer is what matters of a JSON-RPC answer.
type answer struct {
	Result *struct {
		SupportedVersions []string          `json:"supportedVersions"`
		Tools             []json.RawMessage `json:"tools"`
		Meta              struct {
			Server struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Supported []string `json:"supported"`
		} `json:"data"`
	} `json:"error"`
}

// tryServer discovers the server and lists its tools.
func tryServer(ctx context.Context, e Entry, headers map[string]string, r *Report) {
	client := loopbackClient()
	defer client.CloseIdleConnections()
	got, ok := ask(ctx, client, e, "server/discover", headers, r)
	if !ok {
		return
	}
	server := got.Result.Meta.Server
	if !strings.EqualFold(server.Name, Name) {
		r.fail("discover", fmt.Sprintf("Port %s belongs to another server, %s", port(e.URL), words(server.Name)), "Free the port, or give the endpoint a new one and register again.")
		return
	}
	r.Server = "Termic"
	if server.Version != "" {
		r.Server += " " + words(server.Version)
	}
	r.pass("discover", "%s speaks %s", r.Server, words(strings.Join(got.Result.SupportedVersions, ", ")))
	if got, ok = ask(ctx, client, e, "tools/list", headers, r); ok {
		r.Tools = len(got.Result.Tools)
		r.pass("list", "It lists %d tools", r.Tools)
	}
}

// loopbackClient asks nobody on the way: no proxy of the environment, and no redirect.
func loopbackClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: nil, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       answerTimeout,
	}
}

// ask makes one call and says in the report what is wrong with its answer.
func ask(ctx context.Context, client *http.Client, e Entry, method string, headers map[string]string, r *Report) (answer, bool) {
	step := map[string]string{"server/discover": "discover", "tools/list": "list"}[method]
	res, err := post(ctx, client, e.URL, method, headers)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			r.fail("connect", "Nothing answers at port "+port(e.URL)+": Termic is not running, or its MCP endpoint is off", startTermic)
		} else {
			r.fail("connect", "The endpoint at port "+port(e.URL)+" does not answer", startTermic)
		}
		return answer{}, false
	}
	defer func() { _ = res.Body.Close() }() // only read from
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	var got answer
	known := err == nil && len(body) <= maxAnswer && json.Unmarshal(body, &got) == nil
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		r.fail(step, "The endpoint refuses the token (401)",
			"The token may have changed this moment: try again. If it stays so, the command reads the token of another Termic: register again.")
	case known && got.Error != nil && got.Error.Code == codeVersion:
		r.fail(step, fmt.Sprintf("The endpoint speaks %s, not %s", words(strings.Join(got.Error.Data.Supported, ", ")), Revision), "Update Termic or the client.")
	case known && got.Error != nil:
		r.fail(step, fmt.Sprintf("The endpoint answers with error %d: %s", got.Error.Code, words(got.Error.Message)), "")
	case res.StatusCode != http.StatusOK || !known || got.Result == nil:
		r.fail(step, fmt.Sprintf("What answers at port %s is not Termic (status %d)", port(e.URL), res.StatusCode), "Free the port, or give the endpoint a new one and register again.")
	case method == "server/discover" && !slices.Contains(got.Result.SupportedVersions, Revision):
		r.fail(step, fmt.Sprintf("The endpoint speaks %s, not %s", words(strings.Join(got.Result.SupportedVersions, ", ")), Revision), "Update Termic or the client.")
	default:
		return got, true
	}
	return answer{}, false
}

func post(ctx context.Context, client *http.Client, address, method string, headers map[string]string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    Revision,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "termic-verify", "version": "1"},
	}}})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", Revision)
	req.Header.Set("Mcp-Method", method)
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the endpoint: %w", err)
	}
	return res, nil
}
