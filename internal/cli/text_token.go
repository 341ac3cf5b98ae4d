package cli

import (
	"strings"

	"termic/internal/api"
)

func showToken(p *printer, r api.TokenResult) {
	t := r.Token
	value := "in the file, a new one whenever the endpoint starts"
	if t.File == "" {
		value = "none yet; `termic mcp enable` makes it"
	}
	p.fields("name", clean(t.Name), "scope", clean(t.Scope), "projects", tokenProjects(t), "url", clean(t.URL), "file", clean(t.File), "value", value)
}

func showTokens(p *printer, r api.TokenListResult) {
	if len(r.Tokens) == 0 {
		p.note("No token has a name yet: `termic token new NAME` makes one.")
		return
	}
	rows := make([][]string, 0, len(r.Tokens))
	for _, t := range r.Tokens {
		rows = append(rows, []string{clean(t.Name), clean(t.Scope), tokenProjects(t), clean(t.File)})
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
