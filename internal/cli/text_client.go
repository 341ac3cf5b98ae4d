package cli

import (
	"cmp"
	"slices"
	"strings"

	"termic/internal/api"
)

func showClients(p *printer, r api.ClientListResult) {
	rows := make([][]string, 0, len(r.Clients))
	for _, c := range r.Clients {
		rows = append(rows, []string{clean(c.ID), clean(c.Version), clientWords(c)})
	}
	p.columns(rows)
	for _, c := range r.Clients {
		showClientTrouble(p, c)
	}
}

// clientWords says in one line how a registration stands.
func clientWords(c api.ClientState) string {
	switch {
	case c.Problem != "":
		return "its file cannot be used: " + clean(c.Problem)
	case c.Foreign:
		return "an entry named termic is there, not of Termic's making"
	case c.OK:
		return "registered"
	case shadowed(c, "managed", "denied", "allowed"):
		return "forbidden by settings of the client"
	case c.Registered && len(c.Stale) > 0:
		return "registered, but no longer right"
	case c.Registered && shadowed(c, "local", "project", "profile"):
		return "registered, but another entry wins in some place"
	case c.Registered && len(c.Shadows) > 0:
		return "registered, but off in some folders"
	case c.Registered:
		return "registered, but this version cannot use it"
	case !c.Installed:
		return "not installed"
	case !c.Usable:
		return "cannot reach the endpoint"
	}
	return "not registered"
}

// shadowed reports whether something of one of these scopes keeps the entry from being used.
func shadowed(c api.ClientState, scopes ...string) bool {
	return slices.ContainsFunc(c.Shadows, func(s api.ClientShadow) bool { return slices.Contains(scopes, s.Scope) })
}

// showClientTrouble tells what keeps a client from connecting, on standard error.
func showClientTrouble(p *printer, c api.ClientState) {
	for _, s := range c.Stale {
		p.note("%s: %s", clean(c.ID), clean(s))
	}
	if len(c.Stale) > 0 {
		p.note("    mend it: termic client register %s", clean(c.ID))
	}
	for _, s := range c.Shadows {
		words := clean(s.Words)
		if !strings.Contains(s.Words, s.File) {
			words += " (" + clean(s.File) + ")"
		}
		p.note("%s: %s", clean(c.ID), words)
	}
	if c.Fix != "" {
		p.note("%s: %s", clean(c.ID), clean(c.Fix))
	}
	if c.Installed && !c.Usable && c.Why != "" {
		p.note("%s: %s", clean(c.ID), clean(c.Why))
	}
	for _, n := range c.Notes {
		p.note("%s: %s", clean(c.ID), clean(n))
	}
}

func showClientPlan(p *printer, r api.ClientPlanResult) {
	switch {
	case r.Act == "none":
		p.printf("Nothing would change in %s\n", clean(r.File))
	case len(r.Runs) > 0:
		p.printf("%s writes %s itself. Termic would run:\n", clean(r.Client.Name), clean(r.File))
		for _, argv := range r.Runs {
			p.printf("    %s\n", clean(strings.Join(argv, " ")))
		}
	default:
		p.printf("Would be written to %s\n", clean(cmp.Or(r.Target, r.File)))
	}
	if r.Diff != "" {
		p.printf("%s", cleanLines(r.Diff))
	}
	for _, l := range r.Losses {
		p.note("would be lost: %s", clean(l))
	}
	for _, n := range r.Notes {
		p.note("%s", clean(n))
	}
	if b := r.Client.Block; b != nil && r.Act != "remove" {
		p.printf("\nBy hand instead, in %s:\n%s\n", clean(b.Where), cleanLines(b.Text))
	}
}

func showClientWrite(p *printer, r api.ClientWriteResult) {
	switch r.Act {
	case "none":
		p.printf("Nothing had to be changed for %s\n", clean(r.Client.Name))
	case "remove":
		p.printf("Unregistered from %s: %s\n", clean(r.Client.Name), clean(r.File))
	default:
		p.printf("Registered with %s: %s\n", clean(r.Client.Name), clean(r.File))
	}
	if r.Backup != "" {
		p.note("The file as it was is kept at %s", clean(r.Backup))
	}
	if r.Client.Registered && !r.Client.Foreign {
		showClientTrouble(p, r.Client)
	}
	if r.Verify != nil {
		showClientReport(p, *r.Verify)
	} else if r.Client.Registered {
		p.note("The MCP endpoint is off, so it was not tried. Switch it on: termic mcp enable")
	}
}

func showClientReport(p *printer, r api.ClientReport) {
	p.printf("%s\n", clean(r.Summary))
	if r.Hint != "" {
		p.note("%s", clean(r.Hint))
	}
	for _, n := range r.Notes {
		p.note("%s", clean(n))
	}
}
