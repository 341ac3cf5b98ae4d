package api

// EventListParams are the parameters of event_list.
type EventListParams struct {
	Kind    string `json:"kind,omitempty" cli:"kind" enum:"check_flip|task_settled|branch_moved|schedule_fired|webhook" doc:"only events of this kind" tool:"-"`
	Project string `json:"project,omitempty" cli:"project" doc:"only events of this project: name or id" tool:"-"`
	Since   string `json:"since,omitempty" cli:"since" doc:"only events since this time (RFC 3339), or since so long ago, such as 2h" tool:"time, or 2h"`
	Before  int64  `json:"before,omitempty" cli:"before" doc:"only events with a smaller seq" tool:"-"`
	Limit   int64  `json:"limit,omitempty" cli:"limit" doc:"at most this many, newest first; 100 when left out, at most 1000" tool:"100 when left out, at most 1000"`
}

// EventParams name one event: those of event_explain.
type EventParams struct {
	Event string `json:"event" cli:"arg" doc:"id of the event" tool:"-"`
}

// Happening is an event: something that happened, to which triggers may react. Its subject and its facts may be written by whoever brought it about: untrusted text.
type Happening struct {
	ID        string   `json:"id"`
	Seq       int64    `json:"seq"`
	Time      string   `json:"time"` // RFC 3339, UTC
	Kind      string   `json:"kind"`
	Subject   string   `json:"subject"` // the name of what it happened to
	TaskID    string   `json:"task_id,omitempty"`
	ProjectID string   `json:"project_id,omitempty"`
	Cages     []string `json:"cages,omitempty"`     // ids of the caged tasks that may have brought it about
	Facts     any      `json:"facts"`               // an object; long texts are cut in lists
	FactsCut  bool     `json:"facts_cut,omitempty"` // event_explain has them whole
	Depth     int64    `json:"depth,omitempty"`     // how many firings led here, one by way of the other
	Acted     int64    `json:"acted"`               // firings that did something, or are about to
	Unacted   int64    `json:"unacted"`             // firings of which nothing came
}

// EventListResult is the result of event_list.
type EventListResult struct {
	Events []Happening `json:"events"` // newest first
}

// Firing is one time that a rule acted, or was about to.
type Firing struct {
	Time    string `json:"time"`    // RFC 3339, UTC
	Outcome string `json:"outcome"` // waiting, acting, done, refused, failed, held, skipped, missed or unknown
	Detail  string `json:"detail,omitempty"`
	Event   string `json:"event,omitempty"` // id of the event that it followed
	Verb    string `json:"verb"`
	TaskID  string `json:"task_id,omitempty"` // that it made or sent to
	Job     string `json:"job,omitempty"`
}

// Explained is what one rule made of an event.
type Explained struct {
	Rule    string  `json:"rule"` // its name
	RuleID  string  `json:"rule_id"`
	Matched bool    `json:"matched"`
	Why     string  `json:"why,omitempty"`    // it did not match
	Firing  *Firing `json:"firing,omitempty"` // where it matched
}

// EventExplainResult is the result of event_explain.
type EventExplainResult struct {
	Event Happening   `json:"event"`
	Rules []Explained `json:"rules"` // those that matched first
}

// RuleWork says what a rule does: one call of task_new or task_send, with its creator's rights as they are then.
type RuleWork struct {
	Do        string `json:"do,omitempty" cli:"do" enum:"task_new|task_send" doc:"what follows: a new task, or a prompt to a task" tool:"-"`
	Task      string `json:"task,omitempty" cli:"task" doc:"for task_send: the task, by exact id, name or project/name" tool:"of task_send"`
	Into      string `json:"into,omitempty" cli:"into" doc:"for task_new: the project, by name or id" tool:"project of task_new"`
	TaskName  string `json:"taskName,omitempty" cli:"task-name" doc:"for task_new: the name of the task; {date} and {time} are filled in" tool:"{date}, {time}"`
	Agent     string `json:"agent,omitempty" cli:"agent" doc:"for task_new: agent id" tool:"-"`
	Base      string `json:"base,omitempty" cli:"base" doc:"for task_new: branch or commit to start from" tool:"-"`
	Sandbox   string `json:"sandbox,omitempty" cli:"sandbox" class:"full" enum:"off|monitor|enforce-fs|enforce" doc:"for task_new: cage of the task" tool:"-"`
	Prompt    string `json:"prompt,omitempty" cli:"prompt,p" doc:"fixed text of the prompt" tool:"-"`
	WithFacts bool   `json:"withFacts,omitempty" cli:"with-facts" doc:"append what is known of the event to the prompt, marked as untrusted data" tool:"append the event as untrusted data"`
	NoFacts   bool   `json:"noFacts,omitempty" cli:"no-facts" not:"withFacts" doc:"append nothing any more" tool:"-"`
}

