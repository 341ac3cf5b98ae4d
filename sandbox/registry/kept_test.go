package registry

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestAReadingIsKept(t *testing.T) {
	reads := 0
	var mu sync.Mutex
	now := time.Now()
	answers := [][]Index{{{Tool: "npm", Rules: []string{"a.test:443"}}}, {{Tool: "npm", Note: "npm did not answer"}}, {{Tool: "npm", Rules: []string{"b.test:443"}}}}
	k := Keep(func() Options { return Options{} })
	k.now = func() time.Time { return now }
	k.read = func(context.Context) []Index {
		mu.Lock()
		defer mu.Unlock()
		reads++
		return answers[reads-1]
	}
	want := func(rule, note string, n int) {
		t.Helper()
		got, err := k.Indexes(t.Context())
		if err != nil || len(got) != 1 || got[0].Rules[0] != rule || got[0].Note != note || reads != n {
			t.Errorf("%+v, %v after %d readings; want %s, %q after %d", got, err, reads, rule, note, n)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := k.Indexes(t.Context()); err != nil || got[0].Rules[0] != "a.test:443" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	want("a.test:443", "", 1)
	now = now.Add(keptFor - time.Second)
	want("a.test:443", "", 1)
	now = now.Add(time.Second)
	want("a.test:443", "npm did not answer", 2) // what was said before stays, with the reason
	if err := k.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("b.test:443", "", 3)
}

func TestAReadingThatIsCutShortIsNotKept(t *testing.T) {
	k := Keep(func() Options { return Options{} })
	started, gone := make(chan struct{}), errors.New("the task was closed")
	k.read = func(ctx context.Context) []Index {
		close(started)
		<-ctx.Done()
		return []Index{{Tool: "npm"}}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	var first sync.WaitGroup
	first.Go(func() {
		if got, err := k.Indexes(ctx); !errors.Is(err, gone) || got != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
	<-started
	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := k.Indexes(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller that waits does not look at its own time: %v", err)
	}
	cancel(gone)
	first.Wait()
	k.read = func(context.Context) []Index { return []Index{{Tool: "npm", Rules: []string{"a.test:443"}}} }
	if got, err := k.Indexes(t.Context()); err != nil || len(got[0].Rules) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
