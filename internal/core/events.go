package core

import (
	"context"

	"termic/internal/store"
)

// happened keeps an event and tells whoever reacts to it. What it is about has happened already, so it cannot fail: an event that
// could not be kept is told in the log, and nothing follows from it.
func (c *Core) happened(ctx context.Context, e store.Event) {
	err := c.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		e, err = tx.AddEvent(ctx, e)
		return err
	})
	if err != nil {
		c.log.Error("an event could not be kept, so nothing follows from it", "kind", e.Kind, "err", err)
		return
	}
	c.beacon.change()
}
