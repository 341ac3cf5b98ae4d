package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"termic/internal/api"
	"termic/internal/control"
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
	err := r.Serve(ctx, ServeOptions{LogFormat: inv.text("logFormat"), LogLevel: inv.text("logLevel")})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
