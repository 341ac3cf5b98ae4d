package ptyhost

import (
	"errors"
	"syscall"
	"time"
)

// readBytes is the most that is read at once. The kernel hands out less; under a flood several reads are joined.
const readBytes = 32 << 10

// drainLimit bounds the wait for the last bytes of an ended program. The kernel closes the terminal with its session,
// so that it is never reached on Linux; elsewhere a process that left the session may hold the terminal open.
const drainLimit = 500 * time.Millisecond

// nobodyPause is the time between two looks at a terminal that no process has open while its program runs.
const nobodyPause = 100 * time.Millisecond

// readLoop takes in what the program prints, until the terminal is closed.
func (t *Terminal) readLoop() {
	defer close(t.read)
	buf := make([]byte, readBytes)
	last := false // the program has ended, and this is the read after that
	for {
		n, err := t.pty.Read(buf)
		if n > 0 {
			if t.spec.Tap != nil {
				t.spec.Tap(buf[:n])
			}
			began := time.Now()
			if t.take(buf[:n]) {
				t.waitForRoom()
			} else {
				t.yield(time.Since(began) + time.Duration(n)*behindByte)
			}
		}
		switch {
		case err == nil:
			last = false
		case last || !errors.Is(err, syscall.EIO): // or reap set a deadline
			return
		default:
			last = t.nobody()
		}
	}
}

// nobody is called when a read says that no process has the terminal open (EIO). That is no end yet. Linux also says it
// when the last process printed and closed in the midst of the read: what was printed then comes with the next one. And a
// program that runs may open its terminal again. It returns after a pause, or at once with true when the program has ended.
func (t *Terminal) nobody() (ended bool) {
	timer := time.NewTimer(nobodyPause)
	defer timer.Stop()
	select {
	case <-t.over:
		return true
	case <-timer.C:
		return false
	}
}

// Pacing of what nobody sees: of the time that its bytes take a processor, it takes one part in unseenShare, and sleeps in
// pieces that are long enough to be kept.
const (
	unseenShare = 4
	// behindByte is what a byte costs before it is read: in the program and in the kernel, which bring a reader that does nothing no
	// more than 25 MB/s where both are on one processor. Taking it in is the smaller part.
	behindByte = 40 * time.Nanosecond
	unseenNap  = 2 * time.Millisecond
	longestNap = 50 * time.Millisecond // after a reader that was itself kept waiting for a processor
)

// yield lets a flood that nobody sees take no more than its share, while somebody looks at another terminal: drawing that
// needs the processor more. A program that prints less than a flood is never held up.
func (t *Terminal) yield(spent time.Duration) {
	t.mu.Lock()
	seen := t.shown > 0
	t.mu.Unlock()
	if seen || t.host.shown.Load() == 0 {
		t.owed = 0
		return
	}
	t.owed += (unseenShare - 1) * spent
	if t.owed < unseenNap {
		return
	}
	timer := time.NewTimer(min(t.owed, longestNap))
	defer timer.Stop()
	t.owed = 0
	select {
	case <-timer.C:
	case <-t.over: // what is left is little
	}
}

// take makes a chunk part of the ring and the screen, and reports whether a viewer wants the reader to wait.
func (t *Terminal) take(chunk []byte) (wait bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own, reply, told := t.screen.write(chunk)
	t.ring.write(chunk)
	t.keepTold(told, t.ring.end-uint64(len(chunk)))
	t.clock.add(t.ring.end, time.Now())
	t.giveAnswers(own, reply, t.ring.end)
	for a := range t.viewers {
		if a.hidden || !a.synced {
			continue
		}
		if a.sent < t.ring.start() { // fell out of the ring
			if a.opts.Pressure == Lag {
				a.detachLocked(ReasonLagged)
			} else {
				a.unsync()
			}
			continue
		}
		if a.opts.Pressure == PauseReader && t.ring.end-a.acked >= a.pace.window {
			a.pace.limited = true
			if a.follows {
				a.startSkimming()
				continue
			}
			if !a.full {
				a.full, a.heard = true, time.Now()
			}
			wait = true
		}
		a.signal()
	}
	return wait
}

// waitForRoom waits until no viewer is full. The program waits meanwhile, as its output has nowhere to go. A viewer that
// acknowledges nothing for Options.Stall is let go of.
func (t *Terminal) waitForRoom() {
	for {
		wait := t.longestWait(time.Now())
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-t.room:
		case <-t.over: // what is left is little, and the exit shall be seen
			timer.Stop()
			return
		case <-timer.C:
		}
		timer.Stop()
	}
}

// longestWait returns how long the reader may have to wait for a viewer, zero when none is full. It lets go of those
// that were silent for too long.
func (t *Terminal) longestWait(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var wait time.Duration
	for a := range t.viewers {
		if !a.full {
			continue
		}
		left := t.host.opts.Stall - now.Sub(a.heard)
		if left <= 0 {
			a.unsync()
			continue
		}
		wait = max(wait, left)
	}
	return wait
}

// signalRoom wakes the reader; t.mu must be held.
func (t *Terminal) signalRoom() {
	select {
	case t.room <- struct{}{}:
	default:
	}
}

// reap waits for the end of the program, tells it after the last byte, and clears up.
func (t *Terminal) reap() {
	defer close(t.gone)
	status := t.child.wait()
	close(t.over)
	timer := time.NewTimer(drainLimit)
	select {
	case <-t.read:
	case <-timer.C:
		_ = t.pty.SetReadDeadline(time.Unix(1, 0))
		<-t.read
	}
	timer.Stop()
	t.in.close()
	_ = t.pty.SetWriteDeadline(time.Unix(1, 0))
	<-t.wrote

	t.mu.Lock()
	if t.asked {
		status.Cause = CauseEnded
	}
	t.status = status
	t.mu.Unlock()
	if t.spec.OnExit != nil {
		t.spec.OnExit(status)
	}
	t.mu.Lock()
	t.exited = true
	for a := range t.viewers {
		a.signal()
	}
	t.mu.Unlock()
	close(t.done)

	t.sweep()
	_ = t.pty.Close()
}
