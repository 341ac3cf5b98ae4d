package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestScanRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]error{
		"":                          errSyntax,
		" ":                         errSyntax,
		"{":                         errSyntax,
		"{}{}":                      errSyntax,
		"{},":                       errSyntax,
		`{"a"}`:                     errSyntax,
		`{"a":}`:                    errSyntax,
		`{"a":1,}`:                  errSyntax,
		`{a:1}`:                     errSyntax,
		`{'a':1}`:                   errSyntax,
		`[1,]`:                      errSyntax,
		`[,1]`:                      errSyntax,
		`[1 2]`:                     errSyntax,
		`"`:                         errSyntax,
		`"\`:                        errSyntax,
		`"\x"`:                      errSyntax,
		`"\u12"`:                    errSyntax,
		"\"\n\"":                    errSyntax,
		"\"\x00\"":                  errSyntax,
		`01`:                        errSyntax,
		`-`:                         errSyntax,
		`1.`:                        errSyntax,
		`.5`:                        errSyntax,
		`1e`:                        errSyntax,
		`+1`:                        errSyntax,
		`NaN`:                       errSyntax,
		`tru`:                       errSyntax,
		`True`:                      errSyntax,
		"\ufeff{}":                  errSyntax,
		"{}\x00":                    errSyntax,
		"{\"\xff\":1}":              errUTF8,
		"\"\xed\xa0\x80":            errUTF8,
		deep(65):                    errDepth,
		deep(64):                    nil,
		deep(100_000):               errDepth,
		`{"a":1,"a":1}`:             errRepeated,
		`{"a":1,"\u0061":2}`:        errRepeated,
		`[{"b":{"a":1,"a":2}}]`:     errRepeated,
		`{"a":{"x":1},"b":{"x":1}}`: nil,
		`{"a":1,"A":2}`:             nil,
		`{"a":[{"a":1},{"a":1}]}`:   nil,
	} {
		if _, err := scan([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
}

// TestScanIsNoBurden: a body of the greatest size is read in a time that depends on its length alone, whatever is in it.
func TestScanIsNoBurden(t *testing.T) {
	var many bytes.Buffer
	many.WriteByte('{')
	for i := range 300_000 {
		fmt.Fprintf(&many, `"%d":0,`, i)
	}
	many.WriteString(`"0":0}`)
	for name, body := range map[string][]byte{"many names": many.Bytes(), "one string": []byte(`"` + strings.Repeat("x", 4<<20) + `"`),
		"many lists": []byte("[" + strings.Repeat("[],", 1<<20) + "0]"), "escapes": []byte(`"` + strings.Repeat(`\u0061`, 600_000) + `"`)} {
		start := time.Now()
		_, err := scan(body)
		if name == "many names" != errors.Is(err, errRepeated) || time.Since(start) > 20*time.Second { // it takes a fraction of one
			t.Errorf("%s: %v after %v", name, err, time.Since(start))
		}
	}
}

// TestScanKeepsWhatIsAskedFor: the members of the request, of its parameters and of their _meta, each the first time, and of
// nothing else.
func TestScanKeepsWhatIsAskedFor(t *testing.T) {
	var said func(fields []field) string
	said = func(fields []field) string {
		var b strings.Builder
		for _, f := range fields {
			fmt.Fprintf(&b, "%s(%s)", f.name, said(f.inner))
		}
		return b.String()
	}
	for text, want := range map[string]string{
		`{"a":{"b":1},"params":{"a":{"b":1},"_meta":{"c":1,"_meta":{"d":1}}},"_meta":{"e":1}}`: "a()params(a()_meta(c()_meta()))_meta()",
		`{"params":{"_meta":[{"a":1}]}}`:                     "params(_meta())",
		`{"params":[{"_meta":{"a":1}}]}`:                     "params()",
		`[{"params":{"a":1}}]`:                               "",
		`{"params":{"a":1},"params":{"b":1}}`:                "params(a())params()",
		`{"params":{"_meta":{"a":1},"_meta":{"b":1}}}`:       "params(_meta(a())_meta())",
		`{"params":{},"x":{"params":{"_meta":{"a":1}}}}`:     "params()x()",
		`{"p\u0061rams":{"\u005fmeta":{"\u0061":"\u0062"}}}`: "params(_meta(a()))",
		`{"params":{"a":1,"b":2,"c":3,"d":4,"e":5}}`:         "params(a()b()c()d()e())",
	} {
		if fields, _ := scan([]byte(text)); said(fields) != want {
			t.Errorf("%s: %s, want %s", text, said(fields), want)
		}
	}
}

// FuzzScan holds the scanner against the standard decoder: what it takes is JSON and means the same, and what it refuses
// as no JSON is none.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1,"b":[true,false,null,-1.5e-3,"x\n\u00e9"]}`, `{"a":{"b":{"c":[[]]}}}`, `{"a":1,"a":2}`, ` [1 , 2] `, `"\ud800"`, `{"\ud83d\ude00":1}`, "{\"\xff\":1}", `0`, `-0.0e+0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, err := scan(body)
		switch {
		case errors.Is(err, errUTF8):
			if utf8.Valid(body) {
				t.Fatal("good UTF-8 was refused")
			}
			return
		case errors.Is(err, errDepth):
			return
		case errors.Is(err, errSyntax):
			if json.Valid(body) {
				t.Fatalf("JSON was refused: %q", body)
			}
			return
		case !json.Valid(body):
			t.Fatalf("taken, and no JSON: %q", body)
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(body, &want) != nil || want == nil {
			if fields != nil {
				t.Fatalf("%q has members: %v", body, fields)
			}
			return
		}
		got := map[string]json.RawMessage{}
		for _, f := range fields {
			got[string(f.name)] = f.value
		}
		if len(got) != len(want) || err == nil && len(fields) != len(want) {
			t.Fatalf("%q: members %v, want %v", body, got, want)
		}
		for name, value := range want {
			if err == nil && !reflect.DeepEqual(value, got[name]) {
				t.Fatalf("%q: %q is %q, want %q", body, name, got[name], value)
			}
		}
	})
}

// TestText: strings are what the standard decoder makes of them.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		raw, err := json.Marshal(s)
		check2(t, err)
		var want string
		check2(t, json.Unmarshal(raw, &want))
		if got, ok := text(raw); !ok || got != want {
			t.Fatalf("%q: %q %v", raw, got, ok)
		}
	})
	for _, raw := range []string{"", "1", "null", "{}", `"`, `[""]`} {
		if s, ok := text([]byte(raw)); ok {
			t.Errorf("%q is the text %q", raw, s)
		}
	}
}

