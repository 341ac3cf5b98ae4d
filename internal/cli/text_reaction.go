package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"termic/internal/api"
)

// reactionRenderers are those of what happens by itself.
func reactionRenderers() map[string]func(*printer, json.RawMessage) error {
	return map[string]func(*printer, json.RawMessage) error{
		"event_list":       as(showEvents),
		"event_explain":    as(showEventExplained),
		"trigger_list":     as(showTriggers),
		"trigger_add":      as(showTrigger),
		"trigger_update":   as(showTrigger),
		"trigger_delete":   as(showTriggerDeleted),
		"schedule_list":    as(showSchedules),
		"schedule_add":     as(showSchedule),
		"schedule_update":  as(showSchedule),
		"schedule_delete":  as(showScheduleDeleted),
		"schedule_run_now": as(showScheduleRun),
		"hook_list":        as(showHooks),
		"hook_add":         as(showHookAdded),
		"hook_delete":      as(showHookDeleted),
	}
}

func showEvents(p *printer, r api.EventListResult) {
	if len(r.Events) == 0 {
		p.note("Nothing happened yet of which rules could make something.")
		return
	}
	rows := make([][]string, 0, len(r.Events))
	for _, e := range r.Events {
		rows = append(rows, []string{clean(e.ID), clean(e.Time), clean(e.Kind), clean(e.Subject), followed(e)})
	}
	p.table([]string{"EVENT", "TIME", "KIND", "SUBJECT", "FOLLOWED"}, rows)
}

func followed(e api.Happening) string {
	switch {
	case e.Acted > 0 && e.Unacted > 0:
		return fmt.Sprintf("%d, and %d not", e.Acted, e.Unacted)
	case e.Unacted > 0:
		return fmt.Sprintf("%d not", e.Unacted)
	case e.Acted > 0:
		return fmt.Sprint(e.Acted)
	}
	return "-"
}

func showEventExplained(p *printer, r api.EventExplainResult) {
	e := r.Event
	facts, err := json.Marshal(e.Facts)
	if err != nil {
		facts = nil
	}
	p.fields("event", clean(e.ID), "time", clean(e.Time), "kind", clean(e.Kind), "subject", clean(e.Subject), "task", clean(e.TaskID), "project", clean(e.ProjectID),
		"cages", clean(strings.Join(e.Cages, ", ")), "facts", clean(string(facts)))
	if len(r.Rules) == 0 {
		p.note("There is no rule that could follow it.")
	}
	for _, x := range r.Rules {
		if x.Firing == nil {
			p.printf("%s did not follow: %s\n", clean(x.Rule), clean(x.Why))
			continue
		}
		p.printf("%s followed: %s\n", clean(x.Rule), firingWords(*x.Firing))
	}
}

// firingWords says what came of a firing.
func firingWords(f api.Firing) string {
	s := clean(f.Verb) + " " + clean(f.Outcome)
	if f.TaskID != "" {
		s += ", task " + clean(f.TaskID)
	}
	if f.Job != "" {
		s += ", job " + clean(f.Job)
	}
	if f.Detail != "" {
		s += ". " + clean(f.Detail)
	}
	return s
}

// ruleState says whether a rule acts.
func ruleState(r api.RuleView) string {
	switch {
	case r.Stopped != "":
		return "stopped"
	case !r.Enabled:
		return "off"
	}
	return "on"
}

// ruleDoes says what a rule does.
func ruleDoes(r api.RuleView) string {
	if r.Do == "task_send" {
		return "prompt to " + clean(r.Task)
	}
	return "task " + clean(r.Into) + "/" + clean(r.TaskName)
}

func lastWords(r api.RuleView) string {
	if r.Last == nil {
		return "never"
	}
	return clean(r.Last.Outcome) + " " + clean(r.Last.Time)
}

func showTriggers(p *printer, r api.TriggerListResult) {
	if len(r.Triggers) == 0 {
		p.note("Nothing follows from events yet: `termic trigger add NAME --on KIND --do task_send ...` changes that.")
		return
	}
	rows := make([][]string, 0, len(r.Triggers))
	for _, t := range r.Triggers {
		rows = append(rows, []string{clean(t.Name), ruleState(t.RuleView), clean(t.Kind), ruleDoes(t.RuleView), clean(t.Creator), lastWords(t.RuleView)})
	}
	p.table([]string{"TRIGGER", "STATE", "FOLLOWS", "DOES", "AS", "LAST"}, rows)
}

