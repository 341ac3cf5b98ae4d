package cli

import (
	"fmt"

	"termic/internal/api"
)

// showSignals prints what an agent said of itself, oldest first, and what it is said to do now.
func showSignals(p *printer, r api.TaskSignalsResult) {
	var rows [][]string
	for _, s := range r.Signals {
		times := ""
		if s.Times > 1 {
			times = fmt.Sprintf("%d times", s.Times)
		}
		rows = append(rows, []string{clean(s.Time), clean(s.Kind), clean(s.Text), times})
	}
	if len(rows) > 0 {
		p.table([]string{"TIME", "FROM", "SAYS", ""}, rows)
		p.printf("\n")
	}
	p.fields("agent", r.Agent, "state", r.State, "by", r.Source, "why", r.Why, "detail", r.Detail, "since", r.Since)
	switch {
	case !r.WorkDone:
		p.note("The settings say that this agent cannot be seen to finish (work_done), so its signals decide nothing.")
	case !r.Capable:
		p.note("It has given no sign of its state yet. docs/agents.md says which there are, and how an agent of your own gives them.")
	case r.Held:
		p.note("It came to rest, but its screen says that work goes on.")
	}
}
