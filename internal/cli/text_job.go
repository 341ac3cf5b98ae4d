package cli

import (
	"cmp"

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
		rows = append(rows, []string{clean(e.Time), clean(e.Kind), clean(e.Text)})
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