func showRule(p *printer, what string, r api.RuleView, more ...string) {
	all := append([]string{what, clean(r.Name), "id", clean(r.ID), "state", ruleState(r)}, more...)
	all = append(all, "does", ruleDoes(r), "agent", clean(r.Agent), "base", clean(r.Base), "sandbox", clean(r.Sandbox), "prompt", clean(r.Prompt))
	if r.WithFacts {
		all = append(all, "and appends", "what is known of the event, as untrusted data")
	}
	p.fields(append(all, "acts as", clean(r.Creator), "last", lastWords(r))...)
	if r.Stopped != "" {
		p.printf("%s\n", clean(r.Stopped))
	}
}

func showTrigger(p *printer, r api.TriggerResult) {
	t := r.Trigger
	showRule(p, "trigger", t.RuleView, "follows", clean(t.Kind), "subject", clean(t.Subject), "project", clean(t.ProjectID), "facts", clean(strings.Join(t.Facts, ", ")))
}

func showTriggerDeleted(p *printer, r api.TriggerDeleteResult) {
	p.printf("The trigger %s is deleted\n", clean(r.Name))
}

func showSchedules(p *printer, r api.ScheduleListResult) {
	if len(r.Schedules) == 0 {
		p.note("Nothing is due at any time yet: `termic schedule add NAME --every 1h --do task_new ...` changes that.")
		return
	}
	rows := make([][]string, 0, len(r.Schedules))
	for _, s := range r.Schedules {
		next := "-"
		if len(s.Next) > 0 {
			next = clean(s.Next[0])
		}
		rows = append(rows, []string{clean(s.Name), ruleState(s.RuleView), scheduleTimes(s), next, ruleDoes(s.RuleView), clean(s.Creator), lastWords(s.RuleView)})
	}
	p.table([]string{"SCHEDULE", "STATE", "WHEN", "NEXT", "DOES", "AS", "LAST"}, rows)
}

func scheduleTimes(s api.Schedule) string {
	if s.Every != "" {
		return "every " + plainLength(clean(s.Every))
	}
	return clean(s.Cron)
}

func showSchedule(p *printer, r api.ScheduleResult) {
	s := r.Schedule
	overlap := "left out while the one before goes on"
	if s.Overlap {
		overlap = "runs also while the one before goes on"
	}
	missed := map[string]string{"once": "made up for by one run"}[s.Missed]
	showRule(p, "schedule", s.RuleView, "when", scheduleTimes(s), "zone", clean(s.Zone), "put off by up to", plainLength(clean(s.Jitter)), "missed runs are", cmp.Or(missed, "left out"),
		"a run is", overlap, "next", clean(strings.Join(s.Next, ", ")))
}

func showScheduleDeleted(p *printer, r api.ScheduleDeleteResult) {
	p.printf("The schedule %s is deleted\n", clean(r.Name))
}

func showScheduleRun(p *printer, r api.ScheduleRunResult) {
	p.printf("%s ran: %s\n", clean(r.Name), firingWords(r.Firing))
}

func showHooks(p *printer, r api.HookListResult) {
	if len(r.Hooks) == 0 {
		p.note("No signed requests are taken yet: `termic hook add NAME` changes that.")
		return
	}
	rows := make([][]string, 0, len(r.Hooks))
	for _, h := range r.Hooks {
		rows = append(rows, []string{clean(h.Name), clean(cmp.Or(h.URL, "(the browser face does not serve)")), clean(h.File)})
	}
	p.table([]string{"HOOK", "URL", "SECRET"}, rows)
}

func showHookAdded(p *printer, r api.HookAddResult) {
	p.fields("hook", clean(r.Hook.Name), "url", clean(cmp.Or(r.Hook.URL, "none; the browser face does not serve")), "file", clean(r.Hook.File), "secret", clean(r.Secret))
	p.note("The secret is not shown again. Give it to whoever signs the requests, and to nobody else.")
}

func showHookDeleted(p *printer, r api.HookDeleteResult) {
	p.printf("No requests are taken any more for %s\n", clean(r.Name))
}
