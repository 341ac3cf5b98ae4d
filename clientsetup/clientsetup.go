package clientsetup

import (
	"context"
	"fmt"

	"termic/internal/fault"
)

// kind is what a client can do for itself; each client has one file.
type kind interface {
	about() Client
	look(p Place, e Entry) State
	plan(ctx context.Context, p Place, e Entry) (Plan, error)
	planRemove(ctx context.Context, p Place, e Entry) (Plan, error)
	apply(ctx context.Context, p Place, plan Plan) (Receipt, error)
	access(p Place) (access, error)
	block(p Place, e Entry) (Block, error)
}

// kinds makes the table of clients, in the order in which they are shown: those that work first.
func kinds() []kind {
	return []kind{claude(), codex(), gemini(), opencode(), cursor(), vscode(), zed(), windsurf(), claudeDesktop()}
}

func find(id string) (kind, error) {
	var known []string
	for _, k := range kinds() {
		if k.about().ID == id {
			return k, nil
		}
		known = append(known, k.about().ID)
	}
	return nil, fault.New(fault.NotFound, "There is no client %q", id).WithHint("`termic client list` names them.").OrNear(id, known)
}

// Clients lists the clients in the order in which they are shown.
func Clients() []Client {
	var out []Client
	for _, k := range kinds() {
		out = append(out, k.about())
	}
	return out
}

// Find returns the client with an id.
func Find(id string) (Client, error) {
	k, err := find(id)
	if err != nil {
		return Client{}, err
	}
	return k.about(), nil
}

// Look says how things stand by reading files alone; it starts no program, so Version is empty and Usable is what is known
// of the client's newest version. It is what a start of the app calls.
func (p Place) Look(id string, e Entry) (State, error) {
	k, err := find(id)
	if err != nil {
		return State{}, err
	}
	st := k.look(p, e)
	st.Usable, st.Why = usable(p, st.Client, "")
	return st, nil
}

// Detect is Look, and asks the program for its version, which takes up to a second for some.
func (p Place) Detect(ctx context.Context, id string, e Entry) (State, error) {
	st, err := p.Look(id, e)
	if err != nil {
		return State{}, err
	}
	st.Version = p.version(ctx, st.Program)
	st.Usable, st.Why = usable(p, st.Client, st.Version)
	return st, context.Cause(ctx)
}

// usable says whether a version can reach the endpoint, and else why not. An empty version is one that was not asked.
func usable(p Place, c Client, version string) (bool, string) {
	s := c.Support
	switch {
	case p.GOOS == "windows":
		return false, "The command that reads the token needs a POSIX shell, which Windows has not"
	case s.From == "" && version != "":
		return false, fmt.Sprintf("Version %s is here. %s", version, s.Words)
	case s.From == "":
		return false, s.Words
	case version != "" && !atLeast(version, s.From):
		return false, fmt.Sprintf("Version %s is here; %s speaks the endpoint's revision, %s, from version %s on", version, c.Name, Revision, s.From)
	}
	return true, ""
}

// Plan says what Apply would do to register e. It changes nothing. It fails with fault.Unsupported for a client that cannot
// reach the endpoint, and with fault.Conflict for a file that cannot be edited.
func (p Place) Plan(ctx context.Context, id string, e Entry, o Options) (Plan, error) {
	if err := e.check(); err != nil {
		return Plan{}, err
	}
	k, err := find(id)
	if err != nil {
		return Plan{}, err
	}
	c := k.about()
	version := ""
	if c.Support.Carries {
		version = p.version(ctx, k.look(p, e).Program)
	}
	ok, why := usable(p, c, version)
	switch {
	case !ok && !c.Support.Carries:
		return Plan{}, fault.New(fault.Unsupported, "%s cannot be registered", c.Name).WithHint("%s.", why)
	case !ok && !o.Anyway:
		return Plan{}, fault.New(fault.Unsupported, "%s cannot be registered", c.Name).WithHint("%s. If yours can, register it anyway.", why)
	}
	plan, err := k.plan(ctx, p, e)
	if err == nil && !ok {
		plan.Notes = append(plan.Notes, why)
	}
	return plan, err
}

// PlanRemove says what Remove would do.
func (p Place) PlanRemove(ctx context.Context, id string, e Entry) (Plan, error) {
	k, err := find(id)
	if err != nil {
		return Plan{}, err
	}
	return k.planRemove(ctx, p, e)
}

// Apply carries out a plan of Plan or PlanRemove. Without consent it fails with fault.NeedsConsent if the plan has Losses.
// If the file changed since, the plan is made again; it fails with fault.Conflict where that would do something else than
// was shown. For one client, calls must not overlap.
func (p Place) Apply(ctx context.Context, plan Plan, consent bool) (Receipt, error) {
	k, err := find(plan.Client.ID)
	if err != nil {
		return Receipt{}, err
	}
	if len(plan.Losses) > 0 && !consent {
		return Receipt{}, fault.New(fault.NeedsConsent, "The entry for %s is not as Termic wrote it", plan.Client.Name).
			WithHint("Look at what would be lost, then say that it may be.").WithData("losses", plan.Losses)
	}
	if plan.Act == ActNone {
		if r := p.receipt(plan.Client.ID); r != nil {
			return *r, nil
		}
		return Receipt{Client: plan.Client.ID, Act: ActNone, File: plan.File}, nil
	}
	return k.apply(ctx, p, plan)
}

// Remove is PlanRemove and Apply.
func (p Place) Remove(ctx context.Context, id string, e Entry, consent bool) (Receipt, error) {
	plan, err := p.PlanRemove(ctx, id, e)
	if err != nil {
		return Receipt{}, err
	}
	return p.Apply(ctx, plan, consent)
}

// Fallback is what a person can copy instead of having it written. It fails with fault.Unsupported where nothing that could
// be copied would work.
func (p Place) Fallback(id string, e Entry) (Block, error) {
	if err := e.check(); err != nil {
		return Block{}, err
	}
	k, err := find(id)
	if err != nil {
		return Block{}, err
	}
	if c := k.about(); !c.Support.Carries {
		return Block{}, fault.New(fault.Unsupported, "%s cannot be registered", c.Name).WithHint("%s.", c.Support.Words)
	}
	return k.block(p, e)
}
