package ptyhost

// ringRoom is what the ring keeps beyond RingBytes: a full viewer may lag by its window, and what the kernel holds for
// an ended program comes on top.
const ringRoom = MostWindow - RingBytes + 128<<10

// ring keeps the newest bytes of a stream, numbered from the first byte ever. It grows as it fills, so that a quiet
// terminal stays small.
type ring struct {
	buf  []byte // len is its present room; the byte of number n is at n % len
	end  uint64 // bytes ever written
	held int
}

const ringMax = RingBytes + ringRoom

// start returns the number of the oldest byte that is held.
func (r *ring) start() uint64 { return r.end - uint64(r.held) }

func (r *ring) write(p []byte) {
	r.grow(r.held + len(p))
	if skip := len(p) - len(r.buf); skip > 0 { // longer than the ring: only its end is kept
		r.end += uint64(skip)
		p = p[skip:]
	}
	r.held = min(r.held+len(p), len(r.buf))
	for len(p) > 0 {
		n := copy(r.buf[r.end%uint64(len(r.buf)):], p)
		r.end += uint64(n)
		p = p[n:]
	}
}

// grow makes room for n bytes, as far as the ring may grow.
func (r *ring) grow(n int) {
	size := max(len(r.buf), 4096)
	for size < n && size < ringMax {
		size *= 2
	}
	size = min(size, ringMax)
	if size == len(r.buf) {
		return
	}
	old := r.read(r.start(), r.held)
	r.buf = make([]byte, size)
	at := r.end - uint64(len(old))
	for len(old) > 0 {
		k := copy(r.buf[at%uint64(size):], old)
		at += uint64(k)
		old = old[k:]
	}
}

// read returns a copy of at most n bytes from number from on. from must lie between start and end.
func (r *ring) read(from uint64, n int) []byte {
	n = min(n, int(r.end-from))
	out := make([]byte, n)
	for at := 0; at < n; {
		at += copy(out[at:], r.buf[(from+uint64(at))%uint64(len(r.buf)):])
	}
	return out
}
