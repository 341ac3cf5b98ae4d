package fakemodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a server for one test.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// bounded is a context that ends a test that hangs.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// post sends a request and returns status and body.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(bounded(t), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret-1")
	req.Header.Set("X-Api-Key", "secret-2")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// event is one server-sent event.
type event struct {
	kind string
	data map[string]any
}

// events reads a stream; it fails on what is no event and no comment.
func events(t *testing.T, body string) []event {
	t.Helper()
	var out []event
	var kind string
	for s := bufio.NewScanner(strings.NewReader(body)); s.Scan(); {
		line := s.Text()
		if line == "" || strings.HasPrefix(line, ":") {
			continue
		}
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			kind = v
			continue
		}
		v, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			t.Fatalf("not an event: %q", line)
		}
		e := event{kind: kind}
		if err := json.Unmarshal([]byte(v), &e.data); err != nil {
			t.Fatal(err)
		}
		if e.data["type"] != kind {
			t.Errorf("event %q has type %v", kind, e.data["type"])
		}
		out = append(out, e)
	}
	return out
}

func kinds(list []event) []string {
	var out []string
	for _, e := range list {
		if n := len(out); n == 0 || out[n-1] != e.kind { // deltas follow one another
			out = append(out, e.kind)
		}
	}
	return out
}

// at walks into decoded JSON: a string is a key, a number an index.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch k := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v of %v", k, v)
			}
			v = m[k]
		case int:
			l, ok := v.([]any)
			if !ok || k >= len(l) {
				t.Fatalf("%v of %v", k, v)
			}
			v = l[k]
		}
	}
	return v
}

func TestAnthropicStream(t *testing.T) {
	s := start(t, Options{})
	long := strings.Repeat("wörter and more ", 9)
	_, body := post(t, s.URL()+"/v1/messages?beta=true", `{"model":"m","stream":true,"messages":[{"role":"user","content":"SAY `+long+`"}]}`)
	list := events(t, body)
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if d := cmp.Diff(want, kinds(list)); d != "" {
		t.Fatal(d)
	}
	var text strings.Builder
	for _, e := range list {
		if e.kind == "content_block_delta" {
			text.WriteString(at(t, e.data, "delta", "text").(string))
		}
	}
	if text.String() != strings.TrimSpace(long) {
		t.Errorf("text %q", text.String())
	}
	if at(t, list[len(list)-2].data, "delta", "stop_reason") != "end_turn" {
		t.Errorf("stop: %v", list[len(list)-2])
	}
}

func TestAnthropicTool(t *testing.T) {
	s := start(t, Options{})
	prompt := `"CALL Bash {\"command\":\"ls\"}\nSAY got {{result}}"`
	head := `{"model":"m","stream":true,"tools":[{"name":"Read"},{"name":"Bash"}],"metadata":{"user_id":"{\"session_id\":\"conv-1\"}"},"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":` + prompt + `}]}`
	_, body := post(t, s.URL()+"/v1/messages", head+`]}`)
	list := events(t, body)
	if at(t, list[1].data, "content_block", "name") != "Bash" || at(t, list[2].data, "delta", "partial_json") != `{"command":"ls"}` ||
		at(t, list[4].data, "delta", "stop_reason") != "tool_use" {
		t.Fatalf("%+v", list)
	}
	use := at(t, list[1].data, "content_block", "id").(string)
	rest := `,{"role":"assistant","content":[{"type":"tool_use","id":"` + use + `","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + use + `","content":[{"type":"text","text":"a.txt"}]}]}]}`
	_, body = post(t, s.URL()+"/v1/messages", strings.Replace(head, `"stream":true`, `"stream":false`, 1)+rest)
	var plain map[string]any
	if err := json.Unmarshal([]byte(body), &plain); err != nil {
		t.Fatal(err)
	}
	if at(t, plain, "content", 0, "text") != "got a.txt" || plain["stop_reason"] != "end_turn" {
		t.Errorf("%v", plain)
	}
	got := s.Main()
	if len(got) != 2 || got[1].Conversation != "conv-1" || !cmp.Equal(got[1].Results, []string{"a.txt"}) || !cmp.Equal(got[1].Tools, []string{"Bash", "Read"}) {
		t.Fatalf("%+v", got)
	}
	if d := cmp.Diff([]string{"CALL Bash {\"command\":\"ls\"}\nSAY got {{result}}"}, got[1].Prompts); d != "" {
		t.Error(d)
	}
}

