package core

import (
	"context"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/link"
)

// WindowLink is the verb window_link: it shows in the window what a link asks for, and does nothing of it. A link that is
// refused is refused in the window as well, since who clicked it sees nothing else. Errors have nothing of the link in
// them: they are logged.
func (c *Core) WindowLink(ctx context.Context, call *Call, p api.WindowLinkParams) (api.WindowLinkResult, error) {
	l, err := link.Parse(p.Link)
	if c.raise == nil || !c.raise() {
		if err != nil {
			return api.WindowLinkResult{}, err // a window would not help
		}
		return api.WindowLinkResult{}, fault.New(fault.Unavailable, "No window of Termic is open").
			WithHint("Start Termic, and open the link again.")
	}
	if err != nil {
		return api.WindowLinkResult{}, c.refuseLink(fault.From(err), fault.From(err))
	}
	if l.Kind == link.Open {
		id, err := c.ResolveTask(ctx, call.Caller, api.TaskRef{Task: l.Task, Project: l.Project}, call.Verb)
		if err != nil {
			return api.WindowLinkResult{}, c.refuseLink(fault.From(err), fault.New(fault.CodeOf(err), "The link names a task that cannot be shown: there is none, or more than one"))
		}
		call.Task = id
		c.show(id)
		return api.WindowLinkResult{Kind: string(l.Kind), TaskID: id}, nil
	}
	offer := api.LinkOffer{Name: l.Name, Prompt: l.Prompt, Branch: l.Branch, Base: l.Base}
	if l.Project != "" {
		project, err := c.resolveProject(ctx, call.Caller, l.Project)
		if err != nil {
			return api.WindowLinkResult{}, c.refuseLink(fault.From(err), fault.New(fault.CodeOf(err), "The link names a project that is not here"))
		}
		offer.Project = project.ID
	}
	if l.Agent != "" {
		if slices.ContainsFunc(c.shownAgents(ctx), func(a api.ListedAgent) bool { return a.ID == l.Agent && a.Usable }) {
			offer.Agent = l.Agent
		} else {
			offer.Missing = l.Agent
		}
	}
	c.offerLink(offer)
	return api.WindowLinkResult{Kind: string(l.Kind)}, nil
}

// refuseLink shows in the window why a link is refused, and returns what can be logged.
func (c *Core) refuseLink(shown, logged *fault.Error) error {
	c.offerLink(api.LinkOffer{Refused: shown.Message, Hint: shown.Hint})
	return logged.WithHint("%s", orElse(logged.Hint, "The window says which."))
}

// offerLink leaves to the window what a link asks for; the newest counts.
func (c *Core) offerLink(offer api.LinkOffer) {
	c.mu.Lock()
	c.link = &offer
	c.mu.Unlock()
	c.beacon.change()
}

// takeLink gives what a link asks for, once.
func (c *Core) takeLink() *api.LinkOffer {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.link
	c.link = nil
	return l
}
