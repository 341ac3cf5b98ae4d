package verb

import (
	"termic/internal/core"
	"termic/internal/grant"
)

// checks are the verbs of checks, and of the sets of addresses that their results name.
var checks = []Verb{
	define(Verb{Name: "check_list", CLI: "check list", Aliases: []string{"check ls"}, Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Operations,
		Doc: "List checks and how each target stands, what is down first; untrusted text"}, (*core.Core).CheckList),
	define(Verb{Name: "check_get", CLI: "check show", Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Operations,
		Doc: "Show a check and how its targets stand"}, (*core.Core).CheckGet),
	define(Verb{Name: "check_add", CLI: "check add", Class: grant.Full, Effect: Effect{Kind: Writes, OpenWorld: true}, Toolset: Operations,
		Doc: "Look at a page, a certificate, a name, a port or a metric again and again"}, (*core.Core).CheckAdd),
	define(Verb{Name: "check_update", CLI: "check update", Class: grant.Full, Effect: Effect{Kind: Writes, Idempotent: true, OpenWorld: true}, Toolset: Operations,
		Doc: "Change what a check looks at, or how often"}, (*core.Core).CheckUpdate),
	define(Verb{Name: "check_set_enabled", CLI: "check switch", Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Switch a check on or off"}, (*core.Core).CheckSetEnabled),
	define(Verb{Name: "check_delete", CLI: "check delete", Aliases: []string{"check rm"}, Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Forget a check"}, (*core.Core).CheckDelete),
	define(Verb{Name: "check_snooze", CLI: "check snooze", Class: grant.Full, Effect: writes, Toolset: Operations,
		Doc: "Let a check raise no events for a while; it is made all the same"}, (*core.Core).CheckSnooze),
	define(Verb{Name: "check_probe", CLI: "check probe", Class: grant.Full, Effect: Effect{Kind: Reads, Idempotent: true, OpenWorld: true}, Untrusted: true, Toolset: Operations,
		Doc: "Look at the targets of a check now; nothing is kept of it"}, (*core.Core).CheckProbe),

	define(Verb{Name: "netgroup_list", CLI: "netgroup list", Aliases: []string{"netgroup ls"}, Class: grant.Full, Effect: reads, Toolset: Operations,
		Doc: "List the named sets of addresses"}, (*core.Core).NetgroupList),
	define(Verb{Name: "netgroup_add", CLI: "netgroup add", Class: grant.Full, Effect: writes, Toolset: Operations,
		Doc: "Name a set of addresses"}, (*core.Core).NetgroupAdd),
	define(Verb{Name: "netgroup_update", CLI: "netgroup update", Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Change a named set of addresses; cages that run keep the old one"}, (*core.Core).NetgroupUpdate),
	define(Verb{Name: "netgroup_delete", CLI: "netgroup delete", Aliases: []string{"netgroup rm"}, Class: grant.Full, Effect: sets, Toolset: Operations,
		Doc: "Forget a named set of addresses that is not in use"}, (*core.Core).NetgroupDelete),
}
