package core

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/keyring"
	"termic/internal/secret"
	"termic/internal/store"
)

// This file is about secrets: names that are told, and values that go from where they are kept into the environment of agents and
// nowhere else. The owner alone sets them and says which tasks have them. A task that a caged agent made has none, and a program that
// one starts gets none, whatever its task names; so a secret never goes to whom the owner did not give it.

// SecretList is the verb secret_list.
func (c *Core) SecretList(ctx context.Context, call *Call, _ api.SecretListParams) (api.SecretListResult, error) {
	list, err := c.store.Secrets(ctx)
	if err != nil {
		return api.SecretListResult{}, err
	}
	named, err := c.whoNames(ctx, call.Caller)
	out := []api.Secret{}
	for _, s := range list {
		v := named.view(s)
		if bounded(call.Caller) && len(v.Tasks)+len(v.Projects) == 0 {
			continue // it is for what the caller does not reach
		}
		out = append(out, v)
	}
	return api.SecretListResult{Secrets: out}, err
}

// naming are the tasks and projects that name secrets, by the name of the secret.
type naming struct{ tasks, projects map[string][]string }

// whoNames finds what names secrets, as far as a caller may know of it. Archived tasks do not count.
func (c *Core) whoNames(ctx context.Context, caller grant.Caller) (naming, error) {
	n := naming{map[string][]string{}, map[string][]string{}}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return n, err
	}
	for _, t := range tasks {
		for _, name := range t.Secrets {
			if mayRead(caller, t) {
				n.tasks[name] = append(n.tasks[name], t.ID)
			}
		}
	}
	projects, err := c.projectsFor(ctx, caller)
	for _, p := range projects {
		for _, name := range p.Secrets {
			n.projects[name] = append(n.projects[name], p.ID)
		}
	}
	return n, err
}

func (n naming) view(s store.Secret) api.Secret {
	return api.Secret{Name: s.Name, Note: s.Note, KeptIn: s.KeptIn, Created: stamp(s.Created), Updated: stamp(s.Updated), Used: stamp(s.Used),
		Tasks: append([]string{}, n.tasks[s.Name]...), Projects: append([]string{}, n.projects[s.Name]...)}
}

// SecretSet is the verb secret_set: it keeps a value, and tells which terminals go on with an older one.
func (c *Core) SecretSet(ctx context.Context, call *Call, p api.SecretSetParams) (api.SecretSetResult, error) {
	var r api.SecretSetResult
	if err := checkSecretName(p.Name); err != nil {
		return r, err
	}
	if err := checkSecretValue(p.Value); err != nil {
		return r, err
	}
	release, err := c.hold(ctx, "secrets:")
	if err != nil {
		return r, err
	}
	defer release()
	old, err := c.store.Secret(ctx, p.Name)
	missing := fault.CodeOf(err) == fault.NotFound
	if err != nil && !missing {
		return r, err
	}
	v := store.Secret{Name: p.Name, Note: orElse(strings.TrimSpace(p.Note), old.Note)}
	// The value first: a program that starts meanwhile has it, and is at worst told to hold an older one.
	if v.KeptIn, r.Why, err = c.keyring.Set(ctx, p.Name, secret.Of(p.Value)); err != nil {
		return r, err
	}
	under := context.WithoutCancel(ctx)
	if err = c.store.Write(under, func(tx *store.Tx) error { v, err = tx.PutSecret(under, v); return err }); err != nil {
		if missing {
			if derr := c.keyring.Delete(under, p.Name, v.KeptIn); derr != nil {
				c.log.Error("a value that nothing names could not be forgotten", "name", p.Name, "err", derr)
			}
		}
		return r, err
	}
	named, err := c.whoNames(ctx, call.Caller)
	r.Secret, r.Holders = named.view(v), c.holders(p.Name, v.Updated)
	c.beacon.change()
	return r, err
}

// SecretDelete is the verb secret_delete. While something names the secret it is refused, since agents of that would not start.
func (c *Core) SecretDelete(ctx context.Context, call *Call, p api.SecretDeleteParams) (api.SecretDeleteResult, error) {
	var r api.SecretDeleteResult
	release, err := c.hold(ctx, "secrets:")
	if err != nil {
		return r, err
	}
	defer release()
	s, err := c.secretNamed(ctx, p.Name)
	if err != nil {
		return r, err
	}
	named, err := c.whoNames(ctx, call.Caller)
	if err != nil {
		return r, err
	}
	v := named.view(s)
	if len(v.Tasks)+len(v.Projects) > 0 && !p.Force {
		return r, fault.New(fault.Conflict, "%s and %s name the secret %s", countOf(len(v.Tasks), "task"), countOf(len(v.Projects), "project"), s.Name).
			WithHint("Their agents would not start. Take it from them with `termic sandbox TASK --secret ''` and `termic project settings PROJECT --secret ''`, or delete it with --force.").
			WithData("tasks", v.Tasks).WithData("projects", v.Projects)
	}
	// The row last: what could not be forgotten is still there to be deleted.
	if err := c.keyring.Delete(ctx, s.Name, s.KeptIn); err != nil {
		if !p.Force || ctx.Err() != nil {
			return r, err
		}
		r.Why = strings.TrimSuffix(sentence(err), ".")
	}
	under := context.WithoutCancel(ctx)
	if err := c.store.Write(under, func(tx *store.Tx) error { return tx.DeleteSecret(under, s.Name) }); err != nil {
		return r, err
	}
	c.beacon.change()
	r.Name, r.Holders = s.Name, c.holders(s.Name, time.Time{})
	return r, nil
}

