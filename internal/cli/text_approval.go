package cli

import (
	"cmp"
	"strings"

	"termic/internal/api"
)

func showApprovals(p *printer, r api.ApprovalListResult) {
	if len(r.Approvals) == 0 {
		p.note("Nothing waits for approval.")
		return
	}
	rows := make([][]string, 0, len(r.Approvals))
	for _, a := range r.Approvals {
		rows = append(rows, []string{clean(a.ID), clean(a.State), clean(a.Principal), clean(a.Face), clean(a.Expires), clean(a.Summary)})
	}
	p.table([]string{"APPROVAL", "STATE", "WHO", "BY", "EXPIRES", "WHAT"}, rows)
}

func showApproval(p *printer, r api.ApprovalResult) {
	a := r.Approval
	decided := clean(a.DecidedBy)
	if a.DecidedOn != "" {
		decided += " via " + clean(a.DecidedOn)
	}
	p.printf("%s\n", clean(a.Summary))
	p.fields("approval", clean(a.ID), "state", clean(a.State), "asked by", clean(a.Principal)+" via "+clean(a.Face), "verb", clean(a.Verb), "project", clean(a.Project),
		"task", clean(a.Task), "asked", clean(a.Created), "expires", clean(a.Expires), "decided by", decided, "reason", clean(a.Reason), "job", clean(a.Job))
	if a.Plan == nil {
		return
	}
	for _, t := range a.Plan.Tasks {
		for _, l := range t.Losses {
			p.printf("%s: %s %s\n", clean(t.Name), plural(l.Count, clean(l.Kind), clean(l.Kind)), clean(strings.Join(l.Items, ", ")))
		}
	}
	if a.Plan.Apply != nil {
		showPlanned(p, *a.Plan.Apply)
	}
}

func showDecided(p *printer, r api.ApprovalDecideResult) {
	switch r.Outcome {
	case api.ApprovalDenied:
		p.printf("Denied: %s\n", clean(r.Approval.Summary))
	case "ok":
		p.printf("Done: %s\n", clean(r.Approval.Summary))
	default:
		p.printf("Approved, and it failed: %s\n", clean(cmp.Or(r.Message, r.Outcome)))
	}
}

func showPlan(p *printer, r api.ApplyPlan) {
	if r.Refused != nil {
		p.printf("Applying would be refused: %s.\n", clean(strings.TrimSuffix(r.Refused.Message, ".")))
	}
	showPlanned(p, r)
}

func showPlanned(p *printer, r api.ApplyPlan) {
	if r.Total == 0 && r.Refused == nil {
		p.note("Applying would change nothing.")
	}
	rows := make([][]string, 0, len(r.Files)+len(r.Conflicts))
	for _, f := range r.Files {
		rows = append(rows, []string{clean(f.Action), clean(f.Path)})
	}
	for _, c := range r.Conflicts {
		rows = append(rows, []string{"conflict", clean(c)})
	}
	p.columns(rows)
	if more := r.Total - len(r.Files); more > 0 {
		p.printf("and %s\n", plural(more, "more file", "more files"))
	}
	for _, w := range r.Warnings {
		p.printf("%s\n", clean(w))
	}
}

func showDrift(p *printer, r api.TaskDriftResult) {
	base := clean(r.BaseRef)
	switch {
	case r.Rewritten:
		p.printf("%s was rewritten since the task began.\n", base)
	case r.Moved:
		p.printf("%s moved on since the task began.\n", base)
	default:
		p.printf("%s is where it was when the task began.\n", base)
	}
	p.printf("The task is %s ahead of it and %s behind.\n", plural(r.Ahead, "commit", "commits"), plural(r.Behind, "commit", "commits"))
	switch {
	case len(r.Conflicts) > 0:
		p.printf("%s with it now:\n", plural(len(r.Conflicts), "file conflicts", "files conflict"))
	case r.ConflictsKnown:
		p.printf("Nothing conflicts.\n")
	default:
		p.printf("This machine's git is too old to say what conflicts.\n")
	}
	for _, c := range r.Conflicts {
		p.printf("  %s\n", clean(c))
	}
}
