package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
	"termic/internal/selfcert"
	"termic/web"
)

// TestWebLoginRunsOut: a login lasts as long as its cookie says and no longer, used or not: its calls are refused, and the streams
// that it opened end with the reason. The token outlasts it.
func TestWebLoginRunsOut(t *testing.T) {
	r := newRig(t)
	const lasts = 3 * time.Second
	f := r.web(app.WebOptions{Limits: web.Limits{Login: lasts, Beat: 100 * time.Millisecond}})
	value := r.webToken("desk", "readonly")
	began := time.Now()
	in := f.ask("POST", "/api/v1/session", `{"token":"`+value+`"}`, "Origin: "+f.url)
	if c := in.header.Get("Set-Cookie"); !strings.Contains(c, "Max-Age=3;") || !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "Secure") || !strings.Contains(c, "SameSite=Strict") {
		t.Errorf("cookie attributes in %q", strings.ReplaceAll(c, value, "…"))
	}
	_, key, _ := strings.Cut(in.body, `"key":"`)
	key, _, _ = strings.Cut(key, `"`)
	key = "X-Termic-Key: " + key
	at, err := url.Parse(f.url)
	must(t, err)
	kept := f.http.Jar.Cookies(at) // a browser forgets it by itself; somebody who copied it does not
	if len(kept) != 1 || key == "X-Termic-Key: " {
		t.Fatalf("%d cookies", len(kept))
	}
	cookie := "Cookie: " + kept[0].Name + "=" + kept[0].Value
	f.http.Jar = nil
	ended := make(chan string, 1)
	go func() { ended <- f.ask("GET", "/api/v1/changes", "", key, cookie).body }()
	for time.Since(began) < lasts/2 { // being used does not prolong it
		if a := f.ask("POST", "/api/v1/task_list", "{}", key, cookie); a.status != 200 {
			t.Fatalf("after %s: %d %s", time.Since(began), a.status, a.body)
		}
		time.Sleep(100 * time.Millisecond)
	}
	select {
	case body := <-ended:
		if !strings.Contains(body, "event: error") || !strings.Contains(body, "The login has run out") || time.Since(began) < lasts {
			t.Errorf("after %s the stream ended with %q", time.Since(began), body)
		}
	case <-time.After(lasts + 10*time.Second):
		t.Fatal("the stream goes on")
	}
	if a := f.ask("POST", "/api/v1/task_list", "{}", key, cookie); a.status != 401 || a.body != "" {
		t.Errorf("a copied cookie that ran out: %d %s", a.status, a.body)
	}
	if a := f.ask("POST", "/api/v1/task_list", "{}", bearer(value)); a.status != 200 {
		t.Errorf("the token: %d", a.status)
	}
}

// TestWebLimits: what a client can make the face read, hold and wait for is bounded, and who is refused for it harms nobody else.
func TestWebLimits(t *testing.T) {
	r := newRig(t)
	f := r.web(app.WebOptions{Limits: web.Limits{Connections: 8, Calls: 3, Head: time.Second, Body: time.Second, Idle: time.Second, BodyBytes: 64 << 10}})
	value := r.webToken("desk", "readonly")
	host := strings.TrimPrefix(f.url, "https://")
	auth := bearer(value) + "\r\n"
	json := "Content-Type: application/json\r\n"
	padding := func(n int) string { return `{"project":"` + strings.Repeat("x", n) + `"}` }
	for name, c := range map[string]struct {
		head, body string
		want       []int
	}{
		"a body of the size that is allowed": {fmt.Sprintf("%s%sContent-Length: %d\r\n", auth, json, 64<<10), padding(64<<10 - 14), []int{404}}, // no such project
		"one byte more":                      {fmt.Sprintf("%s%sContent-Length: %d\r\n", auth, json, 64<<10+1), padding(64<<10 - 13), []int{413}},
		"a length that is a lie":             {auth + json + "Content-Length: 99999999999\r\n", "{}", []int{413}},
		"chunks without an end":              {auth + json + "Transfer-Encoding: chunked\r\n", strings.Repeat("1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n", 40), []int{413}},
		"a body that does not come":          {auth + json + "Content-Length: 5\r\n", "{", []int{408}},
		"a length and chunks":                {auth + json + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", []int{200, 400}},
		"two lengths":                        {auth + json + "Content-Length: 2\r\nContent-Length: 3\r\n", "{}", []int{400}},
		"no JSON":                            {auth + "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}", []int{415}},
		"a coding":                           {auth + json + "Content-Encoding: gzip\r\nContent-Length: 2\r\n", "{}", []int{415}},
		"a head of 12 KiB":                   {auth + json + "X-Filler: " + strings.Repeat("x", 12<<10) + "\r\nContent-Length: 2\r\n", "{}", []int{200}},
		"a head of 17 KiB":                   {auth + json + "X-Filler: " + strings.Repeat("x", 17<<10) + "\r\nContent-Length: 2\r\n", "{}", []int{431}},
		"a body of a stranger":               {json + fmt.Sprintf("Content-Length: %d\r\n", 1<<30), "", []int{401}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := f.dial()
			_, _ = io.WriteString(conn, "POST /api/v1/task_list HTTP/1.1\r\nHost: "+host+"\r\n"+c.head+"\r\n"+c.body) // it may be cut off
			must(t, conn.SetReadDeadline(time.Now().Add(15*time.Second)))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			must(t, err)
			_ = res.Body.Close()
			if !slices.Contains(c.want, res.StatusCode) {
				t.Errorf("%d, want %v", res.StatusCode, c.want)
			}
		})
	}
	f.slow(host)
	f.crowd(value)
}

