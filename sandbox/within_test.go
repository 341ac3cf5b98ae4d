package sandbox

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/sandbox/hosts"
)

// draw is where a generator takes its choices from: rapid, or a seeded source.
type draw func(n int) int

func pick[T any](d draw, list []T, most int) []T {
	var out []T
	for range d(most + 1) {
		out = append(out, list[d(len(list))])
	}
	return out
}

func randomPath(d draw) string {
	p := ""
	for range 1 + d(3) {
		p += "/" + worldNames[d(len(worldNames))]
	}
	return p
}

func randomPaths(d draw, most int) []string {
	var out []string
	for range d(most + 1) {
		out = append(out, randomPath(d))
	}
	return out
}

// randomCapability makes one that a provision could have made.
func randomCapability(d draw) Capability {
	mode := []Mode{Enforce, Enforce, Enforce, EnforceFs, Monitor, Off}[d(6)]
	names := pick(d, []string{"KEY", "TOKEN"}, 1)
	if mode == Off || mode == Monitor {
		return holding(Unbounded(mode), names)
	}
	c := Capability{known: true, mode: mode, control: Control(d(2)), projects: sorted(append(pick(d, []string{"p", "q"}, 2), "p")),
		agents: sorted(append(pick(d, []string{"claude", "codex"}, 1), "claude")), read: randomPaths(d, 3), write: randomPaths(d, 2),
		deny: randomPaths(d, 2), pinned: randomPaths(d, 2), hosts: hosts.All()}
	if mode == Enforce {
		c.hosts = mustHosts(pick(d, worldRules, 3))
	}
	return holding(c.canonical(), names)
}

func mustHosts(rules []string) hosts.Set {
	set, err := hosts.Parse(rules)
	if err != nil {
		panic(err)
	}
	return set
}

// neighbour differs from c by one grant, denial, pin, host or by the mode.
func neighbour(d draw, c Capability) Capability {
	if c.unbounded {
		return holding(Unbounded([]Mode{Off, Monitor}[d(2)]), pick(d, []string{"KEY", "TOKEN"}, 2))
	}
	if d(7) == 0 {
		return holding(c, pick(d, []string{"KEY", "TOKEN"}, 2))
	}
	lists := []*[]string{&c.read, &c.write, &c.deny, &c.pinned}
	switch at := d(6); {
	case at < len(lists):
		l := lists[at]
		*l = slices.Clone(*l)
		if len(*l) > 0 && d(2) == 0 {
			i := d(len(*l))
			*l = slices.Delete(*l, i, i+1)
		} else {
			*l = append(*l, randomPath(d))
		}
	case at == 4 && c.mode == Enforce:
		c.hosts = c.hosts.Union(mustHosts([]string{worldRules[d(len(worldRules))]}))
	case c.mode == Enforce:
		c.mode, c.hosts = EnforceFs, hosts.All()
	default:
		c.mode, c.hosts = Enforce, mustHosts(pick(d, worldRules, 3))
	}
	return c.canonical()
}

// subset asks the reference whether b permits everything that a does.
func subset(a, b Capability, ops []operation) (operation, bool) {
	for _, o := range ops {
		if permits(a, o) && !permits(b, o) {
			return o, false
		}
	}
	return operation{}, true
}

// ranks reports whether what is not an operation is ordered: mode, control, projects, agents.
func ranks(a, b Capability) bool {
	if strictness[a.mode] < strictness[b.mode] || a.control > b.control {
		return false
	}
	for _, s := range a.secrets {
		if !slices.Contains(b.secrets, s) {
			return false
		}
	}
	for _, l := range [][2][]string{{a.projects, b.projects}, {a.agents, b.agents}} {
		for _, s := range l[0] {
			if !b.unbounded && !slices.Contains(l[1], s) {
				return false
			}
		}
	}
	return true
}

// TestWithinAgreesWithTheReference compares a thousand pairs, new ones in each run. Within must never allow what the
// reference refuses, and here it is even exact: no refusal without an operation that shows why.
func TestWithinAgreesWithTheReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := rand.New(rand.NewPCG(seed, 0)).IntN
	ops := operations()
	held := 0
	for i := range 1000 {
		a := randomCapability(d)
		b := randomCapability(d)
		if i%2 == 0 {
			b = neighbour(d, a)
			if d(2) == 0 {
				a, b = b, a
			}
		}
		err := Within(a, b)
		o, within := subset(a, b, ops)
		want := within && ranks(a, b)
		if (err == nil) != want {
			t.Fatalf("pair %d: Within = %v, the reference says %v (%v)\na = %+v\nb = %+v", i, err, want, o, a, b)
		}
		if err == nil {
			held++
		}
	}
	if held < 100 {
		t.Errorf("only %d of 1000 pairs were within one another: the pairs show little", held)
	}
}

func TestLawsOfWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		a, b := randomCapability(d), randomCapability(d)
		if d(2) == 0 {
			b = neighbour(d, a)
		}
		c := neighbour(d, b)
		if err := Within(a, a); err != nil {
			t.Fatalf("not reflexive: %v", err)
		}
		if Within(a, b) == nil && Within(b, c) == nil && Within(a, c) != nil {
			t.Fatalf("not transitive: %v\na = %+v\nb = %+v\nc = %+v", Within(a, c), a, b, c)
		}
		if Within(a, b) == nil && Within(b, a) == nil && !a.Equal(b) {
			t.Fatalf("within one another and not equal\na = %+v\nb = %+v", a, b)
		}
		if Within(a, b) == nil && !b.unbounded {
			wide := b
			if d(2) == 0 {
				wide.read = append(slices.Clone(b.read), randomPath(d))
			} else {
				wide.write = append(slices.Clone(b.write), randomPath(d))
			}
			if err := Within(a, wide.canonical()); err != nil {
				t.Fatalf("a grant more in b made it refuse: %v\na = %+v\nb = %+v", err, a, b)
			}
		}
		u := Union(a, b)
		for _, x := range []Capability{a, b} {
			if err := Within(x, u); err != nil {
				t.Fatalf("not within the union: %v\nx = %+v\nu = %+v", err, x, u)
			}
		}
		if !u.Equal(Union(b, a)) || !Union(a, a).Equal(a) {
			t.Fatalf("the union depends on the order, or changes what is equal\na = %+v\nb = %+v", a, b)
		}
	})
}

