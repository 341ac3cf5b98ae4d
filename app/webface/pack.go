package webface

import (
	"encoding/binary"
	"math/bits"
)

// packed is set in the kind of a frame whose data was made smaller: the length that it had, and then the data in LZ4's block
// format. The web view hands what it receives from process to process in pieces of a few kilobytes, and each of those costs
// more than drawing it does, so that a flood is as quick as it is small. Text shrinks to a third or less.
const packed = 0x80

const (
	packFrom   = 1 << 10 // shorter data is not worth it
	packBits   = 12
	packMatch  = 4 // shortest match that the format has
	packMargin = 12
	packFar    = 1<<16 - 1 // farthest match that the format has
)

// packer makes data smaller. Its table is kept from frame to frame, as clearing it is quicker than making it.
type packer struct {
	seen [1 << packBits]uint32 // place behind which four bytes with that hash stood last
	out  []byte
}

// pack returns data made smaller, good until the next call; false when there is nothing to gain.
func (p *packer) pack(data []byte) ([]byte, bool) {
	if len(data) < packFrom {
		return nil, false
	}
	clear(p.seen[:])
	out := binary.BigEndian.AppendUint32(p.out[:0], uint32(len(data)))
	most := len(data) - len(data)/8
	done, misses := 0, 0
	for at := 0; at < len(data)-packMargin; {
		four := binary.LittleEndian.Uint32(data[at:])
		slot := &p.seen[four*2654435761>>(32-packBits)] // Knuth's multiplier
		from := int(*slot) - 1
		*slot = uint32(at + 1)
		if from < 0 || at-from > packFar || binary.LittleEndian.Uint32(data[from:]) != four {
			misses++
			at += 1 + misses>>6 // what does not repeat is passed over ever faster
			continue
		}
		misses = 0
		n := packMatch + same(data[from+packMatch:], data[at+packMatch:len(data)-5]) // the format ends with five bytes as they are
		out = appendSequence(out, data[done:at], at-from, n)
		if len(out) > most {
			break
		}
		at += n
		done = at
	}
	out = appendSequence(out, data[done:], 0, 0)
	p.out = out
	if cap(p.out) > maxKept { // of a snapshot of a long history
		p.out = nil
	}
	return out, len(out) < most
}

// same counts the bytes in which two texts begin alike, as far as the second goes.
func same(a, b []byte) int {
	n := 0
	for len(b)-n >= 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// appendSequence adds plain bytes and then a match, so many bytes back and so long; the last sequence has no match.
func appendSequence(out, plain []byte, back, match int) []byte {
	token := len(out)
	out = append(out, byte(min(len(plain), 15)<<4))
	out = appendLength(out, len(plain)-15)
	out = append(out, plain...)
	if match == 0 {
		return out
	}
	out = binary.LittleEndian.AppendUint16(out, uint16(back))
	out[token] |= byte(min(match-packMatch, 15))
	return appendLength(out, match-packMatch-15)
}

// appendLength adds what of a length did not fit into the token.
func appendLength(out []byte, n int) []byte {
	for ; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	if n >= 0 {
		out = append(out, byte(n))
	}
	return out
}
