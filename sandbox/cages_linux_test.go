package sandbox

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cagesTried is how many real cages the reference is compared with; half of them differ from the one before by one entry.
const cagesTried = 100

// TestCapabilityIsWhatTheCageDoes builds real cages from random lists and tries every path of a small world in each. What
// could be read and written must be what the capability says, path by path; and where one capability is within another, what
// the first cage did, the second did too.
func TestCapabilityIsWhatTheCageDoes(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	world := h.root + "/world"
	var dirs []string
	level := []string{world}
	for range 3 {
		var next []string
		for _, d := range level {
			for _, n := range worldNames {
				next = append(next, d+"/"+n)
			}
		}
		dirs, level = append(dirs, next...), next
	}
	var script strings.Builder
	for _, d := range dirs {
		h.file(d+"/f", "x\n")
		script.WriteString("read x <" + d + "/f && echo read " + d + "/f; echo y >>" + d + "/f\n")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := rand.New(rand.NewPCG(seed, 0)).IntN
	var caps []Capability
	var done [][]string
	l := Layer{Name: "the list", Owner: true}
	n := cagesTried
	if testing.Short() {
		n = 10
	}
	for i := range n {
		l = nextLayer(d, l, world, i%2 == 0)
		p := h.compose(layer(l))
		_, out := h.inside(p, "exec 2>/dev/null\n"+script.String())
		c := p.Capability()
		did := append(strings.Split(strings.TrimSpace(out), "\n"), h.written(dirs)...)
		for _, dir := range dirs {
			for _, kind := range []string{"read", "write"} {
				o := operation{kind: kind, path: dir + "/f"}
				if got, want := slices.Contains(did, o.String()), permits(c, o); got != want {
					t.Fatalf("cage %d: %s: done %v, the capability says %v\nlist %+v", i, o, got, want, l)
				}
			}
		}
		caps, done = append(caps, c), append(done, did)
	}
	held := 0
	for i, a := range caps {
		for j, b := range caps {
			if i == j || Within(a, b) != nil {
				continue
			}
			held++
			for _, o := range done[i] {
				if o != "" && !slices.Contains(done[j], o) {
					t.Fatalf("cage %d is within %d, and did what that one could not: %s", i, j, o)
				}
			}
		}
	}
	t.Logf("%d pairs of cages were within one another", held)
	if held == 0 {
		t.Error("no pair of cages was within one another: the pairs show nothing")
	}
}

// written returns the files of the world that were changed, and makes them as they were. What a cage says about its writing
// does not count: on the way to a grant it has folders of its own.
func (h *house) written(dirs []string) []string {
	h.t.Helper()
	var out []string
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/f")
		if err != nil {
			h.t.Fatal(err)
		}
		if string(text) != "x\n" {
			out = append(out, "write "+dir+"/f")
			h.file(dir+"/f", "x\n")
		}
	}
	return out
}

// nextLayer draws a list anew, or changes one entry of the last one.
func nextLayer(d draw, l Layer, world string, anew bool) Layer {
	path := func() string { return filepath.Join(world, randomPath(d)) }
	paths := func(most int) (out []string) {
		for range d(most + 1) {
			out = append(out, path())
		}
		return out
	}
	if anew {
		l.Read, l.Write, l.Deny = paths(3), paths(2), paths(2)
		return l
	}
	list := []*[]string{&l.Read, &l.Write, &l.Deny}[d(3)]
	*list = slices.Clone(*list)
	if len(*list) > 0 && d(2) == 0 {
		*list = (*list)[1:]
	} else {
		*list = append(*list, path())
	}
	return l
}
