package mcp

import (
	"errors"
	"net/http"
	"strings"
)

// Codes of JSON-RPC and of the protocol. No other is ever sent.
const (
	codeParse       = -32700
	codeRequest     = -32600
	codeMethod      = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeHeader      = -32020 // a header is missing, malformed, or says something else than the body
	codeUnsupported = -32022 // not a revision that is spoken; data says which one is
)

// rpcError is a refusal in the form of the protocol.
type rpcError struct {
	status  int // of HTTP
	code    int
	message string
	data    any // nil: none
}

func refuse(status, code int, message string) *rpcError {
	return &rpcError{status: status, code: code, message: message}
}

// request is one JSON-RPC request or notification.
type request struct {
	id     []byte // as it was sent, to be sent back byte for byte; nil for a notification, or when it could not be read
	method string
	params []field // nil when they are absent or no object
	meta   []field // of params._meta, likewise
}

// decode reads a body. When it returns an error, the id is set if it could be read.
func decode(body []byte) (request, *rpcError) {
	var req request
	fields, err := scan(body)
	switch {
	case errors.Is(err, errSyntax), errors.Is(err, errUTF8):
		return req, refuse(http.StatusBadRequest, codeParse, "The body is not one JSON text in UTF-8")
	case errors.Is(err, errDepth):
		return req, refuse(http.StatusBadRequest, codeRequest, "The body is nested too deeply")
	}
	if body = trim(body); body[0] != '{' {
		return req, refuse(http.StatusBadRequest, codeRequest, "The body is not a single request; batches are not taken")
	}
	id := get(fields, "id")
	if validID(id) && count(fields, "id") == 1 {
		req.id = id
	}
	switch {
	case err != nil:
		return req, refuse(http.StatusBadRequest, codeRequest, "A name stands twice in one object")
	case misspelt(fields, requestNames) != "":
		return req, refuse(http.StatusBadRequest, codeRequest, "The names jsonrpc, id, method and params are written in small letters")
	case id != nil && req.id == nil:
		return req, refuse(http.StatusBadRequest, codeRequest, "The id is neither a string nor a whole number")
	}
	return req, req.read(fields)
}

// read takes the members of a request whose id is known.
func (req *request) read(fields []field) *rpcError {
	if version, ok := text(get(fields, "jsonrpc")); !ok || version != "2.0" {
		return refuse(http.StatusBadRequest, codeRequest, "jsonrpc is not \"2.0\"")
	}
	var ok bool
	if req.method, ok = text(get(fields, "method")); !ok {
		return refuse(http.StatusBadRequest, codeRequest, "There is no method; responses are not taken")
	}
	if get(fields, "result") != nil || get(fields, "error") != nil {
		return refuse(http.StatusBadRequest, codeRequest, "A request has neither a result nor an error")
	}
	req.params = member(fields, "params").inner // a missing `_meta` is refused in its turn
	req.meta = member(req.params, "_meta").inner
	if req.id == nil && !strings.HasPrefix(req.method, "notifications/") {
		return refuse(http.StatusBadRequest, codeRequest, "A request needs an id")
	}
	return nil
}

// validID reports whether an id is a string or a whole number. 0 and "" are ids; null is none.
func validID(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '"' || integer(raw))
}

func count(fields []field, name string) int {
	n := 0
	for _, f := range fields {
		if string(f.name) == name {
			n++
		}
	}
	return n
}

// trim takes off the white space before a JSON text that is known to be there.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}
