package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is one that runs in a process of its own.
type server struct {
	url, token string
	pid        int
	cmd        *exec.Cmd
	dir        string // removed at the end
}

func (s *server) stop() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.cmd.Wait()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // the system's temporary folder is cleared by others as well
	}
}

// startTermic starts the app on a profile of its own, with its endpoint on.
func startTermic() (*server, error) {
	bin, err := filepath.Abs("../../build/bin/termic-headless")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "termic-bench-mcp")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if err := os.WriteFile(filepath.Join(dir, "settings.toml"), []byte("[mcp]\nenabled = true\n"), 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(bin, "serve", "--log-level", "error")
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), "TERMIC_DATA_DIR="+dir, "HOME="+dir, "SHELL=/bin/sh"), os.Stderr
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("%s (run `make headless` first): %w", bin, err)
	}
	port, err1 := os.ReadFile(filepath.Join(dir, "mcp-port"))
	token, err2 := os.ReadFile(filepath.Join(dir, "mcp-token"))
	s.url, s.token = "http://127.0.0.1:"+strings.TrimSpace(string(port))+"/mcp", strings.TrimSpace(string(token))
	return s, errors.Join(err1, err2)
}

// start starts the process and waits for its first line, which it puts into url.
func (s *server) start() error {
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.pid = s.cmd.Process.Pid
	line, err := bufio.NewReader(out).ReadString('\n')
	s.url = strings.TrimSpace(line)
	return err
}

// samples are what ours answers: the peers have the same tools, and the bare handler writes the same bytes.
type samples struct {
	Tools  []json.RawMessage `json:"tools"`
	Agents json.RawMessage   `json:"agents"` // structuredContent
	Bodies map[string][]byte `json:"bodies"` // by method
}

func record(ctx context.Context, ours *server) (samples, error) {
	out := samples{Bodies: map[string][]byte{}}
	for _, k := range work {
		body, err := k.ask(ctx, http.DefaultClient, ours)
		if err != nil {
			return out, err
		}
		out.Bodies[k.method] = body
		var frame struct {
			Result struct {
				Tools             []json.RawMessage
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &frame); err != nil {
			return out, err
		}
		if k.tool == "" {
			out.Tools = frame.Result.Tools
		} else {
			out.Agents = frame.Result.StructuredContent
		}
	}
	return out, nil
}

// startPeer starts this program again as a peer, which reads the samples from its standard input.
func startPeer(name string, with samples) (*server, error) {
	raw, err := json.Marshal(with)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(self, "peer", name)}
	s.cmd.Stdin, s.cmd.Stderr = strings.NewReader(string(raw)), os.Stderr
	return s, s.start()
}

// serve is a peer's process.
func serve(name string) error {
	var with samples
	if err := json.NewDecoder(os.Stdin).Decode(&with); err != nil {
		return err
	}
	handler, err := handlerOf(name, with)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

func handlerOf(name string, with samples) (http.Handler, error) {
	switch name {
	case "bare":
		return bare(with), nil
	case "go-sdk":
		return goSDK(with)
	case "mcp-go":
		return mcpGo(with)
	}
	return nil, fmt.Errorf("there is no peer %q", name)
}

// bare reads the request and writes the bytes that ours would, and nothing else.
func bare(with samples) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return
		}
		body := with.Bodies[r.Header.Get("Mcp-Method")]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body) // the client counts what comes
	})
}

func goSDK(with samples) (http.Handler, error) {
	s := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	for _, raw := range with.Tools {
		var t sdk.Tool
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, err
		}
		s.AddTool(&t, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}, StructuredContent: with.Agents}, nil
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), nil
}

func mcpGo(with samples) (http.Handler, error) {
	s := mcpgoserver.NewMCPServer("peer", "1", mcpgoserver.WithToolCapabilities(false))
	for _, raw := range with.Tools {
		var t mcpgo.Tool
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, err
		}
		s.AddTool(t, func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return mcpgo.NewToolResultStructured(with.Agents, "done"), nil
		})
	}
	return mcpgoserver.NewStreamableHTTPServer(s, mcpgoserver.WithStateLess(true)), nil
}
