package core

import (
	"context"
	"errors"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// NamedGrant is what a token that the owner minted by name gives.
type NamedGrant struct {
	Name  string
	Grant grant.Grant
}

// clientPrefix and taskPrefix are what the principals of named tokens and of tasks begin with.
const (
	clientPrefix = "client:"
	taskPrefix   = "task:"
)

// maxPlainName is the longest name of a token, a check or a netgroup, in characters.
const maxPlainName = 64

// NamedGrants are the grants of the named tokens of the MCP endpoint, for a bind that mints their values.
func (c *Core) NamedGrants(ctx context.Context) ([]NamedGrant, error) {
	tokens, err := c.store.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	web, err := c.store.WebDigests(ctx)
	out := make([]NamedGrant, 0, len(tokens))
	for _, t := range tokens {
		if web[strings.ToLower(t.Name)] == nil {
			out = append(out, grantOf(t))
		}
	}
	return out, err
}

// grantOf is the one way from a stored token to its grant.
func grantOf(t store.Token) NamedGrant {
	return NamedGrant{t.Name, grant.Grant{Principal: clientPrefix + t.Name, Token: t.ID, Class: grant.Class(t.Scope), Projects: t.Projects, Everywhere: t.Everywhere}}
}

// TokenNew is the verb token_new. The value of a token for the MCP endpoint goes into a file of its own and into no answer; that
// of one for the browser face into this answer alone.
func (c *Core) TokenNew(ctx context.Context, call *Call, p api.TokenNewParams) (api.TokenResult, error) {
	if err := checkTokenName(p.Name); err != nil {
		return api.TokenResult{}, err
	}
	t := store.Token{Name: p.Name, Scope: orElse(p.Scope, string(grant.ReadOnly)), Everywhere: !given(p.Projects)}
	release, err := c.holdTokens(ctx)
	if err != nil {
		return api.TokenResult{}, err
	}
	defer release()
	if t.Projects, err = c.projectIDs(ctx, call.Caller, p.Projects); err != nil {
		return api.TokenResult{}, err
	}
	if err := refuseNoProject(t); err != nil {
		return api.TokenResult{}, err
	}
	if p.Web {
		return c.newWebToken(ctx, t)
	}
	if err := c.store.Write(ctx, func(tx *store.Tx) error { t, err = tx.AddToken(ctx, t); return err }); err != nil {
		return api.TokenResult{}, err
	}
	if err := c.offer(t); err != nil {
		// A token that no file tells is of no use to anybody.
		undo := context.WithoutCancel(ctx)
		if derr := c.store.Write(undo, func(tx *store.Tx) error { return tx.DeleteToken(undo, t.Name) }); derr != nil {
			c.log.Error("a token that could not be written down could not be forgotten", "name", t.Name, "err", derr)
		}
		return api.TokenResult{}, err
	}
	return c.shownToken(ctx, t)
}

// TokenSet is the verb token_set. What the token may do changes with the next call; calls that it let in end.
func (c *Core) TokenSet(ctx context.Context, call *Call, p api.TokenSetParams) (api.TokenResult, error) {
	if p.Scope == "" && !given(p.Projects) && !p.AllProjects {
		return api.TokenResult{}, fault.New(fault.InvalidArgument, "There is nothing to change").WithHint("Give --scope, --project or --all-projects.")
	}
	release, err := c.holdTokens(ctx)
	if err != nil {
		return api.TokenResult{}, err
	}
	defer release()
	projects, err := c.projectIDs(ctx, call.Caller, p.Projects)
	if err != nil {
		return api.TokenResult{}, err
	}
	var t store.Token
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		t, err = tx.UpdateToken(ctx, p.Name, func(t *store.Token) error {
			t.Scope = orElse(p.Scope, t.Scope)
			if given(p.Projects) {
				t.Projects, t.Everywhere = projects, false
			}
			if p.AllProjects {
				t.Projects, t.Everywhere = nil, true
			}
			return refuseNoProject(*t)
		})
		return err
	})
	if err != nil {
		return api.TokenResult{}, c.tokenFault(ctx, err, p.Name)
	}
	if err := errors.Join(c.offer(t), c.reviewRules(ctx)); err != nil {
		return api.TokenResult{}, err
	}
	return c.shownToken(ctx, t)
}

