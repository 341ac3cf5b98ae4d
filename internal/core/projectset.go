package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/repofile"
	"termic/internal/store"
	"termic/sandbox"
)

// ProjectSettings is the verb project_settings: it shows or changes what holds for the tasks of a project. The mode and what
// agents may drive are those of new tasks; the lists hold for every start from now on.
func (c *Core) ProjectSettings(ctx context.Context, call *Call, p api.ProjectSettingsParams) (api.ProjectSettingsResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectSettingsResult{}, err
	}
	k, err := c.knobs(ctx, call, knobParams{p.MCP, p.NoMCP, p.Projects, p.Agents, p.Read, p.Write, p.Hosts})
	if err != nil {
		return api.ProjectSettingsResult{}, err
	}
	if p.Agent != "" && p.Agent != "none" {
		if _, err := c.agents.Load().Resolve(p.Agent); err != nil {
			return api.ProjectSettingsResult{}, err
		}
	}
	if p.Group != "" {
		if err := checkName("group", p.Group); err != nil {
			return api.ProjectSettingsResult{}, err
		}
	}
	if p.Sandbox != "" && p.Sandbox != "default" {
		if err := c.cages.Check(sandbox.Mode(p.Sandbox)); err != nil {
			return api.ProjectSettingsResult{}, err
		}
	}
	secrets, err := c.secretNames(ctx, p.Secrets)
	if err != nil {
		return api.ProjectSettingsResult{}, err
	}
	release, err := c.holdCages(ctx)
	if err != nil {
		return api.ProjectSettingsResult{}, err
	}
	project, err = c.store.UpdateProject(ctx, project.ID, func(to *store.Project) error {
		to.Sandbox = chosen(p.Sandbox, "default", to.Sandbox)
		to.DefaultAgent = chosen(p.Agent, "none", to.DefaultAgent)
		to.Group = chosen(p.Group, "none", to.Group)
		if given(p.Secrets) {
			to.Secrets = secrets
		}
		k.apply(knobTargets{&to.MCP, &to.MCPProjects, &to.MCPAgents, &to.SandboxRead, &to.SandboxWrite, &to.SandboxHosts})
		return nil
	})
	release()
	if err != nil {
		return api.ProjectSettingsResult{}, err
	}
	c.beacon.change()
	projects, err := c.projects(ctx)
	for _, v := range projects {
		if v.ID == project.ID {
			return api.ProjectSettingsResult{Project: v}, err
		}
	}
	return api.ProjectSettingsResult{Project: c.viewProject(project, 0)}, err
}

// chosen is a value that was given, empty for the word that stands for none, and the old one when nothing was given.
func chosen(given, none, old string) string {
	switch given {
	case "":
		return old
	case none:
		return ""
	}
	return given
}

// ProjectConsent is the verb project_consent: it shows what the repository of a project proposes, and lets its owner agree to
// exactly what was shown, or take that back. Scripts and wider lists have no effect before, nor after a change of the file.
func (c *Core) ProjectConsent(ctx context.Context, call *Call, p api.ProjectConsentParams) (api.ProjectConsentResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectConsentResult{}, err
	}
	release, err := c.holdCages(ctx)
	if err != nil {
		return api.ProjectConsentResult{}, err
	}
	defer release()
	f, found, err := c.repoFile(project)
	switch {
	case err != nil && p.Digest != "":
		return api.ProjectConsentResult{}, err
	case p.Withdraw:
		err = c.store.SetConsent(ctx, project.ID, "")
	case p.Digest == "":
		err = nil // shown below, broken or not
	case !found:
		err = fault.New(fault.NotFound, "The project %q has no %s in its main checkout", project.Name, repofile.Name)
	case p.Digest != f.Digest:
		err = fault.New(fault.Conflict, "The %s of %q is not the one that was shown", repofile.Name, project.Name).
			WithHint("Look at it again: `termic project consent %s`.", shellWord(project.Name)).WithData("digest", f.Digest)
	default:
		err = c.store.SetConsent(ctx, project.ID, f.Digest)
	}
	if err != nil {
		return api.ProjectConsentResult{}, err
	}
	c.beacon.change()
	repo, err := c.viewRepo(ctx, project)
	return api.ProjectConsentResult{Name: project.Name, Repo: repo, Text: f.Text}, err
}

// viewRepo is what a project's .termic.yaml says and whether it was agreed to; nil without one.
func (c *Core) viewRepo(ctx context.Context, p store.Project) (*api.Repo, error) {
	if c.folders.glance(p.RootPath) == silent {
		return &api.Repo{State: api.RepoBroken, Problem: "The folder of the project gives no answer"}, nil
	}
	f, found, err := c.repoFile(p)
	if err != nil {
		return &api.Repo{State: api.RepoBroken, Problem: sentence(err)}, nil
	}
	if !found {
		return nil, nil
	}
	have, _, err := c.store.Consent(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	v := &api.Repo{State: api.RepoWaiting, Digest: f.Digest, Mode: f.Mode, NoMCP: f.NoMCP, Projects: f.Projects, Agents: f.Agents,
		Read: f.Read, Write: f.Write, Hosts: f.Hosts}
	for _, s := range f.Scripts {
		v.Scripts = append(v.Scripts, api.Script{Name: s.Name, Command: s.Command})
	}
	switch {
	case !f.Proposes():
		v.State = api.RepoKnobs
	case have.Digest == f.Digest:
		v.State = api.RepoAgreed
	}
	return v, nil
}

// viewProjectKnobs adds to the view of a project what is set for its tasks, and what its repository says.
func (c *Core) viewProjectKnobs(ctx context.Context, v *api.Project, p store.Project, names map[string]string) (err error) {
	v.Sandbox = p.Sandbox
	if p.MCP || p.MCPProjects != nil || p.MCPAgents != nil || p.SandboxRead != nil || p.SandboxWrite != nil || p.SandboxHosts != nil {
		cage := viewCage(p.MCP, p.MCPProjects, p.MCPAgents, p.SandboxRead, p.SandboxWrite, p.SandboxHosts, names)
		v.Cage = &cage
	}
	v.Repo, err = c.viewRepo(ctx, p)
	return err
}
