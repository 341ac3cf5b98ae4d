package control

import (
	"context"
	"encoding/json"
	"io"

	"termic/internal/api"
)

// Stream is the client's end of an attached terminal. One goroutine calls Next; the others may be called from any.
type Stream struct {
	c      *Client
	id     string
	stop   func() bool
	result api.AttachResult
}

// Attach joins a terminal; params are those of the verb attach. The connection belongs to the stream from here on, and
// is closed when ctx ends. The first frame is FrameReady.
func (c *Client) Attach(ctx context.Context, params json.RawMessage, as AttachAs) (*Stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // its failure changes nothing: the stream ends either way
	id, err := c.send(Request{Verb: verbAttach, Params: params, Attach: &as})
	if err == nil {
		err = c.out.patient()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &Stream{c: c, id: id, stop: stop}, nil
}

// Next waits for the next frame. At the end it returns io.EOF, and Result is set. A refusal to attach is the error of
// the first call.
func (s *Stream) Next() (Frame, error) {
	raw, line, err := s.c.receive(s.id)
	if err != nil {
		s.stop()
		return Frame{}, err
	}
	if !line.Stream {
		s.stop()
		if err := json.Unmarshal(line.Data, &s.result); err != nil {
			return Frame{}, lost(err)
		}
		return Frame{}, io.EOF
	}
	var f Frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return Frame{}, lost(err)
	}
	return f, nil
}

// Result tells which terminal it was and why it ended. It is set once Next returned io.EOF.
func (s *Stream) Result() api.AttachResult { return s.result }

// Send gives keys to the program, cut into frames that the protocol takes.
func (s *Stream) Send(keys []byte) error {
	for _, f := range (Frame{Kind: FrameInput, Data: keys}).split() {
		if err := s.tell(f); err != nil {
			return err
		}
	}
	return nil
}

// Resize tells the size of this terminal, in cells.
func (s *Stream) Resize(cols, rows uint16) error {
	return s.tell(Frame{Kind: FrameResize, Cols: cols, Rows: rows})
}

// Ack says that everything up to seq was shown.
func (s *Stream) Ack(seq uint64) error { return s.tell(Frame{Kind: FrameAck, Seq: seq}) }

// Hide says that nobody looks: no bytes come until Show, which brings a snapshot first.
func (s *Stream) Hide() error { return s.tell(Frame{Kind: FrameHide}) }

// Show says that somebody looks again.
func (s *Stream) Show() error { return s.tell(Frame{Kind: FrameShow}) }

// Follow says whether the end of what is printed is shown: then pictures of a flood are enough.
func (s *Stream) Follow(follows bool) error {
	if follows {
		return s.tell(Frame{Kind: FrameFollow})
	}
	return s.tell(Frame{Kind: FrameStay})
}

// Close ends the connection at once.
func (s *Stream) Close() error { return s.c.Close() }

// Detach asks to leave; the program goes on. Next still has to be called until io.EOF.
func (s *Stream) Detach() error { return s.tell(Frame{Kind: FrameDetach}) }

func (s *Stream) tell(f Frame) error {
	if err := s.c.out.write(f); err != nil {
		return lost(err)
	}
	return nil
}
