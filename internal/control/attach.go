package control

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// reasonDetached is why an attachment ended that its client left.
const reasonDetached = "detached"

// attach gives the connection to a terminal: one goroutine waits for its frames, one takes in what the client sends,
// and this one alone writes. It returns when all three are done and the reply is sent.
func (c *conn) attach(req Request) {
	as := AttachAs{}
	if req.Attach != nil {
		as = *req.Attach
	}
	att, err := c.Backend.Attach(c.ctx, grant.OwnerOn(grant.CLI), req.Params, as)
	if err != nil {
		c.tell(reply{ID: req.ID, Error: wireOf(err)})
		return
	}
	defer att.Close(reasonDetached)
	if err := c.out.patient(); err != nil || c.ctx.Err() != nil {
		return // an end that came before must keep its time limit on writes
	}
	ctx, cancel := context.WithCancel(c.ctx)
	frames := make(chan Frame)
	var wg sync.WaitGroup
	wg.Go(func() { c.pumpFrames(ctx, att, frames) })
	wg.Go(func() { c.takeInput(ctx, att) })
	whole := c.showFrames(req.ID, ready(att.Result()), frames)
	att.Close(reasonDetached)
	cancel()
	for range frames { // the pump ends by itself once its attachment is closed
	}
	wg.Wait()
	if whole {
		c.endAttach(req.ID, att)
	}
}

func ready(r api.AttachResult) Frame {
	return Frame{Kind: FrameReady, TaskID: r.TaskID, TabID: r.TabID}
}

// pumpFrames hands the terminal's frames over, one at a time: what the client does not take is not fetched.
func (c *conn) pumpFrames(ctx context.Context, att Attachment, frames chan<- Frame) {
	defer close(frames)
	for {
		f, err := att.Next(ctx)
		if err != nil {
			return
		}
		select {
		case frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// showFrames writes frames, and a heartbeat when there are none, until they end. It reports whether the connection is
// whole.
func (c *conn) showFrames(id string, first Frame, frames <-chan Frame) bool {
	tell := func(f Frame) bool { return c.tell(frameLine{ID: id, Stream: true, Frame: f}) }
	if !tell(first) {
		return false
	}
	tick := time.NewTicker(c.Limits.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case f, ok := <-frames:
			if !ok {
				return true
			}
			for _, piece := range f.split() {
				if !tell(piece) {
					return false
				}
			}
		case <-tick.C:
			if !tell(Frame{Kind: FrameHeartbeat}) {
				return false
			}
		}
	}
}

// takeInput does what the client asks, in order, until it leaves. Keys that the program does not take yet hold up what
// follows them; leaving is noticed all the same, by the connection closing.
func (c *conn) takeInput(ctx context.Context, att Attachment) {
	for {
		select {
		case line, ok := <-c.lines:
			if !ok || !c.input(ctx, att, line) {
				att.Close(reasonDetached)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// input does one frame of the client and reports whether there may be more.
func (c *conn) input(ctx context.Context, att Attachment, line []byte) bool {
	f, err := parseFrame(line)
	if err != nil {
		c.Log.Warn("control socket: bad frame", "err", err)
		return false
	}
	switch f.Kind {
	case FrameInput:
		err = att.Write(ctx, f.Data)
	case FrameResize:
		if f.Cols > 0 && f.Rows > 0 {
			err = att.Resize(f.Cols, f.Rows)
		}
	case FrameAck:
		att.Ack(f.Seq)
	case FrameDetach:
		return false
	}
	if err != nil {
		// The program may have ended under the keys; its last output and the reason still go out.
		c.Log.Debug("control socket: terminal did not take input", "err", err)
	}
	return true
}

// endAttach sends the one reply: which terminal it was and why it ended.
func (c *conn) endAttach(id string, att Attachment) {
	r := att.Result()
	r.Reason = att.Reason()
	data, err := json.Marshal(r)
	if err != nil {
		c.tell(reply{ID: id, Error: wireOf(fault.Wrap(err, fault.Internal, "The end of the terminal could not be told"))})
		return
	}
	c.tell(reply{ID: id, OK: true, Data: data})
}
