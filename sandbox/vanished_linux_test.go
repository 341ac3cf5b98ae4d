package sandbox

import (
	"net"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestVanishedSocketsDoNotKeepACageFromStarting: sockets of other programs come and go. One that was to be hidden and is
// gone is no reason to refuse, and one that is there is hidden, however many vanish while cages start.
func TestVanishedSocketsDoNotKeepACageFromStarting(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	listen := func(name string) net.Listener {
		l, err := net.Listen("unix", short+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	stays, goes := listen("stays"), listen("goes")
	defer stays.Close()
	p := h.compose(layer(Layer{Read: []string{short}}))
	if !slices.Contains(p.sockets, short+"/goes") {
		t.Fatalf("not to be hidden: %v", p.sockets)
	}
	if err := goes.Close(); err != nil {
		t.Fatal(err)
	}
	look := "test -S " + short + "/stays || test -s " + short + "/stays; echo $?"
	if _, out := h.inside(p, look); out != "1\n" {
		t.Errorf("the socket that stays is seen: %q", out)
	}

	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			l := listen("brief" + strconv.Itoa(i%7))
			select {
			case <-stop:
				_ = l.Close()
				return
			default:
				_ = l.Close()
			}
		}
	}()
	for range 15 {
		if _, out := h.inside(h.compose(layer(Layer{Read: []string{short}})), look); out != "1\n" {
			t.Errorf("the socket that stays is seen: %q", out)
		}
	}
	close(stop)
	<-stopped
}
