package webface

import (
	"encoding/binary"
	"io"
)

// frame is one frame as it is read.
type frame struct {
	channel uint32
	kind    Kind
	seq     uint64
	data    []byte
}

// readFrame reads one frame, as the page does.
func readFrame(r io.Reader) (f frame, err error) {
	var head [frameHead]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f = frame{channel: binary.BigEndian.Uint32(head[:]), kind: Kind(head[4]), seq: binary.BigEndian.Uint64(head[5:])}
	f.data = make([]byte, binary.BigEndian.Uint32(head[13:]))
	if _, err = io.ReadFull(r, f.data); err == nil && f.kind&packed != 0 {
		f.kind &^= packed
		f.data, err = unpack(f.data)
	}
	return f, err
}
