//go:build !windows

package ptyhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"
)

// BenchmarkStart measures from Start to its return, and to the first and last byte of a program that says one word.
func BenchmarkStart(b *testing.B) {
	h := testHost(b)
	var began, done, gone time.Duration
	for i := 0; b.Loop(); i++ {
		spec := Spec{ID: fmt.Sprint("bench", i), Argv: []string{"/bin/echo", "hi"}, Dir: "/", Env: []string{"PATH=/bin"}}
		t0 := time.Now()
		term := start(b, h, spec)
		began += time.Since(t0)
		<-term.Done()
		done += time.Since(t0)
		<-term.gone
		gone += time.Since(t0)
		h.Forget(spec.ID)
	}
	n := float64(b.N)
	b.ReportMetric(began.Seconds()*1e3/n, "ms/start")
	b.ReportMetric(done.Seconds()*1e3/n, "ms/done")
	b.ReportMetric(gone.Seconds()*1e3/n, "ms/gone")
}

const floodBytes = 50 << 20

func floodSpec(b *testing.B) Spec {
	spec := childSpec(b, "print", fmt.Sprint(floodBytes))
	spec.Size = Size{Cols: 120, Rows: 40}
	return spec
}

// bareFlood reads the same program from a pseudo-terminal and does nothing with it.
func bareFlood(b *testing.B) time.Duration {
	spec := floodSpec(b)
	spec.ID += "bare"
	path, err := prepare(&spec)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	pty, c, _, err := startChild(path, spec)
	if err != nil {
		b.Fatal(err)
	}
	defer pty.Close()
	n, err := io.Copy(io.Discard, struct{ io.Reader }{pty})
	if n < floodBytes {
		b.Fatalf("%d bytes, %v", n, err)
	}
	took := time.Since(began)
	c.wait()
	c.release()
	return took
}

// viewedFlood runs it in a terminal with a viewer that takes all in, as the window does.
func viewedFlood(b *testing.B, h *Host) time.Duration {
	began := time.Now()
	term := start(b, h, floodSpec(b))
	a, err := term.Attach(AttachOptions{AnswersQueries: true})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for {
		f, err := a.Next(context.Background())
		if errors.Is(err, ErrDetached) {
			break
		}
		n += len(f.Data)
		a.Ack(f.Seq)
	}
	took := time.Since(began)
	if n < floodBytes {
		b.Fatalf("the viewer got %d bytes", n)
	}
	<-term.gone
	return took
}

// BenchmarkFlood compares 50 MiB through a terminal into a viewer with reading a pseudo-terminal bare, in pairs.
func BenchmarkFlood(b *testing.B) {
	h := testHost(b)
	var bare, viewed time.Duration
	for b.Loop() {
		bare += bareFlood(b)
		viewed += viewedFlood(b, h)
	}
	n := float64(b.N)
	b.ReportMetric(floodBytes*n/bare.Seconds()/1e6, "bare-MB/s")
	b.ReportMetric(floodBytes*n/viewed.Seconds()/1e6, "viewed-MB/s")
	b.ReportMetric(viewed.Seconds()/bare.Seconds(), "ratio")
}

// BenchmarkIdleMemory measures what a quiet terminal holds.
func BenchmarkIdleMemory(b *testing.B) {
	const terms = 20
	for b.Loop() {
		h := New(Options{})
		before := heap()
		var list []*Terminal
		for i := range terms {
			spec := Spec{ID: fmt.Sprint("idle", i), Argv: []string{"/bin/sh", "-c", "echo up; read x"}, Dir: os.TempDir(),
				Env: []string{"PATH=/bin:/usr/bin"}, Size: Size{Cols: 120, Rows: 40}}
			term := start(b, h, spec)
			waitFor(b, term, "up")
			list = append(list, term)
		}
		b.ReportMetric(float64(heap()-before)/terms/1024, "KiB/terminal")
		runtime.KeepAlive(list)
		if err := h.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
