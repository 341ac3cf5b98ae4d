package webface

// Frame is one piece of a terminal's stream.
type Frame struct {
	Kind       FrameKind
	Seq        uint64
	Data       []byte
	Cols, Rows uint16
}

// FrameKind names it.
type FrameKind int

// Kinds.
const (
	FrameSnapshot FrameKind = iota
	FrameReplay
	FrameOutput
	FrameResize
	FrameExit
)