func TestWithinOfWhatIsNotKnown(t *testing.T) {
	for _, pair := range [][2]Capability{{{}, Unbounded(Off)}, {Unbounded(Off), {}}, {{}, {}}, {Unbounded(Enforce), Unbounded(Off)}} {
		var w *Wider
		if err := Within(pair[0], pair[1]); !errors.As(err, &w) || w.Part != PartUnknown {
			t.Errorf("Within = %v, want a refusal for the unknown", err)
		}
	}
	if Union(Capability{}, Unbounded(Off)).Known() {
		t.Error("a union with what is not known is known")
	}
}

// TestEachClauseRefuses is one red case for each part, so that a part that is forgotten is noticed by name.
func TestEachClauseRefuses(t *testing.T) {
	base := Capability{known: true, mode: Enforce, control: ControlNone, secrets: []string{"KEY"}, projects: []string{"p"}, agents: []string{"claude"},
		read: []string{"/r"}, write: []string{"/w"}, deny: []string{"/r/secret"}, pinned: []string{"/w/pin"}, hosts: mustHosts([]string{"*.x.test"})}
	for name, c := range map[string]struct {
		change func(a *Capability)
		part   Part
	}{
		"mode":               {func(a *Capability) { a.mode, a.hosts = EnforceFs, hosts.All() }, PartMode},
		"control":            {func(a *Capability) { a.control = ControlScoped }, PartControl},
		"secret":             {func(a *Capability) { *a = holding(*a, []string{"KEY", "TOKEN"}) }, PartSecrets},
		"project":            {func(a *Capability) { a.projects = []string{"p", "q"} }, PartProjects},
		"agent":              {func(a *Capability) { a.agents = []string{"codex"} }, PartAgents},
		"read elsewhere":     {func(a *Capability) { a.read = []string{"/other"} }, PartFiles},
		"read of a neighbor": {func(a *Capability) { a.read = []string{"/rr"} }, PartFiles},
		"write what is read": {func(a *Capability) { a.write = []string{"/r/x"} }, PartFiles},
		"no denial":          {func(a *Capability) { a.deny = nil }, PartFiles},
		"below a denial":     {func(a *Capability) { a.deny, a.read = nil, []string{"/r/secret/x"} }, PartFiles},
		"no pin":             {func(a *Capability) { a.pinned = nil }, PartFiles},
		"host":               {func(a *Capability) { a.hosts = mustHosts([]string{"x.test"}) }, PartHosts},
		"port":               {func(a *Capability) { a.hosts = mustHosts([]string{"y.x.test:22"}) }, PartHosts},
		"every host":         {func(a *Capability) { a.hosts = mustHosts([]string{"*"}) }, PartHosts},
		"uncaged":            {func(a *Capability) { *a = Unbounded(Off) }, PartMode},
		"monitored":          {func(a *Capability) { *a = Unbounded(Monitor) }, PartMode},
	} {
		a := base
		c.change(&a)
		var w *Wider
		if err := Within(a, base); !errors.As(err, &w) || w.Part != c.part {
			t.Errorf("%s: Within = %v, want a refusal for %s", name, err, c.part)
		}
		if err := Within(base, base); err != nil {
			t.Fatalf("base: %v", err)
		}
	}
	if err := Within(holding(Unbounded(Monitor), []string{"KEY"}), Unbounded(Monitor)); err == nil || !strings.Contains(err.Error(), "KEY") {
		t.Errorf("a secret that a monitored caller does not hold: %v", err)
	}
	if Within(Unbounded(Off), Unbounded(Monitor)) == nil {
		t.Error("an unmonitored target is within a monitored caller")
	}
	if err := Within(Unbounded(Monitor), Unbounded(Off)); err != nil {
		t.Errorf("a monitored target of an uncaged caller: %v", err)
	}
}

func TestCapabilitiesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		c := randomCapability(d)
		b, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseCapability(b)
		if err != nil || !got.Equal(c) {
			t.Fatalf("got %+v, %v; want %+v", got, err, c)
		}
	})
	if _, err := (Capability{}).MarshalBinary(); err == nil {
		t.Error("the zero value was written down")
	}
	for _, text := range []string{"", "{}", `{"v":3,"mode":"off"}`, `{"v":1,"mode":"enforce","refused":["192.0.2.0/24"]}`, `{"v":2,"mode":"enforce","nets":{"443":["10.0.0.0/8"]}}`, `{"v":2,"mode":"enforce","nets":{"0":["9.0.0.0/8"]}}`,
		`{"v":2,"mode":"enforce","refused":["9.0.0.1/8"]}`, `{"v":1,"mode":"off"}`, `{"v":1,"mode":"enforce","unbounded":true}`,
		`{"v":1,"mode":"enforce","control":2}`, `{"v":1,"mode":"enforce","read":["a"]}`, `{"v":1,"mode":"enforce","read":["/a/../b"]}`,
		`{"v":1,"mode":"nonsense"}`, `{"v":1,"mode":"enforce","hosts":["a b"]}`} {
		if c, err := ParseCapability([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, c)
		}
	}
}
