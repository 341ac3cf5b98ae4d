package core

import (
	"context"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TestSendWhileAResumeFails: an agent whose conversation cannot be taken up ends and is started anew. A prompt that is sent
// in between is for the new one, and nobody is told that no agent runs.
func TestSendWhileAResumeFails(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.placed("again", "off", false, store.TabAgent, "fickle")
	tab, err := r.store.UpdateTab(t.Context(), tab.ID, func(t *store.Tab) error { t.SessionID, t.SessionUsed = "c0ffee", true; return nil })
	must(t, err)
	old, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{resume: true})
	must(t, err)
	release, err := r.holdStarts(t.Context(), task.ID) // the new one has to wait
	must(t, err)
	<-old.term.Done()
	if r.liveOf(tab.ID) != nil {
		t.Fatal("it runs again already")
	}
	send := func(p api.TaskSendParams) (api.TaskSendResult, error) {
		p.Task, p.Prompt = task.ID, "hello"
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return r.TaskSend(ctx, r.ownCall(task), p)
	}
	for _, p := range []api.TaskSendParams{{}, {Tab: tab.ID}} {
		if got, err := send(p); err != nil || got.Mode != api.SendQueued || got.TabID != tab.ID {
			t.Errorf("%+v: %+v, %v", p, got, err)
		}
	}
	if _, err := send(api.TaskSendParams{Fresh: true}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second agent: %v", err)
	}
	release()
	r.awaitChange("started again", func() bool { l := r.liveOf(tab.ID); return l != nil && l != old && !r.isStarting(tab.ID) })
	if n := r.queued(tab.ID); n == 0 {
		t.Error("nothing waits for it")
	}
	must(t, r.endTab(t.Context(), r.liveOf(tab.ID), "stopped"))
	if got, err := send(api.TaskSendParams{}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("to an agent that was ended: %+v, %v", got, err)
	}
}
