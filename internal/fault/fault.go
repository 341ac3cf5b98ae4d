// Package fault is the one vocabulary of errors that leave a package on their way to a person or a client.
//
// An error has two readers. A developer reads the wrapped chain; a user reads Message (one sentence: what
// happened) and Hint (what to do next). The code is what programs read; this package alone maps codes to exit
// codes, so that no caller ever matches error text.
//
// It does not cover errors that stay inside a package: those are ordinary wrapped errors.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"termic/internal/near"
)

// Code names a kind of failure. The set is closed: every face maps all of it, and a test walks All.
type Code string

// The codes of the domain. Their names are part of the wire format of every face.
const (
	InvalidArgument     Code = "invalid_argument"     // an argument is missing, unknown, of the wrong type or out of range
	NotFound            Code = "not_found"            // no such target inside what the caller may see
	Ambiguous           Code = "ambiguous"            // more than one visible target answers to the name
	Conflict            Code = "conflict"             // the state of the target forbids it, or it exists already
	Unsupported         Code = "unsupported"          // this kind of target cannot do that
	Forbidden           Code = "forbidden"            // the caller may not do that
	UnregisteredProject Code = "unregistered_project" // the folder is a repository that was not added; data.root names it
	ApplyConflict       Code = "apply_conflict"       // the change was applied with conflict marks
	Unavailable         Code = "unavailable"          // something that is needed does not answer or is not there
	NeedsConsent        Code = "needs_consent"        // work would be lost; data.losses lists it, consent must be given
	Internal            Code = "internal"             // a fault of ours
)

// All lists every code, in the order of the constants.
var All = []Code{InvalidArgument, NotFound, Ambiguous, Conflict, Unsupported, Forbidden, UnregisteredProject,
	ApplyConflict, Unavailable, NeedsConsent, Internal}

// Error is a failure that a face may show as it is. The zero value is not useful; use New or Wrap.
type Error struct {
	Code    Code
	Message string         // for a person: one sentence without the final full stop, no secrets
	Hint    string         // for a person: what to do next; may be empty
	Data    map[string]any // for a program; may be nil
	Err     error          // for a developer; may be nil, never shown to a client
}

// Error joins message and cause, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error with a message for the user.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error with a message for the user and keeps err for the log.
func Wrap(err error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// WithHint returns a copy that says what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// OrNear returns a copy whose hint begins with the one of have that was probably meant by asked, where there is one.
func (e *Error) OrNear(asked string, have []string) *Error {
	guess, ok := near.Match(asked, have)
	if !ok {
		return e
	}
	return e.WithHint("%s", strings.TrimSpace(fmt.Sprintf("Did you mean %q? %s", guess, e.Hint)))
}

// WithData returns a copy that carries one more datum for programs.
func (e *Error) WithData(key string, value any) *Error {
	c := *e
	c.Data = make(map[string]any, len(e.Data)+1)
	for k, v := range e.Data {
		c.Data[k] = v
	}
	c.Data[key] = value
	return &c
}

// From returns the Error in err's chain. An error without one becomes Internal, except that a cancelled or expired
// context becomes Unavailable. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Wrap(err, Unavailable, "The call was stopped before it finished")
	}
	return Wrap(err, Internal, "Something went wrong inside Termic").WithHint("The log of the app has the cause; `termic doctor` checks the machine.")
}

// CodeOf returns the code of err, or the empty code for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}

// Exit codes of the CLI. They are a public contract: scripts rely on them.
const (
	ExitOK           = 0  // done, or settled
	ExitError        = 1  // any error without a code of its own
	ExitUsage        = 2  // the command line did not parse
	ExitNeedsInput   = 3  // the agent waits for a person, or a call to another machine for an approval
	ExitNotRunning   = 4  // the app is not running
	ExitDisabled     = 5  // the CLI is switched off in the settings
	ExitRefused      = 6  // refused: wrong token, or called from inside a cage
	ExitTimeout      = 7  // the wait ran out
	ExitLost         = 8  // the connection to the app was lost
	ExitNotDelivered = 9  // the prompt never reached the agent
	ExitConflicts    = 10 // apply left conflict marks
	ExitClosed       = 11 // the attached terminal closed
)

// ExitDoc says what each exit code means, for `help --json` and the manual.
var ExitDoc = map[int]string{
	ExitOK: "done, or the agent settled", ExitError: "an error", ExitUsage: "the command line did not parse",
	ExitNeedsInput: "the agent needs input", ExitNotRunning: "the app is not running",
	ExitDisabled: "the CLI is switched off in the settings", ExitRefused: "refused",
	ExitTimeout: "the wait ran out", ExitLost: "the connection to the app was lost",
	ExitNotDelivered: "the prompt was never delivered", ExitConflicts: "apply left conflicts",
	ExitClosed: "the attached terminal closed",
}

// ExitCode maps a code to the exit code of the CLI.
func ExitCode(c Code) int {
	switch c {
	case "":
		return ExitOK
	case Forbidden:
		return ExitRefused
	case ApplyConflict:
		return ExitConflicts
	case Unavailable, InvalidArgument, NotFound, Ambiguous, Conflict, Unsupported, UnregisteredProject, NeedsConsent, Internal:
		return ExitError
	}
	return ExitError
}
