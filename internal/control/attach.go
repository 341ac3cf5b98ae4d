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

// attach gives the connection to a terminal: one goroutine waits for its frames, one takes in what the client sends and
// starts one that types, and this one writes the frames. It returns when all are done and the reply is sent.
func (c *conn) attach(req Request, caller grant.Caller) {
	as := AttachAs{}
	if req.Attach != nil {
		as = *req.Attach
	}
	att, err := c.Backend.Attach(c.ctx, caller, req.Params, as)
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
	wg.Go(func() { c.takeInput(ctx, req.ID, att, as.ConfirmsInput) })
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

// takeInput does what the client asks until it leaves. Keys that the program does not take yet hold up the keys behind
// them, and nothing else: a client that types into a flood must be able to say how far it has shown the flood, or neither
// would ever move on. A client that has waitingFrames waiting is not read until there is room.
func (c *conn) takeInput(ctx context.Context, id string, att Attachment, confirms bool) {
	keys := make(chan []byte, waitingFrames)
	typing, all := sync.WaitGroup{}, make(chan struct{})
	typing.Go(func() {
		defer close(all)
		for k := range keys {
			c.typed(ctx, id, att, k, confirms)
		}
	})
	defer func() {
		close(keys)
		select { // keys that came before it leaves are typed, if the program takes them at all
		case <-all:
		case <-ctx.Done():
		case <-time.After(lastKeys):
		}
		att.Close(reasonDetached) // which ends ctx
		typing.Wait()
	}()
	for {
		select {
		case line, ok := <-c.lines:
			if !ok || !c.input(ctx, att, line, keys) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// lastKeys is how long a client that leaves waits for its keys to be taken.
const lastKeys = time.Second

// waitingFrames is how many frames of keys may wait for the program; each is at most a line long.
const waitingFrames = 16

// typed gives one frame of keys to the program.
func (c *conn) typed(ctx context.Context, id string, att Attachment, keys []byte, confirms bool) {
	if err := att.Write(ctx, keys); err != nil {
		// The program may have ended under the keys; its last output and the reason still go out.
		c.Log.Debug("control socket: terminal did not take input", "err", err)
	}
	if confirms && ctx.Err() == nil {
		c.tell(frameLine{ID: id, Stream: true, Frame: Frame{Kind: FrameTook}})
	}
}

// input does one frame of the client and reports whether there may be more.
func (c *conn) input(ctx context.Context, att Attachment, line []byte, keys chan<- []byte) bool {
	f, err := parseFrame(line)
	if err != nil {
		c.Log.Warn("control socket: bad frame", "err", err)
		return false
	}
	switch f.Kind {
	case FrameInput:
		select {
		case keys <- f.Data:
		case <-ctx.Done():
		}
	case FrameResize:
		if f.Cols > 0 && f.Rows > 0 {
			if err := att.Resize(f.Cols, f.Rows); err != nil {
				c.Log.Debug("control socket: terminal did not take a size", "err", err)
			}
		}
	case FrameAck:
		att.Ack(f.Seq)
	case FrameHide:
		att.Hide()
	case FrameShow:
		att.Show()
	case FrameFollow, FrameStay:
		att.Follow(f.Kind == FrameFollow)
	case FrameDetach:
		return false
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
