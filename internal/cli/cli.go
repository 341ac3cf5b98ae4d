// Package cli is the command line: it reads flags, asks the running app through package control, and prints.
//
// Everything it offers is made from the verb table, so that help, flags and parameters cannot differ from what the
// app takes. It adds no behaviour to a verb and no authority. What it does itself is a client's part: it fills in the
// current folder, asks before something is destroyed, shows progress, and turns results and errors into text and exit
// codes.
//
// Output. Results go to standard output, everything else to standard error. With --json the output is exactly the
// bytes of the verb's result and a newline; an error is then {"error":{...}} on standard output beside the words on
// standard error. With --output stream-json each event is a line before the result. Text is plain: no colour, aligned
// columns, and every control character of a name or a title is shown as a mark. What a program printed (logs, result,
// a patch) is passed on as it is when standard output is a file or a pipe, and cleaned when it is a terminal.
//
// Exit codes are those of package fault, and 130 when an interrupt ended the watching; the app is never told to stop
// by that.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"termic/internal/control"
	"termic/internal/fault"
	"termic/internal/verb"
)

// exitInterrupted is what shells report for a program that an interrupt ended.
const exitInterrupted = 130

// Env is everything that the command line takes from its surroundings.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Dir     string // current folder; empty when it cannot be told
	Version string
	// Serve runs the app without a window until ctx ends.
	Serve func(ctx context.Context, o ServeOptions) error
}

// ServeOptions are the flags of serve.
type ServeOptions struct {
	LogFormat string // text, json; empty: text
	LogLevel  string // debug, info, warn, error; empty: info
	Web       WebOptions
}

// WebOptions say whether and how serve offers the browser face.
type WebOptions struct {
	Addr  string   // empty: not at all
	Hosts []string // of a proxy in front
	Plain bool     // that proxy speaks TLS
}

// Run does what the arguments say and returns the exit code. Ending ctx stops the watching, not the app.
func Run(ctx context.Context, e Env) int {
	r := &runner{Env: e}
	inv, err := parse(e.Args)
	r.global = inv.global
	if err == nil {
		err = r.dispatch(ctx, inv)
	}
	return r.finish(ctx, inv, err)
}

// runner is one run of the program.
type runner struct {
	Env
	global global
	exit   int    // code of a run that did not fail: the outcome of a wait
	told   string // the last state of the agent that was put into words
}

// dispatch picks between what the command line answers itself and what the app answers.
func (r *runner) dispatch(ctx context.Context, inv invocation) error {
	switch {
	case inv.help:
		return r.help(inv.path)
	case r.global.remote != "":
		return r.callRemote(ctx, inv)
	case inv.verb.Name == "login":
		return r.login(ctx, inv)
	case inv.verb.Name == "logout":
		return r.logout(inv)
	case inv.verb.Name == "help":
		if inv.on("man") {
			return r.manual()
		}
		return r.help(inv.text("verb"))
	case inv.verb.Name == "version":
		return r.version()
	case inv.verb.Name == "completion":
		return r.completion(ctx, inv.text("shell"))
	case inv.verb.Name == "mcp_headers":
		return r.mcpHeaders(inv.on("bearer"))
	case inv.verb.Name == "serve":
		return r.serve(ctx, inv)
	}
	if err := r.refuseInCage(); err != nil {
		return err
	}
	switch inv.verb.Name {
	case "attach":
		return r.attach(ctx, inv)
	case "doctor":
		return r.doctor(ctx, inv)
	}
	return r.call(ctx, inv)
}

// refuseInCage saves a caged agent the wait for a refusal: no cage but Monitor reaches the socket.
func (r *runner) refuseInCage() error {
	if r.Getenv("TERMIC_SANDBOX") != "1" || r.Getenv("TERMIC_SANDBOX_MODE") == "monitor" {
		return nil
	}
	return fault.New(fault.Forbidden, "The command line does not work inside a cage").
		WithHint("Ask the person to run it, or use the MCP tools if this task has them.")
}

// usageError is a command line that did not parse. usage is the line to show, or empty.
type usageError struct {
	cause *fault.Error
	usage string
}

func (e *usageError) Error() string { return e.cause.Error() }

// Unwrap lets fault.From find the error inside.
func (e *usageError) Unwrap() error { return e.cause }

func badUsage(v *verb.Verb, format string, args ...any) error {
	cause := fault.New(fault.InvalidArgument, format, args...)
	if v == nil {
		return &usageError{cause: cause.WithHint("`termic help` lists the verbs.")}
	}
	return &usageError{cause: cause, usage: usageLine(v)}
}

// orNear adds to a usage error the word that was probably meant.
func orNear(err error, asked string, have []string) error {
	if u, ok := err.(*usageError); ok {
		u.cause = u.cause.OrNear(asked, have)
	}
	return err
}

// finish prints an error, if there was one, and chooses the exit code.
func (r *runner) finish(ctx context.Context, inv invocation, err error) int {
	if err == nil {
		return r.exit
	}
	if ctx.Err() != nil {
		if inv.verb == nil || inv.verb.Name != "serve" {
			fmt.Fprintln(r.Stderr, "termic: stopped watching; what was begun goes on in the app")
		}
		return exitInterrupted
	}
	f := fault.From(err)
	fmt.Fprintf(r.Stderr, "termic: %s\n", clean(f.Message))
	r.printLosses(f)
	if f.Hint != "" {
		fmt.Fprintf(r.Stderr, "hint: %s\n", clean(commands(f.Hint)))
	}
	var usage *usageError
	if errors.As(err, &usage) && usage.usage != "" {
		fmt.Fprintf(r.Stderr, "usage: %s\n", usage.usage)
	}
	if r.global.json() {
		r.printJSONError(f)
	}
	return exitCode(err)
}

// exitCode is the one place where an error of the command line becomes a number.
func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return fault.ExitOK
	case errors.As(err, &usage):
		return fault.ExitUsage
	case errors.Is(err, control.ErrNotRunning):
		return fault.ExitNotRunning
	case errors.Is(err, control.ErrLost):
		return fault.ExitLost
	}
	f := fault.From(err)
	if f.Code == fault.Forbidden && f.Data["reason"] == control.ReasonDisabled {
		return fault.ExitDisabled
	}
	return fault.ExitCode(f.Code)
}

// jsonError is the form of an error on standard output.
type jsonError struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

func (r *runner) printJSONError(f *fault.Error) {
	line, err := json.Marshal(map[string]jsonError{"error": {f.Code, f.Message, f.Hint, f.Data}})
	if err != nil {
		line = []byte(`{"error":{"code":"internal","message":"the error could not be written"}}`)
	}
	fmt.Fprintf(r.Stdout, "%s\n", line)
}
