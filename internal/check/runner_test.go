package check

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hands is a clock that a test moves, with timers that fire when it does.
type hands struct {
	mu    sync.Mutex
	now   time.Duration
	timer []handTimer
	armed chan struct{} // holds one: a timer was set
}

type handTimer struct {
	at   time.Duration
	fire chan time.Time
}

func newHands() *hands { return &hands{armed: make(chan struct{}, 1)} }

func (h *hands) clock() Clock {
	return Clock{Now: func() time.Duration { h.mu.Lock(); defer h.mu.Unlock(); return h.now }, Wall: func() time.Time { return time.Unix(0, 0) },
		Timer: func(d time.Duration) (<-chan time.Time, func()) {
			h.mu.Lock()
			defer h.mu.Unlock()
			t := handTimer{h.now + d, make(chan time.Time, 1)}
			if d <= 0 {
				t.fire <- time.Time{}
			} else {
				h.timer = append(h.timer, t)
			}
			return t.fire, func() {}
		}}
}

// move sets the time forward. asleep: the timers stand still meanwhile, as those of a suspended machine do.
func (h *hands) move(d time.Duration, asleep bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += d
	var left []handTimer
	for _, t := range h.timer {
		if asleep {
			t.at += d
		}
		if t.at <= h.now {
			t.fire <- time.Time{}
		} else {
			left = append(left, t)
		}
	}
	h.timer = left
}

// rounds counts the looks at each target.
type rounds struct {
	mu    sync.Mutex
	looks map[string]int
}

func (r *rounds) count(target string) int { r.mu.Lock(); defer r.mu.Unlock(); return r.looks[target] }

func started(t *testing.T, h *hands, look func(context.Context, Spec, string) Result) (*Runner, *rounds, chan []Outcome) {
	t.Helper()
	seen, told := &rounds{looks: map[string]int{}}, make(chan []Outcome, 1000)
	r := NewRunner(New(Options{}), h.clock(), func(o []Outcome) { told <- o })
	r.look = func(ctx context.Context, s Spec, target string) Result {
		seen.mu.Lock()
		seen.looks[target]++
		seen.mu.Unlock()
		if look != nil {
			return look(ctx, s, target)
		}
		return Result{Target: target, Up: true}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r, seen, told
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func every(id string, d time.Duration) Watch {
	return Watch{id, Spec{Kind: TCP, Targets: []string{id}, Interval: d, Timeout: time.Second}}
}

// TestAtItsInterval: in an hour a check of each minute is made about 60 times, and one of each ten about six times.
func TestAtItsInterval(t *testing.T) {
	h := newHands()
	r, seen, _ := started(t, h, nil)
	r.Set([]Watch{every("minute", time.Minute), every("ten", 10*time.Minute)})
	until(t, "the set was not taken", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.timer) > 0 })
	for range 3600 {
		h.move(time.Second, false)
		time.Sleep(100 * time.Microsecond)
	}
	until(t, fmt.Sprintf("%v", seen.looks), func() bool {
		m, ten := seen.count("minute"), seen.count("ten")
		return m >= 55 && m <= 64 && ten >= 5 && ten <= 8
	})
}

// TestAfterSuspend: a night makes one look due, not hundreds, even though the timers stood still; and it comes within a doze.
func TestAfterSuspend(t *testing.T) {
	h := newHands()
	r, seen, _ := started(t, h, nil)
	r.Set(nil)
	until(t, "taken", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return !r.fresh })
	r.Set([]Watch{every("one", time.Minute)})
	until(t, "what is new is looked at at once", func() bool { h.move(time.Millisecond, false); return seen.count("one") == 1 })
	h.move(8*time.Hour, true)
	h.move(doze, false)
	until(t, "one look after the night", func() bool { return seen.count("one") == 2 })
	for range 20 {
		h.move(time.Second, false)
		time.Sleep(time.Millisecond)
	}
	if n := seen.count("one"); n != 2 {
		t.Errorf("%d looks, of which one before the night", n)
	}
}

