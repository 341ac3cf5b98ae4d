package webface

import (
	"encoding/binary"
	"io"
)

// Prefix is the path below which everything of this package answers.
const Prefix = "/termic/"

// Kind names a frame of a terminal's stream. The numbers are shared with frontend/src/core/frames.ts.
type Kind byte

// The kinds of frames.
const (
	KindHello    Kind = 0 // JSON: the attachment's id and which terminal it is; always the first
	KindSnapshot Kind = 1 // the screen as it is now: clear, then draw this
	KindReplay   Kind = 2 // output of the past, in order: answers to queries in it must not be sent
	KindOutput   Kind = 3 // output as it comes
	KindResize   Kind = 4 // columns and rows, 16 bits each: somebody else gave the terminal this size
	KindExit     Kind = 5 // JSON: how the program ended; the last but one
	KindEnd      Kind = 6 // JSON: why the stream ended; the last
)

// frameHead is the length of what stands before a frame's data: kind, sequence number, length.
const frameHead = 1 + 8 + 4

// appendFrame adds one frame to buf. Numbers are big-endian.
func appendFrame(buf []byte, kind Kind, seq uint64, data []byte) []byte {
	buf = append(buf, byte(kind))
	buf = binary.BigEndian.AppendUint64(buf, seq)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(data)))
	return append(buf, data...)
}

// readFrame reads one frame; tests use it as the page does.
func readFrame(r io.Reader) (kind Kind, seq uint64, data []byte, err error) {
	var head [frameHead]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	data = make([]byte, binary.BigEndian.Uint32(head[9:]))
	_, err = io.ReadFull(r, data)
	return Kind(head[0]), binary.BigEndian.Uint64(head[1:]), data, err
}
