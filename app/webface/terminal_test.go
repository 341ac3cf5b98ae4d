package webface

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
)

// openOutlet opens a page's stream of terminals.
func openOutlet(t *testing.T, server *httptest.Server, page string) io.Reader {
	t.Helper()
	body := get(t, server.URL+Prefix+"term/out?page="+page).Body
	if f, err := readFrame(body); err != nil || f.kind != KindOpen || f.channel != 0 {
		t.Fatalf("first frame: %+v %v", f, err)
	}
	return body
}

// attach opens a stream with one terminal on channel 1, and reads until that is there. It returns the address of the
// channel's acts too.
func attach(t *testing.T, server *httptest.Server, page string) (io.Reader, string) {
	t.Helper()
	body := openOutlet(t, server, page)
	base := server.URL + Prefix + "term/" + page + "/"
	if status, text := post(t, base+"1/attach", `{"task":"task","tab":"tab","cols":132,"rows":40}`); status != http.StatusNoContent {
		t.Fatalf("attach: %d %s", status, text)
	}
	f, err := readFrame(body)
	var hello api.AttachResult
	if err != nil || f.kind != KindHello || f.channel != 1 || json.Unmarshal(f.data, &hello) != nil || hello.TabID != "tab" {
		t.Fatalf("first frame: %+v, %v", f, err)
	}
	return body, base
}

func TestTerminalStreamAndActs(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	body, base := attach(t, server, pageA)
	if want := `{"tab":"tab","task":"task"} 132x40`; b.asked[0] != want {
		t.Errorf("attached with %s, want %s", b.asked[0], want)
	}
	b.term.frames <- core.Frame{Kind: core.FrameSnapshot, Seq: 7, Data: []byte("screen"), Cols: 132, Rows: 40}
	b.term.frames <- core.Frame{Kind: core.FrameOutput, Seq: 1 << 40, Data: []byte{0, 255}}
	b.term.frames <- core.Frame{Kind: core.FrameExit, Seq: 1 << 40, Exit: &api.Exit{Code: 3}}
	for _, want := range []frame{{1, KindResize, 7, []byte("\x00\x84\x00\x28")}, {1, KindSnapshot, 7, []byte("screen")}, {1, KindOutput, 1 << 40, []byte("\x00\xff")}, {1, KindExit, 1 << 40, []byte(`{"code":3}`)}} {
		f, err := readFrame(body)
		if err != nil || f.channel != want.channel || f.kind != want.kind || f.seq != want.seq || !bytes.Equal(f.data, want.data) {
			t.Fatalf("frame %+v %v, want %+v", f, err, want)
		}
	}
	for _, act := range []struct{ name, body string }{
		{"1/in", "one "}, {"1/in", "two"}, {"tell", `[{"ch":1,"ack":9}]`}, {"tell", `[{"ch":1,"cols":80,"rows":1},{"ch":2,"ack":3}]`},
		{"tell", `[{"ch":1,"hidden":true}]`}, {"tell", `[{"ch":1,"ack":10,"hidden":false}]`},
		{"tell", `[{"ch":1,"follows":true}]`}, {"tell", `[{"ch":1,"follows":false}]`},
		// What no terminal can be told is passed over: the rest of the page's terminals must not suffer from it.
		{"tell", `[{"ch":1,"cols":1,"rows":24},{"ch":1,"cols":80,"rows":70000},{"ch":1,"ack":11}]`},
	} {
		if status, text := post(t, base+act.name, act.body); status != http.StatusNoContent {
			t.Errorf("%s: %d %s", act.name, status, text)
		}
	}
	for _, bad := range []struct {
		name, body string
		want       int
	}{
		{"tell", `nonsense`, http.StatusBadRequest}, {"1/in", strings.Repeat("x", maxInput+1), http.StatusBadRequest}, {"x/in", "a", http.StatusBadRequest},
		{"2/in", "a", http.StatusGone}, {"1/attach", `{"task":"a","tab":"b","cols":80,"rows":24}`, http.StatusGone}, {"1/dance", "", http.StatusNotFound},
	} {
		if status, _ := post(t, base+bad.name, bad.body); status != bad.want {
			t.Errorf("%s %.30s: %d, want %d", bad.name, bad.body, status, bad.want)
		}
	}
	b.term.typed(t, "one two")
	close(b.term.frames)
	f, err := readFrame(body)
	if err != nil || f.kind != KindEnd || string(f.data) != `{"reason":"exited","exit":{"code":3}}` {
		t.Errorf("last frame %+v %v", f, err)
	}
	<-b.term.closed
	if got, want := strings.Join(b.term.heard(), ", "), "ack 9, resize 80x1, hide, ack 10, show, follow true, follow false, ack 11, close detached"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if status, _ := post(t, base+"1/in", "late"); status != http.StatusGone {
		t.Errorf("typing after the end: %d", status)
	}
	if status, _ := post(t, base+"tell", `[{"ch":1,"hidden":true}]`); status != http.StatusNoContent {
		t.Errorf("hiding after the end: %d", status)
	}
}

func TestATerminalThatCannotBeAttachedSaysWhy(t *testing.T) {
	b := newBackend()
	b.refuse = fault.New(fault.Conflict, "Nothing runs in the tab").WithHint("Start it.")
	_, server := serve(t, b, Options{})
	body := openOutlet(t, server, pageA)
	base := server.URL + Prefix + "term/" + pageA + "/"
	post(t, base+"1/attach", `{"task":"task","tab":"tab","cols":80,"rows":24}`)
	f, err := readFrame(body)
	if err != nil || f.kind != KindEnd || f.channel != 1 || !strings.Contains(string(f.data), "Nothing runs in the tab") {
		t.Errorf("%+v %v", f, err)
	}
	for _, size := range []string{`"cols":0,"rows":24`, `"cols":80,"rows":5000`, `"cols":-3`, ``, `"cols":65616,"rows":24`} {
		if got, _ := post(t, base+"2/attach", `{`+size+`}`); got != http.StatusBadRequest {
			t.Errorf("size %q: %d", size, got)
		}
	}
}

