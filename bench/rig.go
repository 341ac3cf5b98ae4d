package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"termic/internal/control"
)

// bench is the folder that everything happens in.
type bench struct {
	dir, home, data, repo, bin, agent string
}

// quiet is an agent that prints one line and waits.
const quiet = "#!/bin/sh\nprintf 'ready\\n'\nexec sleep 100000\n"

func newBench() (*bench, error) {
	bin, err := filepath.Abs("build/bin/termic-headless")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(bin); err != nil {
		return nil, errors.New("build/bin/termic-headless is not there; run `make headless` first")
	}
	dir, err := os.MkdirTemp("", "termic-bench")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, home: filepath.Join(dir, "home"), data: filepath.Join(dir, "data"), repo: filepath.Join(dir, "repo"),
		agent: filepath.Join(dir, "quiet-agent"), bin: bin}
	for _, d := range []string{b.home, b.data, b.repo} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	settings := fmt.Sprintf("[tasks]\ndir = %q\nfetch_before_create = false\n[[agents]]\nid = \"quiet\"\ncommand = %q\n", filepath.Join(b.home, "tasks"), b.agent)
	err = errors.Join(os.WriteFile(b.agent, []byte(quiet), 0o700), os.WriteFile(filepath.Join(b.data, "settings.toml"), []byte(settings), 0o600))
	for i := range 400 {
		err = errors.Join(err, os.WriteFile(filepath.Join(b.repo, fmt.Sprintf("file-%03d.txt", i)), make([]byte, 2000), 0o600))
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-qm", "first"}} {
		err = errors.Join(err, b.git(args...))
	}
	return b, err
}

// close removes the folder. What could not be removed is said, since nobody looks into the temporary folder.
func (b *bench) close() {
	if err := os.RemoveAll(b.dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

func (b *bench) env() []string {
	return append(os.Environ(), "HOME="+b.home, "TERMIC_DATA_DIR="+b.data, "SHELL=/bin/sh", "GIT_CONFIG_GLOBAL=/dev/null")
}

func (b *bench) git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.repo, b.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}

// running is a started app.
type running struct {
	cmd *exec.Cmd
	out io.ReadCloser
}

// serve starts the app and waits until it answers.
func (b *bench) serve() (*running, error) {
	cmd := exec.Command(b.bin, "serve", "--log-level", "error")
	cmd.Env, cmd.Stderr = b.env(), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &running{cmd, out}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("the app did not come up: %q: %w", line, err), r.stop())
	}
	return r, nil
}

func (r *running) stop() error {
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return r.cmd.Wait()
}

// call runs a verb over the control socket.
func (b *bench) call(ctx context.Context, verb string, params map[string]any, out any) error {
	c, err := control.Dial(ctx, control.AddressIn(b.data))
	if err != nil {
		return err
	}
	defer c.Close()
	return callOn(ctx, c, verb, params, out)
}

// callOn is a call over a connection that stands.
func callOn(ctx context.Context, c *control.Client, verb string, params map[string]any, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	data, err := c.Call(ctx, verb, raw, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return json.Unmarshal(data, out)
}

// until polls for something that nobody tells of.
func until(ctx context.Context, every time.Duration, ok func() (bool, error)) error {
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}
