package control

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

// oldApp answers the first line of each connection with a fixed one.
func oldApp(t *testing.T, answer string) Address {
	t.Helper()
	a := AddressIn(shortDir(t))
	l, err := net.Listen("unix", a.Socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Token, []byte("t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = fmt.Fprint(c, answer)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return a
}

// TestVersionGate is case P22: another protocol is a clear refusal with what to do.
func TestVersionGate(t *testing.T) {
	for _, c := range []struct {
		protocol int
		message  string
		hint     string
	}{
		{Protocol + 1, "newer", "Run the `termic` that belongs to the app"},
		{Protocol - 1, "older", "End the app and start it again"},
	} {
		a := oldApp(t, fmt.Sprintf(`{"id":"1","ok":true,"data":{"app":"termic","version":"0.9","protocol":%d,"more":1}}`+"\n", c.protocol))
		_, err := Dial(t.Context(), a)
		f := fault.From(err)
		if !errors.Is(err, ErrVersion) || f.Code != fault.Unavailable || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("protocol %d: %+v", c.protocol, f)
		}
	}
}

// TestBrokenApps shows that a client ends in words whatever answers it.
func TestBrokenApps(t *testing.T) {
	for name, answer := range map[string]string{
		"silence":        "",
		"half a line":    `{"id":"1","ok":tr`,
		"no JSON":        "SSH-2.0-x\n",
		"another's id":   `{"id":"9","ok":true,"data":{}}` + "\n",
		"neither answer": `{"id":"1"}` + "\n",
		"odd hello":      `{"id":"1","ok":true,"data":[]}` + "\n",
		"endless line":   strings.Repeat("x", MaxLine+2),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(t.Context(), oldApp(t, answer))
			if !errors.Is(err, ErrLost) || fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDialWithoutAToken(t *testing.T) {
	r := start(t, &fakeBackend{})
	_, err := Dial(t.Context(), Address{Socket: r.addr.Socket, Token: filepath.Join(r.Dir, "no-token")})
	if fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("got %v", err)
	}
}

func TestTooLongARequestIsNotSent(t *testing.T) {
	r := start(t, &fakeBackend{})
	c := r.dial(t)
	_, err := c.Call(t.Context(), "task_send", []byte(`{"prompt":"`+strings.Repeat("x", MaxLine)+`"}`), nil)
	if f := fault.From(err); f.Code != fault.InvalidArgument || f.Hint == "" {
		t.Errorf("got %+v", f)
	}
	if _, err := c.Call(t.Context(), "path", nil, nil); err != nil {
		t.Errorf("the connection is not whole any more: %v", err)
	}
}
