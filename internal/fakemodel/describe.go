package fakemodel

import (
	"encoding/json"
	"strings"
)

// describe takes out of a request what tests want to know.
func describe(r *Request, path string) {
	path = strings.TrimRight(path, "/")
	switch {
	case strings.HasSuffix(path, "/messages"):
		var b messagesBody
		if json.Unmarshal(r.Body, &b) != nil {
			return
		}
		d := b.dialogue()
		r.API, r.Model, r.Tools, r.Conversation = Anthropic, b.Model, b.toolNames(), b.conversation()
		r.Prompts, r.Results = d.prompts, d.results
		r.Main = len(b.Tools) > 1 // side jobs have no tool, or the one that shapes their answer
	case strings.HasSuffix(path, "/responses"):
		var b responsesBody
		if json.Unmarshal(r.Body, &b) != nil {
			return
		}
		d, _ := b.dialogue()
		r.API, r.Model, r.Tools, r.Conversation = OpenAI, b.Model, b.toolNames(), b.CacheKey
		r.Prompts, r.Results = d.prompts, d.results
		r.Main = len(b.Tools) > 1
	}
}
