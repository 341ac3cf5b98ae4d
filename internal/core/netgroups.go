package core

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/netgroup"
	"termic/internal/store"
	"termic/sandbox"
	"termic/sandbox/registry"
)

// namedSet is a netgroup that was read.
type namedSet struct {
	name string
	set  netgroup.Set
}

// netgroupOf names the netgroup that an address is in: of several the one whose member with it is the narrowest network, of equals
// the first by name. Empty where it is in none.
func (w *watching) netgroupOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name, most := "", -1
	for _, g := range w.groups {
		if bits := g.set.Bits(a); bits > most {
			name, most = g.name, bits
		}
	}
	return name
}

// netgroupsChanged reads the netgroups again.
func (c *Core) netgroupsChanged(ctx context.Context) {
	list, err := c.store.Netgroups(ctx)
	if err != nil {
		if c.ctx.Err() == nil { // at the end of the app nobody needs them
			c.log.Error("the netgroups could not be read", "err", err)
		}
		return
	}
	groups := make([]namedSet, 0, len(list))
	for _, g := range list {
		set, err := netgroup.Parse(g.Members)
		if err != nil {
			c.log.Error("a stored netgroup cannot be read", "name", g.Name, "err", err)
			continue
		}
		groups = append(groups, namedSet{g.Name, set})
	}
	c.watching.mu.Lock()
	c.watching.groups = groups
	c.watching.mu.Unlock()
	c.beacon.change()
}

// NetgroupList is the verb netgroup_list.
func (c *Core) NetgroupList(ctx context.Context, call *Call, _ api.NetgroupListParams) (api.NetgroupListResult, error) {
	if err := wholeReach(call.Caller, "Netgroups"); err != nil {
		return api.NetgroupListResult{}, err
	}
	list, err := c.store.Netgroups(ctx)
	if err != nil {
		return api.NetgroupListResult{}, err
	}
	lists, err := c.hostLists(ctx)
	out := api.NetgroupListResult{Netgroups: make([]api.Netgroup, len(list))}
	for i, g := range list {
		out.Netgroups[i] = viewNetgroup(g, lists)
	}
	return out, err
}

// NetgroupAdd is the verb netgroup_add.
func (c *Core) NetgroupAdd(ctx context.Context, call *Call, p api.NetgroupAddParams) (api.NetgroupResult, error) {
	if err := wholeReach(call.Caller, "Netgroups"); err != nil {
		return api.NetgroupResult{}, err
	}
	if err := checkPlainName("netgroup", p.Name); err != nil {
		return api.NetgroupResult{}, err
	}
	if _, taken := sandbox.Preset("@" + strings.ToLower(p.Name)); taken || "@"+strings.ToLower(p.Name) == registry.Preset {
		return api.NetgroupResult{}, fault.New(fault.Conflict, "@%s is the name of a list of hosts", strings.ToLower(p.Name)).WithHint("Take another name.")
	}
	members, err := netgroupMembers(p.Members)
	if err != nil {
		return api.NetgroupResult{}, err
	}
	release, err := c.holdCages(ctx)
	if err != nil {
		return api.NetgroupResult{}, err
	}
	defer release()
	lists, err := c.hostLists(ctx)
	if err == nil {
		err = ownersAddresses(call.Caller, lists, p.Name)
	}
	if err != nil {
		return api.NetgroupResult{}, err
	}
	g := store.Netgroup{Name: p.Name, Members: members, Note: p.Note}
	err = c.store.Write(ctx, func(tx *store.Tx) error { g, err = tx.AddNetgroup(ctx, g); return err })
	if err != nil {
		return api.NetgroupResult{}, err
	}
	c.netgroupsChanged(context.WithoutCancel(ctx))
	return api.NetgroupResult{Netgroup: viewNetgroup(g, lists)}, nil
}

