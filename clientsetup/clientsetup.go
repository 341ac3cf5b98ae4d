package clientsetup

import (
	"context"

	"termic/internal/fault"
)

// Clients lists the clients in the order in which they are shown.
func Clients() []Client { return nil }

// Find returns the client with an id.
func Find(id string) (Client, error) {
	for _, c := range Clients() {
		if c.ID == id {
			return c, nil
		}
	}
	return Client{}, fault.New(fault.NotFound, "There is no client %q", id)
}

// Look says how things stand by reading files alone; it starts no program, so Version is empty and Usable is what is known
// of the client's newest version. It is what a start of the app calls.
func (p Place) Look(id string, e Entry) (State, error) { return State{}, errUnknown(id) }

// Detect is Look, and asks the program for its version.
func (p Place) Detect(ctx context.Context, id string, e Entry) (State, error) {
	return State{}, errUnknown(id)
}

// Plan says what Apply would do to register e. It changes nothing.
func (p Place) Plan(ctx context.Context, id string, e Entry, o Options) (Plan, error) {
	return Plan{}, errUnknown(id)
}

// PlanRemove says what Remove would do.
func (p Place) PlanRemove(ctx context.Context, id string, e Entry) (Plan, error) {
	return Plan{}, errUnknown(id)
}

// Apply carries out a plan of Plan or PlanRemove. If the file changed since, the plan is made again; that fails with
// fault.Conflict where it would now do something else than was shown.
func (p Place) Apply(ctx context.Context, plan Plan, consent bool) (Receipt, error) {
	return Receipt{}, errUnknown(plan.Client.ID)
}

// Remove is PlanRemove and Apply. Without consent it fails with fault.NeedsConsent, whose data "losses" lists what would be
// lost, if the entry is not as we wrote it.
func (p Place) Remove(ctx context.Context, id string, e Entry, consent bool) (Receipt, error) {
	return Receipt{}, errUnknown(id)
}

// Verify connects as the client would: it takes the entry from the client's file, runs its command with the environment
// that the client gives it, discovers the server and lists its tools. What is wrong is in the report, not in an error.
func (p Place) Verify(ctx context.Context, id string, e Entry) (Report, error) {
	return Report{}, errUnknown(id)
}

// Fallback is what a person can copy instead of having it written.
func (p Place) Fallback(id string, e Entry) (Block, error) { return Block{}, errUnknown(id) }

func errUnknown(id string) error { return fault.New(fault.NotFound, "There is no client %q", id) }