// The page asks for several at once, and requests overtake one another.
func TestTerminalsShareOneStream(t *testing.T) {
	b := newBackend()
	b.each = map[string]*fakeTerminal{}
	_, server := serve(t, b, Options{})
	body := openOutlet(t, server, pageA)
	base := server.URL + Prefix + "term/" + pageA + "/"
	const many = 40
	for i := many; i > 0; i-- {
		if status, text := post(t, fmt.Sprintf("%s%d/attach", base, i), fmt.Sprintf(`{"task":"t","tab":"%d","cols":80,"rows":24}`, i)); status != http.StatusNoContent {
			t.Fatalf("attach: %d %s", status, text)
		}
	}
	var all sync.WaitGroup
	for i := 1; i <= many; i++ {
		term := b.each[fmt.Sprint(i)]
		all.Go(func() {
			for n := range 50 {
				term.frames <- core.Frame{Kind: core.FrameOutput, Seq: uint64(n + 1), Data: []byte(fmt.Sprintf("%d;", i))}
			}
		})
	}
	seen := map[uint32]uint64{}
	for n := 0; n < many*50; {
		f, err := readFrame(body)
		if err != nil {
			t.Fatal(err)
		}
		if f.kind != KindOutput {
			continue
		}
		if n++; f.seq != seen[f.channel]+1 || string(f.data) != fmt.Sprintf("%d;", f.channel) {
			t.Fatalf("channel %d has %q as %d after %d", f.channel, f.data, f.seq, seen[f.channel])
		}
		seen[f.channel] = f.seq
	}
	all.Wait()
	post(t, base+"7/in", "seven")
	b.each["7"].typed(t, "seven")
	post(t, base+"tell", `[{"ch":8,"close":true}]`)
	<-b.each["8"].closed
	b.each["9"].frames <- core.Frame{Kind: core.FrameOutput, Seq: 99, Data: []byte("goes on")}
	if f, err := readFrame(body); err != nil || f.channel != 9 {
		t.Errorf("after one was closed: %+v %v", f, err)
	}
}

// A request that waits for a program takes one of the few connections that a browser has.
func TestAProgramThatDoesNotReadHoldsNoRequest(t *testing.T) {
	b := newBackend()
	b.term.deaf = make(chan struct{})
	_, server := serve(t, b, Options{})
	_, base := attach(t, server, pageA)
	piece := strings.Repeat("x", 256<<10)
	statuses := map[int]int{}
	for range 10 {
		status, _ := post(t, base+"1/in", piece)
		statuses[status]++
	}
	if statuses[http.StatusNoContent] < 4 || statuses[http.StatusServiceUnavailable] == 0 || len(statuses) != 2 {
		t.Fatalf("answers %v", statuses)
	}
	close(b.term.deaf)
	b.term.typed(t, strings.Repeat(piece, statuses[http.StatusNoContent]))
}

func TestThePageClosesItsTerminal(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	_, base := attach(t, server, pageA)
	post(t, base+"tell", `[{"ch":1,"close":true}]`)
	<-b.term.closed
}

func TestANewStreamOfAPageEndsTheOldOne(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	old, base := attach(t, server, pageA)
	fresh := openOutlet(t, server, pageA)
	if _, err := io.ReadAll(old); err != nil {
		t.Errorf("the old stream did not end well: %v", err)
	}
	<-b.term.closed
	b.term = newTerminal()
	if status, text := post(t, base+"2/attach", `{"task":"task","tab":"tab","cols":80,"rows":24}`); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	if f, err := readFrame(fresh); err != nil || f.kind != KindHello || f.channel != 2 {
		t.Errorf("%+v %v", f, err)
	}
}

func TestANewPageEndsTheTerminalsOfTheOldOne(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{OnePage: true})
	attach(t, server, pageA)
	get(t, server.URL+Prefix+"events?page="+pageB)
	<-b.term.closed
}

func TestTwoPagesLiveTogetherWithoutOnePage(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	body, _ := attach(t, server, pageA)
	get(t, server.URL+Prefix+"events?page="+pageB)
	b.term.frames <- core.Frame{Kind: core.FrameOutput, Seq: 1, Data: []byte("still here")}
	if f, err := readFrame(body); err != nil || string(f.data) != "still here" {
		t.Errorf("%+v %v", f, err)
	}
}

func TestBytesOfOneTerminalKeepTheirOrder(t *testing.T) {
	b := newBackend()
	_, server := serve(t, b, Options{})
	_, base := attach(t, server, pageA)
	var want strings.Builder
	for i := range 300 { // one in flight, as the page does
		piece := fmt.Sprintf("%d;", i)
		want.WriteString(piece)
		post(t, base+"1/in", piece)
	}
	b.term.typed(t, want.String())
}

func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(nil, 1, KindOutput, 7, []byte("hello")))
	f.Add(appendFrame(nil, 1, KindOutput|packed, 7, []byte("\x00\x00\x00\x05\x10a\x01\x00")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) >= frameHead && raw[13] != 0 {
			return // a length of more than 16 MiB is not one of ours
		}
		got, err := readFrame(bytes.NewReader(raw))
		if err != nil || Kind(raw[4])&packed != 0 { // the same bytes can be packed in many ways; that ours come back is a law of the packer
			return
		}
		if again := appendFrame(nil, got.channel, got.kind, got.seq, got.data); !bytes.Equal(again, raw[:len(again)]) {
			t.Errorf("%x became %x", raw, again)
		}
	})
}
