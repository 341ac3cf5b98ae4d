package cage

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestFirstProcessMakesNoThread: what the first process needs is there before the program is. A thread more, once the program
// has used up the cage's processes, and the runtime would end it and the cage with it.
func TestFirstProcessMakesNoThread(t *testing.T) {
	for range 10 {
		o := newObedient(t, Spec{View: systemView(t), Net: true})
		before := threads(t, o.Pid())
		for range 20 {
			o.want("ok", "orphan")
			_, _ = o.Dial(t.Context(), 5173) // refused: nobody listens
			o.want("ok", "one")
		}
		if after := threads(t, o.Pid()); after > before {
			t.Errorf("it had %d threads when the program started, and has %d", before, after)
		}
		o.Kill()
		o.Wait()
	}
}

func threads(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return n
}