// Tools that claude keeps behind its search are searched for first, each of them once. What claude says when it has
// loaded one is no prompt.
func TestAnthropicDeferredTool(t *testing.T) {
	s := start(t, Options{})
	talk := `{"model":"m","tools":[{"name":"ToolSearch"}],"messages":[{"role":"user","content":"CALL mcp__termic__task_list\nCALL mcp__termic__task_wait"}`
	n := 0
	says := func(name, has string) {
		t.Helper()
		_, body := post(t, s.URL()+"/v1/messages", talk+`]}`)
		if !strings.Contains(body, `"name":"`+name+`"`) || !strings.Contains(body, has) {
			t.Fatal(body)
		}
	}
	then := func(name, input, result string) {
		n++
		talk += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s]}`, n, name, input, n, result)
	}
	const loaded = `[{"type":"tool_reference","tool_name":"x"}]},{"type":"text","text":"Tool loaded."}`
	says("ToolSearch", "select:mcp__termic__task_list")
	then("ToolSearch", `{"query":"select:mcp__termic__task_list","max_results":5}`, loaded)
	says("mcp__termic__task_list", "")
	then("mcp__termic__task_list", `{}`, `"listed"}`)
	says("ToolSearch", "select:mcp__termic__task_wait")
	then("ToolSearch", `{"query":"select:mcp__termic__task_wait","max_results":5}`, loaded)
	says("mcp__termic__task_wait", "")
}

func TestOpenAIStream(t *testing.T) {
	s := start(t, Options{})
	_, body := post(t, s.URL()+"/v1/responses", `{"model":"m","stream":true,"prompt_cache_key":"conv-2","tools":[{"type":"function","name":"a"},{"type":"web_search"}],
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"SAY hi"}]}]}`)
	list := events(t, body)
	want := []string{"response.created", "response.output_item.added", "response.output_text.delta", "response.output_item.done", "response.completed"}
	if d := cmp.Diff(want, kinds(list)); d != "" {
		t.Fatal(d)
	}
	for i, e := range list {
		if e.data["sequence_number"] != float64(i) {
			t.Errorf("event %d has number %v", i, e.data["sequence_number"])
		}
	}
	if at(t, list[0].data, "response", "status") != "in_progress" || at(t, list[4].data, "response", "output", 0, "content", 0, "text") != "hi" {
		t.Errorf("%+v", list)
	}
	r := s.Main()[0]
	if r.API != OpenAI || r.Conversation != "conv-2" || !cmp.Equal(r.Prompts, []string{"SAY hi"}) || !cmp.Equal(r.Tools, []string{"a", "web_search"}) {
		t.Errorf("%+v", r)
	}
}

func TestOpenAITools(t *testing.T) {
	s := start(t, Options{})
	call := func(tools, more string) string {
		t.Helper()
		_, body := post(t, s.URL()+"/v1/responses", `{"model":"m","tools":`+tools+`,"input":[{"role":"user","content":[{"type":"input_text","text":"CALL mcp__termic__task_list {\"all\":true}"}]}`+more+`]}`)
		var r map[string]any
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(at(t, r, "output", 0))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct{ name, tools, more, want string }{
		{"plain", `[{"type":"function","name":"mcp__termic__task_list"}]`, "", `"name":"mcp__termic__task_list"`},
		{"namespace", `[{"type":"namespace","name":"mcp__termic__","tools":[{"type":"function","name":"task_list"}]}]`, "", `"namespace":"mcp__termic__"`},
		{"short namespace", `[{"type":"namespace","name":"termic","tools":[{"type":"function","name":"task_list"}]}]`, "", `"namespace":"termic"`},
		{"search", `[{"type":"tool_search"}]`, "", `"query":"mcp termic task_list"`},
		{"found", `[{"type":"tool_search"}]`, `,{"type":"tool_search_output","tools":[{"type":"namespace","name":"termic","tools":[{"name":"task_list"}]}]}`, `"namespace":"termic"`},
		{"unknown", `[]`, "", `"name":"mcp__termic__task_list"`},
		{"called", `[]`, `,{"type":"function_call_output","output":"three tasks"}`, `FINAL: three tasks`},
		{"custom tool", `[]`, `,{"type":"custom_tool_call_output","output":[{"type":"input_text","text":"four"}]}`, `FINAL: four`},
	} {
		if got := call(c.tools, c.more); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// A held answer stays open until its release, and the end of its client is noticed.
func TestHold(t *testing.T) {
	for _, path := range []string{"/v1/messages", "/v1/responses"} {
		s := start(t, Options{})
		body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"HOLD a\nSAY x"}],"input":"HOLD a\nSAY x"}`
		done := make(chan string, 1)
		go func() {
			resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
			if err != nil {
				done <- err.Error()
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				b = []byte(err.Error())
			}
			done <- string(b)
		}()
		if _, err := s.Await(bounded(t), func(r Request) bool { return r.Prompt() != "" }); err != nil {
			t.Fatal(err)
		}
		if s.Requests()[0].Done {
			t.Error("answered before its release")
		}
		s.Release("a")
		if got := <-done; !strings.Contains(got, `"x"`) {
			t.Errorf("%s: %q", path, got)
		}
		ctx, cancel := context.WithCancel(bounded(t))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(strings.ReplaceAll(body, "HOLD a", "HOLD never")))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			done <- ""
		}()
		if _, err := s.Await(bounded(t), func(r Request) bool { return strings.Contains(r.Prompt(), "never") }); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-done
		if _, err := s.Await(bounded(t), func(r Request) bool { return strings.Contains(r.Prompt(), "never") && r.Done }); err != nil {
			t.Fatal(err)
		}
	}
}

