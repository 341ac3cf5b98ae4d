package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/secret"
)

// doorRig is a door that serves, and a token for it.
type doorRig struct {
	*Door
	host  string
	token secret.String
}

// door opens a door with a token of its own. The end of its Serve is awaited with the test.
func (r *rig) door(name string) doorRig {
	r.t.Helper()
	l, err := listenLoopback()
	check(r.t, err)
	d, err := r.NewDoor(l, name)
	check(r.t, err)
	served := make(chan error, 1)
	go func() { served <- d.Serve() }()
	r.t.Cleanup(func() {
		d.Close()
		if err := <-served; err != nil {
			r.t.Errorf("door %s: %v", name, err)
		}
	})
	return doorRig{Door: d, host: l.Addr().String(),
		token: r.mint(grant.Grant{Principal: "task:" + name, Class: grant.Scoped, Task: name, Terminal: name, Door: name})}
}

// at is a good request for an address and a token.
func (r *rig) at(host string, token secret.String, method, tool string) *http.Request {
	r.t.Helper()
	req := r.request(method, tool, "")
	req.URL.Host = host
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	return req
}

// TestDoorsOnlyNarrow: every token through every entrance. Each opens the one that it is for, and every other attempt
// gets the very same answer as a guess.
func TestDoorsOnlyNarrow(t *testing.T) {
	r := newRig(t, ok, Limits{})
	a, b := r.door("a"), r.door("b")
	guess := secret.Mint()
	entrances := map[string]string{"front": r.host, "a": a.host, "b": b.host}
	for token, c := range map[string]struct {
		value secret.String
		opens string
	}{"full": {r.full, "front"}, "scoped without a door": {r.scoped, "front"}, "a": {a.token, "a"}, "b": {b.token, "b"}, "guess": {guess, "none"}} {
		for entrance, host := range entrances {
			r.backoff.Clear("") // nothing here is about how long refusals take
			got := r.do(r.at(host, c.value, "tools/list", ""))
			if want := entrance == c.opens; want != (got.status == http.StatusOK) {
				t.Errorf("token %s through %s: %d", token, entrance, got.status)
			} else if !want && (got.status != http.StatusUnauthorized || got.body != "" || got.header.Get("Www-Authenticate") != "Bearer" || len(got.header) != 4) {
				t.Errorf("token %s through %s: %+v", token, entrance, got)
			}
		}
	}
}

// TestDoorHost: a request names the address of the entrance that it came through, not that of another one.
func TestDoorHost(t *testing.T) {
	r := newRig(t, ok, Limits{})
	a := r.door("a")
	for host, want := range map[string]int{a.host: 200, r.host: 403, "localhost:" + a.host[strings.LastIndex(a.host, ":")+1:]: 403, "127.0.0.1": 403} {
		req := r.at(a.host, a.token, "tools/list", "")
		req.Host = host
		if got := r.do(req); got.status != want {
			t.Errorf("Host %s: %d, want %d", host, got.status, want)
		}
	}
	if _, err := r.NewDoor(nil, ""); err == nil {
		t.Error("a door without a name")
	}
}

// TestDoorCloses: closing a door ends its connections, with the call on one and the other idle, and nothing else.
func TestDoorCloses(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}), Limits{})
	a, b := r.door("a"), r.door("b")
	idle, err := net.Dial("tcp", a.host)
	check(t, err)
	defer idle.Close()
	check(t, idle.SetDeadline(time.Now().Add(patience)))
	answer := make(chan error, 1)
	go func() {
		res, err := client.Do(r.at(a.host, a.token, "tools/call", "task_wait"))
		if err == nil {
			err = res.Body.Close()
		}
		answer <- err
	}()
	<-begun
	a.Close()
	a.Close() // again does nothing
	if err := <-ended; err != context.Canceled {
		t.Errorf("the call ended by %v", err)
	}
	if err := <-answer; err == nil {
		t.Error("the call was answered through a closed door")
	}
	if n, err := idle.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("an idle connection lives on: %d bytes, %v", n, err)
	}
	if c, err := net.Dial("tcp", a.host); err == nil {
		t.Error("somebody answers at a closed door")
		check(t, c.Close())
	}
	for host, token := range map[string]secret.String{r.host: r.full, b.host: b.token} {
		if got := r.do(r.at(host, token, "tools/list", "")); got.status != http.StatusOK {
			t.Errorf("another entrance: %+v", got)
		}
	}
}