// TriggerMatch says which events a trigger follows.
type TriggerMatch struct {
	Kind    string   `json:"kind,omitempty" cli:"on" enum:"check_flip|task_settled|branch_moved|schedule_fired|webhook" doc:"kind of event that it follows" tool:"-"`
	Subject string   `json:"subject,omitempty" cli:"subject" doc:"only events whose subject is like this pattern, such as nightly-*" tool:"pattern"`
	Project string   `json:"project,omitempty" cli:"project" doc:"only events of this project: name or id" tool:"-"`
	Facts   []string `json:"facts,omitempty" cli:"fact" doc:"only events with this fact, such as outcome=done or up=false; all of them, where there are more" tool:"such as outcome=done"`
}

// TriggerListParams are the parameters of trigger_list.
type TriggerListParams struct{ RulePage }

// RulePage is a piece of a list of rules, which is by name.
type RulePage struct {
	After string `json:"after,omitempty" cli:"after" doc:"only those whose name comes after this one" tool:"-"`
	Limit int64  `json:"limit,omitempty" cli:"limit" doc:"at most this many; 100 when left out, at most 1000" tool:"-"`
}

// TriggerAddParams are the parameters of trigger_add.
type TriggerAddParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the trigger" tool:"-"`
	TriggerMatch
	RuleWork
}

// TriggerUpdateParams are the parameters of trigger_update. What is left out stays.
type TriggerUpdateParams struct {
	Name string `json:"name" cli:"arg" doc:"name or id of the trigger" tool:"-"`
	TriggerMatch
	AnySubject bool `json:"anySubject,omitempty" cli:"any-subject" not:"subject" doc:"follow events of every subject" tool:"-"`
	AnyProject bool `json:"anyProject,omitempty" cli:"any-project" not:"project" doc:"follow events of every project" tool:"-"`
	AnyFacts   bool `json:"anyFacts,omitempty" cli:"any-facts" not:"facts" doc:"follow events whatever their facts are" tool:"-"`
	Enable     bool `json:"enable,omitempty" cli:"enable" doc:"switch it on, also after it stopped, if its creator may do that now" tool:"-"`
	Disable    bool `json:"disable,omitempty" cli:"disable" not:"enable" doc:"switch it off" tool:"-"`
	RuleWork
}

// TriggerDeleteParams are the parameters of trigger_delete.
type TriggerDeleteParams struct {
	Name string `json:"name" cli:"arg" doc:"name or id of the trigger" tool:"-"`
}

// RuleView is what triggers and schedules have in common.
type RuleView struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Do        string  `json:"do"`
	Task      string  `json:"task,omitempty"`
	Into      string  `json:"into,omitempty"`
	TaskName  string  `json:"task_name,omitempty"`
	Agent     string  `json:"agent,omitempty"`
	Base      string  `json:"base,omitempty"`
	Sandbox   string  `json:"sandbox,omitempty"`
	Prompt    string  `json:"prompt,omitempty"`
	WithFacts bool    `json:"with_facts,omitempty"`
	Creator   string  `json:"creator"` // as whom it acts
	Enabled   bool    `json:"enabled"`
	Stopped   string  `json:"stopped,omitempty"` // why Termic stopped it
	Last      *Firing `json:"last,omitempty"`    // its newest firing
	Created   string  `json:"created"`           // RFC 3339, UTC
	Updated   string  `json:"updated"`
}

// Trigger is a rule that follows events.
type Trigger struct {
	RuleView
	Kind      string   `json:"kind"`
	Subject   string   `json:"subject,omitempty"`
	ProjectID string   `json:"project_id,omitempty"`
	Facts     []string `json:"facts"` // name=value, by name
}

// TriggerListResult is the result of trigger_list.
type TriggerListResult struct {
	Triggers []Trigger `json:"triggers"` // by name
	Total    int64     `json:"total"`    // how many there are
}

// TriggerResult is the result of trigger_add and trigger_update.
type TriggerResult struct {
	Trigger Trigger `json:"trigger"`
}

// TriggerDeleteResult is the result of trigger_delete.
type TriggerDeleteResult struct {
	Name string `json:"name"`
}
