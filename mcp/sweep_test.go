package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// repeats reports by the standard decoder whether a name stands twice in any object of a good text.
func repeats(body []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(body))
	type level struct {
		names map[string]bool // nil: an array
		value bool            // what comes next is no name
	}
	var open []level
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return false
		}
		top := len(open) - 1
		if name, ok := token.(string); ok && top >= 0 && open[top].names != nil && !open[top].value {
			if open[top].names[name] {
				return true
			}
			open[top].names[name], open[top].value = true, true
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
		if len(open) > 0 {
			open[len(open)-1].value = false
		}
	}
}

// TestScanAfterEverySlip: texts with one byte more, less, or another one are taken if the standard decoder takes them, and only then;
// and a name that stands twice is seen wherever it stands.
func TestScanAfterEverySlip(t *testing.T) {
	holds := func(body []byte) {
		t.Helper()
		_, err := scan(body)
		switch good := json.Valid(body); {
		case good && errors.Is(err, errSyntax), !good && !errors.Is(err, errSyntax):
			t.Errorf("%q: %v, and the decoder takes it: %v", body, err, good)
		case good && errors.Is(err, errRepeated) != repeats(body):
			t.Errorf("%q: %v, and a name stands twice: %v", body, err, repeats(body))
		}
	}
	slips := "{}[]\":,\\ \t\n\x00tfnux019-+.eE"
	for _, text := range []string{`{"a":[1,{"b":true,"c":null}],"d":"x\n\u00e9y","e":-1.5e+3,"f":false}`, `[{"a":{"b":0,"c":1},"b":2,"d":{"a":[]}},"",[[]]]`, ` {"a" : "\"" , "b" : 10} `} {
		holds([]byte(text))
		for i := range text {
			holds([]byte(text[:i]))
			holds([]byte(text[:i] + text[i+1:]))
			for _, slip := range []byte(slips) {
				holds([]byte(text[:i] + string(slip) + text[i+1:]))
				holds([]byte(text[:i] + string(slip) + text[i:]))
			}
		}
	}
}

// TestScanSeesEveryRepeatedName: whatever the number of names, in whichever place, and in which object.
func TestScanSeesEveryRepeatedName(t *testing.T) {
	for n := 1; n <= 2*fewNames+2; n++ {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"n%d":%d`, i, i))
		}
		once := "{" + strings.Join(names, ",") + "}"
		// In objects that are open, in those that were closed before, and in those that come after.
		for _, text := range []string{once, "[" + once + "," + once + "]", `{"n0":` + once + `,"n1":` + once + `}`} {
			if _, err := scan([]byte(text)); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		for i := range n {
			text := fmt.Sprintf(`{%s,"n%d":0}`, strings.Join(names, ","), i)
			if _, err := scan([]byte(text)); !errors.Is(err, errRepeated) {
				t.Errorf("%s: %v", text, err)
			}
			if _, err := scan([]byte(fmt.Sprintf(`{"x":%s,"y":{"z":%s}}`, once, text))); !errors.Is(err, errRepeated) {
				t.Errorf("%s, deeper: %v", text, err)
			}
		}
	}
}
