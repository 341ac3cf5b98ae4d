package core

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// JobGet is the verb job_get.
func (c *Core) JobGet(ctx context.Context, call *Call, p api.JobParams) (api.JobResult, error) {
	j, err := c.jobOf(ctx, call.Caller, p.Job)
	if err != nil {
		return api.JobResult{}, err
	}
	return c.oneJob(ctx, call.Caller, j)
}

// oneJob is one job as it is shown, with what it gave.
func (c *Core) oneJob(ctx context.Context, caller grant.Caller, j store.Job) (api.JobResult, error) {
	about, err := c.aboutJobs(ctx, []store.Job{j})
	if err != nil {
		return api.JobResult{}, err
	}
	return api.JobResult{Job: c.viewJob(ctx, caller, j, about, true)}, nil
}

// jobsAbout is what a list of jobs is about beside the jobs themselves.
type jobsAbout struct {
	projects  map[string]bool   // ids of targets that are projects; the others are tasks
	approvals map[string]string // the newest approval of a job, by the id of the job
}

// aboutJobs asks the store once for all of them.
func (c *Core) aboutJobs(ctx context.Context, list []store.Job) (about jobsAbout, err error) {
	ids, targets := make([]string, len(list)), make([]string, len(list))
	for i, j := range list {
		ids[i], targets[i] = j.ID, j.Target
	}
	if about.projects, err = c.store.AreProjects(ctx, targets); err == nil {
		about.approvals, err = c.store.ApprovalsOfJobs(ctx, ids)
	}
	return about, err
}

// JobList is the verb job_list.
func (c *Core) JobList(ctx context.Context, call *Call, p api.JobListParams) (api.JobListResult, error) {
	f := store.JobFilter{State: p.State, Before: strings.ToUpper(p.Before), Limit: int(min(p.Limit, 1000)), Within: reachOf(call.Caller)}
	if p.Task != "" {
		id, err := c.ResolveTask(ctx, call.Caller, api.TaskRef{Task: p.Task}, "job_list")
		if err != nil {
			return api.JobListResult{}, err
		}
		f.Target = id
	}
	list, err := c.store.Jobs(ctx, f)
	if err != nil {
		return api.JobListResult{}, err
	}
	about, err := c.aboutJobs(ctx, list)
	out := make([]api.Job, len(list))
	for i, j := range list {
		out[i] = c.viewJob(ctx, call.Caller, j, about, false)
	}
	return api.JobListResult{Jobs: out}, err
}

// JobEvents is the verb job_events: the steps of one job, or the newest ones of all that the caller may know of.
func (c *Core) JobEvents(ctx context.Context, call *Call, p api.JobEventsParams) (api.JobEventsResult, error) {
	r := api.JobEventsResult{}
	var list []store.JobEvent
	if p.Job == "" {
		var err error
		if list, err = c.store.RecentJobEvents(ctx, reachOf(call.Caller), p.After); err != nil {
			return r, err
		}
	} else {
		j, err := c.jobOf(ctx, call.Caller, p.Job)
		if err != nil {
			return r, err
		}
		if list, err = c.store.JobEvents(ctx, j.ID, p.After); err != nil {
			return r, err
		}
		r.Job = j.ID
	}
	r.Events = make([]api.JobEvent, len(list))
	for i, e := range list {
		r.Events[i] = api.JobEvent{Seq: e.Seq, Time: stamp(e.Time), Kind: e.Kind, Text: c.eventText(ctx, call.Caller, e)}
		if p.Job == "" {
			r.Events[i].Job = e.Job
		}
	}
	return r, nil
}

// JobLog is the verb job_log.
func (c *Core) JobLog(ctx context.Context, call *Call, p api.JobLogParams) (api.JobLogResult, error) {
	j, err := c.jobOf(ctx, call.Caller, p.Job)
	if err != nil {
		return api.JobLogResult{}, err
	}
	list, err := c.store.JobLog(ctx, j.ID, p.After)
	out := make([]api.JobLine, len(list))
	for i, l := range list {
		out[i] = api.JobLine{Seq: l.Seq, Time: stamp(l.Time), Line: l.Line}
	}
	return api.JobLogResult{Job: j.ID, Lines: out}, err
}

// JobWait is the verb job_wait: it answers when the job has ended, or with the job as it is when the time is over.
func (c *Core) JobWait(ctx context.Context, call *Call, p api.JobWaitParams) (api.JobResult, error) {
	until := deadline(call.Caller, p.TimeoutMs, time.Now())
	for {
		_, changed := c.beacon.watch()
		j, err := c.jobOf(ctx, call.Caller, p.Job)
		if err != nil {
			return api.JobResult{}, err
		}
		if ended(j) || !until.IsZero() && !time.Now().Before(until) {
			return c.oneJob(ctx, call.Caller, j)
		}
		if err := c.pause(ctx, changed, until); err != nil {
			return api.JobResult{}, err
		}
	}
}

// cancelPatience is how long job_cancel waits for the end of what it cancelled.
const cancelPatience = 10 * time.Second

