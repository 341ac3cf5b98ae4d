//go:build !headless

package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"

	"termic/app/webface"
	"termic/frontend"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/datadir"
	"termic/internal/fault"
)

// HasWindow says whether this build can open a window.
const HasWindow = true

// Window runs the app with its window until the person closes it, somebody asks the app to end, or ctx ends. It returns
// the exit code of the program. Where the profile has a window already, that one is shown instead.
func Window(ctx context.Context, o Options) int {
	o.Face = "window"
	a, err := Open(ctx, o)
	if err != nil {
		if raiseOther(ctx, o) {
			return fault.ExitOK
		}
		f := fault.From(err)
		_, _ = fmt.Fprintf(o.LogTo, "termic: %s. %s\n", f.Message, f.Hint) // nobody is left to tell if this fails
		return fault.ExitError
	}
	if err := errors.Join(a.RunWindow(ctx), a.Close()); err != nil {
		a.Log.Error("the window ended badly", "err", err)
		return fault.ExitError
	}
	return fault.ExitOK
}

// raiseOther shows the window of the app that holds the profile, if there is one.
func raiseOther(ctx context.Context, o Options) bool {
	path, err := datadir.Find(o.Getenv)
	if err != nil {
		return false
	}
	raised, err := control.Raise(ctx, control.AddressIn(path))
	return err == nil && raised
}

// RunWindow shows the window of an opened app and returns when it is closed. It must run on the first thread of the
// program.
func (a *App) RunWindow(ctx context.Context) error {
	page, err := frontend.Page()
	if err != nil {
		return err
	}
	graphics := planGraphics(os.DirFS("/"), os.Getenv)
	if err := graphics.prepare(); err != nil {
		return err
	}
	face := webface.New(webface.ForOwner(a.Dispatcher, a.Core), webface.Options{OnePage: true, Log: a.Log})
	bridge := newBridge(a, graphics.hardware())
	defer bridge.close()
	defer face.Close()
	defer a.OnRaise(nil)
	shape := a.shape(ctx)
	first := fitShape(shape, screen{})
	state := options.Normal
	if shape.Maximised {
		state = options.Maximised
	}
	return wails.Run(&options.App{
		Title: "Termic", Width: first.Width, Height: first.Height, MinWidth: leastWidth, MinHeight: leastHeight, WindowStartState: state,
		OnDomReady:         func(window context.Context) { bridge.place(window, shape) },
		BackgroundColour:   a.background(),
		AssetServer:        &assetserver.Options{Assets: page, Handler: face, Middleware: closeOnExec},
		Bind:               []any{bridge},
		OnStartup:          func(window context.Context) { bridge.start(ctx, window) },
		OnBeforeClose:      bridge.beforeClose,
		DragAndDrop:        &options.DragAndDrop{DisableWebViewDrop: true},
		Linux:              &linux.Options{ProgramName: "termic", WebviewGpuPolicy: graphics.policy},
		Logger:             windowLog{a.Log},
		LogLevelProduction: logger.WARNING,
	})
}

// shape is how the window was when it was seen last; without that it is as big as it usually is.
func (a *App) shape(ctx context.Context) core.WindowShape {
	s, err := a.Core.Shape(ctx)
	if err != nil {
		a.Log.Warn("cannot tell how the window was", "err", err)
	}
	return s
}

// background is what is seen until the page is drawn: the frame of the theme, so that nothing flashes.
func (a *App) background() *options.RGBA {
	if a.settings.Get().Appearance.Theme == "light" {
		return options.NewRGB(0xf5, 0xf5, 0xf3)
	}
	return options.NewRGB(0x16, 0x17, 0x1a)
}
