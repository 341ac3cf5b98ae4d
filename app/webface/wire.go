package webface

import "encoding/binary"

// Prefix is the path below which everything of this package answers.
const Prefix = "/termic/"

// Kind names a frame of a page's stream of terminals. The numbers are shared with frontend/src/core/frames.ts.
type Kind byte

// The kinds of frames. All but KindOpen are about the terminal on their channel.
const (
	KindHello    Kind = 0 // JSON: which terminal it is; the first of its channel
	KindSnapshot Kind = 1 // the screen as it is now: clear, then draw this
	KindReplay   Kind = 2 // output of the past, in order: answers to queries in it must not be sent
	KindOutput   Kind = 3 // output as it comes
	KindResize   Kind = 4 // columns and rows, 16 bits each: somebody else gave the terminal this size
	KindExit     Kind = 5 // JSON: how the program ended; the last but one
	KindEnd      Kind = 6 // JSON: why the channel ended; its last
	KindOpen     Kind = 7 // no data, channel 0: the stream is open, and terminals can be attached to it
)

// frameHead is the length of what stands before a frame's data: channel, kind, sequence number, length.
const frameHead = 4 + 1 + 8 + 4

// appendFrame adds one frame to buf. Numbers are big-endian.
func appendFrame(buf []byte, channel uint32, kind Kind, seq uint64, data []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, channel)
	buf = append(buf, byte(kind))
	buf = binary.BigEndian.AppendUint64(buf, seq)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(data)))
	return append(buf, data...)
}
