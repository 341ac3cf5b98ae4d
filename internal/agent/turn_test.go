//go:build unix

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The Detector against a real program that looks done, works again, and is really done.
func TestTurnLooksDoneAndGoesOn(t *testing.T) {
	t.Parallel()
	k := kindFake()
	r := startFake(t, k, filepath.Join(t.TempDir(), "log"), "--manner", "osc7501", "--delay", "1s")
	mustSend(t, r, k, "go\n#stage", DeliverOptions{Fresh: true, PromptID: "p"})
	r.waitWork(t, Done, 20*time.Second)
	r.waitWork(t, Working, 20*time.Second)
	if st := r.waitWork(t, Done, 20*time.Second); st.WorkSeq != 2 || st.DoneSeq != 2 || st.Prompt != "p" {
		t.Errorf("%+v", st)
	}
}

// Background work on the screen holds the done of a real program.
func TestTurnIsHeldByBackgroundWork(t *testing.T) {
	t.Parallel()
	k := kindFake()
	r := startFake(t, k, filepath.Join(t.TempDir(), "log"), "--manner", "osc7501")
	mustSend(t, r, k, "go\n#pending 3s", DeliverOptions{Fresh: true})
	r.waitFor(t, "the hold", 20*time.Second, func(s State, _ Screen) bool { return s.Held })
	if st := r.waitWork(t, Done, 20*time.Second); st.Held || st.DoneSeq != 1 {
		t.Errorf("%+v", st)
	}
}

// A permission question is told in the agent's words, no prompt goes into it, and an answer lets the turn go on.
func TestTurnAsksForPermission(t *testing.T) {
	t.Parallel()
	for _, manner := range []string{"osc7501", "title"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			k := kindFake()
			r := startFake(t, k, log, "--manner", manner)
			mustSend(t, r, k, "go\n#ask may I touch it?", DeliverOptions{Fresh: true})
			st := r.waitWork(t, NeedsInput, 15*time.Second)
			if manner == "osc7501" && st.Detail != "may I touch it?" {
				t.Errorf("%+v", st)
			}
			if _, err := send(t, r, k, "second", DeliverOptions{}); err == nil {
				t.Error("a prompt went into the question")
			}
			r.Write(context.Background(), []byte("1"))
			r.waitWork(t, Working, 20*time.Second)
			r.waitWork(t, Done, 15*time.Second)
			wantPrompts(t, log, "go\n#ask may I touch it?")
			if _, events := readLog(t, log); len(events) != 1 || string(events[0].Prompt) != "Yes" {
				t.Errorf("events %+v", events)
			}
		})
	}
}

// Signals of every manner end a turn in the state that they mean.
func TestTurnsOfAllManners(t *testing.T) {
	t.Parallel()
	for manner, want := range map[string]Source{"osc7501": SourceStatus, "report": SourceStatus, "title": SourceTitle, "osc133": SourceShell, "progress": SourceProgress, "osc9": SourceNotify} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			k := kindFake()
			k.Signals.Reports = strings.HasPrefix(manner, "osc7501") || manner == "report"
			r := startFake(t, k, filepath.Join(t.TempDir(), "log"), "--manner", manner)
			mustSend(t, r, k, "go\n#work 500ms", DeliverOptions{Fresh: true})
			r.waitFor(t, "the end of the turn", 20*time.Second, func(s State, _ Screen) bool {
				return s.PromptWorked && s.Work != Working && s.Source == want
			})
		})
	}
}

// A conversation of the fake agent can be taken up by id and by directory, and only after its first prompt.
func TestResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	k.SessionIDArgs, k.ResumeIDArgs, k.ResumeArgs = []string{"--session-id", "{UUID}"}, []string{"--resume", "{UUID}"}, []string{"--continue"}
	k.Args = []string{"--manner", "osc7501"}
	env := []string{"FAKEAGENT_LOG=" + log, "FAKEAGENT_HOME=" + dir, "FAKEAGENT_CLAUDE=1", "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "cfg"), "HOME=" + dir}
	start := func(o LaunchOptions) (*realTerm, string) {
		argv, id, err := Launch(k, o)
		if err != nil {
			t.Fatal(err)
		}
		return startTerm(t, k, argv, env, dir), id
	}
	r, unused := start(LaunchOptions{})
	r.waitWork(t, Idle, 20*time.Second)
	if st := r.det.State(); st.Submits != 0 {
		t.Errorf("%+v", st)
	}
	r.close(t)
	r, _ = start(LaunchOptions{Resume: true, SessionID: unused})
	<-r.done // an id that was never used is unknown to the agent
	if code := r.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit status %d", code)
	}
	r, id := start(LaunchOptions{})
	mustSend(t, r, k, "remember", DeliverOptions{Fresh: true})
	r.waitWork(t, Done, 20*time.Second)
	if st := r.det.State(); st.Submits != 1 {
		t.Errorf("%+v", st)
	}
	r.close(t)
	for _, o := range []LaunchOptions{{Resume: true, SessionID: id}, {Resume: true, ResumeByDir: true}} {
		r, _ = start(o)
		r.waitFor(t, "the conversation", 20*time.Second, func(_ State, s Screen) bool {
			return strings.Contains(strings.Join(s.Lines, "\n"), "resumed "+id+" with 1 prompts")
		})
		r.close(t)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ClaudeTranscript(filepath.Join(dir, "cfg"), real, id, true)
	if err != nil || f.Text != "done with prompt 1" {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := os.Stat(f.Path); err != nil {
		t.Error(err)
	}
}

// Directives do what they say.
func TestDirectives(t *testing.T) {
	t.Parallel()
	k := kindFake()
	r := startFake(t, k, filepath.Join(t.TempDir(), "log"), "--manner", "osc7501")
	mustSend(t, r, k, "#write sub/a.txt some text\n#write ../out no\n#say all is well\n#flood 4\n#osc9 hi\n#bel", DeliverOptions{Fresh: true})
	r.waitWork(t, Done, 20*time.Second)
	b, err := os.ReadFile(filepath.Join(r.cmd.Dir, "sub/a.txt"))
	if err != nil || string(b) != "some text\n" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(r.cmd.Dir, "../out")); err == nil {
		t.Error("it wrote outside")
	}
	r.waitFor(t, "the answer", 5*time.Second, func(_ State, s Screen) bool { return strings.Contains(strings.Join(s.Lines, "\n"), "all is well") })
	if _, err := send(t, r, k, "#exit 7", DeliverOptions{}); err != nil && !errors.Is(err, ErrExited) { // it may be gone before its echo is seen
		t.Fatal(err)
	}
	<-r.done
	if code := r.cmd.ProcessState.ExitCode(); code != 7 || r.det.State().Work != Inactive {
		t.Errorf("exit status %d, %+v", code, r.det.State())
	}
}