// netgroupMembers checks members and writes them down without spaces, each once.
func netgroupMembers(list []string) ([]string, error) {
	if _, err := netgroup.Parse(list); err != nil {
		return nil, err
	}
	var out []string
	for _, m := range list {
		out = union(out, []string{strings.ReplaceAll(m, " ", "")})
	}
	return out, nil
}

// NetgroupUpdate is the verb netgroup_update. Cages that run keep the addresses that they were built with.
func (c *Core) NetgroupUpdate(ctx context.Context, call *Call, p api.NetgroupUpdateParams) (api.NetgroupResult, error) {
	release, g, lists, err := c.heldNetgroup(ctx, call.Caller, p.Name)
	if err != nil {
		return api.NetgroupResult{}, err
	}
	defer release()
	if len(p.Members) == 0 && p.Note == "" {
		return api.NetgroupResult{}, fault.New(fault.InvalidArgument, "There is nothing to change").WithHint("Give members, or a note.")
	}
	members := g.Members
	if len(p.Members) > 0 {
		if members, err = netgroupMembers(p.Members); err != nil {
			return api.NetgroupResult{}, err
		}
		if err := ownersAddresses(call.Caller, lists, g.Name); err != nil {
			return api.NetgroupResult{}, err
		}
	}
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		g, err = tx.UpdateNetgroup(ctx, p.Name, func(g *store.Netgroup) error {
			g.Members, g.Note = members, chosen(p.Note, "none", g.Note)
			return nil
		})
		return err
	})
	if err != nil {
		return api.NetgroupResult{}, err
	}
	c.netgroupsChanged(context.WithoutCancel(ctx))
	kept, err := c.keepNetgroup(ctx, g.Name)
	return api.NetgroupResult{Netgroup: viewNetgroup(g, lists), Kept: kept}, err
}

// NetgroupDelete is the verb netgroup_delete. One that a list of hosts names stays.
func (c *Core) NetgroupDelete(ctx context.Context, call *Call, p api.NetgroupDeleteParams) (api.NetgroupDeleteResult, error) {
	release, g, lists, err := c.heldNetgroup(ctx, call.Caller, p.Name)
	if err != nil {
		return api.NetgroupDeleteResult{}, err
	}
	defer release()
	if err := ownersAddresses(call.Caller, lists, g.Name); err != nil {
		return api.NetgroupDeleteResult{}, err
	}
	if users := usersOf(lists, g.Name); len(users) > 0 {
		return api.NetgroupDeleteResult{}, fault.New(fault.Conflict, "The netgroup %q is in use", g.Name).WithHint("%s", listed("Take it out first: it is named in", users))
	}
	if err := c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteNetgroup(ctx, g.Name) }); err != nil {
		return api.NetgroupDeleteResult{}, err
	}
	c.netgroupsChanged(context.WithoutCancel(ctx))
	return api.NetgroupDeleteResult{Name: g.Name}, nil
}

// heldNetgroup finds a netgroup and the lists that may name it, for a caller that is about to change it. No cage is built until
// release.
func (c *Core) heldNetgroup(ctx context.Context, caller grant.Caller, name string) (release func(), g store.Netgroup, lists []hostList, err error) {
	if err := wholeReach(caller, "Netgroups"); err != nil {
		return nil, g, nil, err
	}
	if release, err = c.holdCages(ctx); err != nil {
		return nil, g, nil, err
	}
	if g, err = c.netgroupOf(ctx, name); err == nil {
		lists, err = c.hostLists(ctx)
	}
	if err != nil {
		release()
	}
	return release, g, lists, err
}

// netgroupOf finds a netgroup; a refusal says which there are.
func (c *Core) netgroupOf(ctx context.Context, name string) (store.Netgroup, error) {
	g, err := c.store.Netgroup(ctx, name)
	if fault.CodeOf(err) != fault.NotFound {
		return g, err
	}
	list, lerr := c.store.Netgroups(ctx)
	if lerr != nil {
		return g, lerr
	}
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return g, fault.New(fault.NotFound, "There is no netgroup %q", name).WithHint("%s", listed("There are", names)).OrNear(name, names)
}

