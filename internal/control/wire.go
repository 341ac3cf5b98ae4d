package control

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
)

// Protocol is the number that client and server compare in hello. It rises when an old reader would misunderstand.
const Protocol = 1

// MaxLine is the longest message either way, in bytes after escaping and without the newline.
const MaxLine = 1 << 20

// MaxWindowLine is the longest answer to a window: it shows whole diffs, and the whole state of the app.
const MaxWindowLine = 64 << 20

// maxName bounds ids of requests and names of verbs, in bytes.
const maxName = 64

// The verbs of the socket itself. The first two need no token, but for what raise hands over.
const (
	verbHello  = "hello"
	verbRaise  = "raise"
	verbAttach = "attach"
	verbWindow = "window" // needs the token; see Feed
)

// ReasonDisabled is data.reason of the refusal while the command line is switched off in the settings.
const ReasonDisabled = "cli_disabled"

// Request is one line of a client.
type Request struct {
	ID     string          `json:"id"`
	Token  string          `json:"token,omitempty"`
	Verb   string          `json:"verb"`
	Params json.RawMessage `json:"params,omitempty"`
	// Attach goes with the verb attach only.
	Attach *AttachAs `json:"attach,omitempty"`
}

// AttachAs describes the terminal that attaches.
type AttachAs struct {
	Cols uint16 `json:"cols,omitempty"`
	Rows uint16 `json:"rows,omitempty"`
	// Resizes: the attached terminal takes the size of this one.
	Resizes bool `json:"resizes,omitempty"`
	// AnswersQueries: what attaches is a real terminal, which answers questions such as "where is the cursor".
	AnswersQueries bool `json:"answers_queries,omitempty"`
	// History: what attaches keeps the lines that scroll off, so that a snapshot has all of them.
	History bool `json:"history,omitempty"`
	// ConfirmsInput: each frame of keys is answered by FrameTook once the program has them.
	ConfirmsInput bool `json:"confirms_input,omitempty"`
}

// Hello is the answer to hello.
type Hello struct {
	App      string `json:"app"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
}

// eventLine and frameLine are what the server tells before its reply.
type eventLine struct {
	ID     string `json:"id"`
	Stream bool   `json:"stream"` // always true
	api.Event
}

// windowLine is what a window in another process is told.
type windowLine struct {
	ID     string `json:"id"`
	Stream bool   `json:"stream"` // always true
	Event  string `json:"event"`  // window, rev, raise, heartbeat
	Ticket string `json:"ticket,omitempty"`
	Rev    uint64 `json:"rev,omitempty"`
}

// raiseParams go with raise.
type raiseParams struct {
	Link string `json:"link,omitempty"`
}

type frameLine struct {
	ID     string `json:"id"`
	Stream bool   `json:"stream"` // always true
	Frame
}

// reply ends a request. Exactly one is sent for each.
type reply struct {
	ID    string          `json:"id"`
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error *wireError      `json:"error,omitempty"`
}

// anyLine is how a client reads what may be an event, a frame or the reply.
type anyLine struct {
	ID     string          `json:"id"`
	Stream bool            `json:"stream"`
	OK     bool            `json:"ok"`
	Event  string          `json:"event"`
	Frame  FrameKind       `json:"frame"`
	Data   json.RawMessage `json:"data"`
	Error  *wireError      `json:"error"`
}

// wireError is a fault on its way to the client. Its cause stays in the log.
type wireError struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

func wireOf(err error) *wireError {
	e := fault.From(err)
	return &wireError{Code: e.Code, Message: e.Message, Hint: e.Hint, Data: e.Data}
}

func (e *wireError) fault() *fault.Error {
	return &fault.Error{Code: e.Code, Message: e.Message, Hint: e.Hint, Data: e.Data}
}

// parseRequest reads one line of a client. What it accepts has an id and a verb of 1 to 64 bytes, and parameters that
// are absent or one JSON object; what the object holds is the verb's business. With an error, only the id may be set.
func parseRequest(line []byte) (Request, error) {
	var r Request
	bad := func(err error, what string) (Request, error) {
		if len(r.ID) > maxName {
			r.ID = ""
		}
		return Request{ID: r.ID}, fault.Wrap(err, fault.InvalidArgument, "The request %s", what)
	}
	if !utf8.Valid(line) {
		return bad(nil, "is not UTF-8 text")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return bad(err, "is not one JSON object")
	}
	if r.ID == "" || len(r.ID) > maxName {
		return bad(nil, "has no id of 1 to 64 bytes")
	}
	if r.Verb == "" || len(r.Verb) > maxName {
		return bad(nil, "has no verb of 1 to 64 bytes")
	}
	if bytes.Equal(r.Params, []byte("null")) {
		r.Params = nil
	}
	if r.Params != nil && r.Params[0] != '{' {
		return bad(nil, "has params that are not an object")
	}
	return r, nil
}
