package check

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
)

// says is the address of a server that reads one line of each connection and then says what it is given, for as long as anybody listens.
func says(t *testing.T, say func(w io.Writer) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err = bufio.NewReader(c).ReadString('\n'); err == nil {
				_ = say(c) // until the other side has enough
			}
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func endless(first, again string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, first)
		for i := 0; err == nil; i++ {
			_, err = io.WriteString(w, strings.ReplaceAll(again, "#", fmt.Sprint(i)))
		}
		return err
	}
}

// TestHostilePages: whatever a page does, a look at it ends in time, keeps little and says one harmless line.
func TestHostilePages(t *testing.T) {
	const timeout = time.Second
	bomb := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z, zeros := gzip.NewWriter(w), make([]byte, 1<<20)
		for range 4096 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
	}))
	defer bomb.Close()
	plain := says(t, endless("HTTP/1.1 200 OK\r\n\r\n", "x"))
	pages := map[string]string{
		"hints without end":    says(t, endless("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")),
		"a head without end":   says(t, endless("HTTP/1.1 200 OK\r\n", "A#: b\r\n")),
		"a body without end":   plain,
		"a bomb":               bomb.URL,
		"chunks of nothing":    says(t, endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("a", 1000)+"\r\nx\r\n")),
		"trailers without end": says(t, endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A#: b\r\n")),
		"a long status": says(t, func(w io.Writer) error {
			_, err := io.WriteString(w, "HTTP/1.1 500 \x1b[31m\u202eno"+strings.Repeat("z", 5000)+"\r\n\r\n")
			return err
		}),
		"plain under TLS": strings.Replace(plain, "http:", "https:", 1),
		"drop by drop": says(t, func(w io.Writer) error {
			_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\n\r\n")
			for err == nil {
				time.Sleep(timeout / 20)
				_, err = io.WriteString(w, "x")
			}
			return err
		}),
	}
	for name, page := range pages {
		for _, s := range []Spec{{Kind: HTTP, Targets: []string{page}, Expect: "never there"}, {Kind: Metric, Targets: []string{page + "#a"}, Op: ">", Value: "1"}} {
			s.Timeout = timeout
			s, err := s.Check()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r := New(Options{}).Look(t.Context(), s, s.Targets[0])
			if took := time.Since(began); r.Up || took > 3*timeout || r.Detail == "" || len(r.Detail) > maxDetail || strings.ContainsFunc(r.Detail, unicode.IsControl) {
				t.Errorf("%s, %s: %+v after %s", name, s.Kind, r, took)
			}
		}
	}
}

// TestWhereAPageLedIsNotTold: the address that a page leads to may have what opens a door in it, and details are read by everybody who
// may read checks.
func TestWhereAPageLedIsNotTold(t *testing.T) {
	plain := says(t, endless("HTTP/1.1 200 OK\r\n", "A#: b\r\n"))
	for _, to := range []string{plain + "?ticket=pl4nted", strings.Replace(plain, "http:", "https:", 1) + "?ticket=pl4nted", "http://pl4nted@127.0.0.1/", "gopher://pl4nted/", "http://[pl4nted/"} {
		lead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		s, err := Spec{Kind: HTTP, Targets: []string{lead.URL}, Timeout: 5 * time.Second}.Check()
		if err != nil {
			t.Fatal(err)
		}
		if r := New(Options{}).Look(t.Context(), s, lead.URL); r.Up || strings.Contains(r.Detail, "pl4nted") || strings.Contains(r.Detail, "Get ") {
			t.Errorf("%s: %+v", to, r)
		}
		lead.Close()
	}
}