// dial opens a connection of its own, which ends with the test.
func (f browserFace) dial() net.Conn {
	f.r.t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(f.url, "https://"), selfcert.Pinned(f.pin))
	must(f.r.t, err)
	f.r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// slow sends a head byte by byte, and none at all: both are cut off.
func (f browserFace) slow(host string) {
	t := f.r.t
	t.Helper()
	began := time.Now()
	half, silent := f.dial(), f.dial()
	_, err := io.WriteString(half, "POST /api/v1/task_list HTTP/1.1\r\nHost: "+host+"\r\nX-Filler: ")
	must(t, err)
	for name, conn := range map[string]net.Conn{"half a head": half, "no head": silent} {
		must(t, conn.SetReadDeadline(time.Now().Add(15*time.Second)))
		if _, err := io.ReadAll(conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection is still open after %s", name, time.Since(began))
		}
	}
}

// crowd holds as many calls as a token may have, and more connections than there may be.
func (f browserFace) crowd(value string) {
	t := f.r.t
	t.Helper()
	n := f.r.newTask("Waits", "osc7501", "")
	call[api.TaskSendResult](f.r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	f.r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	waiting := make(chan webAnswer, 3)
	for range cap(waiting) {
		go func() {
			a := webAnswer{status: 503}
			for end := time.Now().Add(30 * time.Second); a.status == 503 && time.Now().Before(end); { // the call below may take its place
				a = f.ask("POST", "/api/v1/task_wait", `{"task":"`+n.Task.ID+`","timeoutMs":10000}`, bearer(value))
			}
			waiting <- a
		}()
	}
	other := f.r.webToken("other", "readonly")
	deadline, busy := time.Now().Add(30*time.Second), webAnswer{}
	for busy.status != 503 && time.Now().Before(deadline) {
		busy = f.ask("POST", "/api/v1/project_list", "{}", bearer(value))
	}
	if busy.status != 503 || busy.header.Get("Retry-After") == "" {
		t.Errorf("a call too many: %d %v", busy.status, busy.header)
	}
	if a := f.ask("POST", "/api/v1/project_list", "{}", bearer(other)); a.status != 200 {
		t.Errorf("the calls of one token are in the way of another's: %d", a.status)
	}
	var idle []net.Conn
	for range 20 { // strangers, of whom the oldest make room
		idle = append(idle, f.dial())
	}
	if a := f.ask("POST", "/api/v1/project_list", "{}", bearer(other)); a.status != 200 {
		t.Errorf("strangers keep a good caller out: %d", a.status)
	}
	must(t, idle[0].SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := idle[0].Read(make([]byte, 1)); err == nil {
		t.Error("a stranger was answered without having asked")
	}
	for range cap(waiting) {
		if a := <-waiting; a.status != 200 {
			t.Errorf("a wait was cut off: %d %s", a.status, a.body)
		}
	}
}