// Close cuts held answers off; goleak finds what stays.
func TestCloseEndsHeldAnswers(t *testing.T) {
	s := start(t, Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"HOLD x"}]}`))
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	if _, err := s.Await(bounded(t), func(r Request) bool { return r.Prompt() == "HOLD x" }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-done
}

func TestOtherRoutes(t *testing.T) {
	s := start(t, Options{})
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/messages/count_tokens", `{}`, 200, `"input_tokens"`},
		{"GET", "/v1/models", "", 200, `"data":[]`},
		{"HEAD", "/api/hello", "", 200, ""},
		{"GET", "/nowhere", "", 404, "not_found_error"},
		{"POST", "/v1/messages", "no json", 400, "invalid_request_error"},
		{"POST", "/v1/responses", "no json", 400, "invalid_request_error"},
		{"POST", "/v1/messages", `{"stream":true,"messages":[{"role":"user","content":"FAIL 529"}]}`, 529, "api_error"},
		{"POST", "/v1/responses", `{"stream":true,"input":"FAIL 429"}`, 429, "rate_limit_error"},
	} {
		req, err := http.NewRequestWithContext(bounded(t), c.method, s.URL()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(b), c.want) {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, resp.StatusCode, b, err)
		}
	}
}

// Credentials are neither kept nor logged, and every request is one line of the log.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s, err := Start(Options{Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	post(t, s.URL()+"/v1/messages", `{"messages":[{"role":"user","content":"one"}]}`)
	post(t, s.URL()+"/v1/responses", `{"input":"two"}`)
	http.DefaultClient.CloseIdleConnections()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all := log.String()
	if strings.Contains(all, "secret") || strings.Count(all, "\n") != 2 || !strings.Contains(all, `"prompts":["two"]`) {
		t.Errorf("log: %s", all)
	}
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("kept %v", r.Header)
		}
	}
}

func TestListensOnLoopbackAlone(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "example.invalid:0", "nonsense"} {
		if s, err := Start(Options{Addr: addr}); err == nil {
			s.Close()
			t.Errorf("%q was taken", addr)
		}
	}
}
