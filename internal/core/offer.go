package core

import (
	"termic/internal/api"
	"termic/internal/fault"
	"termic/sandbox"
)

// cageOffers says for each mode whether a task can be started in it on this machine, and if not, why and what to do.
func (c *Core) cageOffers() []api.CageOffer {
	out := make([]api.CageOffer, len(sandbox.Modes))
	for i, mode := range sandbox.Modes {
		out[i] = api.CageOffer{Mode: string(mode), Can: true}
		if err := c.cages.Check(mode); err != nil {
			f := fault.From(err)
			out[i] = api.CageOffer{Mode: string(mode), Reason: f.Message, Fix: f.Hint}
		}
	}
	return out
}
