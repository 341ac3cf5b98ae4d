// Package verb is the program's table of operations, and the one way in to them.
//
// A verb is written once, in the table of table.go: its name, its path on the command line, one sentence, who may call
// it, what it changes, its parameters and its result. From that are made the command line and its help, the MCP tools,
// the TypeScript types and docs/verbs.md, so the faces cannot drift apart. Dispatcher.Call is the only way in for
// every face, and checks in one order: the verb exists for this caller, the parameters are exact, the target is one
// that the caller may see; then the ledger hears that it was asked, the handler runs, and the ledger hears how it ended.
//
// Presenters add no behaviour and no authority. A verb that a caller may not use and a verb that does not exist give
// the same answer.
package verb

import (
	"context"
	"reflect"
	"slices"

	"termic/internal/core"
	"termic/internal/grant"
)

// Kind says what a verb does to the world.
type Kind string

// The kinds of effect.
const (
	Reads    Kind = "reads"    // changes nothing
	Writes   Kind = "writes"   // makes or changes things; nothing that existed is lost
	Destroys Kind = "destroys" // may end or overwrite something
)

// Toolset names a set of tools.
type Toolset string

// The toolsets beside the core.
const (
	Jobs      Toolset = "jobs"
	Approvals Toolset = "approvals" // approvals, plans, drift
	// Operations are checks, netgroups, events, triggers, schedules and the names of secrets.
	Operations Toolset = "operations"
)

// Effect is what a caller must know before it repeats or undoes a call.
type Effect struct {
	Kind       Kind
	Idempotent bool // a second identical call changes nothing more
	// OpenWorld is set for what sets an agent to work, which may reach whatever its task may, and for what has Termic itself
	// connect to others.
	OpenWorld bool
}

// Verb is one operation. Its zero value is not useful; the table makes them with define.
type Verb struct {
	Name    string      // canonical name, as in MCP: task_send
	CLI     string      // path on the command line: "send", "project add"
	Aliases []string    // other CLI paths
	Doc     string      // one sentence for people and models
	Class   grant.Class // the narrowest class that may call it, among owner, full and scoped
	// Named is what a named token must include to call it; empty where none may. A verb of the classes full and scoped that
	// MCP offers has one by its effect: what reads is for every named token, what writes for operators, and so is what destroys,
	// which waits for an approval then.
	Named  grant.Class
	Effect Effect
	// Toolset is the set of tools that lists the verb for callers of the class full. The zero value is the core, which is always
	// listed; the others are switched on in the settings.
	Toolset Toolset
	// NotOn holds the faces that do not offer the verb, each with the reason.
	NotOn map[grant.Face]string
	// Local is set for verbs that the command line answers itself, without the app.
	Local bool
	// CwdTarget allows the command line to take the task from the current folder.
	CwdTarget bool
	// AnyTarget lets a call that names no task go on without one where the current folder has none.
	AnyTarget bool
	// Job is set for verbs of which each call is a row in the queue of jobs: what works on tasks and repositories. Writes that
	// only say how something is set up are none.
	Job bool
	// Streams is set for verbs that tell events before their result.
	Streams bool
	// Untrusted is set for verbs whose result is text that came out of a task.
	Untrusted bool
	// Exits lists the exit codes beside 0, 1 and 2.
	Exits []int

	Params []Param      // from the parameter type, in its order
	Result reflect.Type // the result type; nil for local verbs
	params reflect.Type
	run    func(ctx context.Context, c *core.Core, call *core.Call, params any) (any, error)
}

// define completes a row of the table with its parameter type, its result type and its handler.
func define[P, R any](v Verb, run func(*core.Core, context.Context, *core.Call, P) (R, error)) Verb {
	v.params, v.Result = reflect.TypeFor[P](), reflect.TypeFor[R]()
	v.Params = paramsOf(v.params)
	switch {
	case v.Named != "" || v.Class == grant.Owner || !v.On(grant.MCP):
	case v.Effect.Kind == Reads:
		v.Named = grant.ReadOnly
	default:
		v.Named = grant.Operator
	}
	v.run = func(ctx context.Context, c *core.Core, call *core.Call, params any) (any, error) {
		return run(c, ctx, call, params.(P))
	}
	return v
}

// local completes a row that the command line answers itself.
func local[P any](v Verb) Verb {
	v.Local, v.params = true, reflect.TypeFor[P]()
	v.Params = paramsOf(v.params)
	v.NotOn = map[grant.Face]string{grant.MCP: "answered by the command line itself", grant.Window: "answered by the command line itself"}
	return v
}

// For reports whether callers of a class may call the verb.
func (v *Verb) For(c grant.Class) bool {
	if c.Named() {
		return c.Includes(v.Named)
	}
	return c.Covers(v.Class)
}

// Waits reports whether a call of a class only asks for an approval: what destroys, asked for by an operator.
func (v *Verb) Waits(c grant.Class) bool { return c == grant.Operator && v.Effect.Kind == Destroys }

// On reports whether a face offers the verb. Rules have the two by which work is given to agents, and those as MCP offers them.
func (v *Verb) On(f grant.Face) bool {
	if f.ByRule() {
		return core.ByRule(v.Name) && v.On(grant.MCP)
	}
	return v.NotOn[f] == ""
}

// ParamsOn returns the parameters that a face offers to whoever may give them all.
func (v *Verb) ParamsOn(f grant.Face) []Param { return v.ParamsFor(f, grant.Owner) }

// ParamsFor returns the parameters that a face offers to callers of a class.
func (v *Verb) ParamsFor(f grant.Face, c grant.Class) []Param {
	var out []Param
	for _, p := range v.Params {
		if p.On(f) && !p.ClientOnly && (p.Class == "" || c.Covers(p.Class)) {
			out = append(out, p)
		}
	}
	return out
}

// Requires reports whether a face must give the parameter. A face without a current folder has to name the task, and one
// that cannot adopt a folder has to name the new task.
func (v *Verb) Requires(p Param, f grant.Face) bool {
	missing := func(name string) bool {
		i := slices.IndexFunc(v.Params, func(q Param) bool { return q.Name == name })
		return i >= 0 && !v.Params[i].On(f)
	}
	switch {
	case p.Name == "task" && v.CwdTarget && !v.AnyTarget:
		return p.Required || missing("cwd")
	case p.Name == "name" && v.Name == "task_new":
		return p.Required || missing("from")
	}
	return p.Required
}

// How long a wait over MCP may take. Clients there give up at about 60 s, so one without a limit of its own ends before.
const (
	RemoteWait    = core.RemoteWait
	MaxRemoteWait = core.MaxRemoteWait
)

// All returns the table, in its order. The caller must not change it.
func All() []Verb { return table }

// Lookup finds a verb by its canonical name.
func Lookup(name string) (*Verb, bool) {
	v, ok := byName[name]
	return v, ok
}

// byName finds the rows of the table. Nobody changes it.
var byName = func() map[string]*Verb {
	m := make(map[string]*Verb, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}()
