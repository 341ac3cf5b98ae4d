package cli

import (
	"fmt"
	"strings"
	"time"

	"termic/internal/api"
)

// stateWord is the state of a check with what changes its meaning.
func stateWord(c api.Check) string {
	switch {
	case !c.Enabled:
		return "off"
	case c.Snoozed != "":
		return c.State + ", snoozed"
	}
	return c.State
}

func showChecks(p *printer, r api.CheckListResult) {
	if len(r.Checks) == 0 {
		p.note("No checks. Add one with `termic check add NAME http --target https://example.com`.")
		return
	}
	p.note("%d of %d checks, %d down", len(r.Checks), r.Total, r.Down)
	var rows [][]string
	for _, c := range r.Checks {
		for i, t := range c.Targets {
			row := []string{"", "", t.State, t.Since, t.Target, t.Detail}
			if i == 0 {
				row[0], row[1] = c.Name, c.Kind
			}
			if len(c.Targets) == 1 {
				row[2] = stateWord(c)
			}
			rows = append(rows, row)
		}
	}
	p.table([]string{"CHECK", "KIND", "STATE", "SINCE", "TARGET", "DETAIL"}, rows)
}

func showCheck(p *printer, r api.CheckResult) {
	c := r.Check
	p.printf("%s: %s, %s\n", clean(c.Name), clean(c.Kind), clean(stateWord(c)))
	facts := []string{"every " + millisText(c.EveryMs), "timeout " + millisText(c.TimeoutMs)}
	for _, f := range []struct{ name, value string }{{"expect", c.Expect}, {"address", c.ExpectAddr}, {"value", strings.TrimSpace(c.Op + " " + c.Value)}, {"snoozed until", c.Snoozed}} {
		if f.value != "" {
			facts = append(facts, f.name+" "+f.value)
		}
	}
	if c.MinDays > 0 {
		facts = append(facts, fmt.Sprintf("at least %d days", c.MinDays))
	}
	if c.Retries > 0 {
		facts = append(facts, fmt.Sprintf("down after %d failures in a row", c.Retries+1))
	}
	p.printf("%s\n", clean(strings.Join(facts, ", ")))
	var rows [][]string
	for _, t := range c.Targets {
		took := ""
		if t.Ran != "" {
			took = millisText(t.DurationMs)
		}
		rows = append(rows, []string{t.Target, t.State, t.Since, took, t.Netgroup, t.Detail})
	}
	p.table([]string{"TARGET", "STATE", "SINCE", "TOOK", "NETGROUP", "DETAIL"}, rows)
}

func millisText(ms int64) string { return plainLength((time.Duration(ms) * time.Millisecond).String()) }

func showCheckDelete(p *printer, r api.CheckDeleteResult) {
	p.printf("Deleted the check %s.\n", clean(r.Name))
}

func showProbe(p *printer, r api.CheckProbeResult) {
	var rows [][]string
	for _, t := range r.Results {
		rows = append(rows, []string{t.Target, map[bool]string{true: api.CheckUp, false: api.CheckDown}[t.Up], millisText(t.DurationMs), t.Netgroup, t.Detail})
	}
	p.table([]string{"TARGET", "STATE", "TOOK", "NETGROUP", "DETAIL"}, rows)
}

func showNetgroups(p *printer, r api.NetgroupListResult) {
	if len(r.Netgroups) == 0 {
		p.note("No netgroups. Name a set of addresses with `termic netgroup add NAME 192.0.2.0/24`.")
		return
	}
	var rows [][]string
	for _, g := range r.Netgroups {
		rows = append(rows, []string{g.Name, strings.Join(g.Members, " "), g.Note, strings.Join(g.UsedBy, ", ")})
	}
	p.table([]string{"NETGROUP", "MEMBERS", "NOTE", "USED BY"}, rows)
}

func showNetgroup(p *printer, r api.NetgroupResult) {
	p.printf("%s: %s\n", clean(r.Netgroup.Name), clean(strings.Join(r.Netgroup.Members, " ")))
	if r.Kept != "" {
		p.note("%s.", clean(r.Kept))
	}
}

func showNetgroupDelete(p *printer, r api.NetgroupDeleteResult) {
	p.printf("Deleted the netgroup %s.\n", clean(r.Name))
}
