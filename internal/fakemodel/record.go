package fakemodel

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// API names the protocol of a request.
type API string

// The protocols. Other is any request that is no turn of a model.
const (
	Anthropic API = "anthropic"
	OpenAI    API = "openai"
	Other     API = ""
)

// Request is one request as it came, and what a test wants to know of it. Its slices are shared: do not write them.
type Request struct {
	N      int // from 0
	At     time.Time
	Done   bool // it was answered, or its client is gone
	API    API
	Method string
	Path   string
	Header http.Header     // without credentials
	Body   json.RawMessage // null when it was no JSON

	Model string
	// Main: it is a turn of a conversation, with tools, and no side job of the client such as making up a title.
	Main bool
	// Conversation is the client's own id of the conversation, where it sends one.
	Conversation string
	// Prompts are the user's texts in the conversation so far, oldest first, exactly as they came, without what the
	// client itself adds (reminders, context of the environment). Pieces of one message are joined by newlines.
	Prompts []string
	// Results are the texts of the tool results that came after the newest prompt, oldest first.
	Results []string
	// Tools are the names of the tools on offer, sorted; those of a namespace as namespace__name.
	Tools []string
}

// Prompt is the newest prompt, "" when there is none.
func (r Request) Prompt() string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return r.Prompts[len(r.Prompts)-1]
}

// Requests returns all requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Main returns the requests that are turns of a conversation, oldest first.
func (s *Server) Main() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Main })
}

// Await waits until a request is as wanted and returns the first such. It looks at all requests, those of the past too,
// at every request and at the end of every one.
func (s *Server) Await(ctx context.Context, want func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		changed, all := s.changed, slices.Clone(s.requests)
		s.mu.Unlock()
		if i := slices.IndexFunc(all, want); i >= 0 {
			return all[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, ctx.Err()
		}
	}
}

// credentials are the headers that are not kept.
var credentials = [...]string{"Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization"}

// record keeps a request and writes it into the log.
func (s *Server) record(r *http.Request, raw []byte) int {
	req := Request{At: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: json.RawMessage("null")}
	for _, name := range credentials {
		req.Header.Del(name)
	}
	if json.Valid(raw) {
		req.Body = raw
	}
	if r.Method == http.MethodPost {
		describe(&req, r.URL.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N = len(s.requests)
	s.requests = append(s.requests, req)
	s.bump()
	if s.log != nil && s.logErr == nil {
		s.logErr = json.NewEncoder(s.log).Encode(logged(req))
	}
	return req.N
}

// logged is the line of a request in the log.
func logged(r Request) any {
	return struct {
		N            int             `json:"n"`
		At           time.Time       `json:"at"`
		API          API             `json:"api,omitempty"`
		Main         bool            `json:"main,omitempty"`
		Method       string          `json:"method"`
		Path         string          `json:"path"`
		Conversation string          `json:"conversation,omitempty"`
		Prompts      []string        `json:"prompts,omitempty"`
		Results      []string        `json:"results,omitempty"`
		Header       http.Header     `json:"header"`
		Body         json.RawMessage `json:"body"`
	}{r.N, r.At, r.API, r.Main, r.Method, r.Path, r.Conversation, r.Prompts, r.Results, r.Header, r.Body}
}

// finish marks a request as answered.
func (s *Server) finish(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[n].Done = true
	s.bump()
}
