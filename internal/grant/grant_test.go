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
