//go:build unix

package editor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
)

// TestStart starts real programs.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "ed it")
	text := "#!/bin/sh\nif [ \"$1\" = fail ]; then exit 3; fi\n{ printf '%s\\n' \"$@\"; env; echo \"pid $$\"; } >'" + dir + "/told'\nread x && echo \"$x\" >>'" + dir + "/told'\nexec sleep 30\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	c := Command{Name: "ed it", Argv: []string{script, "a b", "--", "c"}}
	if err := Start(t.Context(), c, []string{"PATH=" + os.Getenv("PATH"), "ONLY=this"}, dir); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it was waited for %s", took)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil || !strings.HasPrefix(string(told), "a b\n--\nc\n") || !strings.Contains(string(told), "ONLY=this") || strings.Contains(string(told), "HOME=") {
		t.Errorf("told %q, %v", told, err)
	}
	var pid int
	for line := range strings.Lines(string(told)) {
		if rest, is := strings.CutPrefix(strings.TrimSpace(line), "pid "); is {
			pid, _ = strconv.Atoi(rest)
		}
	}
	if sid, err := unix.Getsid(pid); err != nil || pid == 0 || sid != pid {
		t.Errorf("the editor %d is in the session %d, %v", pid, sid, err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("it does not run any more: %v", err)
	}
	err = Start(t.Context(), Command{Name: "x", Argv: []string{script, "fail"}}, nil, dir)
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || !strings.Contains(f.Message, "ended at once with a failure (exit status 3)") {
		t.Errorf("%v", err)
	}
	err = Start(t.Context(), Command{Name: "x", Argv: []string{filepath.Join(dir, "nosuch")}}, nil, dir)
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || !strings.Contains(f.Message, "could not be started") {
		t.Errorf("%v", err)
	}
}
