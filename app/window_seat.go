//go:build !headless

package app

import (
	"context"
	"encoding/json"

	"termic/app/webface"
)

// backend is what the page calls: whatever seat the window has at that moment.
func (b *Bridge) backend() webface.Backend { return seated{b} }

type seated struct{ b *Bridge }

func (s seated) Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	return s.b.seat().Call(ctx, verb, params)
}

func (s seated) Attach(ctx context.Context, raw json.RawMessage, cols, rows uint16) (webface.Terminal, error) {
	return s.b.seat().Attach(ctx, raw, cols, rows)
}

func (s seated) Watch() (uint64, <-chan struct{}) { return s.b.seat().Watch() }