// TokenRevoke is the verb token_revoke. The token is worthless when it answers, and calls that it let in have ended.
func (c *Core) TokenRevoke(ctx context.Context, _ *Call, p api.TokenRevokeParams) (api.TokenRevokeResult, error) {
	release, err := c.holdTokens(ctx)
	if err != nil {
		return api.TokenRevokeResult{}, err
	}
	defer release()
	var t store.Token
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		if t, err = tx.Token(ctx, p.Name); err != nil {
			return err
		}
		return tx.DeleteToken(ctx, t.Name)
	})
	if err != nil {
		return api.TokenRevokeResult{}, c.tokenFault(ctx, err, p.Name)
	}
	if !c.dropWebToken(t) && c.endpoint != nil {
		c.endpoint.DropNamed(t.Name)
	}
	c.beacon.change()
	return api.TokenRevokeResult{Name: t.Name}, errors.Join(c.dropApprovalsOf(ctx, t.ID), c.reviewRules(ctx))
}

// TokenList is the verb token_list.
func (c *Core) TokenList(ctx context.Context, _ *Call, _ api.TokenListParams) (api.TokenListResult, error) {
	tokens, err := c.store.Tokens(ctx)
	if err != nil {
		return api.TokenListResult{}, err
	}
	names, err := c.projectNames(ctx)
	out := make([]api.Token, len(tokens))
	for i, t := range tokens {
		out[i] = c.viewToken(t, names)
	}
	return api.TokenListResult{Tokens: out}, err
}

// holdTokens makes the caller the only one that changes named tokens, so that what is stored and what is served are changed
// in the same order.
func (c *Core) holdTokens(ctx context.Context) (release func(), err error) {
	return c.hold(ctx, "tokens:")
}

// offer makes what is served of a token agree with what is stored.
func (c *Core) offer(t store.Token) error {
	if c.offerOnWeb(t) || c.endpoint == nil {
		c.beacon.change()
		return nil
	}
	err := c.endpoint.SetNamed(grantOf(t))
	c.beacon.change()
	return err
}

func (c *Core) shownToken(ctx context.Context, t store.Token) (api.TokenResult, error) {
	names, err := c.projectNames(ctx)
	return api.TokenResult{Token: c.viewToken(t, names)}, err
}

func (c *Core) viewToken(t store.Token, names map[string]string) api.Token {
	v := api.Token{Name: t.Name, Scope: t.Scope, AllProjects: t.Everywhere, Projects: []string{}, Created: stamp(t.Created)}
	for _, id := range t.Projects {
		if name, ok := names[id]; ok {
			v.Projects = append(v.Projects, name)
		}
	}
	slices.Sort(v.Projects)
	if v.Face = api.TokenMCP; c.onWeb(t) {
		if v.Face = api.TokenWeb; c.webURL != nil {
			v.URL = c.webURL()
		}
	} else if c.endpoint != nil {
		v.URL, v.File = c.endpoint.Status().URL, c.endpoint.NamedFile(t.Name)
	}
	return v
}

// checkTokenName refuses a name that could not be a file of its own everywhere.
func checkTokenName(name string) error {
	return checkPlainName("token", name)
}

// checkPlainName refuses a name that would need quotes somewhere: as a file, in a list, on a command line.
func checkPlainName(what, name string) error {
	fits := name != "" && len(name) <= maxPlainName && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	if !fits {
		return fault.New(fault.InvalidArgument, "A %s cannot be called %q", what, name).
			WithHint("Take letters, digits, - and _, at most %d of them.", maxPlainName)
	}
	return nil
}

// refuseNoProject refuses a token that would reach nothing: whoever wrote an empty list meant something else.
func refuseNoProject(t store.Token) error {
	if t.Everywhere || len(t.Projects) > 0 {
		return nil
	}
	return fault.New(fault.InvalidArgument, "The token would reach no project").WithHint("Name at least one with --project, or leave that out for every project.")
}

// tokenFault adds to a refusal which tokens there are.
func (c *Core) tokenFault(ctx context.Context, err error, asked string) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	tokens, lerr := c.store.Tokens(ctx)
	if lerr != nil {
		return lerr
	}
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.Name
	}
	return fault.New(fault.NotFound, "There is no token %q", asked).WithHint("%s", listed("There are", names)).OrNear(asked, names)
}

// forgetInTokens takes a project out of the tokens that reach it, and returns those. It is part of the removal of the
// project: one that reached nothing else reaches nothing then.
func forgetInTokens(ctx context.Context, tx *store.Tx, projectID string) ([]store.Token, error) {
	tokens, err := tx.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	var changed []store.Token
	for _, t := range tokens {
		if !slices.Contains(t.Projects, projectID) {
			continue
		}
		t, err = tx.UpdateToken(ctx, t.Name, func(t *store.Token) error {
			t.Projects = keep(t.Projects, func(p string) bool { return p != projectID })
			return nil
		})
		if err != nil {
			return nil, err
		}
		changed = append(changed, t)
	}
	return changed, nil
}