func check2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func TestIDs(t *testing.T) {
	for raw, want := range map[string]bool{`0`: true, `-1`: true, `""`: true, `"a"`: true, `12345678901234567890123`: true, `1.0`: false, `1e3`: false,
		`null`: false, `{}`: false, `[]`: false, `true`: false, ``: false, `-`: false} {
		if validID([]byte(raw)) != want {
			t.Errorf("%q: %v", raw, !want)
		}
	}
}

// FuzzEnvelope: whatever body comes, it is a request, or it is refused with a code that says so; an id that is sent back
// is one that came.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","method":"notifications/x"}`,
		`{"jsonrpc":"2.0","id":null,"method":"x"}`, `[{}]`, `{"jsonrpc":"2.0","id":"\u0000","method":"m","params":[1]}`, `{"ID":1}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, e := decode(body)
		if req.id != nil && (!validID(req.id) || !bytes.Contains(body, req.id)) {
			t.Fatalf("the id %q of %q", req.id, body)
		}
		if e == nil {
			if !json.Valid(body) || req.id == nil && !strings.HasPrefix(req.method, "notifications/") {
				t.Fatalf("taken: %q as %+v", body, req)
			}
			return
		}
		if e.status != http.StatusBadRequest || e.code != codeParse && e.code != codeRequest || e.message == "" {
			t.Fatalf("%q: %+v", body, e)
		}
		if (e.code == codeParse) == (json.Valid(body) && utf8.Valid(body)) {
			t.Fatalf("%q: code %d", body, e.code)
		}
		if frame := errorFrame(req.id, e); !json.Valid(frame) {
			t.Fatalf("the answer is no JSON: %s", frame)
		}
	})
}

// FuzzUnwrap: a wrapped text comes back, nothing else means that text, and what cannot be decoded is refused.
func FuzzUnwrap(f *testing.F) {
	for _, seed := range []string{"", "task_list", "nö tool", "=?base64?YQ==?=", "=?base64?", "?=", "=?base64??=", "=?base64?=", "a\r\nb", "=?base64?YQ\r\n==?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		wrapped := sentinelStart + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelEnd
		if got, ok := unwrap(wrapped); ok != utf8.ValidString(s) || ok && got != s {
			t.Fatalf("%q: %q %v", wrapped, got, ok)
		}
		got, ok := unwrap(s)
		marked := strings.HasPrefix(s, sentinelStart) && strings.HasSuffix(s, sentinelEnd) && len(s) >= len(sentinelStart)+len(sentinelEnd)
		switch {
		case !marked && (!ok || got != s):
			t.Fatalf("the plain %q: %q %v", s, got, ok)
		case marked && ok && sentinelStart+base64.StdEncoding.EncodeToString([]byte(got))+sentinelEnd != s:
			t.Fatalf("%q and another form both mean %q", s, got)
		}
	})
}
