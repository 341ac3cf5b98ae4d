package agent

import (
	"context"
	"strings"
)

// provenLost finds out whether the text was thrown away or is only late. It types one full stop and looks: input is
// read in order, so when the stop stands alone in the field, all before it was read and dropped. The stop is then
// deleted. When the text came after all, lost is false.
func (w *typist) provenLost(ctx context.Context) (lost bool, err error) {
	if err := w.write(ctx, "."); err != nil {
		return false, err
	}
	err = w.awaitField(ctx, func(f field, standIns int) bool {
		text := strings.TrimSpace(f.text)
		lost = text == "."
		return !f.empty && (strings.HasSuffix(text, ".") || standIns > 0)
	})
	if err != nil {
		return false, err
	}
	if err := w.write(ctx, "\x7f"); err != nil {
		return false, err
	}
	stop := strings.HasSuffix(strings.TrimSpace(w.body), ".")
	err = w.awaitField(ctx, func(f field, standIns int) bool {
		text := strings.TrimSpace(f.text)
		if lost {
			return f.empty
		}
		return standIns > 0 || text != "" && strings.HasSuffix(text, ".") == stop
	})
	if err != nil {
		return false, err
	}
	w.rec.EchoSeen, w.seen = !lost, !lost
	w.at = w.clock.Now()
	return lost, nil
}

// awaitField waits until the field is as wanted, at most EchoWait.
func (w *typist) awaitField(ctx context.Context, wanted func(f field, standIns int) bool) error {
	until := w.clock.Now().Add(EchoWait)
	for {
		g := w.d.glance()
		if w.exited() {
			return w.failure(ErrExited, "")
		}
		if f, there := w.k.composer(w.t.Screen()); there {
			if _, standIns := w.mark.count(f.text); wanted(f, standIns) {
				return nil
			}
		}
		if !w.clock.Now().Before(until) {
			return w.failure(ErrNotTaken, "")
		}
		if err := w.pause(ctx, g, until); err != nil {
			return err
		}
	}
}
