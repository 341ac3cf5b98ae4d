package core

import (
	"context"
	"crypto/sha256"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/secret"
	"termic/internal/store"
)

// This file holds the tokens of the browser face. They last until they are revoked; what is kept of each is its digest, so
// that neither the database nor the app can tell its value a second time.

// LoadWebTokens makes the stored tokens good. Whoever puts the app together calls it once, before the face serves.
func (c *Core) LoadWebTokens(ctx context.Context) error {
	if c.web == nil {
		return nil
	}
	tokens, err := c.store.Tokens(ctx)
	if err != nil {
		return err
	}
	digests, err := c.store.WebDigests(ctx)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		kept := digests[strings.ToLower(t.Name)]
		if kept == nil {
			continue
		}
		var d [sha256.Size]byte
		copy(d[:], kept)
		if err := c.web.Keep(d, grantOf(t).Grant); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The token %q cannot be taken in", t.Name).WithHint("Revoke it and make a new one.")
		}
	}
	return nil
}

// newWebToken makes a token whose value nobody but its owner will know.
func (c *Core) newWebToken(ctx context.Context, t store.Token) (api.TokenResult, error) {
	if c.web == nil {
		return api.TokenResult{}, fault.New(fault.Unsupported, "This app has no browser face")
	}
	value := secret.Mint()
	d := sha256.Sum256([]byte(value.Reveal()))
	kept := false
	err := c.store.Write(ctx, func(tx *store.Tx) (err error) {
		if t, err = tx.AddToken(ctx, t); err != nil {
			return err
		}
		if err = tx.SetWebDigest(ctx, t.Name, d[:]); err != nil {
			return err
		}
		err = c.web.Keep(d, grantOf(t).Grant) // what cannot be served is not stored
		kept = err == nil
		return err
	})
	if err != nil {
		if kept { // and what is not stored is not served
			c.web.Revoke(isGrantOf(t))
		}
		return api.TokenResult{}, err
	}
	c.beacon.change()
	r, err := c.shownToken(ctx, t)
	r.Value = value.Reveal()
	return r, err
}

// isGrantOf chooses the grant of a token by its principal.
func isGrantOf(t store.Token) func(grant.Grant) bool {
	return func(g grant.Grant) bool { return strings.EqualFold(g.Principal, grantOf(t).Grant.Principal) }
}

// onWeb reports whether a token is one of the browser face.
func (c *Core) onWeb(t store.Token) bool { return c.web != nil && c.web.Any(isGrantOf(t)) }

// offerOnWeb makes the grant of a token of the browser face what is stored; false for any other token.
func (c *Core) offerOnWeb(t store.Token) bool {
	if !c.onWeb(t) {
		return false
	}
	c.web.Change(isGrantOf(t), grantOf(t).Grant)
	return true
}

// dropWebToken ends a token of the browser face, with the calls, streams and logins that it let in; false for any other token.
func (c *Core) dropWebToken(t store.Token) bool {
	return c.web != nil && c.web.Revoke(isGrantOf(t)) > 0
}
