package core

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/shellenv"
	"termic/sandbox"
	"termic/sandbox/registry"
)

// newRegistries keeps what the package tools of the user install from. They are asked in a folder of ours: a tool takes
// settings from its working folder, and a tree that a cage writes must not widen the cage.
func (c *Core) newRegistries() *registry.Kept {
	return registry.Keep(func() registry.Options {
		dir := filepath.Join(c.dataDir, "registries")
		_ = os.MkdirAll(dir, 0o700) // without it every tool fails, and the list is empty with its reasons
		return registry.Options{Dir: dir, Env: shellenv.Build(shellenv.Options{Base: c.environment(c.ctx), Uncaged: true})}
	})
}

// withRegistries puts the hosts of package registries in the place of the preset's name.
func (c *Core) withRegistries(ctx context.Context, layers []sandbox.Layer) ([]sandbox.Layer, error) {
	if !slices.ContainsFunc(layers, func(l sandbox.Layer) bool { return slices.Contains(l.Hosts, registry.Preset) }) {
		return layers, nil
	}
	indexes, err := c.registries.Indexes(ctx)
	if err != nil {
		return nil, err
	}
	set, err := registry.Set(indexes)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The hosts of the package registries could not be found").
			WithHint("Name the hosts themselves instead of %s.", registry.Preset)
	}
	out := slices.Clone(layers)
	for i, l := range out {
		if at := slices.Index(l.Hosts, registry.Preset); at >= 0 {
			out[i].Hosts = append(slices.Delete(slices.Clone(l.Hosts), at, at+1), set.Strings()...)
		}
	}
	return out, nil
}

// SandboxGroups is the verb sandbox_groups. The package tools take seconds the first time.
func (c *Core) SandboxGroups(ctx context.Context, _ *Call, p api.SandboxGroupsParams) (api.SandboxGroupsResult, error) {
	var out api.SandboxGroupsResult
	for _, g := range sandbox.Groups() {
		out.Groups = append(out.Groups, api.HostGroup{Name: g.Name, Doc: g.Doc, Hosts: g.Hosts})
	}
	if p.Fresh {
		if err := c.registries.Forget(ctx); err != nil {
			return api.SandboxGroupsResult{}, err
		}
	}
	indexes, err := c.registries.Indexes(ctx)
	if err != nil {
		return api.SandboxGroupsResult{}, err
	}
	tools := api.HostGroup{Name: registry.Preset, Doc: "What npm, Go, pip and cargo install from, as they are set up here", Hosts: []string{}}
	set, err := registry.Set(indexes)
	if err != nil {
		tools.Notes = append(tools.Notes, sentence(err))
	} else {
		tools.Hosts = append(tools.Hosts, set.Strings()...)
	}
	for _, i := range indexes {
		if i.Note != "" {
			tools.Notes = append(tools.Notes, i.Note+".")
		}
	}
	out.Groups = append(out.Groups, tools)
	list, err := c.store.Netgroups(ctx)
	for _, g := range list {
		out.Groups = append(out.Groups, api.HostGroup{Name: "@" + g.Name, Doc: orElse(g.Note, "A netgroup"), Hosts: g.Members})
	}
	return out, err
}
