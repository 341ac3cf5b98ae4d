package api

// CheckListParams are the parameters of check_list.
type CheckListParams struct {
	State  string `json:"state,omitempty" cli:"state" enum:"up|down|unknown" doc:"only checks in this state" tool:"-"`
	Limit  int64  `json:"limit,omitempty" cli:"limit" doc:"at most this many; 100 when left out, at most 1000" tool:"100 when left out, at most 1000"`
	Offset int64  `json:"offset,omitempty" cli:"offset" doc:"leave out this many before" tool:"-"`
}

// CheckGetParams are the parameters of check_get.
type CheckGetParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
}

// CheckFields are what checks of one kind have. A field of another kind is refused.
type CheckFields struct {
	Expect     string `json:"expect,omitempty" cli:"expect" doc:"http: text that the page must hold" tool:"http"`
	MinDays    int64  `json:"minDays,omitempty" cli:"min-days" doc:"tls: days for which the certificate must still be valid" tool:"tls"`
	ExpectAddr string `json:"expectAddr,omitempty" cli:"expect-addr" doc:"dns: address that the name must have" tool:"dns"`
	Op         string `json:"op,omitempty" cli:"op" enum:">|>=|<|<=|==|!=" doc:"metric: how it is compared with value" tool:"metric"`
	Value      string `json:"value,omitempty" cli:"value" doc:"metric: the number that it is compared with" tool:"metric"`
}

// CheckTimes are how often a check is made, and how patient it is.
type CheckTimes struct {
	EveryMs int64 `json:"everyMs,omitempty" cli:"every" unit:"ms" doc:"time between two looks, 10s to 24h; 60s when left out" tool:"60000 when left out"`
	LookMs  int64 `json:"lookMs,omitempty" cli:"timeout" unit:"ms" doc:"time that a look at a target may take, up to 60s; 10s when left out" tool:"timeout"`
	Retries int64 `json:"retries,omitempty" cli:"retries" doc:"looks that may fail in a row before a target counts as down; none when left out" tool:"-"`
}

// CheckAddParams are the parameters of check_add.
type CheckAddParams struct {
	Name    string   `json:"name" cli:"arg" doc:"name of the check: letters, digits, - and _, at most 64 of them" tool:"-"`
	Kind    string   `json:"kind" cli:"arg" enum:"http|tls|dns|tcp|metric|command" doc:"what is looked at; command is for the owner alone" tool:"-"`
	Targets []string `json:"targets" cli:"target" list:"whole" doc:"what to look at: a URL; host[:port]; name[@resolver]; host:port; URL#metric{label=\"value\"}; a program with arguments. Can be given more than once" tool:"by kind: URL; host:port; name; host:port; URL#metric"`
	CheckFields
	CheckTimes
}

// CheckUpdateParams are the parameters of check_update. What is left out stays.
type CheckUpdateParams struct {
	Name    string   `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
	Rename  string   `json:"rename,omitempty" cli:"rename" doc:"call it so from now on; triggers that follow it by its name must be changed too" tool:"-"`
	Targets []string `json:"targets,omitempty" cli:"target" list:"whole" doc:"look at these instead; those that stay keep their state" tool:"replaces all"`
	CheckFields
	CheckTimes
	Clear []string `json:"clear,omitempty" cli:"clear" doc:"take back expect, minDays, expectAddr or retries" tool:"-"`
}

// CheckSetEnabledParams are the parameters of check_set_enabled.
type CheckSetEnabledParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
	To   string `json:"to" cli:"arg" enum:"on|off" doc:"whether it is made" tool:"-"`
}

// CheckDeleteParams are the parameters of check_delete.
type CheckDeleteParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
}

// CheckSnoozeParams are the parameters of check_snooze.
type CheckSnoozeParams struct {
	Name  string `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
	ForMs int64  `json:"forMs,omitempty" cli:"for" unit:"ms" doc:"how long, up to 30 days; 1h when left out" tool:"-"`
	End   bool   `json:"end,omitempty" cli:"end" not:"forMs" doc:"end it now" tool:"-"`
}

// CheckProbeParams are the parameters of check_probe.
type CheckProbeParams struct {
	Name   string `json:"name" cli:"arg" doc:"name of the check" tool:"-"`
	Target string `json:"target,omitempty" cli:"target" doc:"only this target of it" tool:"-"`
}

// States of a check and of its targets. A check is down when any of its targets is.
const (
	CheckUp      = "up"
	CheckDown    = "down"
	CheckUnknown = "unknown" // not looked at yet
)

