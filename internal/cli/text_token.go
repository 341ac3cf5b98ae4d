package cli

import (
	"strings"

	"termic/internal/api"
)

func showToken(p *printer, r api.TokenResult) {
	t := r.Token
	if t.Face == api.TokenWeb {
		showWebToken(p, r)
		return
	}
	value := "in the file, a new one whenever the endpoint starts"
	if t.File == "" {
		value = "none yet; `termic mcp enable` makes it"
	}
	p.fields("name", clean(t.Name), "scope", clean(t.Scope), "projects", tokenProjects(t), "url", clean(t.URL), "file", clean(t.File), "value", value)
}

// showWebToken shows a token of the browser face. Its value is there only when it was made a moment ago.
func showWebToken(p *printer, r api.TokenResult) {
	t := r.Token
	p.fields("name", clean(t.Name), "scope", clean(t.Scope), "projects", tokenProjects(t), "url", clean(t.URL), "value", clean(r.Value))
	if r.Value != "" {
		p.note("The value is not kept and is not shown again. Give it to its owner alone.")
	}
}

func showTokens(p *printer, r api.TokenListResult) {
	if len(r.Tokens) == 0 {
		p.note("No token has a name yet: `termic token new NAME` makes one.")
		return
	}
	rows := make([][]string, 0, len(r.Tokens))
	for _, t := range r.Tokens {
		where := clean(t.File)
		if t.Face == api.TokenWeb {
			where = "(browser and API)"
		}
		rows = append(rows, []string{clean(t.Name), clean(t.Scope), tokenProjects(t), where})
	}
	p.table([]string{"NAME", "SCOPE", "PROJECTS", "FILE"}, rows)
}

func tokenProjects(t api.Token) string {
	switch {
	case t.AllProjects:
		return "every one"
	case len(t.Projects) == 0:
		return "none"
	}
	return clean(strings.Join(t.Projects, ", "))
}

func showTokenRevoked(p *printer, r api.TokenRevokeResult) {
	p.printf("The token %s is worthless now\n", clean(r.Name))
}
