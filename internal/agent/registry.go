package agent

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"termic/internal/fault"
)

// Custom is an agent as a person writes it in the settings. With the id of a built-in it changes that one: every field
// that is set replaces the built-in's, the others stay.
type Custom struct {
	ID, Name, Command string
	Args              []string
	Env               map[string]string
	Extends           string // id of a built-in whose recipe is the start; empty = none, unless ID is a built-in's

	YoloArgs, ResumeArgs, SessionIDArgs, ResumeIDArgs, NameArgs, UnattendedArgs, MCPArgs []string
	Connect                                                                              Connect // empty = the built-in's

	Busy, Idle, Attention, Ignore, Pending []string // regular expressions (RE2)
	Composer, Placeholder, Modal, Ready    []string // regular expressions (RE2) over screen rows
	WorkDone                               *bool    // nil = true
	Special                                string

	SandboxPaths, SandboxHosts []string
	LoginStays, Disabled       bool
}

// Problem is a fault in one Custom. The agent it belongs to is left out (a changed built-in stays as built in).
type Problem struct {
	Index int    // in the list given to NewRegistry
	ID    string // as written; may be empty
	Field string // settings key that is at fault, such as "busy"
	Err   error
}

func (p Problem) Error() string { return fmt.Sprintf("agent %q, %s: %v", p.ID, p.Field, p.Err) }

// Registry is the set of known agents. It is immutable, so it may be shared; a change of the settings makes a new one.
type Registry struct {
	kinds []Kind // built-ins first, in their own order, then the user's in theirs
	byID  map[string]int
}

// NewRegistry joins the built-ins and the user's agents. Faulty entries are reported and left out; the rest serves.
func NewRegistry(customs []Custom) (*Registry, []Problem) {
	r := &Registry{kinds: builtins(), byID: map[string]int{}}
	for i, k := range r.kinds {
		r.byID[strings.ToLower(k.ID)] = i
	}
	var problems []Problem
	seen := map[string]bool{}
	for i, c := range customs {
		key := strings.ToLower(c.ID)
		if seen[key] {
			problems = append(problems, Problem{i, c.ID, "id", errors.New("this id stands twice")})
			continue
		}
		seen[key] = true
		k, p := r.fromCustom(c)
		if p != nil {
			p.Index, p.ID = i, c.ID
			problems = append(problems, *p)
			continue
		}
		if at, ok := r.byID[key]; ok {
			r.kinds[at] = k
			continue
		}
		r.byID[key] = len(r.kinds)
		r.kinds = append(r.kinds, k)
	}
	return r, problems
}

// Resolve returns the agent of that id, compared without case. An unknown id is a fault.NotFound that lists the ids.
func (r *Registry) Resolve(id string) (Kind, error) {
	if at, ok := r.byID[strings.ToLower(id)]; ok {
		return r.kinds[at], nil
	}
	return Kind{}, fault.New(fault.NotFound, "There is no agent %q", id).
		WithHint("Known agents: %s.", strings.Join(r.IDs(), ", ")).OrNear(id, r.IDs()).WithData("agents", r.IDs())
}

// IDs returns all ids, sorted.
func (r *Registry) IDs() []string {
	ids := make([]string, 0, len(r.kinds))
	for _, k := range r.kinds {
		ids = append(ids, k.ID)
	}
	sort.Strings(ids)
	return ids
}

// LookPath finds a program in the PATH that children get, as exec.LookPath does in our own.
type LookPath func(name string) (path string, err error)

// Listed is one agent with its fitness. Usable is exactly what Check says.
type Listed struct {
	Kind      Kind
	Enabled   bool
	Installed *bool // nil: not looked up, since lookPath was nil
	Usable    bool
	Path      string // of the program, when installed
	Reason    string // why it is not usable, for a person
}

// List returns every agent in registry order. lookPath may be nil while the login shell was not asked yet.
func (r *Registry) List(lookPath LookPath) []Listed {
	out := make([]Listed, 0, len(r.kinds))
	for _, k := range r.kinds {
		l := Listed{Kind: k, Enabled: !k.Disabled}
		if lookPath != nil {
			path, err := lookPath(k.Command)
			ok := err == nil
			l.Installed, l.Path = &ok, path
		}
		err := usable(k, l)
		l.Usable = err == nil
		if err != nil {
			l.Reason = err.Message
		}
		out = append(out, l)
	}
	return out
}

// Check decides whether an agent can be started now, and where its program is. It is the check behind a spawn and
// behind the list alike. Errors: fault.NotFound (unknown id), fault.Unavailable (switched off, or not installed).
func (r *Registry) Check(id string, lookPath LookPath) (Kind, string, error) {
	k, err := r.Resolve(id)
	if err != nil {
		return Kind{}, "", err
	}
	l := Listed{Kind: k, Enabled: !k.Disabled}
	if lookPath != nil {
		path, err := lookPath(k.Command)
		ok := err == nil
		l.Installed, l.Path = &ok, path
	}
	if err := usable(k, l); err != nil {
		return Kind{}, "", err
	}
	return k, l.Path, nil
}

