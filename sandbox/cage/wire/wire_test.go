package wire

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// queue is a socket in memory.
type queue struct {
	packets [][]byte
	fds     [][]int
	closed  []int
}

func (q *queue) SendPacket(p []byte, fds []int) error {
	q.packets, q.fds = append(q.packets, append([]byte(nil), p...)), append(q.fds, fds)
	return nil
}

func (q *queue) ReceivePacket(p []byte) (int, []int, error) {
	if len(q.packets) == 0 {
		return 0, nil, nil
	}
	n, fds := copy(p, q.packets[0]), q.fds[0]
	q.packets, q.fds = q.packets[1:], q.fds[1:]
	return n, fds, nil
}

func (q *queue) CloseFD(fd int) { q.closed = append(q.closed, fd) }

func TestRoundTrip(t *testing.T) {
	text := rapid.StringOf(rapid.Rune())
	list := rapid.SliceOf(text)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Message{
			&Setup{Mounts: []Mount{{text.Draw(t, "source"), "/t", true, true, 1 << 63, 7}}, Links: []Link{{"/a", text.Draw(t, "to")}}, Covers: list.Draw(t, "covers"), Pins: list.Draw(t, "pins"),
				TmpBytes: -1, Net: true, Ports: []int{1024, 65535}, Terminal: true, Cols: 65535, Rows: 1, PidMax: 400, NumProcs: 3, Data: 1 << 40, OpenFiles: 9, NeedLandlock: 6, Watch: 2, Weak: 31},
			&Run{Argv: list.Draw(t, "argv"), Env: append(list.Draw(t, "env"), strings.Repeat("x", rapid.IntRange(0, 200<<10).Draw(t, "long"))), Dir: "/\xff"},
			&Failed{Step: StepCover, Path: "/p", Errno: 13, Text: "t"}, &Exited{Code: -1, Signal: 9}, &Built{Landlock: 7, PidMax: true, Watched: true},
			&Dial{ID: 1 << 40, Port: 80, Six: true}, &Dialed{ID: 2, Errno: 111}, &Signal{15}, &Started{2}, &Entered{1 << 22},
		}).Draw(t, "message")
		q := &queue{}
		if err := Send(q, m, 3, 4); err != nil {
			t.Fatal(err)
		}
		got, fds, err := NewReceiver(q).Receive()
		if err != nil || !reflect.DeepEqual(fds, []int{3, 4}) {
			t.Fatal(err, fds)
		}
		if !same(got, m) {
			t.Fatalf("sent %+v, got %+v", m, got)
		}
	})
}

// same compares messages; an empty list and none are the same.
func same(a, b Message) bool {
	var x, y encoder
	a.encode(&x)
	b.encode(&y)
	return string(x.b) == string(y.b) && a.kind() == b.kind()
}

func TestOtherVersion(t *testing.T) {
	q := &queue{}
	if err := Send(q, &Setup{}); err != nil {
		t.Fatal(err)
	}
	q.packets[0][2] = Version + 1
	_, _, err := NewReceiver(q).Receive()
	if v, ok := err.(*VersionError); !ok || v.Got != Version+1 {
		t.Error(err)
	}
}

func TestEndAndDescriptors(t *testing.T) {
	if _, _, err := NewReceiver(&queue{}).Receive(); err != ErrClosed {
		t.Error(err)
	}
	q := &queue{packets: [][]byte{{byte(KindExited), 0, 0x80}}, fds: [][]int{{5, 6}}}
	if _, _, err := NewReceiver(q).Receive(); err == nil || !reflect.DeepEqual(q.closed, []int{5, 6}) {
		t.Errorf("%v, closed %v", err, q.closed)
	}
}

func FuzzReceive(f *testing.F) {
	for _, m := range []Message{&Setup{Covers: []string{"/a"}}, &Run{Argv: []string{"a"}}, &Exited{Code: 1}} {
		q := &queue{}
		if err := Send(q, m); err != nil {
			f.Fatal(err)
		}
		f.Add(q.packets[0])
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) > maxPart {
			return
		}
		m, _, err := NewReceiver(&queue{packets: [][]byte{p}, fds: [][]int{nil}}).Receive()
		if err != nil {
			return
		}
		q := &queue{}
		if err := Send(q, m); err != nil {
			t.Fatal(err)
		}
		again, _, err := NewReceiver(q).Receive()
		if err != nil || !same(again, m) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}
