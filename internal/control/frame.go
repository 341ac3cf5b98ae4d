package control

import (
	"encoding/json"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
)

// FrameKind says what a frame of an attached terminal carries.
type FrameKind string

// The frames of the server.
const (
	FrameReady     FrameKind = "ready"     // accepted: which task and tab
	FrameSnapshot  FrameKind = "snapshot"  // bytes that draw the present screen
	FrameReplay    FrameKind = "replay"    // bytes printed before
	FrameOutput    FrameKind = "out"       // bytes as they are printed
	FrameHeartbeat FrameKind = "heartbeat" // nothing happened; the server is there
	FrameExit      FrameKind = "exit"      // the program ended
	FrameTook      FrameKind = "took"      // the keys of one frame were taken; to a client that asked for it
)

// The frames of the client; FrameResize goes both ways.
const (
	FrameHide   FrameKind = "hide"   // nobody looks: no bytes until show
	FrameShow   FrameKind = "show"   // bytes again, from a snapshot on
	FrameFollow FrameKind = "follow" // the end of what is printed is shown: pictures of a flood are enough
	FrameStay   FrameKind = "stay"   // somebody reads: every byte is wanted again
	FrameInput  FrameKind = "in"     // keys
	FrameResize FrameKind = "resize" // a new size in Cols and Rows
	FrameAck    FrameKind = "ack"    // everything up to Seq was shown
	FrameDetach FrameKind = "detach" // leave; the program goes on
)

// maxChunk is the most bytes of a terminal that one frame carries. In base64 that stays below MaxLine.
const maxChunk = 256 << 10

// Frame is one message of an attached terminal.
type Frame struct {
	Kind FrameKind `json:"frame"`
	Data []byte    `json:"data,omitempty"` // base64 on the wire
	// Seq counts the bytes that the program ever printed up to the end of Data; 0 in the pieces of a split frame but
	// the last. The client acknowledges it.
	Seq  uint64 `json:"seq,omitempty"`
	Cols uint16 `json:"cols,omitempty"`
	Rows uint16 `json:"rows,omitempty"`
	// Exit goes with exit.
	Exit *api.Exit `json:"exit,omitempty"`
	// TaskID and TabID go with ready.
	TaskID string `json:"task_id,omitempty"`
	TabID  string `json:"tab_id,omitempty"`
}

// split cuts a frame into pieces that fit a line. Only the last carries the sequence number.
func (f Frame) split() []Frame {
	if len(f.Data) <= maxChunk {
		return []Frame{f}
	}
	var out []Frame
	for data := f.Data; len(data) > 0; {
		piece := f
		n := min(len(data), maxChunk)
		piece.Data, data = data[:n], data[n:]
		if len(data) > 0 {
			piece.Seq = 0
		}
		out = append(out, piece)
	}
	return out
}

// parseFrame reads one line of an attached client.
func parseFrame(line []byte) (Frame, error) {
	var f Frame
	if !utf8.Valid(line) {
		return f, fault.New(fault.InvalidArgument, "The frame is not UTF-8 text")
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return f, fault.Wrap(err, fault.InvalidArgument, "The frame is not one JSON object")
	}
	switch f.Kind {
	case FrameInput, FrameResize, FrameAck, FrameDetach, FrameHide, FrameShow, FrameFollow, FrameStay:
		return f, nil
	}
	return f, fault.New(fault.InvalidArgument, "A client sends no such frame")
}
