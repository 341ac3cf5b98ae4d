package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"termic/internal/fault"
	"termic/internal/inlet"
	"termic/internal/verb"
)

// call runs a verb with the parameters in the body.
func (s *Server) call(w http.ResponseWriter, r *http.Request, me who) {
	params := json.RawMessage(`{}`)
	if r.ContentLength != 0 {
		body, status := inlet.Body(w, r, s.o.Limits.BodyBytes, s.o.Log)
		if status != 0 {
			inlet.Bare(w, status)
			return
		}
		params = body
	}
	s.run(w, r, me, r.PathValue("verb"), params)
}

// read runs a verb that reads, with the parameters in the query.
func (s *Server) read(w http.ResponseWriter, r *http.Request, me who) {
	name := r.PathValue("verb")
	params := json.RawMessage(`{}`)
	if v, ok := verb.Lookup(name); ok && offered(v, me.Caller) {
		if v.Effect.Kind != verb.Reads {
			w.Header().Set("Allow", http.MethodPost)
			inlet.Bare(w, http.StatusMethodNotAllowed)
			return
		}
		var err error
		if params, err = queryParams(v, me, r.URL.RawQuery); err != nil {
			s.refuse(w, fault.From(err))
			return
		}
	}
	s.run(w, r, me, name, params)
}

// run calls the dispatcher and writes what it gives, byte for byte.
func (s *Server) run(w http.ResponseWriter, r *http.Request, me who, name string, params json.RawMessage) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // from here on a read only tells whether the client is still there
	result, err := s.o.Backend.Call(r.Context(), me.Caller, name, params, nil)
	switch {
	case err != nil:
		s.refuse(w, fault.From(err))
	default:
		s.answer(w, http.StatusOK, result)
	}
}

// queryParams makes the parameters of a verb from a query. What the verb does not know goes on as it is: the dispatcher
// refuses it in its own words.
func queryParams(v *verb.Verb, me who, raw string) (json.RawMessage, error) {
	query, err := parseQuery(raw)
	if err != nil {
		return nil, err
	}
	types := map[string]verb.Type{}
	for _, p := range v.ParamsFor(me.Face, me.Class) {
		types[p.Name] = p.Type
	}
	send := map[string]any{}
	for name, values := range query {
		if types[name] == verb.Strings {
			send[name] = values
			continue
		}
		if len(values) != 1 {
			return nil, fault.New(fault.InvalidArgument, "%s is given more than once", name)
		}
		switch types[name] {
		case verb.Bool:
			if send[name], err = strconv.ParseBool(values[0]); err != nil {
				return nil, fault.New(fault.InvalidArgument, "%s is true or false", name)
			}
		case verb.Integer:
			if send[name], err = strconv.ParseInt(values[0], 10, 64); err != nil {
				return nil, fault.New(fault.InvalidArgument, "%s is a whole number", name)
			}
		default:
			send[name] = values[0]
		}
	}
	return inlet.JSON(send), nil
}

// failure is the form of an error, the same as on the command line.
type failure struct {
	Error failureBody `json:"error"`
}

type failureBody struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

func failureOf(f *fault.Error) failure {
	return failure{failureBody{f.Code, f.Message, f.Hint, f.Data}}
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, f *fault.Error) {
	s.answer(w, fault.HTTPStatus(f.Code), inlet.JSON(failureOf(f)))
}

// answer writes JSON. The write deadline is set here, since a call may have taken longer than any of a connection.
func (s *Server) answer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Limits.Write)) // a connection that takes none is closing
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.o.Log.Debug("web: an answer was not taken", "err", err)
	}
}
