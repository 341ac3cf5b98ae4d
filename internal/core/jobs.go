package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/store"
)

// ErrCancelled is the cause of contexts that ended because somebody cancelled their job.
var ErrCancelled = fault.New(fault.Unavailable, "The job was cancelled")

// jobs are those that run in this process, so that they can be cancelled. Its zero value is empty.
type jobs struct {
	mu     sync.Mutex // guards the following
	cancel map[string][]*context.CancelCauseFunc
}

// under returns a context that ends when the job is cancelled, and what forgets it. A job may have several at once: that of its
// call, and that of what goes on after it.
func (j *jobs) under(ctx context.Context, id string) (context.Context, func()) {
	if id == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cancel == nil {
		j.cancel = map[string][]*context.CancelCauseFunc{}
	}
	j.cancel[id] = append(j.cancel[id], &cancel)
	return ctx, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if left := slices.DeleteFunc(j.cancel[id], func(c *context.CancelCauseFunc) bool { return c == &cancel }); len(left) > 0 {
			j.cancel[id] = left
		} else {
			delete(j.cancel, id)
		}
		cancel(nil)
	}
}

// stop cancels a job and reports whether it runs here.
func (j *jobs) stop(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cancel := range j.cancel[id] {
		(*cancel)(ErrCancelled)
	}
	return len(j.cancel[id]) > 0
}

// BeginCall makes durable that a writing call was let through: its row of the ledger and, for one that is a job, the job, in
// one transaction. The returned context ends when the job is cancelled; done forgets it.
//
// A call whose key an earlier one has is no job of its own: it Repeats that, and Again answers it.
func (c *Core) BeginCall(ctx context.Context, call *Call, row store.LedgerRow, params any) (_ context.Context, done func(), err error) {
	if call.Job == "" {
		return ctx, func() {}, c.Record(ctx, row, true)
	}
	row.Time, call.key = time.Now(), onceKey(call, params)
	err = c.store.AppendWith(ctx, row, func(tx *store.Tx) error {
		if err := call.claim(ctx, tx); err != nil || call.repeats {
			return err
		}
		_, err := tx.StartJob(ctx, store.Job{ID: call.Job, Verb: call.Verb, Principal: call.Caller.Principal, Token: call.Caller.Token, Face: string(call.Caller.Face), Target: call.Task})
		if err != nil {
			return err
		}
		return noteFiring(ctx, tx, call.Job, call.Task)
	})
	if call.repeats {
		return ctx, func() {}, err
	}
	ctx, done = c.jobs.under(ctx, call.Job)
	return ctx, done, err
}

// EndCall makes durable how a writing call ended: its row of the ledger and, unless it is kept, its job.
func (c *Core) EndCall(ctx context.Context, call *Call, row store.LedgerRow, result json.RawMessage, cause error) error {
	if call.Job == "" || call.repeats {
		return c.Record(ctx, row, true)
	}
	row.Time = time.Now()
	err := c.store.AppendWith(ctx, row, func(tx *store.Tx) error {
		if call.Task != "" {
			if err := tx.SetJobTarget(ctx, call.Job, call.Task); err != nil {
				return err
			}
		}
		if call.kept {
			return tx.SetJobResult(ctx, call.Job, string(result))
		}
		if cause != nil && call.key != nil && !call.spent { // nothing was made: it may be tried again
			if err := tx.DropKey(ctx, *call.key); err != nil {
				return err
			}
		}
		end := jobEnd(cause)
		end.Result = string(result)
		return tx.EndJob(ctx, call.Job, end)
	})
	c.beacon.change()
	return err
}

// jobEnd says how a job ended by the error of what it did.
func jobEnd(cause error) store.JobEnd {
	switch {
	case cause == nil:
		return store.JobEnd{State: store.JobDone, Outcome: "ok"}
	case errors.Is(cause, ErrCancelled):
		return store.JobEnd{State: store.JobCancelled, Outcome: string(fault.Unavailable), Message: sentence(cause)}
	}
	return store.JobEnd{State: store.JobFailed, Outcome: string(fault.CodeOf(cause)), Message: sentence(cause)}
}

// endJob ends a job that its call kept.
func (c *Core) endJob(ctx context.Context, id string, cause error) {
	if id == "" {
		return
	}
	if cause != nil && errors.Is(context.Cause(ctx), ErrCancelled) {
		cause = ErrCancelled // whatever it was that was cut short
	}
	if err := c.store.EndJob(context.WithoutCancel(ctx), id, jobEnd(cause)); err != nil {
		c.log.Error("job could not be ended", "job", id, "err", err)
	}
	c.beacon.change()
}
