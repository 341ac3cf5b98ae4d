package webface

import (
	"context"
	"encoding/json"

	"termic/internal/core"
	"termic/internal/grant"
	"termic/internal/verb"
)

// ForOwner is the backend of the app's own page: every call is the owner's, on the window's face.
func ForOwner(d *verb.Dispatcher, c *core.Core) Backend { return ownerBackend{d: d, c: c} }

type ownerBackend struct {
	d *verb.Dispatcher
	c *core.Core
}

func (b ownerBackend) Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	return b.d.Call(ctx, grant.OwnerOn(grant.Window), verb, params, nil)
}

func (b ownerBackend) Attach(ctx context.Context, raw json.RawMessage, cols, rows uint16) (Terminal, error) {
	// The page's emulator answers what programs ask, and its size is the terminal's.
	as := core.AttachAs{Cols: cols, Rows: rows, Resizes: true, AnswersQueries: true, History: true}
	a, err := b.d.Attach(ctx, grant.OwnerOn(grant.Window), raw, as)
	if err != nil {
		return nil, err // not a nil *core.Attachment inside a non-nil Terminal
	}
	return a, nil
}

func (b ownerBackend) Watch() (rev uint64, changed <-chan struct{}) { return b.c.Watch() }
