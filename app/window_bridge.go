//go:build !headless

package app

import (
	"context"
	"errors"
	"sync"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"termic/internal/api"
	"termic/internal/fault"
)

// Events that the window tells the page.
const (
	closeAsked = "termic:close" // ask the person; the page answers with CloseShown
	seatOver   = "termic:over"  // what `termic serve` showed has ended
)

// Bridge is what the page can ask of the window itself, and nothing else: everything about tasks is a verb. Its exported
// methods are callable from the page's own script only.
//
// What the window shows is its seat. Where that ends while the window stays, the person can have another one.
//
// For each seat it owns two goroutines: one turns the end of the seat into the end of the window or into a word to the
// page, one tells the desktop what happens while nobody looks. close stops them, waits, and closes the seat.
type Bridge struct {
	options  Options
	hardware bool
	desktop  desktop

	changing sync.Mutex // held while the seat is changed; before mu

	mu     sync.Mutex // guards the following
	now    seat
	window context.Context
	first  string             // link that is shown once the window is there
	ctx    context.Context    // of the program
	stop   context.CancelFunc // ends the goroutines of the seat
	done   *sync.WaitGroup    // waits for them
	asked  bool               // the person closed the window while agents run, and the page was told
	shown  bool               // the page said that it shows the question
	kept   api.WindowShape    // that was kept last
	placed bool               // the window is where it was
	looks  bool               // the person looks at the window, as the page said last
}

func newBridge(o Options, s seat, link string) *Bridge {
	return &Bridge{options: o, now: s, first: link, stop: func() {}, done: &sync.WaitGroup{}}
}

// seat is what the window shows now.
func (b *Bridge) seat() seat {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// start takes the window's context, which runtime calls need, and sits down.
func (b *Bridge) start(ctx, window context.Context) {
	b.mu.Lock()
	b.window, b.ctx = window, ctx
	link := b.first
	b.mu.Unlock()
	b.sit(b.seat())
	watchWebProcess(b.seat().logger())
	if link != "" {
		b.link(link)
	}
}

// sit starts what goes with a seat.
func (b *Bridge) sit(s seat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	window := b.window
	s.onRaise(func() bool {
		runtime.WindowUnminimise(window)
		runtime.WindowShow(window)
		return true
	})
	ctx, stop := context.WithCancel(b.ctx)
	done := &sync.WaitGroup{}
	b.now, b.stop, b.done = s, stop, done
	done.Go(func() { b.tellDesktop(ctx, window, s) })
	outer := b.ctx
	done.Go(func() {
		select {
		case <-ctx.Done():
			if outer.Err() == nil {
				return // the seat is changed
			}
		case <-s.over():
		}
		if window.Err() != nil {
			return
		}
		if !s.wanted() && outer.Err() == nil {
			runtime.EventsEmit(window, seatOver)
			return
		}
		s.leave() // so that beforeClose lets the window go
		runtime.Quit(window)
	})
}

// link shows what a link asks for: one that the program was started with, or that the system handed to it later.
func (b *Bridge) link(link string) {
	b.mu.Lock()
	s, ctx := b.now, b.window
	if ctx == nil {
		b.first = link
	}
	b.mu.Unlock()
	if ctx != nil {
		showLink(ctx, s.logger(), link, s.Call)
	}
}

// Over reports whether what the window showed has ended.
func (b *Bridge) Over() bool {
	s := b.seat()
	select {
	case <-s.over():
		return !s.wanted()
	default:
		return false
	}
}

// Served reports whether another process, `termic serve`, runs what the window shows.
func (b *Bridge) Served() bool { return b.seat().served() }

// StartAgain takes another seat after the one before has ended. The page then loads itself anew.
func (b *Bridge) StartAgain() error {
	b.changing.Lock()
	defer b.changing.Unlock()
	if !b.Over() {
		return nil
	}
	old := b.seat()
	b.mu.Lock()
	ctx, stop, done := b.ctx, b.stop, b.done
	b.mu.Unlock()
	s, err := takeSeat(ctx, b.options, "")
	if err == nil && s == nil {
		err = fault.New(fault.Conflict, "Another window shows Termic by now").WithHint("Close this one.")
	}
	if err != nil {
		f := fault.From(err)
		return errors.New(f.Message + ". " + f.Hint) // what the page shows
	}
	stop()
	done.Wait()
	if err := old.close(); err != nil {
		old.logger().Debug("the seat that ended was not closed well", "err", err)
	}
	b.sit(s)
	return nil
}

func (b *Bridge) close() error {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.mu.Lock()
	s, stop, done := b.now, b.stop, b.done
	b.mu.Unlock()
	stop()
	done.Wait()
	s.onRaise(nil)
	return s.close()
}

// beforeClose decides whether the window may close: not while agents run, unless the person agreed. A page that does not
// answer cannot hold the window open: the second try closes it.
func (b *Bridge) beforeClose(window context.Context) (prevent bool) {
	seat := b.seat()
	select {
	case <-seat.over():
		return false
	default:
	}
	if seat.endsAgents(window) == 0 {
		seat.leave()
		return false
	}
	b.mu.Lock()
	again := b.asked && !b.shown
	b.asked, b.shown = true, false
	b.mu.Unlock()
	if again {
		seat.leave()
		return false
	}
	runtime.EventsEmit(window, closeAsked)
	return true
}

// place puts the window where it was, where that is on the screen that it came up on, and makes it no bigger than that. It
// does so once: a page that is loaded again finds the window where the person put it.
func (b *Bridge) place(window context.Context, was api.WindowShape) {
	b.mu.Lock()
	placed := b.placed
	b.placed = true
	b.mu.Unlock()
	if placed {
		return
	}
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
	s := api.WindowShape{Maximised: runtime.WindowIsMaximised(window), Placed: true}
	s.Width, s.Height = runtime.WindowGetSize(window)
	s.X, s.Y = runtime.WindowGetPosition(window)
	b.mu.Lock()
	known, seat := b.kept == s, b.now
	b.kept = s
	b.mu.Unlock()
	if known {
		return
	}
	if err := seat.keepShape(context.WithoutCancel(window), s); err != nil {
		seat.logger().Warn("the shape of the window is not kept", "err", err)
	}
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

// PickFiles shows the system's dialog for files: where nothing can be dropped, their paths come this way. It returns none
// when the person cancelled.
func (b *Bridge) PickFiles(title string) ([]string, error) {
	return runtime.OpenMultipleFilesDialog(b.context(), runtime.OpenDialogOptions{Title: title})
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
func (b *Bridge) Painted() { b.seat().logger().Info("the window is drawn") }

func (b *Bridge) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window
}
