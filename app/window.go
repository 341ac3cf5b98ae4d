//go:build !headless

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"

	"termic/app/webface"
	"termic/frontend"
	"termic/internal/fault"
)

// HasWindow says whether this build can open a window.
const HasWindow = true

// Window shows the window until the person closes it, somebody asks the app to end, or ctx ends. It returns the exit code
// of the program. The app runs in this process, or is the one that `termic serve` runs on the profile. Where the profile
// has a window already, that one is shown instead. link is what the window is to show first, or empty.
func Window(ctx context.Context, o Options, link string) int {
	o.Face = faceWindow
	s, err := takeSeat(ctx, o, link)
	if err != nil {
		f := fault.From(err)
		_, _ = fmt.Fprintf(o.LogTo, "termic: %s. %s\n", f.Message, f.Hint) // nobody is left to tell if this fails
		return fault.ExitError
	}
	if s == nil { // another window has the profile, and was shown
		return fault.ExitOK
	}
	if err := runWindow(ctx, o, s, link); err != nil {
		s.logger().Error("the window ended badly", "err", err)
		return fault.ExitError
	}
	return fault.ExitOK
}

// runWindow shows the window on a seat, which it closes, and returns when the window is closed. It must run on the first
// thread of the program.
func runWindow(ctx context.Context, o Options, s seat, link string) (err error) {
	bridge := newBridge(o, s, link)
	defer func() { err = errors.Join(err, bridge.close()) }()
	page, err := frontend.Page()
	if err != nil {
		return err
	}
	dress := func(next http.Handler) http.Handler {
		return closeOnExec(themed(page, func(ctx context.Context) string {
			scheme, _ := chosenTheme(ctx, s, s.logger())
			return scheme
		}, next))
	}
	graphics := planGraphics(os.DirFS("/"), os.Getenv)
	if err := graphics.prepare(); err != nil {
		return err
	}
	bridge.hardware = graphics.hardware()
	face := webface.New(bridge.backend(), webface.Options{OnePage: true, Log: s.logger()})
	defer face.Close()
	shape, err := s.shape(ctx)
	if err != nil {
		s.logger().Warn("cannot tell how the window was", "err", err)
	}
	first := fitShape(shape, screen{})
	state := options.Normal
	if shape.Maximised {
		state = options.Maximised
	}
	return wails.Run(&options.App{
		Title: "Termic", Width: first.Width, Height: first.Height, MinWidth: leastWidth, MinHeight: leastHeight, WindowStartState: state,
		OnDomReady:         func(window context.Context) { bridge.place(window, shape) },
		BackgroundColour:   background(frameColour(ctx, s, s.logger())),
		AssetServer:        &assetserver.Options{Assets: page, Handler: face, Middleware: dress},
		Bind:               []any{bridge},
		OnStartup:          func(window context.Context) { bridge.start(ctx, window) },
		OnBeforeClose:      bridge.beforeClose,
		DragAndDrop:        &options.DragAndDrop{EnableFileDrop: true}, // the page keeps the web view from showing what is dropped
		Linux:              &linux.Options{ProgramName: "termic", WebviewGpuPolicy: graphics.policy},
		Mac:                &mac.Options{OnUrlOpen: bridge.link},
		Logger:             windowLog{s.logger()},
		LogLevelProduction: logger.WARNING,
	})
}

func background(c rgb) *options.RGBA { return options.NewRGB(c.r, c.g, c.b) }
