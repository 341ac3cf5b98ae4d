// Termic runs coding-agent CLIs in real terminals, each task in a git worktree of its own.
//
// Without arguments it opens the window; `termic serve` runs the same app without one; everything else is a verb of the
// command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"termic/app"
	"termic/internal/cli"
	"termic/internal/link"
	"termic/sandbox/cage"
)

// These are set by the linker: the version, and where and by which key this build is told of newer releases. Without the last two it
// asks nobody, unless the settings name them.
var (
	version       = "dev"
	updateAddress = ""
	updateKey     = ""
)

func main() {
	cage.BeChild() // does not return in the first process of a cage
	os.Exit(run())
}

// run is main with an exit code, so that tests can run the real program.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options := app.Options{Version: version, Getenv: os.Getenv, Environ: os.Environ(), LogTo: os.Stderr,
		Releases: app.Releases{Address: updateAddress, Key: updateKey}}
	args := os.Args[1:]
	if app.HasWindow && len(args) == 0 {
		return app.Window(ctx, options, "")
	}
	if len(args) == 1 && link.Is(args[0]) { // the desktop hands a link over
		if app.HasWindow {
			return app.Window(ctx, options, args[0])
		}
		args = []string{"link", args[0]}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // a folder deleted behind our back: verbs that need it say so
	}
	return cli.Run(ctx, cli.Env{Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Version: version,
		Serve: func(ctx context.Context, o cli.ServeOptions) error {
			options.LogFormat, options.LogLevel = o.LogFormat, o.LogLevel
			options.Web = app.WebOptions{Addr: o.Web.Addr, Hosts: o.Web.Hosts, Plain: o.Web.Plain}
			return app.Serve(ctx, options, os.Stdout)
		}})
}