func viewNetgroup(g store.Netgroup, lists []hostList) api.Netgroup {
	return api.Netgroup{Name: g.Name, Members: full(g.Members), Note: g.Note, UsedBy: usersOf(lists, g.Name), Updated: stamp(g.Updated)}
}

// namesNetgroup reports whether a list of hosts names a netgroup.
func namesNetgroup(list []string, name string) bool {
	return slices.ContainsFunc(list, func(h string) bool {
		is, ok := sandbox.NetgroupIn(h)
		return ok && strings.EqualFold(is, name)
	})
}

// netgroupsIn are the members of the netgroups that some layers name, by their names in lower case.
func (c *Core) netgroupsIn(ctx context.Context, layers []sandbox.Layer) (map[string][]string, error) {
	names := map[string]bool{}
	for _, l := range layers {
		for _, h := range l.Hosts {
			if name, is := sandbox.NetgroupIn(h); is {
				names[strings.ToLower(name)] = true
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	list, err := c.store.Netgroups(ctx)
	out := map[string][]string{}
	for _, g := range list {
		if names[strings.ToLower(g.Name)] {
			out[strings.ToLower(g.Name)] = g.Members
		}
	}
	return out, err
}

// hostList is one list of hosts that the owner keeps.
type hostList struct {
	of       string // in words
	hosts    []string
	archived bool // of a task that may be restored
}

// hostLists are all of them.
func (c *Core) hostLists(ctx context.Context) ([]hostList, error) {
	s := c.settings.Get()
	out := []hostList{{of: layerSettings, hosts: s.Sandbox.Hosts}}
	for _, a := range s.Agents {
		out = append(out, hostList{of: layerAgent + a.ID, hosts: a.SandboxHosts})
	}
	projects, err := c.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		out = append(out, hostList{of: "the settings of the project " + p.Name, hosts: p.SandboxHosts})
		if f, agreed, err := c.agreedFile(ctx, p); err == nil && agreed {
			out = append(out, hostList{of: "the .termic.yaml of " + p.Name, hosts: f.Hosts})
		}
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{All: true})
	for _, t := range tasks {
		out = append(out, hostList{"the settings of the task " + t.Name, t.SandboxHosts, t.Archived()})
	}
	return out, err
}

// usersOf are the lists that name a netgroup, without those of archived tasks: a task that is restored is checked at its start.
func usersOf(lists []hostList, name string) (out []string) {
	for _, l := range lists {
		if !l.archived && namesNetgroup(l.hosts, name) {
			out = append(out, l.of)
		}
	}
	return out
}

// ownersAddresses refuses to let anybody but the owner say which addresses a name stands for that any list has, also one of an
// archived task, or one that was written before there was such a netgroup: what the lists name is what cages may reach.
func ownersAddresses(caller grant.Caller, lists []hostList, name string) error {
	at := slices.IndexFunc(lists, func(l hostList) bool { return namesNetgroup(l.hosts, name) })
	if at < 0 || caller.Class == grant.Owner {
		return nil
	}
	return fault.New(fault.Forbidden, "@%s says what cages may reach, so its addresses are the owner's to change", name).
		WithHint("It is named in %s.", lists[at].of)
}

// keepNetgroup says in words which programs run in cages that were built with a netgroup; empty for none.
func (c *Core) keepNetgroup(ctx context.Context, name string) (string, error) {
	n := 0
	for _, l := range c.liveInWalls("") {
		if sandbox.Mode(l.task.Sandbox) != sandbox.Enforce {
			continue
		}
		layers, err := c.layersOf(ctx, l.task, l.kind.ID)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(layers, func(y sandbox.Layer) bool { return namesNetgroup(y.Hosts, name) }) {
			n++
		}
	}
	if n == 0 {
		return "", nil
	}
	return countOf(n, "running agent") + " may reach the addresses from before, until started again", nil
}
