package control

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzControlRequest checks what parseRequest and parseFrame promise of anything that they accept.
func FuzzControlRequest(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","verb":"hello"}`,
		`{"id":"1","token":"00","verb":"task_new","params":{"name":"a","prompt":"b\u0000\n"}}`,
		`{"id":"1","verb":"attach","params":null,"attach":{"cols":80,"rows":24,"resizes":true}}`,
		`{"ID":"1","VERB":"x","params":{}}`,
		`{"id":"1","id":"2","verb":"x"}`,
		`{"id":"1","verb":"x","params":[1]}`,
		`{"frame":"in","data":"aGVsbG8="}`,
		`{"frame":"resize","cols":80,"rows":24}`,
		`{"frame":"ack","seq":18446744073709551615}`,
		`{"id":"\ud800","verb":"\udfff"}`,
		`[[[[`, ``, `null`, "\xff", `{"id":"1","verb":"x","params":` + `{"a":{"a":{"a":{}}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := parseRequest(line); err == nil {
			checkRequest(t, r)
		} else if len(r.ID) > maxName || r.Verb != "" {
			t.Errorf("a refused request keeps %+v", r)
		}
		if fr, err := parseFrame(line); err == nil {
			checkFrame(t, fr)
		}
	})
}

func checkRequest(t *testing.T, r Request) {
	if r.ID == "" || len(r.ID) > maxName || r.Verb == "" || len(r.Verb) > maxName {
		t.Errorf("accepted id %q, verb %q", r.ID, r.Verb)
	}
	if r.Params != nil && (!json.Valid(r.Params) || r.Params[0] != '{') {
		t.Errorf("accepted params %q", r.Params)
	}
	line, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseRequest(bytes.TrimSpace(line))
	if err != nil || again.ID != r.ID || again.Verb != r.Verb || again.Token != r.Token || !sameJSON(again.Params, r.Params) {
		t.Errorf("written and read again: %+v, %v; was %+v", again, err, r)
	}
}

func sameJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func checkFrame(t *testing.T, f Frame) {
	switch f.Kind {
	case FrameInput, FrameResize, FrameAck, FrameDetach:
	default:
		t.Errorf("accepted the frame %q", f.Kind)
	}
	line, err := encode(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseFrame(bytes.TrimSpace(line))
	if err != nil || again.Kind != f.Kind || again.Seq != f.Seq || !bytes.Equal(again.Data, f.Data) {
		t.Errorf("written and read again: %+v, %v; was %+v", again, err, f)
	}
}
