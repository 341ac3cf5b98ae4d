package inlet

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBearer(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""}, {[]string{"Bearer abc"}, "abc"}, {[]string{"bearer abc"}, "abc"}, {[]string{"BEARER  abc"}, "abc"},
		{[]string{"Bearer abc "}, "abc "}, {[]string{"Bearer"}, ""}, {[]string{""}, ""}, {[]string{"abc"}, ""}, {[]string{"Basic abc"}, ""},
		{[]string{" Bearer abc"}, ""}, {[]string{"Bearer abc", "Bearer abc"}, ""}, {[]string{"Bearer abc", "Bearer other"}, ""},
	} {
		if got := Bearer(http.Header{"Authorization": c.lines}); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestIsJSON(t *testing.T) {
	const good = "application/json"
	for _, c := range []struct {
		kind, coding []string
		want         bool
	}{
		{[]string{good}, nil, true}, {[]string{"Application/JSON"}, nil, true}, {[]string{good + "; charset=utf-8"}, nil, true},
		{nil, nil, false}, {[]string{""}, nil, false}, {[]string{"text/plain"}, nil, false}, {[]string{"application/jsonp"}, nil, false},
		{[]string{good, good}, nil, false}, {[]string{good + ";="}, nil, false}, {[]string{"text/plain; a=" + good}, nil, false},
		{[]string{good}, []string{"identity"}, true}, {[]string{good}, []string{"Identity"}, true}, {[]string{good}, []string{"gzip"}, false},
		{[]string{good}, []string{""}, false}, {[]string{good}, []string{"identity", "identity"}, false}, {[]string{good}, []string{"identity", "gzip"}, false},
	} {
		h := http.Header{}
		if c.kind != nil {
			h["Content-Type"] = c.kind
		}
		if c.coding != nil {
			h["Content-Encoding"] = c.coding
		}
		if got := IsJSON(h); got != c.want {
			t.Errorf("type %q, coding %q: %v", c.kind, c.coding, got)
		}
	}
}

// TestBody: what is too long is refused whether it says so or not, up to the very byte, and the connection of a body that did not come whole
// ends with the answer.
func TestBody(t *testing.T) {
	const most = 10
	late := iotest.ErrReader(os.ErrDeadlineExceeded)
	for _, c := range []struct {
		name   string
		body   io.Reader
		length int64 // -1: not said
		kind   string
		status int
		closes bool
	}{
		{"as long as may be", strings.NewReader("0123456789"), 10, "application/json", 0, false},
		{"as long as may be, unsaid", strings.NewReader("0123456789"), -1, "application/json", 0, false},
		{"nothing", strings.NewReader(""), 0, "application/json", 0, false},
		{"a byte too long", strings.NewReader("0123456789a"), 11, "application/json", http.StatusRequestEntityTooLarge, true},
		{"a byte too long, unsaid", strings.NewReader("0123456789a"), -1, "application/json", http.StatusRequestEntityTooLarge, true},
		{"said to be long", strings.NewReader("{}"), 1 << 40, "application/json", http.StatusRequestEntityTooLarge, true},
		{"another kind", strings.NewReader("{}"), 2, "text/plain", http.StatusUnsupportedMediaType, false},
		{"too slow", io.MultiReader(strings.NewReader("012"), late), 5, "application/json", http.StatusRequestTimeout, true},
		{"cut off", io.MultiReader(strings.NewReader("012"), iotest.ErrReader(io.ErrUnexpectedEOF)), 5, "application/json", http.StatusBadRequest, true},
		{"broken", iotest.ErrReader(errors.New("reset")), 5, "application/json", http.StatusBadRequest, true},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", c.body)
		r.ContentLength = c.length
		r.Header.Set("Content-Type", c.kind)
		got, status := Body(w, r, most, slog.New(slog.DiscardHandler))
		if status != c.status || (w.Header().Get("Connection") == "close") != c.closes {
			t.Errorf("%s: status %d, want %d; connection %q", c.name, status, c.status, w.Header().Get("Connection"))
		}
		if ok := status == 0; ok && string(got) != "0123456789"[:len(got)] || ok && c.length >= 0 && int64(len(got)) != c.length || !ok && got != nil {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestAPromiseTakesNoMemory: a body that is only announced is given a bounded place.
func TestAPromiseTakesNoMemory(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
	r.ContentLength = 1 << 30
	r.Header.Set("Content-Type", "application/json")
	got, status := Body(httptest.NewRecorder(), r, 1<<31, slog.New(slog.DiscardHandler))
	if status != 0 || string(got) != "{}" || cap(got) > 2*firstRead {
		t.Errorf("status %d, %q in %d bytes", status, got, cap(got))
	}
}

func TestBare(t *testing.T) {
	w := httptest.NewRecorder()
	Bare(w, http.StatusForbidden)
	if w.Code != http.StatusForbidden || w.Header().Get("Content-Length") != "0" || w.Body.Len() != 0 {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
}

func TestJSON(t *testing.T) {
	for want, v := range map[string]any{`{"a":"<&>"}`: map[string]string{"a": "<&>"}, "null": func() {}, `""`: ""} {
		if got := string(JSON(v)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