// CheckTarget is how one target of a check stands.
type CheckTarget struct {
	Target     string `json:"target"`
	State      string `json:"state"`
	Since      string `json:"since,omitempty"` // of the state
	Ran        string `json:"ran,omitempty"`   // the newest look
	DurationMs int64  `json:"duration_ms"`     // of the newest look
	Netgroup   string `json:"netgroup,omitempty"`
	Detail     string `json:"detail,omitempty"` // untrusted
}

// Check is something that is looked at again and again.
type Check struct {
	Name       string        `json:"name"`
	Kind       string        `json:"kind"`
	State      string        `json:"state"`
	Since      string        `json:"since,omitempty"` // of the state
	Enabled    bool          `json:"enabled"`
	Snoozed    string        `json:"snoozed_until,omitempty"`
	Targets    []CheckTarget `json:"targets"`
	EveryMs    int64         `json:"every_ms"`
	TimeoutMs  int64         `json:"timeout_ms"`
	Retries    int64         `json:"retries,omitempty"`
	Expect     string        `json:"expect,omitempty"`
	MinDays    int64         `json:"min_days,omitempty"`
	ExpectAddr string        `json:"expect_addr,omitempty"`
	Op         string        `json:"op,omitempty"`
	Value      string        `json:"value,omitempty"`
	CreatedBy  string        `json:"created_by"`
	Created    string        `json:"created"`
}

// CheckListResult is the result of check_list: what is down first, then by name.
type CheckListResult struct {
	Checks []Check `json:"checks"`
	Total  int     `json:"total"` // that fit, with those beyond the limit
	Down   int     `json:"down"`  // among all
}

// CheckResult is the result of verbs that show one check.
type CheckResult struct {
	Check Check `json:"check"`
}

// CheckDeleteResult is the result of check_delete.
type CheckDeleteResult struct {
	Name string `json:"name"`
}

// ProbeResult is what one look found.
type ProbeResult struct {
	Target     string `json:"target"`
	Up         bool   `json:"up"`
	DurationMs int64  `json:"duration_ms"`
	Netgroup   string `json:"netgroup"`
	Detail     string `json:"detail"` // untrusted
}

// CheckProbeResult is the result of check_probe, in the order of the targets.
type CheckProbeResult struct {
	Results []ProbeResult `json:"results"`
}

// NetgroupListParams are the parameters of netgroup_list.
type NetgroupListParams struct{}

// NetgroupAddParams are the parameters of netgroup_add.
type NetgroupAddParams struct {
	Name    string   `json:"name" cli:"arg" doc:"name of the netgroup: letters, digits, - and _, at most 64 of them" tool:"-"`
	Members []string `json:"members" cli:"rest" doc:"addresses and networks, such as 192.0.2.0/24; one with ! in front is taken out of the others" tool:"CIDRs; ! in front takes out"`
	Note    string   `json:"note,omitempty" cli:"note" doc:"what it is for" tool:"-"`
}

// NetgroupUpdateParams are the parameters of netgroup_update. What is left out stays.
type NetgroupUpdateParams struct {
	Name    string   `json:"name" cli:"arg" doc:"name of the netgroup" tool:"-"`
	Members []string `json:"members,omitempty" cli:"rest" doc:"all that is to be in it from now on" tool:"replaces all"`
	Note    string   `json:"note,omitempty" cli:"note" doc:"what it is for; none takes it back" tool:"-"`
}

// NetgroupDeleteParams are the parameters of netgroup_delete.
type NetgroupDeleteParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the netgroup" tool:"-"`
}

// Netgroup is a set of addresses with a name.
type Netgroup struct {
	Name    string   `json:"name"`
	Members []string `json:"members"`
	Note    string   `json:"note,omitempty"`
	// UsedBy are the lists of hosts that name it, in words.
	UsedBy  []string `json:"used_by,omitempty"`
	Updated string   `json:"updated"`
}

// NetgroupListResult is the result of netgroup_list.
type NetgroupListResult struct {
	Netgroups []Netgroup `json:"netgroups"`
}

// NetgroupResult is the result of netgroup_add and netgroup_update.
type NetgroupResult struct {
	Netgroup Netgroup `json:"netgroup"`
	// Kept says in words what keeps the addresses from before the change.
	Kept string `json:"kept,omitempty"`
}

// NetgroupDeleteResult is the result of netgroup_delete.
type NetgroupDeleteResult struct {
	Name string `json:"name"`
}
