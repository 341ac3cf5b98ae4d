package cli

import (
	"cmp"
	"fmt"

	"termic/internal/api"
)

func showJobs(p *printer, r api.JobListResult) {
	if len(r.Jobs) == 0 {
		p.note("There are no such jobs.")
		return
	}
	rows := make([][]string, 0, len(r.Jobs))
	for _, j := range r.Jobs {
		rows = append(rows, []string{clean(j.ID), clean(j.Started), clean(j.Principal), clean(j.Face), clean(j.Verb), clean(j.State)})
	}
	p.table([]string{"JOB", "STARTED", "WHO", "BY", "VERB", "STATE"}, rows)
}

func showJob(p *printer, r api.JobResult) {
	j := r.Job
	p.fields("job", clean(j.ID), "asked by", clean(j.Principal)+" via "+clean(j.Face), "verb", clean(j.Verb), "about", clean(cmp.Or(j.TaskID, j.ProjectID)),
		"state", clean(j.State), "outcome", clean(j.Outcome), "started", clean(j.Started), "ended", clean(j.Ended))
	if j.Message != "" {
		p.printf("%s\n", clean(j.Message))
	}
}

func showJobEvents(p *printer, r api.JobEventsResult) {
	rows := make([][]string, 0, len(r.Events))
	for _, e := range r.Events {
		row := []string{clean(e.Time), clean(e.Kind), clean(e.Text)}
		if r.Job == "" {
			row = append([]string{clean(e.Job)}, row...)
		}
		rows = append(rows, row)
	}
	p.columns(rows)
}

func showJobLog(p *printer, r api.JobLogResult) {
	for _, l := range r.Lines {
		p.program(l.Line + "\n")
	}
	if len(r.Lines) == 0 {
		p.note("The job printed nothing.")
	}
}

func showHealth(p *printer, r api.HealthResult) {
	n := r.Tasks
	p.fields("version", clean(r.Version), "started", clean(r.Started), "tasks", counts(n.Live, "live", n.Creating, "being created", n.Failed, "failed", n.Missing, "without a folder"),
		"agents", counts(n.Working, "working", n.NeedsInput, "waiting for you"), "prompts", counts(n.Queued, "queued"), "jobs", counts(r.Jobs, "running"))
	for _, problem := range r.Problems {
		p.printf("%s.\n", clean(problem))
	}
}

// counts joins numbers and what they count; numbers that are 0 are left out but for the first.
func counts(pairs ...any) string {
	out := ""
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 && pairs[i] == 0 {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf("%d %s", pairs[i], pairs[i+1])
	}
	return out
}
