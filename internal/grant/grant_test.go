package grant

import "testing"

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		have, need Class
		want       bool
	}{
		{Owner, Owner, true}, {Owner, Full, true}, {Owner, Scoped, true},
		{Full, Owner, false}, {Full, Full, true}, {Full, Scoped, true},
		{Scoped, Owner, false}, {Scoped, Full, false}, {Scoped, Scoped, true},
		{ReadOnly, Scoped, false}, {Operator, Scoped, false}, {Approve, Owner, false},
		{"", Scoped, false}, {Owner, "", false}, {"", "", false},
	} {
		if got := c.have.Covers(c.need); got != c.want {
			t.Errorf("%q covers %q = %v", c.have, c.need, got)
		}
	}
}

// TestNamedClasses: operator and approve are disjoint, and nothing but a named class has anything of theirs.
func TestNamedClasses(t *testing.T) {
	all := []Class{Owner, Full, Scoped, ReadOnly, Operator, Approve, "", "other"}
	want := map[[2]Class]bool{{ReadOnly, ReadOnly}: true, {Operator, ReadOnly}: true, {Operator, Operator}: true, {Approve, ReadOnly}: true, {Approve, Approve}: true}
	for _, have := range all {
		if named := want[[2]Class{have, have}]; have.Named() != named {
			t.Errorf("%q is named: %v", have, have.Named())
		}
		for _, need := range all {
			if got := have.Includes(need); got != want[[2]Class{have, need}] {
				t.Errorf("%q includes %q = %v", have, need, got)
			}
		}
	}
}
