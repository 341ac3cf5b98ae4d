package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// messagesBody is what is read of a request of the Messages API.
type messagesBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

// block is a piece of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`          // of a tool_use
	Name      string          `json:"name"`        // of a tool_use
	Input     json.RawMessage `json:"input"`       // of a tool_use
	ToolUseID string          `json:"tool_use_id"` // of a tool_result
	Content   json.RawMessage `json:"content"`     // of a tool_result
	ToolName  string          `json:"tool_name"`   // of a tool_reference
}

// blocksOf reads content that is a string or a list of blocks.
func blocksOf(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// textOf joins the text of content, nested content included.
func textOf(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocksOf(raw) {
		switch {
		case b.Text != "":
			parts = append(parts, b.Text)
		case len(b.Content) > 0:
			parts = append(parts, textOf(b.Content))
		case b.Type == "tool_reference":
			parts = append(parts, "tool: "+b.ToolName)
		}
	}
	return strings.Join(parts, "\n")
}

// clientText reports a text that claude put among the user's: it begins with one of its tags.
func clientText(s string) bool {
	s = strings.TrimSpace(s)
	for _, tag := range [...]string{"<system-reminder", "<local-command", "<command-", "<bash-"} {
		if strings.HasPrefix(s, tag) {
			return true
		}
	}
	return false
}

// dialogue is a conversation as far as answers depend on it.
type dialogue struct {
	prompts  []string
	results  []string // of tools, since the newest prompt
	searched bool     // deferred tools were searched for since the newest prompt
	queries  []string // what was searched for, where the client searches for one tool after another
}

func (b messagesBody) dialogue() dialogue {
	var d dialogue
	uses := map[string]block{}
	for _, m := range b.Messages {
		var texts []string
		loaded := false // the message gives tools that were searched for; what it says beside them is claude's own text
		for _, c := range blocksOf(m.Content) {
			switch {
			case c.Type == "tool_use":
				uses[c.ID] = c
			case c.Type == "tool_result" && uses[c.ToolUseID].Name == toolSearch:
				d.queries = append(d.queries, string(uses[c.ToolUseID].Input))
				loaded = true
			case c.Type == "tool_result":
				d.results = append(d.results, textOf(c.Content))
			case m.Role == "user" && c.Type == "text" && !clientText(c.Text):
				texts = append(texts, c.Text)
			}
		}
		if text := strings.Join(texts, "\n"); strings.TrimSpace(text) != "" && !loaded {
			d.prompts, d.results, d.queries = append(d.prompts, text), nil, nil
		}
	}
	return d
}

func (d dialogue) script() script {
	if len(d.prompts) == 0 {
		return script{}
	}
	return parseScript(d.prompts[len(d.prompts)-1])
}

func (d dialogue) newest() *string {
	if len(d.results) == 0 {
		return nil
	}
	return &d.results[len(d.results)-1]
}

// toolSearch is claude's tool behind which it keeps tools that it did not put into the request.
const toolSearch = "ToolSearch"

// answer chooses what the model says next.
func (b messagesBody) answer() answer {
	d := b.dialogue()
	s := d.script()
	st, more, text := s.next(len(d.results), d.newest())
	if !more {
		return answer{hold: s.last, text: text}
	}
	names := b.toolNames()
	searched := func(q string) bool { return strings.Contains(q, "select:"+st.tool+`"`) }
	if !slices.Contains(names, st.tool) && slices.Contains(names, toolSearch) && !slices.ContainsFunc(d.queries, searched) && strings.HasPrefix(st.tool, "mcp__") {
		query, _ := json.Marshal(map[string]any{"query": "select:" + st.tool, "max_results": 5}) // always encodes
		return answer{hold: st.hold, tool: toolSearch, input: query}
	}
	return answer{hold: st.hold, tool: st.tool, input: st.input}
}

func (b messagesBody) toolNames() []string {
	names := make([]string, 0, len(b.Tools))
	for _, t := range b.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// conversation is claude's id of the conversation. It stands in an object that it sends as a string, or at the end of
// one.
func (b messagesBody) conversation() string {
	var id struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal([]byte(b.Metadata.UserID), &id) == nil && id.Session != "" {
		return id.Session
	}
	if _, s, ok := strings.Cut(b.Metadata.UserID, "_session_"); ok {
		return s
	}
	return ""
}

// anthropic answers a request of the Messages API.
func (s *Server) anthropic(w http.ResponseWriter, r *http.Request, raw []byte) {
	var body messagesBody
	if err := json.Unmarshal(raw, &body); err != nil {
		writeError(w, http.StatusBadRequest, "the request is no JSON of the Messages API")
		return
	}
	a := body.answer()
	w.Header().Set("Request-Id", s.id("req"))
	content, stop := map[string]any{"type": "text", "text": a.text}, "end_turn"
	if a.tool != "" {
		content, stop = map[string]any{"type": "tool_use", "id": s.id("toolu"), "name": a.tool, "input": a.input}, "tool_use"
	}
	msg := map[string]any{"id": s.id("msg"), "type": "message", "role": "assistant", "model": body.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}
	if !body.Stream || a.hold.fail != 0 {
		if !s.wait(r.Context(), a.hold, func() {}) {
			return
		}
		if a.hold.fail != 0 {
			writeError(w, a.hold.fail, "the script asked for this failure")
			return
		}
		msg["content"], msg["stop_reason"] = []any{content}, stop
		writeJSON(w, http.StatusOK, msg)
		return
	}
	out := newStream(w)
	out.event("message_start", map[string]any{"message": msg})
	if !s.wait(r.Context(), a.hold, func() { out.event("ping", map[string]any{}) }) {
		return
	}
	s.anthropicContent(out, a, content)
	out.event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 12}})
	out.event("message_stop", map[string]any{})
}

// anthropicContent streams the one block of an answer.
func (s *Server) anthropicContent(out *stream, a answer, content map[string]any) {
	delta := func(d map[string]any) { out.event("content_block_delta", map[string]any{"index": 0, "delta": d}) }
	if a.tool != "" {
		content["input"] = map[string]any{}
		out.event("content_block_start", map[string]any{"index": 0, "content_block": content})
		delta(map[string]any{"type": "input_json_delta", "partial_json": string(a.input)})
	} else {
		out.event("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
		for _, p := range pieces(a.text) {
			delta(map[string]any{"type": "text_delta", "text": p})
		}
	}
	out.event("content_block_stop", map[string]any{"index": 0})
}
