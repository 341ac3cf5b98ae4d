//go:build !headless

package app

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
)

// closeAsked is the event by which the window asks the page to ask the person. The page answers with CloseShown.
const closeAsked = "termic:close"

// Bridge is what the page can ask of the window itself, and nothing else: everything about tasks is a verb. Its exported
// methods are callable from the page's own script only.
//
// It owns two goroutines: one turns the end of the app into the end of the window, one tells the desktop what happens
// while nobody looks. close stops them and waits.
type Bridge struct {
	app      *App
	hardware bool
	stop     context.CancelFunc
	done     sync.WaitGroup
	desktop  desktop

	mu     sync.Mutex // guards the following
	window context.Context
	asked  bool             // the person closed the window while agents run, and the page was told
	shown  bool             // the page said that it shows the question
	shape  core.WindowShape // that was kept last
	looks  bool             // the person looks at the window, as the page said last
}

func newBridge(a *App, hardware bool) *Bridge {
	return &Bridge{app: a, hardware: hardware, stop: func() {}}
}

// start takes the window's context, which runtime calls need, and begins to watch for the end of the app.
func (b *Bridge) start(ctx, window context.Context) {
	b.mu.Lock()
	b.window = window
	b.mu.Unlock()
	b.app.OnRaise(func() bool {
		runtime.WindowUnminimise(window)
		runtime.WindowShow(window)
		return true
	})
	ctx, b.stop = context.WithCancel(ctx)
	b.done.Go(func() { b.tellDesktop(ctx, window) })
	b.done.Go(func() {
		select {
		case <-ctx.Done():
		case <-b.app.Quitting():
		}
		if window.Err() == nil {
			b.app.Quit() // so that beforeClose lets the window go
			runtime.Quit(window)
		}
	})
}

func (b *Bridge) close() {
	b.stop()
	b.done.Wait()
}

// beforeClose decides whether the window may close: not while agents run, unless the person agreed. A page that does not
// answer cannot hold the window open: the second try closes it.
func (b *Bridge) beforeClose(window context.Context) (prevent bool) {
	select {
	case <-b.app.Quitting():
		return false
	default:
	}
	if b.app.liveAgents(window) == 0 {
		b.app.Quit()
		return false
	}
	b.mu.Lock()
	again := b.asked && !b.shown
	b.asked, b.shown = true, false
	b.mu.Unlock()
	if again {
		b.app.Quit()
		return false
	}
	runtime.EventsEmit(window, closeAsked)
	return true
}

// place puts the window where it was, where that is on the screen that it came up on, and makes it no bigger than that.
func (b *Bridge) place(window context.Context, was core.WindowShape) {
	if was.Maximised || was.Width == 0 {
		return
	}
	s := fitShape(was, screenOf(window))
	runtime.WindowSetSize(window, s.Width, s.Height)
	if s.Placed {
		runtime.WindowSetPosition(window, s.X, s.Y)
	}
}

// screenOf is the screen on which the window is; nothing where that is not known.
func screenOf(window context.Context) screen {
	all, err := runtime.ScreenGetAll(window)
	if err != nil {
		return screen{}
	}
	for _, s := range all {
		if s.IsCurrent || len(all) == 1 {
			return screen{s.Size.Width, s.Size.Height}
		}
	}
	return screen{}
}

// Shaped says that the window may have another size or place, which is kept for the next start.
func (b *Bridge) Shaped() {
	window := b.context()
	if window == nil || window.Err() != nil || runtime.WindowIsFullscreen(window) || runtime.WindowIsMinimised(window) {
		return
	}
	s := core.WindowShape{Maximised: runtime.WindowIsMaximised(window), Placed: true}
	s.Width, s.Height = runtime.WindowGetSize(window)
	s.X, s.Y = runtime.WindowGetPosition(window)
	b.mu.Lock()
	known := b.shape == s
	b.shape = s
	b.mu.Unlock()
	if known {
		return
	}
	if err := b.app.Core.KeepShape(context.WithoutCancel(window), s); err != nil {
		b.app.Log.Warn("the shape of the window is not kept", "err", err)
	}
}

// liveAgents asks, as the person would, how many agents the end of the app would end.
func (a *App) liveAgents(ctx context.Context) int {
	raw, err := a.Dispatcher.Call(ctx, grant.OwnerOn(grant.Window), "quit", json.RawMessage(`{}`), nil)
	var preview api.QuitResult
	if err != nil || json.Unmarshal(raw, &preview) != nil {
		a.Log.Error("cannot tell what quitting would end", "err", err)
		return 0
	}
	return preview.LiveAgents
}

// CloseShown says that the page shows the question whether to quit.
func (b *Bridge) CloseShown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = true
}

// DrawsInHardware says whether the window draws on a graphics processor: there terminals are drawn with WebGL.
func (b *Bridge) DrawsInHardware() bool { return b.hardware }

// PickDirectory shows the system's dialog for a folder. It returns "" when the person cancelled.
func (b *Bridge) PickDirectory(title string) (string, error) {
	return runtime.OpenDirectoryDialog(b.context(), runtime.OpenDialogOptions{Title: title})
}

// ClipboardRead returns the text of the clipboard.
func (b *Bridge) ClipboardRead() (string, error) { return runtime.ClipboardGetText(b.context()) }

// ClipboardWrite puts text on the clipboard.
func (b *Bridge) ClipboardWrite(text string) error {
	return runtime.ClipboardSetText(b.context(), text)
}

// OpenExternal opens a web page in the person's browser. Only http and https are opened: the address comes from what a
// program printed.
func (b *Bridge) OpenExternal(address string) error {
	if !webAddress(address) {
		return fault.New(fault.InvalidArgument, "Only web pages are opened from a terminal")
	}
	runtime.BrowserOpenURL(b.context(), address)
	return nil
}

// Painted says that the page was drawn for the first time.
func (b *Bridge) Painted() { b.app.Log.Info("the window is drawn") }

func (b *Bridge) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window
}
