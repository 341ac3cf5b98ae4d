package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/inlet"
)

// stream is one answer of server-sent events.
type stream struct {
	s   *Server
	w   http.ResponseWriter
	out *http.ResponseController
}

func (s *Server) stream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // from here on a read only tells whether the client is still there
	return &stream{s, w, out}
}

// send writes one event. data is JSON, so it has no line breaks.
func (t *stream) send(id, event string, data []byte) error {
	if err := t.out.SetWriteDeadline(time.Now().Add(t.s.o.Limits.Write)); err != nil {
		return err
	}
	text := ""
	if id != "" {
		text = "id: " + id + "\n"
	}
	if _, err := fmt.Fprintf(t.w, "%sevent: %s\ndata: %s\n\n", text, event, data); err != nil {
		return err
	}
	return t.out.Flush()
}

// beat shows that the stream lives.
func (t *stream) beat() error {
	if err := t.out.SetWriteDeadline(time.Now().Add(t.s.o.Limits.Write)); err != nil {
		return err
	}
	if _, err := t.w.Write([]byte(":\n\n")); err != nil {
		return err
	}
	return t.out.Flush()
}

// wait waits for a change, beating meanwhile, and then a moment for others to gather. The error is why the stream ends.
func (t *stream) wait(ctx context.Context, changed <-chan struct{}) error {
	tick := time.NewTicker(t.s.o.Limits.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if err := t.beat(); err != nil {
				return err
			}
		case <-changed:
			inlet.Pause(ctx, t.s.o.Limits.Pause)
			return context.Cause(ctx)
		}
	}
}

// end says why a stream ends, where there is anybody to tell it.
func (t *stream) end(err error) {
	if f := new(fault.Error); errors.As(err, &f) {
		_ = t.send("", "error", inlet.JSON(failureOf(f))) // a client that went away needs no word
	}
}

// changes tells that something changed, without saying what: the page asks for what it shows.
func (s *Server) changes(w http.ResponseWriter, r *http.Request, _ who) {
	t := s.stream(w)
	for {
		_, changed := s.o.Backend.Watch()
		if err := t.send("", "change", []byte("{}")); err != nil {
			return
		}
		if err := t.wait(r.Context(), changed); err != nil {
			t.end(err)
			return
		}
	}
}

// jobEvents tells the steps of a job as they come, then the job, and ends. Each look is a call of the verb like any other, so
// what the token may see is asked again each time.
func (s *Server) jobEvents(w http.ResponseWriter, r *http.Request, me who) {
	last, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64) // without one all of them are told
	job := inlet.JSON(api.JobParams{Job: r.PathValue("job")})
	var t *stream
	for {
		_, changed := s.o.Backend.Watch()
		// In this order: a job that has ended has no further steps.
		now, err := s.o.Backend.Call(r.Context(), me.Caller, "job_get", job, nil)
		var steps json.RawMessage
		if err == nil {
			steps, err = s.o.Backend.Call(r.Context(), me.Caller, "job_events", job, nil)
		}
		if err != nil && t == nil {
			s.refuse(w, fault.From(err))
			return
		}
		if t == nil {
			t = s.stream(w)
		}
		if err == nil {
			err = t.steps(steps, &last)
		}
		if err == nil && ended(now) {
			_ = t.send("", "job", now) // nothing more to do for one that went away
			return
		}
		if err == nil {
			err = t.wait(r.Context(), changed)
		}
		if err != nil {
			t.end(err)
			return
		}
	}
}

// steps sends those that are newer than the last one.
func (t *stream) steps(raw json.RawMessage, last *int64) error {
	var r api.JobEventsResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	for _, e := range r.Events {
		if e.Seq <= *last {
			continue
		}
		if err := t.send(strconv.FormatInt(e.Seq, 10), "step", inlet.JSON(e)); err != nil {
			return err
		}
		*last = e.Seq
	}
	return nil
}

// ended reports whether a job is over.
func ended(raw json.RawMessage) bool {
	var r api.JobResult
	return json.Unmarshal(raw, &r) == nil && r.Job.State != api.JobRunning && r.Job.State != "waiting"
}

func parseQuery(raw string) (url.Values, error) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidArgument, "The query cannot be read")
	}
	return q, nil
}
