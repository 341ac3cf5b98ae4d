package sandbox

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// Compose makes the policy of one start. It reads the file system (links, git's files, interpreters) and changes nothing.
//
// Everything that cannot be provisioned exactly as it is written is a fault.Error that names the layer and the entry; what
// counts for less than it says is a warning of the policy. Compose it again for every start: the tree may have changed.
func Compose(w Wish) (Policy, error) {
	if _, err := ParseMode(string(w.Mode)); err != nil {
		return Policy{}, err
	}
	if w.GOOS == "" {
		w.GOOS = runtime.GOOS
	}
	if w.Mode == Off || w.Mode == Monitor {
		return Policy{mode: w.Mode, goos: w.GOOS, secrets: slices.Clone(w.Secrets)}, nil
	}
	c := &composer{w: w}
	for _, step := range []func() error{c.places, c.git, c.system, c.program, c.layers, c.network} {
		if err := step(); err != nil {
			return Policy{}, err
		}
	}
	c.settle()
	return c.policy(), nil
}

// A composer gathers what a policy is made of. It lives for one call of Compose.
type composer struct {
	w        Wish
	grants   []grant
	links    []Link
	deny     []string
	private  []string // hidden too, but no part of the capability: it changes with the machine
	pinned   []string
	prepare  []preparation
	gitView  *gitView
	termic   []string
	named    string   // the ssh agent's socket, where the owner granted it
	roots    []string // what agents of this cage may write, and so put links into
	plain    hosts.Set
	agent    hosts.Set
	nets     hosts.Nets
	refused  netgroup.Set
	warnings []string
}

func (c *composer) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// places resolves the folders that the app made, and grants the task its workspace.
func (c *composer) places() error {
	for _, p := range []struct {
		what string
		path *string
	}{
		{"the worktree", &c.w.Worktree}, {"the home folder", &c.w.Home},
		{"the task's private home", &c.w.HomeDir}, {"Termic's data folder", &c.w.DataDir},
	} {
		real, links, err := resolve(*p.path)
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "The cage cannot be built: %s, %q, cannot be found", p.what, *p.path)
		}
		c.links = append(c.links, links...)
		*p.path = real
	}
	switch w := c.w; {
	case covers(w.DataDir, w.Worktree) || covers(w.Worktree, w.DataDir):
		return fault.New(fault.Unsupported, "A worktree that holds Termic's data folder, or lies in it, cannot be caged").
			WithHint("Move the worktree out of %s.", w.DataDir)
	case covers(w.Worktree, w.Home):
		return fault.New(fault.Unsupported, "A worktree that holds the home folder cannot be caged").
			WithHint("Use a worktree below %s.", w.Home)
	case !above(w.DataDir, w.HomeDir):
		return fmt.Errorf("compose a cage: the private home %q is not in the data folder", w.HomeDir)
	}
	for _, s := range c.w.Sockets {
		if real, _, err := resolve(filepath.Dir(s)); err == nil {
			c.termic = append(c.termic, filepath.Join(real, filepath.Base(s)))
		}
	}
	c.grants = append(c.grants, grant{c.w.Worktree, true, own}, grant{c.w.HomeDir, true, own})
	c.deny = append(c.deny, c.w.DataDir)
	c.pinFiles()
	c.findRoots()
	return nil
}

