package agent

import (
	"path/filepath"
	"strings"
	"time"

	"termic/internal/fault"
)

// ResultQuery says whose last answer is wanted.
type ResultQuery struct {
	Kind      Kind
	Home      string            // the agent's home directory
	Env       map[string]string // of the agent: CLAUDE_CONFIG_DIR and CODEX_HOME move its files
	Dir       string            // the directory in which it runs, as it was given to it
	SessionID string            // its conversation; empty = not known
	SharedDir bool              // others run in Dir too, so only a known conversation will do
	// Confined: Home is what a cage writes. Nothing outside of it is read, wherever links lead.
	Confined bool
}

// Found is the last answer of an agent.
type Found struct {
	Path      string // the transcript
	Text      string // untrusted
	Truncated bool   // Text was longer than MaxResult: its end
	// At is when the agent wrote it down; zero = it does not tell.
	At time.Time
	// Open: something came after it that wants an answer, a prompt or a tool. The answer may be on its way into the file,
	// since agents tell that they are done before they have written.
	Open bool
}

// Bounds of the reading of transcripts.
const (
	// MaxResult bounds the text of a Found, in bytes.
	MaxResult = 850 << 10
	// maxTranscript bounds how much of a transcript is read, from its end.
	maxTranscript = 64 << 20
	// maxEntries bounds how many files of a directory are looked at.
	maxEntries = 4096
)

// Result reads the last answer from the agent's own transcript. Links are not followed out of the agent's directory.
//
// Errors: fault.Unsupported (this agent keeps none that we can read), fault.NotFound (none yet), fault.Unavailable.
func Result(q ResultQuery) (Found, error) {
	at := place{}
	if q.Confined {
		at.inside = q.Home
	}
	switch q.Kind.Result {
	case ResultClaude:
		if at.dir = q.Env["CLAUDE_CONFIG_DIR"]; at.dir == "" {
			at.dir = filepath.Join(q.Home, ".claude")
		}
		return claudeTranscript(at, q.Dir, q.SessionID, q.SharedDir)
	case ResultCodex:
		if at.dir = q.Env["CODEX_HOME"]; at.dir == "" {
			at.dir = filepath.Join(q.Home, ".codex")
		}
		return codexTranscript(at, q.Dir, q.SessionID, q.SharedDir)
	}
	return Found{}, fault.New(fault.Unsupported, "The answers of %s cannot be read", q.Kind.Name).
		WithHint("Ask it to write its result into a file of the task, such as RESULT.md, or read what it prints with task_log.")
}

// noResult is the error of a transcript that is not there, or has no answer in it yet.
func noResult(name string) error {
	return fault.New(fault.NotFound, "%s has given no answer yet", name).WithHint("Wait for it with task_wait.")
}

// noSession is the error of a shared directory without a known conversation.
func noSession(name string) error {
	return fault.New(fault.Unsupported, "It is not known which conversation of %s belongs to this task, since others run in the same folder", name).
		WithHint("Read what it prints with task_log.")
}

// safeID reports whether a conversation id can be part of a file name.
func safeID(id string) bool {
	return id != "" && len(id) <= 128 && strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}
