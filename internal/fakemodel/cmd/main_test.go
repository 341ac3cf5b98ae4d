//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The command serves until it is interrupted, and has logged all by then.
func TestRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run([]string{"-log", log}, w) }()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(strings.TrimSpace(url)+"/v1/responses", "application/json", strings.NewReader(`{"input":"hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), `"prompts":["hi"]`) {
		t.Errorf("log: %s, %v", b, err)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-addr", "0.0.0.0:0"}, {"-log", "/nonexistent/x"}, {"-what"}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
