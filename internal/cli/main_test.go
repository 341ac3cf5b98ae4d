package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/fault"
	"termic/internal/grant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata. `go test ./internal/cli -update` writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what came out; if the change is meant, run `go test ./internal/cli -update`:\n%s", path, diff)
	}
}

// call is one call that the app got.
type call struct {
	verb   string
	params string
}

// app is a control server whose verbs are answered by a test.
type app struct {
	dir    string
	server *control.Server
	off    bool
	calls  []call
	answer func(ctx context.Context, verb string, emit func(api.Event)) (string, error)
	attach func(as control.AttachAs) (control.Attachment, error)
}

func (a *app) Call(ctx context.Context, _ grant.Caller, verb string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	a.calls = append(a.calls, call{verb, string(params)})
	out, err := a.answer(ctx, verb, emit)
	return json.RawMessage(out), err
}

func (a *app) Attach(_ context.Context, _ grant.Caller, params json.RawMessage, as control.AttachAs) (control.Attachment, error) {
	a.calls = append(a.calls, call{"attach", string(params)})
	return a.attach(as)
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func startApp(t *testing.T, answer func(context.Context, string, func(api.Event)) (string, error)) *app {
	t.Helper()
	a := &app{dir: shortDir(t), answer: answer}
	s, err := control.Listen(t.Context(), control.Options{Dir: a.dir, Backend: a, Version: "1.0", Enabled: func() bool { return !a.off },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	a.server = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// says is an app that answers every verb alike.
func says(t *testing.T, result string) *app {
	t.Helper()
	return startApp(t, func(context.Context, string, func(api.Event)) (string, error) { return result, nil })
}

// fails is an app that refuses every verb.
func fails(t *testing.T, err error) *app {
	t.Helper()
	return startApp(t, func(context.Context, string, func(api.Event)) (string, error) { return "", err })
}

// ran is what one run of the command line left.
type ran struct {
	exit        int
	out, errors string
}

// env are the variables of a run; the app's folder is put in by run.
type env map[string]string

func (a *app) run(t *testing.T, e env, stdin string, args ...string) ran {
	t.Helper()
	vars := env{"TERMIC_DATA_DIR": a.dir, "HOME": a.dir}
	for k, v := range e {
		vars[k] = v
	}
	var out, errs bytes.Buffer
	code := Run(t.Context(), Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: "/home/me/here", Version: "1.0",
		Getenv: func(k string) string { return vars[k] }})
	return ran{code, out.String(), errs.String()}
}

// alone runs without any app.
func alone(t *testing.T, e env, args ...string) ran {
	t.Helper()
	return (&app{dir: shortDir(t)}).run(t, e, "", args...)
}

func newFault(code fault.Code) *fault.Error {
	return fault.New(code, "It went wrong").WithHint("Do it right.").WithData("k", "v")
}
