package sandbox

import (
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
)

// TestSocketsWithStrangeNamesAreCovered makes sockets whose names, in the kernel's list, are not their paths.
func TestSocketsWithStrangeNamesAreCovered(t *testing.T) {
	h := newHouse(t)
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	listen := func(name string) {
		t.Helper()
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		t.Cleanup(func() { _ = l.Close() })
	}
	if err := os.Mkdir(short+"/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	listen(short + "/first")
	if err := os.Rename(short+"/first", short+"/deep/moved"); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(short)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	listen(fmt.Sprintf("/proc/self/fd/%d/by-descriptor", dir.Fd()))
	t.Chdir(short)
	listen("relative")

	v := h.compose(layer(Layer{Read: []string{short}})).View()
	for _, want := range []string{"/deep/moved", "/by-descriptor", "/relative"} {
		if !slices.Contains(v.Covers, short+want) {
			t.Errorf("%s is not covered: %v", want, v.Covers)
		}
	}
	p := h.compose(layer(Layer{Read: []string{short}}), func(w *Wish) { w.GOOS = "darwin" })
	if len(p.sockets) != 0 {
		t.Errorf("on macOS the profile denies sockets, no list: %v", p.sockets)
	}
}

func FuzzBoundSocketIsReadWithoutHarm(f *testing.F) {
	f.Add(append(make([]byte, 16), 12, 0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0))
	f.Add(append(make([]byte, 16), 3, 0, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, ok := parseBound(data); ok && len(data) < 16+12 {
			t.Errorf("%d bytes make %+v", len(data), s)
		}
	})
}
