package fakemodel

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScript(t *testing.T) {
	s := parseScript("please\n  SLEEP 20\r\n CALL a {\"x\":1}\nHOLD h\nCALL b not json\nSLEEP 5\nFAIL 503\nSAY done: {{result}}\nSAYnothing")
	if len(s.steps) != 2 || s.steps[0].tool != "a" || string(s.steps[0].input) != `{"x":1}` || s.steps[0].hold.sleep != 20*time.Millisecond {
		t.Fatalf("%+v", s)
	}
	if string(s.steps[1].input) != `{"not_json":"not json"}` || len(s.steps[1].hold.until) != 1 || s.last.sleep != 5*time.Millisecond || s.last.fail != 503 {
		t.Fatalf("%+v", s)
	}
	r := "R"
	if _, more, text := s.next(2, &r); more || text != "done: R" {
		t.Errorf("%v %q", more, text)
	}
	if st, more, _ := s.next(1, &r); !more || st.tool != "b" {
		t.Errorf("%v %+v", more, st)
	}
	if _, _, text := parseScript("hello").next(0, nil); text != "HELLO" {
		t.Errorf("%q", text)
	}
	if h := parseScript("SLEEP 99999999999999999999").last.sleep; h != maxSleep {
		t.Errorf("an endless sleep is %v", h)
	}
}

// Any text is a script, and its pieces are the whole of it.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		parseScript(text)
		if got := strings.Join(pieces(text), ""); got != strings.ToValidUTF8(text, "\uFFFD") && got != text {
			t.Errorf("pieces of %q: %q", text, got)
		}
	})
}
