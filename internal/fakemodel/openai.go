package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// responsesBody is what is read of a request of the Responses API.
type responsesBody struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Input    json.RawMessage `json:"input"` // a string or a list of items
	Tools    []tool          `json:"tools"`
	CacheKey string          `json:"prompt_cache_key"`
}

// tool is a tool on offer, or a namespace of tools.
type tool struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Tools []tool `json:"tools"`
}

// item is a piece of the conversation.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
	Tools   []tool          `json:"tools"` // of a tool_search_output
}

func (b responsesBody) items() []item {
	var text string
	if json.Unmarshal(b.Input, &text) == nil {
		return []item{{Type: "message", Role: "user", Content: b.Input}}
	}
	var list []item
	if json.Unmarshal(b.Input, &list) != nil {
		return nil
	}
	return list
}

// clientItem reports a text that codex put among the user's.
func clientItem(s string) bool {
	s = strings.TrimSpace(s)
	for _, head := range [...]string{"<environment_context", "<user_instructions", "<permissions", "<turn_aborted", "<user_shell_command",
		"<skills_instructions", "<skill>", "<apps_instructions", "<collaboration_mode", "<model_switch", "<recommended_plugins", "# AGENTS"} {
		if strings.HasPrefix(s, head) {
			return true
		}
	}
	return false
}

// dialogue reads the conversation; found are the tools that a search since the newest prompt gave.
func (b responsesBody) dialogue() (d dialogue, found []tool) {
	for _, it := range b.items() {
		switch {
		case it.Role == "user":
			var texts []string
			for _, c := range blocksOf(it.Content) {
				if !clientItem(c.Text) {
					texts = append(texts, c.Text)
				}
			}
			if text := strings.Join(texts, "\n"); strings.TrimSpace(text) != "" {
				d.prompts, d.results, d.searched, found = append(d.prompts, text), nil, false, nil
			}
		case it.Type == "tool_search_output":
			d.searched, found = true, it.Tools
		case strings.HasSuffix(it.Type, "_output"):
			d.results = append(d.results, textOf(it.Output))
		}
	}
	return d, found
}

// find looks for a tool under the client's spelling: a plain function, or one of a namespace.
func find(tools []tool, want string) (name, space string, ok bool) {
	server, short := "", ""
	if rest, is := strings.CutPrefix(want, "mcp__"); is {
		server, short, _ = strings.Cut(rest, "__")
	}
	for _, t := range tools {
		if t.Type != "namespace" {
			if t.Name == want {
				return want, "", true
			}
			continue
		}
		base := strings.TrimRight(t.Name, "_")
		for _, f := range t.Tools {
			if t.Name+f.Name == want || base+"__"+f.Name == want || f.Name == short && (base == server || base == "mcp__"+server) {
				return f.Name, t.Name, true
			}
		}
	}
	return "", "", false
}

// answer chooses what the model says next.
func (b responsesBody) answer() answer {
	d, found := b.dialogue()
	s := d.script()
	st, more, text := s.next(len(d.results), d.newest())
	if !more {
		return answer{hold: s.last, text: text}
	}
	for _, tools := range [][]tool{b.Tools, found} {
		if name, space, ok := find(tools, st.tool); ok {
			return answer{hold: st.hold, tool: name, space: space, input: st.input}
		}
	}
	if !d.searched && slices.ContainsFunc(b.Tools, func(t tool) bool { return t.Type == "tool_search" }) {
		return answer{hold: st.hold, search: strings.ReplaceAll(st.tool, "__", " ")}
	}
	return answer{hold: st.hold, tool: st.tool, input: st.input}
}

func (b responsesBody) toolNames() []string {
	var names []string
	for _, t := range b.Tools {
		if t.Type != "namespace" {
			if t.Name == "" {
				t.Name = t.Type
			}
			names = append(names, t.Name)
		}
		for _, f := range t.Tools {
			names = append(names, strings.TrimRight(t.Name, "_")+"__"+f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// openai answers a request of the Responses API.
func (s *Server) openai(w http.ResponseWriter, r *http.Request, raw []byte) {
	var body responsesBody
	if err := json.Unmarshal(raw, &body); err != nil {
		writeError(w, http.StatusBadRequest, "the request is no JSON of the Responses API")
		return
	}
	a := body.answer()
	w.Header().Set("X-Request-Id", s.id("req"))
	it := s.outputItem(a)
	usage := map[string]any{"input_tokens": 10, "input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens": 5, "output_tokens_details": map[string]int{"reasoning_tokens": 0}, "total_tokens": 15}
	head := map[string]any{"id": s.id("resp"), "object": "response", "created_at": time.Now().Unix(), "status": "in_progress",
		"model": body.Model, "output": []any{}, "usage": nil, "error": nil}
	whole := func() map[string]any {
		head["status"], head["output"], head["usage"] = "completed", []any{it}, usage
		return head
	}
	if !body.Stream || a.hold.fail != 0 {
		if !s.wait(r.Context(), a.hold, func() {}) {
			return
		}
		if a.hold.fail != 0 {
			writeError(w, a.hold.fail, "the script asked for this failure")
			return
		}
		writeJSON(w, http.StatusOK, whole())
		return
	}
	out, seq := newStream(w), 0
	event := func(kind string, data map[string]any) {
		data["sequence_number"] = seq
		seq++
		out.event(kind, data)
	}
	event("response.created", map[string]any{"response": head})
	if !s.wait(r.Context(), a.hold, out.comment) {
		return
	}
	begun := map[string]any{}
	for k, v := range it {
		begun[k] = v
	}
	begun["status"] = "in_progress"
	if it["type"] == "message" {
		begun["content"] = []any{}
	}
	event("response.output_item.added", map[string]any{"output_index": 0, "item": begun})
	if it["type"] == "message" {
		for _, p := range pieces(a.text) {
			event("response.output_text.delta", map[string]any{"item_id": it["id"], "output_index": 0, "content_index": 0, "delta": p})
		}
	}
	event("response.output_item.done", map[string]any{"output_index": 0, "item": it})
	event("response.completed", map[string]any{"response": whole()})
}

// outputItem is the one item of an answer.
func (s *Server) outputItem(a answer) map[string]any {
	switch {
	case a.search != "":
		return map[string]any{"type": "tool_search_call", "id": s.id("tsc"), "call_id": s.id("call"), "status": "completed", "execution": "client",
			"arguments": map[string]any{"query": a.search, "limit": 5}}
	case a.tool != "":
		it := map[string]any{"type": "function_call", "id": s.id("fc"), "call_id": s.id("call"), "status": "completed", "name": a.tool, "arguments": string(a.input)}
		if a.space != "" {
			it["namespace"] = a.space
		}
		return it
	}
	return map[string]any{"type": "message", "id": s.id("msg"), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}}}
}
