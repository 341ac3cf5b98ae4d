package store

import (
	"fmt"
	"testing"
	"time"

	"termic/internal/fault"
)

// TestApprovals: they are told by state, token, job and reach; whoever ends one first has ended it; there are so many of a token and no
// more; and what waits is never dropped for its age, nor is its job.
func TestApprovals(t *testing.T) {
	c := newClock()
	s, ctx := openAt(t, t.TempDir()+"/termic.db", Options{Now: c.now}), t.Context()
	job := must[Job](t)(s.StartJob(ctx, Job{Verb: "task_apply", Principal: "client:a", Token: "A", Face: "mcp"}))
	add := func(v Approval) (out Approval, err error) {
		err = s.Write(ctx, func(tx *Tx) error { out, err = tx.AddApproval(ctx, v); return err })
		return out, err
	}
	end := func(id, from, to string) error {
		return s.Write(ctx, func(tx *Tx) error {
			return tx.EndApproval(ctx, id, from, Verdict{State: to, By: "owner", On: "cli", Reason: "so"})
		})
	}
	one := must[Approval](t)(add(Approval{Job: job.ID, Token: "A", Principal: "client:a", Face: "mcp", Verb: "task_apply", TaskID: "T", ProjectID: "P", Arguments: "{}", Bound: "{}", Plan: "{}",
		Expires: c.now().Add(time.Hour)}))
	if err := s.Write(ctx, func(tx *Tx) error { return tx.WaitJob(ctx, job.ID, "waits") }); err != nil {
		t.Fatal(err)
	}
	for i, f := range []struct {
		f    ApprovalFilter
		want int
	}{{ApprovalFilter{}, 1}, {ApprovalFilter{State: ApprovalPending}, 1}, {ApprovalFilter{State: ApprovalDenied}, 0}, {ApprovalFilter{Token: "A", Job: job.ID}, 1}, {ApprovalFilter{Token: "B"}, 0},
		{ApprovalFilter{Within: &JobReach{Projects: []string{"P"}}}, 1}, {ApprovalFilter{Within: &JobReach{Projects: []string{"Q"}, Token: "A"}}, 0}, {ApprovalFilter{Within: &JobReach{}}, 0}} {
		if list := must[[]Approval](t)(s.Approvals(ctx, f.f)); len(list) != f.want {
			t.Errorf("filter %d gives %+v", i, list)
		}
	}
	c.move(2 * KeepEnd)
	if err := s.prune(ctx); err != nil {
		t.Fatal(err)
	}
	if j := must[Job](t)(s.Job(ctx, job.ID)); j.State != JobWaiting {
		t.Errorf("%+v", j)
	}
	if got := must[Approval](t)(s.Approval(ctx, one.ID)); got != one {
		t.Errorf("%+v, was %+v", got, one)
	}
	if err := end(one.ID, ApprovalPending, ApprovalDenied); err != nil {
		t.Fatal(err)
	}
	if err := end(one.ID, ApprovalPending, ApprovalApproved); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("ended twice: %v", err)
	}
	if got := must[Approval](t)(s.Approval(ctx, one.ID)); got.State != ApprovalDenied || got.DecidedBy != "owner" || got.DecidedOn != "cli" || got.Reason != "so" || got.Decided.IsZero() {
		t.Errorf("%+v", got)
	}
	for i := range MaxPendingOfToken {
		must[Approval](t)(add(Approval{Job: fmt.Sprint(i), Token: "A", ProjectID: "P", Arguments: "{}", Bound: "{}", Plan: "{}"}))
	}
	if _, err := add(Approval{Token: "A", ProjectID: "P"}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("one more: %v", err)
	}
	if _, err := add(Approval{Token: "B", ProjectID: "P"}); err != nil {
		t.Errorf("of another token: %v", err)
	}
	if n := must[int](t)(s.PendingApprovals(ctx)); n != MaxPendingOfToken+1 {
		t.Errorf("%d wait", n)
	}
	c.move(2 * KeepEnd)
	if err := s.prune(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Approval(ctx, one.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("what is over for long is kept: %v", err)
	}
}
