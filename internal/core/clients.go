package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"termic/clientsetup"
	"termic/internal/api"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/store"
)

// This file registers the endpoint with programs of the person's: MCP clients outside of any task.

// clients is what Core keeps about registrations.
type clients struct {
	writing sync.Mutex // held while one is written: writers of one client must not overlap

	mu    sync.Mutex // guards the following
	stale []api.StaleClient
}

// ClientList is the verb client_list. Programs are asked for their version, all at once.
func (c *Core) ClientList(ctx context.Context, _ *Call, _ api.ClientListParams) (api.ClientListResult, error) {
	p, e, err := c.clientsPlace(ctx)
	if err != nil {
		return api.ClientListResult{}, err
	}
	all := clientsetup.Clients()
	out := api.ClientListResult{Clients: make([]api.ClientState, len(all))}
	errs := make([]error, len(all))
	var each sync.WaitGroup
	for i, k := range all {
		each.Go(func() {
			st, err := p.Detect(ctx, k.ID, e)
			out.Clients[i], errs[i] = shownClient(p, e, st), err
		})
	}
	each.Wait()
	for _, err := range errs {
		if err != nil {
			return api.ClientListResult{}, err
		}
	}
	c.keepStale(p, e)
	return out, nil
}

// ClientPlan is the verb client_plan. It changes nothing.
func (c *Core) ClientPlan(ctx context.Context, _ *Call, p api.ClientPlanParams) (api.ClientPlanResult, error) {
	w, err := c.clientWork(ctx, p.Client, p.Termic)
	if err != nil {
		return api.ClientPlanResult{}, err
	}
	plan, err := w.plan(ctx, p.Remove, p.Anyway)
	if err != nil {
		return api.ClientPlanResult{}, err
	}
	st, err := w.place.Detect(ctx, p.Client, w.entry)
	if err != nil {
		return api.ClientPlanResult{}, err
	}
	out := api.ClientPlanResult{Client: shownClient(w.place, w.entry, st), Act: plan.Act, File: plan.File, Diff: plan.Diff, Runs: commandsOf(plan),
		Losses: plan.Losses, Notes: plan.Notes, Digest: digestOf(plan)}
	if plan.Target != plan.File {
		out.Target = plan.Target
	}
	return out, nil
}

// commandsOf are the commands that a plan runs, with the name of the program: that of the one client that writes its file
// itself is its id.
func commandsOf(p clientsetup.Plan) [][]string {
	var out [][]string
	for _, args := range p.Runs {
		out = append(out, append([]string{p.Client.ID}, args...))
	}
	return out
}

// ClientRegister is the verb client_register.
func (c *Core) ClientRegister(ctx context.Context, _ *Call, p api.ClientRegisterParams) (api.ClientWriteResult, error) {
	return c.writeClient(ctx, clientWrite{client: p.Client, termic: p.Termic, anyway: p.Anyway, yes: p.Yes, digest: p.Digest})
}

// ClientUnregister is the verb client_unregister.
func (c *Core) ClientUnregister(ctx context.Context, _ *Call, p api.ClientUnregisterParams) (api.ClientWriteResult, error) {
	return c.writeClient(ctx, clientWrite{client: p.Client, remove: true, yes: p.Yes, digest: p.Digest})
}

// ClientVerify is the verb client_verify: it connects as the client would.
func (c *Core) ClientVerify(ctx context.Context, _ *Call, p api.ClientParams) (api.ClientReport, error) {
	w, err := c.clientWork(ctx, p.Client, false)
	if err != nil {
		return api.ClientReport{}, err
	}
	return w.verify(ctx)
}

// clientWrite is one registration or its removal.
type clientWrite struct {
	client                      string
	remove, termic, anyway, yes bool
	digest                      string // of the plan that was shown; empty for none
}

