package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/datadir"
	"termic/internal/fault"
)

// version prints the version of this program, which need not be the app's.
func (r *runner) version() error {
	v := api.VersionResult{App: "termic", Version: r.Version, Protocol: control.Protocol, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !r.global.json() {
		_, err := fmt.Fprintf(r.Stdout, "termic %s\n", v.Version)
		return err
	}
	return r.printJSON(v)
}

func (r *runner) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = r.Stdout.Write(append(line, '\n'))
	}
	return err
}

// serve runs the app in this process until ctx ends, which is its ordinary end.
func (r *runner) serve(ctx context.Context, inv invocation) error {
	if r.Serve == nil {
		return fault.New(fault.Unsupported, "This program cannot run the app")
	}
	hosts, _ := inv.values["webHost"].([]string) // nil where none is given
	err := r.Serve(ctx, ServeOptions{LogFormat: inv.text("logFormat"), LogLevel: inv.text("logLevel"),
		Web: WebOptions{Addr: inv.text("webAddr"), Hosts: hosts, Plain: inv.on("webPlain")}})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// mcpHeaders prints what a client must send, for one that runs this program to get it. It reads the file of the endpoint and
// asks nobody, so it works in the scrubbed environment of a client, and says on standard error why there is nothing to print.
func (r *runner) mcpHeaders(bearer bool) error {
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, datadir.MCPTokenFile)
	b, err := os.ReadFile(file)
	token := strings.TrimSpace(string(b))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Unavailable, "There is no token in %s", file).WithHint("Start Termic, and switch its MCP endpoint on: `termic mcp enable`.")
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "The token in %s cannot be read", file)
	case token == "" || strings.Trim(token, tokenRunes) != "":
		return fault.New(fault.Unavailable, "%s does not hold a token", file).WithHint("Make a new one: `termic mcp rotate`.")
	}
	if bearer {
		return r.printJSON(map[string]string{"Authorization": "Bearer " + token})
	}
	return r.printJSON(map[string]string{"X-Termic-Token": token})
}

// tokenRunes are what a token is made of: hexadecimal digits.
const tokenRunes = "0123456789abcdef"
