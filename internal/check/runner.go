package check

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"termic/internal/boottime"
)

// Limits of a Runner.
const (
	maxLooks = 32                     // at the same time; each has a socket or two
	group    = 256                    // outcomes that are told together, at most
	settle   = 250 * time.Millisecond // how long the first of a group waits for others
	doze     = 30 * time.Second       // the longest sleep: timers stand still while the machine is suspended, and Clock.Now goes on
)

// Watch is a check that a Runner makes again and again.
type Watch struct {
	ID   string
	Spec Spec
}

// Outcome is one look of a Runner.
type Outcome struct {
	ID string // of the watch
	Result
	Ran    time.Time
	Failed int // looks at this target that failed in a row, this one included; 0 when it is up
}

// Clock tells a Runner the time. The zero value is the machine's.
type Clock struct {
	Now   func() time.Duration                                     // goes on while the machine is suspended
	Timer func(time.Duration) (fire <-chan time.Time, stop func()) // may be late
	Wall  func() time.Time
}

func (k Clock) filled() Clock {
	if k.Now == nil {
		began := time.Now()
		k.Now = func() time.Duration {
			if d, err := boottime.Now(); err == nil {
				return d
			}
			return time.Since(began) // stands still while suspended: a check is late then, and never made twice
		}
	}
	if k.Timer == nil {
		k.Timer = func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTimer(d)
			return t.C, func() { t.Stop() }
		}
	}
	if k.Wall == nil {
		k.Wall = time.Now
	}
	return k
}

// Runner makes checks again and again: each at its interval, a little earlier or later so that many spread out, never twice at
// the same time, and once after a time in which none could be made. Run is its one goroutine, beside at most maxLooks looks, and
// waits for them when its context ends.
type Runner struct {
	look  func(context.Context, Spec, string) Result
	tell  func([]Outcome)
	clock Clock
	wake  chan struct{} // holds one: a new set waits

	mu    sync.Mutex // guards the following
	next  []Watch
	fresh bool
}

// NewRunner makes a Runner. tell gets what was found, in groups, one after the other; it may take its time.
func NewRunner(p *Prober, k Clock, tell func([]Outcome)) *Runner {
	return &Runner{look: p.Look, tell: tell, clock: k.filled(), wake: make(chan struct{}, 1)}
}

// Set says what is watched from now on. What is new or changed is looked at soon; of the first set, all within their first
// interval, so that a start is no storm.
func (r *Runner) Set(list []Watch) {
	r.mu.Lock()
	r.next, r.fresh = list, true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// due is one watch in the order of time.
type due struct {
	Watch
	at      time.Duration
	left    int // looks of the present round that are not back
	failed  map[string]int
	dropped bool // by a newer set; looks that are under way are not told
	index   int
}

type queue []*due

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].index, q[j].index = i, j }
func (q *queue) Push(x any)        { d := x.(*due); d.index = len(*q); *q = append(*q, d) }
func (q *queue) Pop() any {
	old := *q
	d := old[len(old)-1]
	*q = old[:len(old)-1]
	return d
}

type job struct {
	of     *due
	target string
}

type done struct {
	job
	res Result
}

// round is what Run works with.
type round struct {
	*Runner
	ctx     context.Context
	queue   queue
	byID    map[string]*due
	started bool
	waiting []job // for one of maxLooks
	running int
	back    chan done
	found   []Outcome
	flush   <-chan time.Time // fires when found is to be told; nil while it is empty
}

// Run makes checks until the context ends.
func (r *Runner) Run(ctx context.Context) {
	s := &round{Runner: r, ctx: ctx, byID: map[string]*due{}, back: make(chan done, maxLooks)}
	for {
		var alarm <-chan time.Time
		stop := func() {}
		if len(s.queue) > 0 {
			alarm, stop = r.clock.Timer(min(max(s.queue[0].at-r.clock.Now(), 0), doze))
		}
		select {
		case <-ctx.Done():
			stop()
			for ; s.running > 0; s.running-- {
				<-s.back
			}
			return
		case <-r.wake:
			s.take()
		case <-alarm:
		case d := <-s.back:
			s.ended(d)
		case <-s.flush:
			s.told()
		}
		stop()
		s.begin()
	}
}

// take takes a new set over. What did not change keeps its time, and what is known of it.
func (s *round) take() {
	s.mu.Lock()
	list, fresh := s.next, s.fresh
	s.next, s.fresh = nil, false
	s.mu.Unlock()
	if !fresh {
		return
	}
	now := s.clock.Now()
	byID := make(map[string]*due, len(list))
	for _, w := range list {
		if old := s.byID[w.ID]; old != nil && same(old.Spec, w.Spec) {
			byID[w.ID] = old
			continue
		}
		d := &due{Watch: w, at: now, failed: map[string]int{}}
		if !s.started {
			d.at += time.Duration(rand.Int64N(int64(w.Spec.Interval)))
		}
		byID[w.ID] = d
	}
	for id, old := range s.byID {
		old.dropped = byID[id] != old
	}
	s.byID, s.queue, s.started = byID, s.queue[:0], true
	for _, d := range byID {
		s.queue = append(s.queue, d)
	}
	heap.Init(&s.queue)
	for i, d := range s.queue {
		d.index = i
	}
}

func same(a, b Spec) bool { return reflect.DeepEqual(a, b) }

// begin puts what is due among what waits for its turn, and starts as much as may run.
func (s *round) begin() {
	for now := s.clock.Now(); len(s.queue) > 0 && s.queue[0].at <= now; {
		d := s.queue[0]
		// The next time counts from now: however many were missed, one look makes up for them.
		d.at = now + d.Spec.Interval - d.Spec.Interval/20 + time.Duration(rand.Int64N(int64(d.Spec.Interval/10)))
		heap.Fix(&s.queue, 0)
		if d.left > 0 {
			continue // the round before is not back yet
		}
		d.left = len(d.Spec.Targets)
		for _, t := range d.Spec.Targets {
			s.waiting = append(s.waiting, job{d, t})
		}
	}
	for s.running < maxLooks && len(s.waiting) > 0 {
		j := s.waiting[0]
		s.waiting[0] = job{}
		s.waiting = s.waiting[1:]
		if j.of.dropped {
			continue
		}
		s.running++
		go func() { s.back <- done{j, s.look(s.ctx, j.of.Spec, j.target)} }() // Run waits for it
	}
}

// ended takes one look in.
func (s *round) ended(d done) {
	s.running--
	d.of.left--
	if d.of.dropped || s.ctx.Err() != nil {
		return // nobody asks for it any more, or it was cut short
	}
	if d.res.Up {
		delete(d.of.failed, d.target)
	} else {
		d.of.failed[d.target]++
	}
	s.found = append(s.found, Outcome{ID: d.of.ID, Result: d.res, Ran: s.clock.Wall(), Failed: d.of.failed[d.target]})
	if s.flush == nil {
		s.flush, _ = s.clock.Timer(settle)
	}
	if len(s.found) >= group {
		s.told()
	}
}

// told hands over what was found.
func (s *round) told() {
	s.flush = nil
	found := s.found
	s.found = nil
	if len(found) > 0 {
		s.tell(found)
	}
}