func (c *Core) writeClient(ctx context.Context, o clientWrite) (api.ClientWriteResult, error) {
	c.clients.writing.Lock()
	defer c.clients.writing.Unlock()
	w, err := c.clientWork(ctx, o.client, o.termic)
	if err != nil {
		return api.ClientWriteResult{}, err
	}
	plan, err := w.plan(ctx, o.remove, o.anyway)
	if err != nil {
		return api.ClientWriteResult{}, err
	}
	if o.digest != "" && o.digest != digestOf(plan) {
		return api.ClientWriteResult{}, fault.New(fault.Conflict, "What would be written for %s is no longer what was shown", plan.Client.Name).
			WithHint("Look at it again; the file or the endpoint has changed meanwhile. Nothing was written.")
	}
	if plan.Act == clientsetup.ActReplace && !o.yes && o.digest == "" {
		return api.ClientWriteResult{}, fault.New(fault.NeedsConsent, "%s has an entry named %s that is not of Termic's making, and it would be replaced", plan.Client.Name, clientsetup.Name).
			WithHint("Look at it: `termic client show %s`. Then run it again with --yes; unregistering brings it back.", plan.Client.ID)
	}
	// From here on it is not cut short: half of a registration is the worst of all.
	whole := context.WithoutCancel(ctx)
	receipt, err := w.place.Apply(whole, plan, o.yes)
	if f := fault.From(err); f != nil && f.Code == fault.NeedsConsent {
		return api.ClientWriteResult{}, f.WithHint("What would be lost is listed. If it may be, run it again with --yes.")
	}
	if err != nil {
		return api.ClientWriteResult{}, err
	}
	c.keepStale(w.place, w.entry)
	st, err := w.place.Detect(whole, o.client, w.entry)
	if err != nil {
		return api.ClientWriteResult{}, err
	}
	out := api.ClientWriteResult{Client: shownClient(w.place, w.entry, st), Act: plan.Act, File: plan.File}
	if plan.Act != clientsetup.ActNone {
		out.Backup = receipt.Backup
	}
	if !o.remove && c.endpoint.Bind() != 0 {
		report, err := w.verify(ctx)
		if err != nil {
			return out, err
		}
		out.Verify = &report
	}
	return out, nil
}

// clientWork is what the verbs of one client need.
type clientWork struct {
	place  clientsetup.Place
	entry  clientsetup.Entry
	client string
}

func (c *Core) clientWork(ctx context.Context, client string, termic bool) (clientWork, error) {
	p, e, err := c.clientsPlace(ctx)
	if err == nil {
		_, err = p.Look(client, e) // a name that nobody knows is told first
	}
	if err == nil && e.URL == "" {
		err = fault.New(fault.Conflict, "The MCP endpoint has never been on, so it has no address to register").WithHint("Switch it on: `termic mcp enable`.")
	}
	if err == nil && !termic { // an entry that asks the program goes on asking it: its owner does not trust the shell
		var st clientsetup.State
		st, err = p.Look(client, e)
		termic = st.ByTermic
	}
	if err == nil && termic {
		e, err = e.ByTermic(c.binary)
	}
	return clientWork{place: p, entry: e, client: client}, err
}

func (w clientWork) plan(ctx context.Context, remove, anyway bool) (clientsetup.Plan, error) {
	if remove {
		return w.place.PlanRemove(ctx, w.client, w.entry)
	}
	return w.place.Plan(ctx, w.client, w.entry, clientsetup.Options{Anyway: anyway})
}

func (w clientWork) verify(ctx context.Context) (api.ClientReport, error) {
	r, err := w.place.Verify(ctx, w.client, w.entry)
	out := api.ClientReport{ID: w.client, OK: r.OK, Summary: r.Summary, Hint: r.Hint, Steps: []api.ClientStep{}, Notes: r.Notes, Server: r.Server, Tools: r.Tools}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, api.ClientStep{Name: s.Name, OK: s.OK, Words: s.Words})
	}
	return out, err
}

// clientsPlace is the person's machine as clients see it, and the entry that they should have. An endpoint that never
// was on has no address: then the entry is empty, and only what is not registered can be told.
func (c *Core) clientsPlace(ctx context.Context) (clientsetup.Place, clientsetup.Entry, error) {
	if c.endpoint == nil {
		return clientsetup.Place{}, clientsetup.Entry{}, fault.New(fault.Unsupported, "This app has no MCP endpoint")
	}
	projects, err := c.store.Projects(ctx)
	if err != nil {
		return clientsetup.Place{}, clientsetup.Entry{}, err
	}
	p := clientsetup.Place{Home: c.home, Environ: pairs(c.environment(ctx).Env), GOOS: runtime.GOOS, Folders: rootsOf(projects), Records: filepath.Join(c.dataDir, "clients")}
	port := c.endpoint.Status().Port // it is kept while nothing serves
	if port == 0 {
		return p, clientsetup.Entry{}, nil
	}
	e, err := clientsetup.NewEntry(fmt.Sprintf("http://127.0.0.1:%d/mcp", port), c.dataDir, filepath.Join(c.dataDir, datadir.MCPTokenFile))
	return p, e, err
}