// TestSpread: a thousand checks of one set are not made at the same moment.
func TestSpread(t *testing.T) {
	h := newHands()
	r, seen, _ := started(t, h, nil)
	var list []Watch
	for i := range 1000 {
		list = append(list, every(fmt.Sprint(i), time.Minute))
	}
	r.Set(list)
	until(t, "taken", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return !r.fresh })
	total := func() (n int) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		return len(seen.looks)
	}
	before, most := 0, 0
	for range 60 {
		h.move(time.Second, false)
		time.Sleep(5 * time.Millisecond)
		n := total()
		most, before = max(most, n-before), n
	}
	until(t, "all within the first interval", func() bool { return total() == 1000 })
	if most > 100 {
		t.Errorf("%d of 1000 in one second", most)
	}
}

// TestFailuresInARow are counted for each target, and begin anew when it is up or the check was changed.
func TestFailuresInARow(t *testing.T) {
	h := newHands()
	var mu sync.Mutex
	up := false
	r, _, told := started(t, h, func(_ context.Context, _ Spec, target string) Result {
		mu.Lock()
		defer mu.Unlock()
		return Result{Target: target, Up: up}
	})
	next := func() Outcome {
		for {
			select {
			case o := <-told:
				return o[0]
			case <-time.After(time.Millisecond):
				h.move(time.Second, false)
			}
		}
	}
	r.Set([]Watch{every("one", time.Minute)})
	for want := range 3 {
		if got := next().Failed; got != want+1 {
			t.Fatalf("failed %d times in a row, want %d", got, want+1)
		}
	}
	mu.Lock()
	up = true
	mu.Unlock()
	if o := next(); !o.Up || o.Failed != 0 {
		t.Errorf("%+v", o)
	}
}

// TestNeverTwiceAtOnce: a look that takes longer than the interval is waited for, and what was taken out of the set is not told.
func TestNeverTwiceAtOnce(t *testing.T) {
	h := newHands()
	release := make(chan struct{})
	r, seen, told := started(t, h, func(_ context.Context, _ Spec, target string) Result { <-release; return Result{Target: target} })
	r.Set([]Watch{every("slow", 10*time.Second)})
	until(t, "begun", func() bool { h.move(time.Second, false); return seen.count("slow") == 1 })
	for range 100 {
		h.move(time.Second, false)
	}
	time.Sleep(20 * time.Millisecond)
	if n := seen.count("slow"); n != 1 {
		t.Errorf("%d looks at once", n)
	}
	r.Set(nil)
	until(t, "taken", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return !r.fresh })
	time.Sleep(10 * time.Millisecond)
	close(release)
	select {
	case o := <-told:
		t.Errorf("told %v of what is watched no more", o)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestAThousandChecks: real sockets, descriptors, goroutines and memory stay bounded.
func TestAThousandChecks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	h := newHands()
	told := make(chan []Outcome, 4096)
	r := NewRunner(New(Options{}), h.clock(), func(o []Outcome) { told <- o })
	var list []Watch
	for i := range 1000 {
		list = append(list, Watch{fmt.Sprint(i), Spec{Kind: TCP, Targets: []string{l.Addr().String()}, Interval: 10 * time.Second, Timeout: time.Second}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	go func() { defer close(ended); r.Run(ctx) }()
	r.Set(list)
	looks, mostG, mostF := 0, 0, 0
	for end := time.Now().Add(20 * time.Second); looks < 5000 && time.Now().Before(end); {
		h.move(500*time.Millisecond, false)
		select {
		case o := <-told:
			looks += len(o)
		case <-time.After(5 * time.Millisecond):
		}
		mostG, mostF = max(mostG, runtime.NumGoroutine()-goroutines), max(mostF, descriptors(t)-files)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d looks of 1000 checks: %d goroutines and %d descriptors more at most, %d KiB of heap more", looks, mostG, mostF, grown>>10)
	if looks < 5000 || mostG > 4*maxLooks+8 || mostF > 4*maxLooks+8 || grown > 8<<20 {
		t.Error("not bounded")
	}
	cancel()
	<-ended
}

// descriptors counts those of this process; 0 where it cannot be told.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
