package verb

import (
	"termic/internal/core"
	"termic/internal/grant"
)

// reactions are the verbs of what happens by itself: events, the triggers that react to them, and schedules.
var reactions = []Verb{
	define(Verb{Name: "event_list", CLI: "event list", Aliases: []string{"event ls"}, Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Operations,
		Doc: "List what happened, newest first: checks that flip, tasks that settle, branches that move"}, (*core.Core).EventList),
	define(Verb{Name: "event_explain", CLI: "event explain", Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Operations,
		Doc: "Show what each trigger made of an event, and why"}, (*core.Core).EventExplain),
	define(Verb{Name: "trigger_list", CLI: "trigger list", Aliases: []string{"trigger ls"}, Class: grant.Full, Effect: reads, Toolset: Operations,
		Doc: "List triggers: what follows by itself from which events"}, (*core.Core).TriggerList),
	define(Verb{Name: "trigger_add", CLI: "trigger add", Class: grant.Full, Effect: drives, Toolset: Operations,
		Doc: "Let events start a task or send a prompt, with your rights as they are then"}, (*core.Core).TriggerAdd),
	define(Verb{Name: "trigger_update", CLI: "trigger update", Class: grant.Full, Effect: drives, Toolset: Operations,
		Doc: "Change a trigger, or switch it on or off"}, (*core.Core).TriggerUpdate),
	define(Verb{Name: "trigger_delete", CLI: "trigger delete", Aliases: []string{"trigger rm"}, Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Delete a trigger; what it did stays in the list of events"}, (*core.Core).TriggerDelete),
	define(Verb{Name: "schedule_list", CLI: "schedule list", Aliases: []string{"schedule ls"}, Class: grant.Full, Effect: reads, Toolset: Operations,
		Doc: "List schedules: what happens by itself at which times, and when next"}, (*core.Core).ScheduleList),
	define(Verb{Name: "schedule_add", CLI: "schedule add", Class: grant.Full, Effect: drives, Toolset: Operations,
		Doc: "Start a task or send a prompt at set times, with your rights as they are then"}, (*core.Core).ScheduleAdd),
	define(Verb{Name: "schedule_update", CLI: "schedule update", Class: grant.Full, Effect: drives, Toolset: Operations,
		Doc: "Change a schedule, or switch it on or off"}, (*core.Core).ScheduleUpdate),
	define(Verb{Name: "schedule_delete", CLI: "schedule delete", Aliases: []string{"schedule rm"}, Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Delete a schedule; what it did stays in the list of events"}, (*core.Core).ScheduleDelete),
	define(Verb{Name: "schedule_run_now", CLI: "schedule run", Class: grant.Full, Effect: drives, Toolset: Operations,
		Doc: "Let a schedule act now, and tell what came of it; its times stay as they are"}, (*core.Core).ScheduleRunNow),
	define(Verb{Name: "hook_add", CLI: "hook add", Class: grant.Owner, Effect: writes, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "Take signed requests of a name on the browser face, each of which is an event; its secret is shown once"}, (*core.Core).HookAdd),
	define(Verb{Name: "hook_list", CLI: "hook list", Aliases: []string{"hook ls"}, Class: grant.Owner, Effect: reads, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "List the names under which signed requests are taken"}, (*core.Core).HookList),
	define(Verb{Name: "hook_delete", CLI: "hook delete", Aliases: []string{"hook rm"}, Class: grant.Owner, Effect: sets, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "Take no more requests of a name, and forget its secret"}, (*core.Core).HookDelete),
}