func rootsOf(projects []store.Project) []string {
	out := make([]string, len(projects))
	for i, p := range projects {
		out[i] = p.RootPath
	}
	return out
}

// shownClient puts a state into the words of every face.
func shownClient(p clientsetup.Place, e clientsetup.Entry, st clientsetup.State) api.ClientState {
	out := api.ClientState{ID: st.Client.ID, Name: st.Client.Name, Installed: st.Installed, Version: st.Version, Usable: st.Usable, Why: st.Why,
		Offered: st.Client.Support.From != "", File: st.File, Registered: st.Registered, Foreign: st.Foreign, OK: st.OK(), Edits: st.Edits,
		Stale: staleWords(st), Notes: st.Notes}
	for _, s := range st.Shadows {
		out.Shadows = append(out.Shadows, api.ClientShadow{Scope: s.Scope, File: s.File, Where: s.Where, Words: s.Words})
	}
	if st.Problem != nil {
		f := fault.From(st.Problem)
		out.Problem, out.Fix = f.Message, f.Hint
	}
	if block, err := p.Fallback(st.Client.ID, e); err == nil { // else there is nothing that would work
		out.Block = &api.ClientBlock{Where: block.Where, Language: block.Language, Text: block.Text}
	}
	return out
}

func staleWords(st clientsetup.State) []string {
	var out []string
	for _, s := range st.Stale {
		out = append(out, s.Words)
	}
	return out
}

// digestOf names what a plan would do, so that what was shown is what is done.
func digestOf(p clientsetup.Plan) string {
	after := sha256.Sum256(p.After)
	raw, _ := json.Marshal([]any{p.Client.ID, p.Act, p.Target, p.Diff, p.Runs, p.Losses, p.Delete, hex.EncodeToString(after[:])}) // strings and lists of strings always marshal
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// lookAtClients finds registrations that no longer fit: the endpoint has another port, or the data folder or the program was
// moved. It reads files and starts nothing.
func (c *Core) lookAtClients() {
	p, e, err := c.clientsPlace(c.ctx)
	if err != nil {
		c.log.Debug("registrations were not looked at", "err", err)
		return
	}
	c.keepStale(p, e)
}

func (c *Core) keepStale(p clientsetup.Place, e clientsetup.Entry) {
	stale := []api.StaleClient{}
	if e.URL != "" {
		for _, k := range clientsetup.Clients() {
			st, err := p.Look(k.ID, e)
			if err == nil && st.Registered && !st.Foreign && len(st.Stale) > 0 {
				stale = append(stale, api.StaleClient{ID: k.ID, Name: k.Name, Stale: staleWords(st)})
			}
		}
	}
	c.clients.mu.Lock()
	c.clients.stale = stale
	c.clients.mu.Unlock()
	c.beacon.change()
}

func (c *Core) staleClients() []api.StaleClient {
	c.clients.mu.Lock()
	defer c.clients.mu.Unlock()
	return c.clients.stale
}

// clientFindings are the lines of doctor about registrations.
func (c *Core) clientFindings(ctx context.Context) []api.Finding {
	p, e, err := c.clientsPlace(ctx)
	if err != nil || e.URL == "" {
		return nil
	}
	var out []api.Finding
	for _, k := range clientsetup.Clients() {
		st, err := p.Look(k.ID, e)
		if err != nil || !st.Registered {
			continue
		}
		f := api.Finding{Name: "registered with " + k.ID, Level: "ok", Detail: st.File}
		mend := "`termic client register " + k.ID + "`"
		switch {
		case st.Problem != nil:
			f.Level, f.Detail, f.Fix = "warn", fault.From(st.Problem).Message, fault.From(st.Problem).Hint
		case st.Foreign:
			f.Level, f.Detail = "note", "The entry "+clientsetup.Name+" in "+st.File+" is not of Termic's making"
		case len(st.Stale) > 0:
			f.Level, f.Detail, f.Fix = "warn", st.Stale[0].Words, mend
		case len(st.Shadows) > 0:
			f.Level, f.Detail = "warn", st.Shadows[0].Words
		}
		out = append(out, f)
	}
	return out
}
