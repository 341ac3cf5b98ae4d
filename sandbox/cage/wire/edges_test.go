package wire

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// every is one message of each kind, with something in all of its fields.
func every() []Message {
	return []Message{
		&Setup{Mounts: []Mount{{"/s", "/t", true, true, 1, 2}}, Links: []Link{{"/a", "/b"}}, Covers: []string{"/c"}, Pins: []string{"/p"}, TmpBytes: 1, Net: true, Ports: []int{80},
			Terminal: true, Cols: 80, Rows: 24, PidMax: 1, NumProcs: 2, Data: 3, OpenFiles: 4, NeedLandlock: 6, Watch: 2, Weak: 31},
		&Entered{7}, &Built{Landlock: 7, PidMax: true, Watched: true}, &Failed{Step: StepMount, Path: "/p", Errno: 13, Text: "t"},
		&Run{Argv: []string{"a", "b"}, Env: []string{"A=1"}, Dir: "/d"}, &Started{2}, &Exited{Code: 3, Signal: 9}, &Signal{15}, &Dial{ID: 1, Port: 80, Six: true}, &Dialed{ID: 2, Errno: 111},
	}
}

// TestCutOffAndOverlong: a message that lacks any part of its end, or has a byte more than it should, is refused, and the descriptors that
// came along are closed.
func TestCutOffAndOverlong(t *testing.T) {
	for _, m := range every() {
		q := &queue{}
		if err := Send(q, m); err != nil || len(q.packets) != 1 {
			t.Fatalf("%T: %d packets, %v", m, len(q.packets), err)
		}
		whole := q.packets[0]
		tries := [][]byte{append(slices.Clone(whole), 0)}
		for n := range len(whole) {
			tries = append(tries, whole[:n])
		}
		for _, p := range tries {
			q := &queue{packets: [][]byte{p}, fds: [][]int{{5, 6}}}
			got, fds, err := NewReceiver(q).Receive()
			if err == nil || got != nil || fds != nil || !slices.Equal(q.closed, []int{5, 6}) {
				t.Errorf("%T: %d of %d bytes: %+v, %v, closed %v, %v", m, len(p), len(whole), got, fds, q.closed, err)
			}
		}
	}
}

// TestLengthsThatLie: a text or a list that says that it is longer than the message takes no memory and is refused.
func TestLengthsThatLie(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	for name, body := range map[string][]byte{
		"a list":        append([]byte{byte(KindRun), 0}, huge...),
		"a text":        append([]byte{byte(KindRun), 0, 1}, huge...),
		"just too long": {byte(KindRun), 0, 1, 2, 'a'},
		"a number":      append([]byte{byte(KindStarted), 0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
	} {
		if m, _, err := NewReceiver(&queue{packets: [][]byte{body}, fds: [][]int{nil}}).Receive(); !errors.Is(err, errShort) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// TestPartsThatDoNotBelongTogether: a message in parts has one kind, grows with each part, and has its descriptors with the first. Otherwise
// whoever is on the other side could keep the receiver busy for ever, or fill it with descriptors.
func TestPartsThatDoNotBelongTogether(t *testing.T) {
	run := byte(KindRun)
	many := slices.Repeat([]int{9}, MaxFDs)
	for name, c := range map[string]struct {
		packets [][]byte
		fds     [][]int
	}{
		"another kind":            {[][]byte{{run, 1, 0}, {byte(KindStarted), 0, 0, 0}}, [][]int{{5}, nil}},
		"nothing more":            {[][]byte{{run, 1}, {run, 1}, {run, 0, 0, 0, 0}}, [][]int{{5}, nil, nil}},
		"nothing more, later":     {[][]byte{{run, 1, 0}, {run, 1}, {run, 0, 0, 0}}, [][]int{{5}, nil, nil}},
		"descriptors come later":  {[][]byte{{run, 1, 0}, {run, 0, 0, 0}}, [][]int{{5}, {6}}},
		"too many of them":        {[][]byte{{run, 0, 0, 0, 0}}, [][]int{append(many, 9)}},
		"the other side has gone": {[][]byte{{run, 1, 0}}, [][]int{{5}}},
		"no kind that is known":   {[][]byte{{99, 0}}, [][]int{{5}}},
		"no head":                 {[][]byte{{run}}, [][]int{{5}}},
	} {
		q := &queue{packets: c.packets, fds: c.fds}
		sent := 0
		for _, f := range c.fds {
			sent += len(f)
		}
		m, fds, err := NewReceiver(q).Receive()
		if err == nil || m != nil || fds != nil || len(q.closed) == 0 || len(q.closed) > sent {
			t.Errorf("%s: %+v, %v, %d closed, %v", name, m, fds, len(q.closed), err)
		}
		if gone := strings.HasPrefix(name, "the other side"); errors.Is(err, ErrClosed) != gone {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := &queue{packets: [][]byte{{run, 1, 0}, {run, 0, 0, 0}}, fds: [][]int{many, nil}}
	if m, fds, err := NewReceiver(q).Receive(); err != nil || !reflect.DeepEqual(m, &Run{}) || len(fds) != MaxFDs {
		t.Errorf("as many as may be: %+v, %d, %v", m, len(fds), err)
	}
}

// TestWhatIsTooMuchIsNotSent: neither more descriptors nor more bytes than the other side takes.
func TestWhatIsTooMuchIsNotSent(t *testing.T) {
	q := &queue{}
	if err := Send(q, &Started{1}, make([]int, MaxFDs+1)...); err == nil || len(q.packets) != 0 {
		t.Errorf("%d packets, %v", len(q.packets), err)
	}
	if err := Send(q, &Run{Argv: []string{strings.Repeat("x", maxMessage)}}); err == nil || len(q.packets) != 0 {
		t.Errorf("%d packets, %v", len(q.packets), err)
	}
	long := &Run{Argv: []string{strings.Repeat("x", maxMessage-10)}}
	if err := Send(q, long, 3); err != nil {
		t.Fatal(err)
	}
	if m, fds, err := NewReceiver(q).Receive(); err != nil || !reflect.DeepEqual(m, long) || !slices.Equal(fds, []int{3}) {
		t.Errorf("the longest: %T, %v, %v", m, fds, err)
	}
	broken := errors.New("broken")
	if err := Send(failing{q, broken}, &Started{1}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, _, err := NewReceiver(failing{&queue{}, broken}).Receive(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// failing is a socket that is broken.
type failing struct {
	*queue
	err error
}

func (f failing) SendPacket([]byte, []int) error           { return f.err }
func (f failing) ReceivePacket([]byte) (int, []int, error) { return 0, nil, f.err }

func TestWordsOfFailures(t *testing.T) {
	for want, err := range map[string]error{
		"cage: step mount at /p: refused":    &Failed{Step: StepMount, Path: "/p", Text: "refused"},
		"cage: step seccomp":                 &Failed{Step: StepSeccomp},
		"speaks version 3, the app speaks 9": &VersionError{Got: 9},
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