// usable is the one rule of fitness.
func usable(k Kind, l Listed) *fault.Error {
	switch {
	case !l.Enabled:
		return fault.New(fault.Unavailable, "The agent %q is switched off", k.ID).WithHint("Switch it on in the settings, under Agents.")
	case l.Installed != nil && !*l.Installed:
		return fault.New(fault.Unavailable, "The program %q of the agent %q was not found", k.Command, k.ID).
			WithHint("Install it, or set the agent's command to its full path in the settings.")
	}
	return nil
}

// fromCustom builds the Kind of c on top of what it extends.
func (r *Registry) fromCustom(c Custom) (Kind, *Problem) {
	if !validID(c.ID) {
		return Kind{}, &Problem{Field: "id", Err: errors.New("an id is 1 to 64 letters, digits, '-' or '_'")}
	}
	base := Kind{ID: c.ID, Name: c.ID, WorkDone: true}
	from := c.Extends
	if from == "" {
		from = c.ID
	}
	if at, ok := r.byID[strings.ToLower(from)]; ok && r.kinds[at].Builtin {
		base = r.kinds[at]
		if c.Extends != "" && !strings.EqualFold(c.Extends, c.ID) {
			base.ID, base.Name, base.Builtin = c.ID, c.ID, false
		}
	} else if c.Extends != "" {
		return Kind{}, &Problem{Field: "extends", Err: fmt.Errorf("there is no built-in agent %q", c.Extends)}
	}
	switch c.Connect {
	case "", ConnectCaged, ConnectAlways, ConnectNever:
	default:
		return Kind{}, &Problem{Field: "mcp_connect", Err: fmt.Errorf("it is one of %s, %s, %s", ConnectCaged, ConnectAlways, ConnectNever)}
	}
	overlay(&base, c)
	if base.Command == "" {
		return Kind{}, &Problem{Field: "command", Err: errors.New("a command is needed")}
	}
	if p := overlayPatterns(&base, c); p != nil {
		return Kind{}, p
	}
	return base, nil
}

// overlay puts the plain fields that c sets over k.
func overlay(k *Kind, c Custom) {
	for _, f := range []struct {
		to   *string
		from string
	}{{&k.Name, c.Name}, {&k.Command, c.Command}, {&k.Special, c.Special}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	for _, f := range []struct {
		to   *[]string
		from []string
	}{{&k.Args, c.Args}, {&k.YoloArgs, c.YoloArgs}, {&k.ResumeArgs, c.ResumeArgs}, {&k.SessionIDArgs, c.SessionIDArgs},
		{&k.ResumeIDArgs, c.ResumeIDArgs}, {&k.NameArgs, c.NameArgs}, {&k.UnattendedArgs, c.UnattendedArgs}, {&k.MCPArgs, c.MCPArgs},
		{&k.SandboxPaths, c.SandboxPaths}, {&k.SandboxHosts, c.SandboxHosts}} {
		if f.from != nil {
			*f.to = append([]string{}, f.from...)
		}
	}
	if len(c.Env) > 0 {
		env := make(map[string]string, len(k.Env)+len(c.Env))
		for _, m := range []map[string]string{k.Env, c.Env} {
			for name, v := range m {
				env[name] = v
			}
		}
		k.Env = env
	}
	if c.WorkDone != nil {
		k.WorkDone = *c.WorkDone
	}
	if c.Connect != "" {
		k.Connect = c.Connect
	}
	k.LoginStays, k.Disabled = c.LoginStays, c.Disabled
}

// overlayPatterns compiles the patterns that c sets. A set field replaces the built-in's field as a whole.
func overlayPatterns(k *Kind, c Custom) *Problem {
	for _, f := range []struct {
		name string
		from []string
		to   *[]*regexp.Regexp
	}{
		{"busy", c.Busy, &k.Signals.Busy}, {"idle", c.Idle, &k.Signals.Idle}, {"attention", c.Attention, &k.Signals.Attention},
		{"ignore", c.Ignore, &k.Signals.Ignore}, {"pending", c.Pending, &k.Signals.Pending},
		{"composer", c.Composer, &k.Hints.Composer}, {"placeholder", c.Placeholder, &k.Hints.Placeholder},
		{"modal", c.Modal, &k.Hints.Modal}, {"ready", c.Ready, &k.Hints.Ready},
	} {
		if f.from == nil {
			continue
		}
		out := make([]*regexp.Regexp, 0, len(f.from))
		for _, s := range f.from {
			re, err := regexp.Compile(s)
			if err != nil {
				return &Problem{Field: f.name, Err: err}
			}
			out = append(out, re)
		}
		*f.to = out
	}
	return nil
}

// validID keeps ids fit for file names, environment values and error lists.
func validID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}
