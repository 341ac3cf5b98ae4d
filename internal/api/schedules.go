package api

// ScheduleTime says when a schedule is due.
type ScheduleTime struct {
	Cron      string `json:"cron,omitempty" cli:"cron" not:"every" doc:"five fields as in cron, such as '0 9 * * mon-fri', or @hourly, @daily, @weekly, @monthly, @yearly" tool:"five fields, or @daily and the like"`
	Every     string `json:"every,omitempty" cli:"every" doc:"time between two runs, such as 30m; at least 5s" tool:"such as 30m"`
	Zone      string `json:"zone,omitempty" cli:"zone" with:"cron" doc:"time zone such as Europe/Berlin; that of the machine when left out" tool:"-"`
	Jitter    string `json:"jitter,omitempty" cli:"jitter" doc:"put each run off by up to this, such as 5m; at most 12h" tool:"-"`
	Missed    string `json:"missed,omitempty" cli:"missed" enum:"skip|once" doc:"what comes of runs that were missed while Termic did not run or the machine slept: nothing (when left out), or one run for all of them" tool:"-"`
	Overlap   bool   `json:"overlap,omitempty" cli:"overlap" doc:"run also while what the run before began goes on" tool:"-"`
	NoOverlap bool   `json:"noOverlap,omitempty" cli:"no-overlap" not:"overlap" doc:"leave a run out while what the one before began goes on, as when nothing is said" tool:"-"`
}

// ScheduleListParams are the parameters of schedule_list.
type ScheduleListParams struct{ RulePage }

// ScheduleAddParams are the parameters of schedule_add.
type ScheduleAddParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the schedule" tool:"-"`
	ScheduleTime
	RuleWork
}

// ScheduleUpdateParams are the parameters of schedule_update. What is left out stays.
type ScheduleUpdateParams struct {
	Name string `json:"name" cli:"arg" doc:"name or id of the schedule" tool:"-"`
	ScheduleTime
	Enable  bool `json:"enable,omitempty" cli:"enable" doc:"switch it on, also after it stopped, if its creator may do that now" tool:"-"`
	Disable bool `json:"disable,omitempty" cli:"disable" not:"enable" doc:"switch it off" tool:"-"`
	RuleWork
}

// ScheduleParams name one schedule: those of schedule_delete and schedule_run_now.
type ScheduleParams struct {
	Name string `json:"name" cli:"arg" doc:"name or id of the schedule" tool:"-"`
}

// Schedule is a rule that acts at its times.
type Schedule struct {
	RuleView
	Cron    string   `json:"cron,omitempty"`
	Every   string   `json:"every,omitempty"`
	Zone    string   `json:"zone,omitempty"`
	Jitter  string   `json:"jitter,omitempty"`
	Missed  string   `json:"missed"`
	Overlap bool     `json:"overlap"`
	Next    []string `json:"next"` // the next runs, RFC 3339 in the zone of the schedule; none while it is off
}

// ScheduleListResult is the result of schedule_list.
type ScheduleListResult struct {
	Schedules []Schedule `json:"schedules"` // by name
	Total     int64      `json:"total"`     // how many there are
}

// ScheduleResult is the result of schedule_add and schedule_update.
type ScheduleResult struct {
	Schedule Schedule `json:"schedule"`
}

// ScheduleDeleteResult is the result of schedule_delete.
type ScheduleDeleteResult struct {
	Name string `json:"name"`
}

// ScheduleRunResult is the result of schedule_run_now.
type ScheduleRunResult struct {
	Name   string `json:"name"`
	Firing Firing `json:"firing"`
}

// HookParams name one hook: those of hook_add and hook_delete.
type HookParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the hook: letters, digits, - and _, at most 64 of them"`
}

// HookListParams are the parameters of hook_list.
type HookListParams struct{}

// Hook is a name under which the browser face takes signed requests.
type Hook struct {
	Name    string `json:"name"`
	URL     string `json:"url,omitempty"` // empty while the browser face does not serve
	File    string `json:"file"`          // that holds its secret, readable by the user alone
	Created string `json:"created"`       // RFC 3339, UTC
}

// HookListResult is the result of hook_list.
type HookListResult struct {
	Hooks []Hook `json:"hooks"` // by name
}

// HookAddResult is the result of hook_add.
type HookAddResult struct {
	Hook   Hook   `json:"hook"`
	Secret string `json:"secret"` // shown this once
}

// HookDeleteResult is the result of hook_delete.
type HookDeleteResult struct {
	Name string `json:"name"`
}
