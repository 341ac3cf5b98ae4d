package worktree

import (
	"context"
	"testing"
)

func TestSmoke(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	c := w.task(r, "one")
	t.Logf("%+v", c)
	w.write(c.Path, "a.txt", "one\nTWO\nthree\n")
	w.write(c.Path, "new é\n\".txt", "x\ny\n")
	d, err := r.Diff(context.Background(), c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	t.Logf("%+v\n%s", d, d.Patch)
}