// TestDoorsHaveTheirOwnRoom: a cage that keeps every connection of its door busy takes none of anybody else.
func TestDoorsHaveTheirOwnRoom(t *testing.T) {
	const most = 4
	begun, release := make(chan struct{}, most), make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-release
		return json.RawMessage(`{}`), nil
	}), Limits{Connections: 2, Door: most})
	a, b := r.door("a"), r.door("b")
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			if got := r.do(r.at(a.host, a.token, "tools/call", "task_wait")); got.status != http.StatusOK {
				t.Errorf("%+v", got)
			}
		})
	}
	for range most {
		<-begun
	}
	c, err := net.Dial("tcp", a.host)
	check(t, err)
	check(t, c.SetDeadline(time.Now().Add(patience)))
	if got := r.receive(c); got.status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %+v", got)
	}
	check(t, c.Close())
	for host, token := range map[string]secret.String{r.host: r.full, b.host: b.token} {
		if got := r.do(r.at(host, token, "tools/list", "")); got.status != http.StatusOK {
			t.Errorf("another entrance: %+v", got)
		}
	}
	close(release)
	wg.Wait()
}

// TestTerminalsAreBounded: a terminal without a door that keeps calls waiting is told to come back, and keeps nobody out.
func TestTerminalsAreBounded(t *testing.T) {
	const most = 4
	begun, release := make(chan struct{}, most), make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-release
		return json.RawMessage(`{}`), nil
	}), Limits{Connections: 2 * most, Door: most})
	token := r.mint(grant.Grant{Principal: "task:x", Class: grant.Scoped, Task: "x", Terminal: "t"})
	other := r.mint(grant.Grant{Principal: "task:x", Class: grant.Scoped, Task: "x", Terminal: "u"})
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			if got := r.do(r.at(r.host, token, "tools/call", "task_wait")); got.status != http.StatusOK {
				t.Errorf("%+v", got)
			}
		})
	}
	for range most {
		<-begun
	}
	if got := r.do(r.at(r.host, token, "tools/list", "")); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %+v", got)
	}
	for _, good := range []secret.String{r.full, r.scoped, other} {
		if got := r.do(r.at(r.host, good, "tools/list", "")); got.status != http.StatusOK {
			t.Errorf("somebody else: %+v", got)
		}
	}
	close(release)
	wg.Wait()
	if got := r.do(r.at(r.host, token, "tools/list", "")); got.status != http.StatusOK || r.calls.Len() != 0 {
		t.Errorf("afterwards: %+v, %d", got, r.calls.Len())
	}
}

// TestServerClosesDoors: the end of the server is the end of its doors, and no failure of theirs; a door that is opened
// afterwards ends at once.
func TestServerClosesDoors(t *testing.T) {
	r := newRig(t, ok, Limits{})
	a := r.door("a")
	if got := r.do(r.at(a.host, a.token, "tools/list", "")); got.status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	check(t, r.Close())
	for _, d := range []doorRig{a, r.door("late")} {
		if c, err := net.Dial("tcp", d.host); err == nil {
			_, err = bufio.NewReader(c).ReadByte()
			if err == nil {
				t.Error("a door of a closed server answers")
			}
			check(t, c.Close())
		}
	}
}

// TestRevokedTokens: a token that is taken back ends the call that it let in, by name, and opens nothing from then on,
// on the same connection or on another.
func TestRevokedTokens(t *testing.T) {
	begun := make(chan struct{}, 1)
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, fault.From(context.Cause(ctx))
	}), Limits{})
	a := r.door("a")
	for name, c := range map[string]struct {
		host  string
		token secret.String
	}{"front": {r.host, r.scoped}, "door": {a.host, a.token}} {
		conn, err := net.Dial("tcp", c.host)
		check(t, err)
		check(t, conn.SetDeadline(time.Now().Add(patience)))
		answers := bufio.NewReader(conn)
		ask := func() answered {
			t.Helper()
			check(t, r.at(c.host, c.token, "tools/call", "task_wait").Write(conn))
			res, err := http.ReadResponse(answers, nil)
			check(t, err)
			return read(t, res)
		}
		go func() { // the call is under way: take its token back
			<-begun
			r.tokens.Revoker(c.token)()
		}()
		if got := ask(); got.status != http.StatusOK || !strings.Contains(got.body, `"code":"forbidden"`) || !strings.Contains(got.body, "taken back") {
			t.Errorf("%s, under way: %+v", name, got)
		}
		if got := ask(); got.status != http.StatusUnauthorized {
			t.Errorf("%s, the same connection: %+v", name, got)
		}
		check(t, conn.Close())
		if got := r.do(r.at(c.host, c.token, "tools/list", "")); got.status != http.StatusUnauthorized {
			t.Errorf("%s, another connection: %+v", name, got)
		}
	}
}
