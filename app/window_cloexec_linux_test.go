//go:build !headless

package app

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// leakyWriter makes a pipe without the mark when the header is written, as the window's asset server does.
type leakyWriter struct {
	header http.Header
	fds    [2]int
	body   []byte
}

func (w *leakyWriter) Header() http.Header { return w.header }
func (w *leakyWriter) WriteHeader(int)     { _ = syscall.Pipe2(w.fds[:], 0) }
func (w *leakyWriter) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

func TestPipesOfAnswersDoNotReachChildren(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"header": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"body":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") },
	} {
		t.Run(name, func(t *testing.T) {
			w := &leakyWriter{header: http.Header{}}
			closeOnExec(handler).ServeHTTP(w, nil)
			for _, fd := range w.fds {
				flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
				if err != nil || flags&unix.FD_CLOEXEC == 0 {
					t.Errorf("descriptor %d: flags %d, %v", fd, flags, err)
				}
				if err := os.NewFile(uintptr(fd), strconv.Itoa(fd)).Close(); err != nil {
					t.Error(err)
				}
			}
			if name == "body" && w.header.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("content type %q", w.header.Get("Content-Type"))
			}
		})
	}
}