// JobCancel is the verb job_cancel: a prompt that waits is taken out of its queue, and what runs is cut short where that
// leaves nothing half done. It answers with the job as it is then; one that has ended is a conflict.
func (c *Core) JobCancel(ctx context.Context, call *Call, p api.JobParams) (api.JobResult, error) {
	j, err := c.jobOf(ctx, call.Caller, p.Job)
	if err != nil {
		return api.JobResult{}, err
	}
	if j.State == store.JobWaiting {
		return c.withdraw(ctx, call, j)
	}
	if ended(j) {
		return api.JobResult{}, fault.New(fault.Conflict, "The job has ended: %s", j.State)
	}
	queued, err := c.cancelPromptOf(ctx, j.ID, call.Caller)
	if err != nil {
		return api.JobResult{}, err
	}
	if !queued && !c.jobs.stop(j.ID) {
		return api.JobResult{}, fault.New(fault.Conflict, "The job cannot be cancelled any more").WithHint("Look at it again in a moment.")
	}
	return c.JobWait(ctx, call, api.JobWaitParams{Job: j.ID, TimeoutMs: cancelPatience.Milliseconds()})
}

func ended(j store.Job) bool { return j.State != store.JobRunning && j.State != store.JobWaiting }

// withdraw takes back what a waiting job asked for.
func (c *Core) withdraw(ctx context.Context, call *Call, j store.Job) (api.JobResult, error) {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{Job: j.ID, State: store.ApprovalPending, Limit: 1})
	if err != nil {
		return api.JobResult{}, err
	}
	if len(list) == 0 {
		return api.JobResult{}, fault.New(fault.Conflict, "The job cannot be cancelled any more").WithHint("Look at it again in a moment.")
	}
	by := call.Caller.Principal
	v := store.Verdict{State: store.ApprovalWithdrawn, By: by, On: string(call.Caller.Face), Reason: "Cancelled by " + by}
	if err := c.endPending(ctx, list[0], v, by); err != nil {
		return api.JobResult{}, err
	}
	return c.JobGet(ctx, call, api.JobParams{Job: j.ID})
}

// cancelPromptOf takes the prompt that a job sent out of its queue, and reports whether there was one.
func (c *Core) cancelPromptOf(ctx context.Context, job string, by grant.Caller) (bool, error) {
	p, ok, err := c.store.PromptOfJob(ctx, job)
	if err != nil || !ok {
		return false, err
	}
	err = c.store.SetPromptState(ctx, p.ID, store.PromptCancelled, "cancelled by "+by.Principal, store.PromptQueued)
	if fault.CodeOf(err) == fault.Conflict {
		return false, fault.New(fault.Conflict, "The prompt is being typed, so it cannot be cancelled any more")
	}
	c.beacon.change()
	return err == nil, err
}

// reachOf bounds the jobs and approvals that a caller may know of: those about its projects and those that it asked for. nil is every job.
func reachOf(caller grant.Caller) *store.JobReach {
	if !bounded(caller) {
		return nil
	}
	return &store.JobReach{Projects: caller.Projects, Token: caller.Token}
}

// jobOf finds a job that a caller may know of: one about what it reaches, or one that it asked for. Any other answers as one
// that does not exist.
func (c *Core) jobOf(ctx context.Context, caller grant.Caller, id string) (store.Job, error) {
	f := store.JobFilter{ID: strings.ToUpper(id), Limit: 1, Within: reachOf(caller)}
	list, err := c.store.Jobs(ctx, f)
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "There is no job %q", id).WithHint("job_list shows those of the last 30 days.")
	}
	if err != nil {
		return store.Job{}, err
	}
	return list[0], nil
}

// viewJob shows a job to a caller. What a call gave was cut to whoever made it, so a caller from whom something is hidden is
// told only what its own calls gave.
func (c *Core) viewJob(ctx context.Context, caller grant.Caller, j store.Job, about jobsAbout, result bool) api.Job {
	v := api.Job{ID: j.ID, Verb: j.Verb, Principal: c.asker(ctx, caller, j), Face: j.Face, State: j.State, Outcome: j.Outcome, Message: j.Message,
		Started: stamp(j.Started), Ended: stamp(j.Ended)}
	if about.projects[j.Target] {
		v.ProjectID = j.Target
	} else {
		v.TaskID = j.Target
	}
	v.Approval = about.approvals[j.ID]
	if result && j.Result != "" && (!bounded(caller) || caller.Token != "" && caller.Token == j.Token) {
		v.Result = json.RawMessage(j.Result)
	}
	return v
}

// eventText is what an event says, without the task that asked where the caller may not know of it.
func (c *Core) eventText(ctx context.Context, caller grant.Caller, e store.JobEvent) string {
	if !bounded(caller) || !strings.Contains(e.Text, taskPrefix) {
		return e.Text
	}
	j, err := c.store.Job(ctx, e.Job)
	if err != nil {
		return e.Kind // it is gone, and so is who asked
	}
	return strings.ReplaceAll(e.Text, j.Principal, c.asker(ctx, caller, j))
}

// asker is who asked for a job, as a caller may know it: of a task that it may not read, only that it was a task.
func (c *Core) asker(ctx context.Context, caller grant.Caller, j store.Job) string {
	id, isTask := strings.CutPrefix(j.Principal, taskPrefix)
	if !bounded(caller) || !isTask {
		return j.Principal
	}
	if t, err := c.store.Task(ctx, id); err == nil && mayRead(caller, t) {
		return j.Principal
	}
	return "a task"
}
