//go:build linux && !headless

package app

// #cgo pkg-config: gtk+-3.0 webkit2gtk-4.1
// #include <stdint.h>
// void termic_watch_web_process(uintptr_t watch);
import "C"

import (
	"log/slog"
	"runtime/cgo"
	"sync"
	"time"
)

// webProcess watches the process that draws the page. When that ends (it crashed, or the system took its memory) the page
// is loaded anew: terminals and tasks live here, so nothing of them is lost. The toolkit by itself leaves the window blank
// for ever.
type webProcess struct {
	log  *slog.Logger
	mu   sync.Mutex // guards ends
	ends endings
}

// watchWebProcess begins to watch, for as long as the window is there.
func watchWebProcess(log *slog.Logger) {
	C.termic_watch_web_process(C.uintptr_t(cgo.NewHandle(&webProcess{log: log})))
}

// webProcessEnded is called on the main thread when the process has ended, and says whether to load the page anew.
//
//export webProcessEnded
func webProcessEnded(watch C.uintptr_t, memory C.int) C.int {
	w := cgo.Handle(watch).Value().(*webProcess)
	w.mu.Lock()
	defer w.mu.Unlock()
	again := w.ends.again(time.Now())
	w.log.Error("the process that draws the window has ended", "too_much_memory", memory != 0, "loads_again", again)
	if again {
		return 1
	}
	return 0
}