// layers adds what the lists say.
func (c *composer) layers() error {
	for _, l := range c.w.Layers {
		for _, e := range l.Read {
			if err := c.entry(l, e, false); err != nil {
				return ofEntry(err, l, e, false)
			}
		}
		for _, e := range l.Write {
			if err := c.entry(l, e, true); err != nil {
				return ofEntry(err, l, e, true)
			}
		}
		for _, e := range l.Deny {
			if err := c.denial(l, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry adds one grant of a layer.
func (c *composer) entry(l Layer, text string, write bool) error {
	if text == SSHAgentEntry {
		c.sshAgent(l, write)
		return nil
	}
	path, links, err := c.find(l, text)
	if missing(err) && l.Optional {
		return nil
	}
	if err != nil {
		return entryFault(err, l, text)
	}
	if c.planted(path, links) {
		return fault.New(fault.InvalidArgument, "%s grants %q, and on the way there is a link in a folder that the agent may write: it leads to %q", l.Name, text, path).
			WithHint("The agent may have made it. If it is yours, name what it leads to; else put back what was there.")
	}
	if err := c.grantable(l, text, path); err != nil {
		return err
	}
	if covers(path, c.w.DataDir) {
		c.warn("%s grants %q, which contains Termic's data folder. That folder stays hidden.", l.Name, text)
	}
	if _, inHome := overlap(c.w.Home, path); write && inHome && !c.workspace(path) {
		if !l.Owner {
			c.warn("%s grants writing in %q, in your home. Only a list that you write yourself can, so it may read it.", l.Name, text)
			write = false
		} else {
			c.warn("%s grants writing in %q, in your home. What a caged agent writes there, your own programs may run.", l.Name, text)
		}
	}
	c.links = append(c.links, links...)
	c.grantAround(l, text, path, write)
	return nil
}

// grantAround grants a path. On Linux the private home stands where the real one is, so a grant of the home itself has no
// effect, and one of a folder above it is replaced by what is in that folder beside the home.
func (c *composer) grantAround(l Layer, text, path string, write bool) {
	if c.w.GOOS != "linux" || !covers(path, c.w.Home) {
		c.grants = append(c.grants, grant{path, write, plain})
		return
	}
	c.warn("%s grants %q, but the home in a cage is always the task's own. Name the folders in your home that the agent needs.", l.Name, text)
	for dir := path; dir != c.w.Home; {
		next := dir
		for _, child := range children(dir) {
			at := filepath.Join(dir, child)
			if covers(at, c.w.Home) {
				next = at
				continue
			}
			// Links are left out: what they lead to was not named. So is what every cage has of its own.
			if real, _, err := resolve(at); err == nil && real == at && c.special(at) == "" {
				c.grants = append(c.grants, grant{at, write, plain})
			}
		}
		if next == dir {
			return
		}
		dir = next
	}
}

// denial adds one denial of a layer.
func (c *composer) denial(l Layer, text string) error {
	path, _, err := c.find(l, text)
	if missing(err) {
		return fault.New(fault.InvalidArgument, "%s denies %q, which does not exist, so it could be made and read later", l.Name, text).
			WithHint("Take the entry out of the list, or create what it names.")
	}
	if err != nil {
		return entryFault(err, l, text)
	}
	for _, o := range c.grants {
		if o.origin == own && o.path == path {
			return fault.New(fault.InvalidArgument, "%s denies %q, which is the task's own folder", l.Name, text).
				WithHint("Take the entry out of the list.")
		}
	}
	c.deny = append(c.deny, path)
	return nil
}

// find puts in the variables of an entry and resolves it.
func (c *composer) find(l Layer, text string) (string, []Link, error) {
	p := text
	switch {
	case strings.ContainsAny(text, "\x00\n"):
		return "", nil, fault.New(fault.InvalidArgument, "%s has a path with a line break or a zero byte in it", l.Name)
	case strings.HasPrefix(text, "regex:"):
		return "", nil, patternFault(l, text)
	}
	for name, dir := range map[string]string{"$HOME": c.w.Home, "~": c.w.Home, "$WORKSPACE": c.w.Worktree} {
		if text == name || strings.HasPrefix(text, name+"/") {
			p = dir + text[len(name):]
		}
	}
	if !filepath.IsAbs(p) {
		return "", nil, fault.New(fault.InvalidArgument, "%s has %q, which is neither absolute nor below $HOME or $WORKSPACE", l.Name, text).
			WithHint("Write the whole path.")
	}
	real, links, err := resolve(p)
	if missing(err) && strings.ContainsAny(text, "*?[") {
		return "", nil, patternFault(l, text)
	}
	return real, links, err
}

func patternFault(l Layer, text string) error {
	return fault.New(fault.InvalidArgument, "%s has the pattern %q, and patterns are not understood", l.Name, text).
		WithHint("Name the folder that holds what the agent needs.")
}

func entryFault(err error, l Layer, text string) error {
	if f := fault.From(err); fault.CodeOf(err) == fault.InvalidArgument {
		return f
	}
	if missing(err) {
		return fault.New(fault.InvalidArgument, "%s grants %q, which does not exist", l.Name, text).
			WithHint("Create it, or take the entry out of the list.")
	}
	return fault.Wrap(err, fault.InvalidArgument, "%s has %q, which cannot be looked at", l.Name, text)
}

// workspace reports whether a path lies in what the app made for this task.
func (c *composer) workspace(path string) bool {
	return slices.ContainsFunc(c.grants, func(g grant) bool { return g.origin == own && covers(g.path, path) })
}

// special says why a path cannot be granted as it is, or nothing.
func (c *composer) special(path string) string {
	if path == "/" {
		return "that is everything"
	}
	if c.w.GOOS != "linux" {
		return ""
	}
	for _, p := range []string{"/proc", "/sys", "/dev"} {
		if covers(p, path) {
			return "a cage has its own " + p
		}
	}
	if slices.Contains([]string{"/tmp", "/var/tmp"}, path) {
		return "a cage has its own " + path
	}
	return ""
}

// network reads the hosts of all layers and the agent's own.
func (c *composer) network() error {
	if c.w.Mode != Enforce {
		c.plain = hosts.All()
		return nil
	}
	for _, l := range c.w.Layers {
		rules, err := c.resolveNames(l)
		if err != nil {
			return err
		}
		set, err := hosts.Parse(rules)
		if err != nil {
			f := fault.From(err)
			return fault.New(fault.InvalidArgument, "%s: %s", l.Name, f.Message).WithHint("%s", f.Hint)
		}
		c.plain = c.plain.Union(set)
	}
	set, err := hosts.Parse(agentHosts[c.w.Agent])
	if err != nil {
		return fmt.Errorf("read the built-in hosts of %q: %w", c.w.Agent, err)
	}
	c.agent = set
	return nil
}

// settle makes the gathered lists canonical: no grant below a denial, no writing below a pin, nothing twice.
func (c *composer) settle() {
	c.deny, c.pinned = outermost(c.deny), sorted(c.pinned)
	var kept []grant
	for _, g := range c.grants {
		if g.origin == plain || g.origin == agent {
			if coveredBy(g.path, c.deny) {
				c.warn("%q is granted and denied. It stays hidden.", g.path)
				continue
			}
			g.write = g.write && !coveredBy(g.path, c.pinned)
		}
		kept = append(kept, g)
	}
	c.grants = nil
	for i, g := range kept {
		if g.origin == own || !slices.ContainsFunc(kept[:i], func(h grant) bool { return h == g }) && !redundant(g, kept) {
			c.grants = append(c.grants, g)
		}
	}
	slices.SortFunc(c.grants, func(a, b grant) int {
		return cmp.Or(cmp.Compare(pathKey(a.path), pathKey(b.path)), cmp.Compare(a.origin, b.origin))
	})
	c.links = c.neededLinks()
	if c.w.GOOS == "linux" {
		c.homeLinks()
	}
	c.warnings = sorted(c.warnings)
}

// redundant reports whether another grant allows all that g does. Of two that say the same, the plain one is kept, which
// is compared path by path; only the task's own workspace goes before it.
func redundant(g grant, all []grant) bool {
	return slices.ContainsFunc(all, func(h grant) bool {
		if h == g || !covers(h.path, g.path) || g.write && !h.write {
			return false
		}
		same := h.path == g.path && h.write == g.write
		return !same || h.origin == own || g.origin != own && h.origin < g.origin
	})
}

// neededLinks returns the links that no mount brings into the cage.
func (c *composer) neededLinks() []Link {
	var out []Link
	for _, l := range c.links {
		there := slices.ContainsFunc(c.grants, func(g grant) bool {
			return g.path != c.w.HomeDir && covers(g.path, filepath.Dir(l.Path))
		})
		if !there && c.special(l.Path) == "" {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b Link) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(out)
}

// homeLinks moves the links that stand in the home to the private home, where they are made before the start.
func (c *composer) homeLinks() {
	var rest []Link
	for _, l := range c.links {
		if !above(c.w.Home, l.Path) {
			rest = append(rest, l)
			continue
		}
		c.prepare = append(c.prepare, preparation{root: c.w.HomeDir, path: l.Path[len(c.w.Home)+1:], link: l.To})
	}
	c.links = rest
}

func (c *composer) policy() Policy {
	w := c.w
	p := Policy{mode: w.Mode, goos: w.GOOS, grants: c.grants, links: c.links, deny: c.deny, pinned: c.pinned,
		prepare: c.prepare, gitView: c.gitView, termic: sorted(c.termic), sshAgent: c.named, plain: c.plain, agent: c.agent, nets: c.nets, refused: c.refused, mcp: w.MCP,
		mcpPort: w.MCPPort, proxy: w.ProxyPort, ports: slices.Clone(w.Ports), home: w.Home, homeDir: w.HomeDir, dataDir: w.DataDir,
		worktree: w.Worktree, warnings: c.warnings, secrets: slices.Clone(w.Secrets), projects: sorted([]string{w.Project}), agents: sorted([]string{w.Agent})}
	slices.Sort(p.ports)
	p.sockets = append(c.foreignSockets(), c.private...)
	if w.MCP {
		p.control = ControlScoped
		p.projects = sorted(append(slices.Clone(w.Projects), w.Project))
		p.agents = sorted(append(slices.Clone(w.Agents), w.Agent))
	}
	return p
}
