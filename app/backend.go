package app

import (
	"context"
	"encoding/json"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/grant"
	"termic/internal/verb"
)

// controlBackend leads the control socket to the dispatcher.
type controlBackend struct{ d *verb.Dispatcher }

func (b controlBackend) Call(ctx context.Context, caller grant.Caller, name string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	return b.d.Call(ctx, caller, name, params, emit)
}

func (b controlBackend) Attach(ctx context.Context, caller grant.Caller, params json.RawMessage, as control.AttachAs) (control.Attachment, error) {
	a, err := b.d.Attach(ctx, caller, params, core.AttachAs{Cols: as.Cols, Rows: as.Rows, Resizes: as.Resizes, AnswersQueries: as.AnswersQueries,
		History: as.History})
	if err != nil {
		return nil, err
	}
	return controlTerminal{a}, nil
}

// controlTerminal puts frames into the words of the control protocol.
type controlTerminal struct{ *core.Attachment }

var controlKinds = map[core.FrameKind]control.FrameKind{core.FrameSnapshot: control.FrameSnapshot, core.FrameReplay: control.FrameReplay,
	core.FrameOutput: control.FrameOutput, core.FrameResize: control.FrameResize, core.FrameExit: control.FrameExit}

func (t controlTerminal) Next(ctx context.Context) (control.Frame, error) {
	f, err := t.Attachment.Next(ctx)
	return control.Frame{Kind: controlKinds[f.Kind], Data: f.Data, Seq: f.Seq, Cols: f.Cols, Rows: f.Rows, Exit: f.Exit}, err
}