// secretNamed finds a secret by its exact name.
func (c *Core) secretNamed(ctx context.Context, name string) (store.Secret, error) {
	s, err := c.store.Secret(ctx, name)
	if err == nil && s.Name == name {
		return s, nil
	}
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return store.Secret{}, err
	}
	list, err := c.store.Secrets(ctx)
	have := make([]string, len(list))
	for i, one := range list {
		have[i] = one.Name
	}
	if err != nil {
		return store.Secret{}, err
	}
	return store.Secret{}, fault.New(fault.NotFound, "There is no secret %q", name).WithHint("`termic secret list` shows them, `termic secret set NAME` makes one.").OrNear(name, have)
}

// holders are the live terminals that were started with a value of a secret, but those with the one of now.
func (c *Core) holders(name string, now time.Time) []api.SecretHolder {
	out := []api.SecretHolder{}
	for _, l := range c.liveTabs("") {
		if at, ok := l.secrets[name]; ok && !at.Equal(now) {
			out = append(out, api.SecretHolder{TaskID: l.task.ID, Task: l.task.Name, TabID: l.tab.ID, Tab: orElse(l.tab.Name, l.tab.Title)})
		}
	}
	slices.SortFunc(out, func(a, b api.SecretHolder) int { return strings.Compare(a.Task+"\n"+a.TabID, b.Task+"\n"+b.TabID) })
	return out
}

// secretNames checks a list of names that the owner gives to a task or a project.
func (c *Core) secretNames(ctx context.Context, names []string) ([]string, error) {
	var out []string
	for _, name := range meant(names) {
		s, err := c.secretNamed(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// planSecrets settles which secrets a new task names: those that the owner gives to it, or those of its project. Nobody else's tasks
// have any, since whoever drives a task can have its environment printed.
func (c *Core) planSecrets(ctx context.Context, call *Call, n *newTask) (err error) {
	switch {
	case call.Caller.Class != grant.Owner || n.task.FromCage || call.Caller.Face == grant.Trigger: // whose prompt may hold what others wrote
	case given(n.params.Secrets):
		n.task.Secrets, err = c.secretNames(ctx, n.params.Secrets)
	default:
		n.task.Secrets = slices.Clone(n.project.Secrets)
	}
	return err
}

// maxRevealed bounds the values of one agent, in bytes: Linux starts no program whose arguments and environment are longer than a quarter
// of its stack, which is 2 MiB as a rule, and says no more than that they are too long.
const maxRevealed = 1 << 20

// reveal reads the secrets that an agent starts with into its environment. One that cannot be had stops the start: an agent without
// it would do something else than it was meant to.
func (c *Core) reveal(ctx context.Context, l *liveTab, env map[string]string) error {
	if len(l.task.Secrets) == 0 {
		return nil
	}
	l.secrets = map[string]time.Time{}
	total := 0
	for _, name := range l.task.Secrets {
		s, err := c.store.Secret(ctx, name)
		if fault.CodeOf(err) == fault.NotFound {
			return fault.Wrap(err, fault.NotFound, "The task names the secret %s, which is not there", name).
				WithHint("Set it with `termic secret set %s`, or take it from the task with `termic sandbox %s --secret ''`.", name, shellWord(l.task.Name))
		}
		if err != nil {
			return err
		}
		value, err := c.keyring.Get(ctx, name, s.KeptIn)
		if err != nil {
			return err
		}
		if total += len(value.Reveal()); total > maxRevealed {
			return fault.New(fault.InvalidArgument, "The secrets of the task are longer than %d KiB together, and no program could be started with them", maxRevealed>>10).
				WithHint("Give it fewer: `termic sandbox %s --secret NAME,NAME`.", shellWord(l.task.Name))
		}
		env[name], l.secrets[name] = value.Reveal(), s.Updated
	}
	return nil
}

// secretFindings tells where values are kept, without asking for any, and names what something wants and is not there.
func (c *Core) secretFindings(ctx context.Context) []api.Finding {
	list, err := c.store.Secrets(ctx)
	if err != nil {
		return nil // the finding of the database says it
	}
	named, err := c.whoNames(ctx, grant.OwnerOn(grant.CLI))
	if err != nil || len(list)+len(named.tasks)+len(named.projects) == 0 {
		return nil
	}
	files := 0
	for _, s := range list {
		if s.KeptIn == keyring.InFile {
			files++
		}
		delete(named.tasks, s.Name)
		delete(named.projects, s.Name)
	}
	f := api.Finding{Name: "secrets", Level: "ok", Detail: fmt.Sprintf("%d in a keyring, %d in files of yours alone", len(list)-files, files)}
	gone := slices.Sorted(maps.Keys(named.tasks))
	for _, name := range slices.Sorted(maps.Keys(named.projects)) {
		if !slices.Contains(gone, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		f.Level, f.Detail = "warn", f.Detail+"; named and not there: "+strings.Join(gone, ", ")
		f.Fix = "Set it with `termic secret set " + gone[0] + "`, or take it from the tasks and projects that name it: their agents do not start."
	}
	return []api.Finding{f}
}
