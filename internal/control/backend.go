package control

import (
	"context"
	"encoding/json"

	"termic/internal/api"
	"termic/internal/grant"
)

// Backend is what the socket leads to: the dispatcher of package verb.
type Backend interface {
	// Call runs a verb. Events go to emit, one at a time, before Call returns.
	Call(ctx context.Context, caller grant.Caller, verb string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error)
	// Attach joins a terminal. The caller closes what it got.
	Attach(ctx context.Context, caller grant.Caller, params json.RawMessage, as AttachAs) (Attachment, error)
}

// Attachment is one joined terminal. Next is called by one goroutine, the others by another.
type Attachment interface {
	// Result names the task and the tab; at the end also how the program ended.
	Result() api.AttachResult
	// Next waits for a frame; io.EOF at the end, when Reason says why.
	Next(ctx context.Context) (Frame, error)
	// Write sends keys to the program, all of them or an error.
	Write(ctx context.Context, keys []byte) error
	Resize(cols, rows uint16) error
	Ack(seq uint64)
	// Hide stops the bytes; Show resumes them with a snapshot.
	Hide()
	Show()
	Follow(follows bool)
	// Close leaves; the first reason stands.
	Close(reason string)
	// Reason is detached, exited, archived, closed or lagged.
	Reason() string
}
