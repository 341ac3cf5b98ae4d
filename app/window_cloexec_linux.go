//go:build !headless

package app

import (
	"net/http"
	"syscall"

	"golang.org/x/sys/unix"
)

// closeOnExec closes a leak: the window's asset server makes a pipe for each answer without the mark that keeps it out of
// child processes, so a shell started while terminals stream would hold both ends of other terminals' streams. The mark
// is set right after the pipe is made, and no process of ours can start in between.
func closeOnExec(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&markingWriter{ResponseWriter: w}, r)
	})
}

// markingWriter marks descriptors when the header of an answer is written, which is when its pipe is made.
type markingWriter struct {
	http.ResponseWriter
	marked bool
}

func (w *markingWriter) WriteHeader(code int) {
	if w.marked {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.marked = true
	guarded(func() { w.ResponseWriter.WriteHeader(code) })
}

func (w *markingWriter) Write(p []byte) (n int, err error) {
	if w.marked {
		return w.ResponseWriter.Write(p)
	}
	if _, ok := w.Header()["Content-Type"]; !ok {
		w.Header().Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets a response controller reach the writer below.
func (w *markingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// guarded runs makePipe while no process can be started, and marks what it made. Older kernels (before 5.11) cannot mark
// a range; there the child's own closing of descriptors is what is left.
func guarded(makePipe func()) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	makePipe()
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // see above
}
