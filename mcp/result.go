package mcp

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/inlet"
)

// refusal is the result of a call that was refused: the sentence for a person, which serves a model as well.
func refusal(f *fault.Error) []byte {
	hint := toolWords(f.Hint)
	said := f.Message
	if !strings.ContainsAny(said[max(0, len(said)-1):], ".!?") {
		said += "."
	}
	if hint != "" {
		said += " " + hint
	}
	data := struct {
		Code    fault.Code     `json:"code"`
		Message string         `json:"message"`
		Hint    string         `json:"hint,omitempty"`
		Data    map[string]any `json:"data,omitempty"`
	}{f.Code, f.Message, hint, f.Data}
	return fmt.Appendf(nil, `"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":true`, inlet.JSON(said), inlet.JSON(data))
}

// frames keeps the memory of responses that went out: most are a list of tools, which is the same again and again and longer
// than all else that a request needs.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// keptFrame is the most memory that is kept for the next response.
const keptFrame = 64 << 10

// answerResult puts the members of a result into a response and writes it.
func (s *Server) answerResult(w http.ResponseWriter, k *inlet.Conn, id []byte, result members) {
	kept := frames.Get().(*[]byte)
	b := s.resultFrame((*kept)[:0], id, result)
	if err := k.Whole(func() { s.answer(w, http.StatusOK, b) }); err != nil { // which keeps nothing of it
		s.o.Log.Debug("mcp: an answer was not taken", "err", err)
	}
	if cap(b) <= keptFrame {
		*kept = b
		frames.Put(kept)
	}
}

// resultFrame appends the response to b.
func (s *Server) resultFrame(b, id []byte, result members) []byte {
	b = slices.Grow(b, len(id)+len(result[0])+len(result[1])+len(s.serverInfo)+96)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":{"resultType":"complete",`...)
	b = append(append(b, result[0]...), result[1]...)
	b = append(b, `,"_meta":{"`+metaServerInfo+`":`...)
	b = append(b, s.serverInfo...)
	return append(b, "}}}"...)
}

// errorFrame is an error response. An id that could not be read is left out.
func errorFrame(id []byte, e *rpcError) []byte {
	b := []byte(`{"jsonrpc":"2.0",`)
	if id != nil {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = fmt.Appendf(b, `"error":{"code":%d,"message":%s`, e.code, inlet.JSON(e.message))
	if e.data != nil {
		b = append(append(b, `,"data":`...), inlet.JSON(e.data)...)
	}
	return append(b, "}}"...)
}

// Values of headers that every answer has. Nobody writes into them.
var (
	jsonType = []string{"application/json"}
	noSniff  = []string{"nosniff"}
)

// answer writes a JSON response. The write deadline is set here, since a call may have taken longer than any of a
// connection.
func (s *Server) answer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Limits.Write)) // a connection that takes none is closing
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.o.Log.Debug("mcp: an answer was not taken", "err", err)
	}
}
