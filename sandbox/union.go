package sandbox

import "slices"

// Union is what either of two capabilities can do: the least that both are within, as far as lists can say it. Where what
// is stored for a task and what its terminal was started with differ, the task is judged as a target by their union. A
// caller is judged by what it was started with alone, or a wider list in the store would widen what it may steer.
//
// The union with the zero value is the zero value: what is not known is not judged.
func Union(a, b Capability) Capability {
	if !a.known || !b.known {
		return Capability{}
	}
	mode := a.mode
	if strictness[b.mode] < strictness[mode] {
		mode = b.mode
	}
	if a.unbounded || b.unbounded {
		return holding(Unbounded(mode), slices.Concat(a.secrets, b.secrets))
	}
	u := Capability{known: true, mode: mode, control: max(a.control, b.control),
		projects: sorted(slices.Concat(a.projects, b.projects)), agents: sorted(slices.Concat(a.agents, b.agents)),
		read: slices.Concat(a.read, b.read), write: slices.Concat(a.write, b.write), hosts: a.hosts.Union(b.hosts),
		nets: a.nets.Union(b.nets), refused: a.refused.Intersect(b.refused)}
	u.deny = slices.Concat(upheld(a.deny, b.readable(), b.deny), upheld(b.deny, a.readable(), a.deny))
	bothA, bothB := slices.Concat(a.deny, a.pinned), slices.Concat(b.deny, b.pinned)
	u.pinned = slices.Concat(upheld(bothA, b.write, bothB), upheld(bothB, a.write, bothA))
	return holding(u.canonical(), slices.Concat(a.secrets, b.secrets))
}

// upheld returns the prohibitions that the other side does not break: it grants nothing there, or forbids it as well.
func upheld(prohibitions, grants, others []string) []string {
	var out []string
	for _, p := range prohibitions {
		broken := slices.ContainsFunc(grants, func(g string) bool { _, ok := overlap(p, g); return ok })
		if !broken || coveredBy(p, others) {
			out = append(out, p)
		}
	}
	return out
}

// readable returns the grants that allow reading.
func (c Capability) readable() []string { return slices.Concat(c.read, c.write) }

// canonical returns the one form of all capabilities that allow the same: no grant below a denial, no writing below a pin,
// nothing that another entry already says, nothing that forbids what is not granted.
func (c Capability) canonical() Capability {
	write, read := []string{}, slices.Clone(c.read)
	for _, p := range c.write {
		if coveredBy(p, c.pinned) {
			read = append(read, p)
		} else {
			write = append(write, p)
		}
	}
	denied := func(p string) bool { return coveredBy(p, c.deny) }
	c.write = outermost(slices.DeleteFunc(write, denied))
	c.read = slices.DeleteFunc(outermost(slices.DeleteFunc(read, denied)), func(p string) bool { return coveredBy(p, c.write) })
	c.deny = outermost(slices.DeleteFunc(slices.Clone(c.deny), func(p string) bool { return !coveredBy(p, c.readable()) }))
	c.pinned = outermost(slices.DeleteFunc(slices.Clone(c.pinned), func(p string) bool {
		return !coveredBy(p, c.write) || coveredBy(p, c.deny)
	}))
	c.nets = c.nets.Less(c.hosts)
	return c
}
