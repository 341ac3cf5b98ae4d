package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"

	"termic/internal/ptyhost"
)

// floodBytes is how much text goes through the terminal. Lines of 80 characters, as a compiler prints them.
const floodBytes = 50 << 20

// flood reads 50 MB through a PTY bare, and through a terminal with ring, screen and one viewer.
func flood(ctx context.Context, b *bench) ([]row, error) {
	file := filepath.Join(b.dir, "flood.txt")
	line := strings.Repeat("the quick brown fox ", 4)[:79] + "\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(line, floodBytes/len(line))), 0o600); err != nil {
		return nil, err
	}
	var ours, peer []time.Duration
	for range 3 {
		p, err := floodBare(file)
		if err != nil {
			return nil, err
		}
		o, err := floodHost(ctx, file)
		if err != nil {
			return nil, err
		}
		ours, peer = append(ours, o), append(peer, p)
	}
	o, p := median(ours), median(peer)
	return []row{{"50 MB through a PTY into a viewer, against reading the PTY bare", ms(o), ms(p), ratio(float64(o), float64(p))}}, nil
}

func floodBare(file string) (time.Duration, error) {
	start := time.Now()
	cmd := exec.Command("cat", file)
	f, err := pty.Start(cmd)
	if err != nil {
		return 0, err
	}
	n, _ := io.Copy(io.Discard, f) // a PTY ends with EIO
	took := time.Since(start)
	if n < floodBytes-100 {
		return 0, fmt.Errorf("only %d bytes came", n)
	}
	return took, errors.Join(cmd.Wait(), f.Close())
}

func floodHost(ctx context.Context, file string) (time.Duration, error) {
	h := ptyhost.New(ptyhost.Options{})
	defer h.Close(ctx)
	start := time.Now()
	t, err := h.Start(ptyhost.Spec{ID: "flood", Argv: []string{"/bin/cat", file}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return 0, err
	}
	view, err := t.Attach(ptyhost.AttachOptions{AnswersQueries: true})
	if err != nil {
		return 0, err
	}
	for {
		f, err := view.Next(ctx)
		if err != nil {
			return 0, err
		}
		if f.Kind == ptyhost.FrameExit {
			break
		}
		view.Ack(f.Seq)
	}
	took := time.Since(start)
	if _, _, total := t.Log(1); total < floodBytes-100 {
		return 0, fmt.Errorf("only %d bytes came", total)
	}
	return took, nil
}
