package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/datadir"
	"termic/internal/fault"
)

// address finds the app: TERMIC_SOCKET names its socket, else it is in the data folder.
func (r *runner) address() (control.Address, error) {
	if s := r.Getenv("TERMIC_SOCKET"); s != "" {
		return control.AddressAt(s), nil
	}
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return control.Address{}, err
	}
	return control.AddressIn(dir), nil
}

// call runs a verb in the app and prints what comes back.
func (r *runner) call(ctx context.Context, inv invocation) error {
	params, err := r.params(inv)
	if err != nil {
		return err
	}
	if err := r.confirm(inv); err != nil {
		return err
	}
	client, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	data, err := client.Call(ctx, inv.verb.Name, params, r.onEvent)
	if err != nil {
		return r.fileMeant(inv, err)
	}
	if r.exit = outcomeExit(data); inv.verb.Name == "client_verify" {
		r.exit = reportExit(data)
	}
	return r.print(inv, data)
}

func (r *runner) dial(ctx context.Context) (*control.Client, error) {
	addr, err := r.address()
	if err != nil {
		return nil, err
	}
	return control.Dial(ctx, addr)
}

// params makes the verb's parameter object: what was given, and what the command line knows by itself.
func (r *runner) params(inv invocation) (json.RawMessage, error) {
	if err := r.fillIn(inv); err != nil {
		return nil, err
	}
	send := map[string]any{}
	for _, p := range inv.verb.ParamsOn(face) {
		if v, ok := inv.values[p.Name]; ok {
			send[p.Name] = v
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // escaping would make prompts up to six times longer
	if err := enc.Encode(send); err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// onEvent shows progress: as lines of JSON, or as words on standard error.
func (r *runner) onEvent(e api.Event) {
	switch r.global.output {
	case outStream:
		line, err := json.Marshal(e)
		if err == nil {
			fmt.Fprintf(r.Stdout, "%s\n", line)
		}
	case outJSON:
	default:
		if words := progress(e); words != "" && r.news(e) {
			fmt.Fprintf(r.Stderr, "%s\n", words)
		}
	}
}

// news reports whether a person who waits wants to read of an event. Of an agent's states that is when it begins to work and
// when it asks; those in between come and go, and how the wait ended is said in the end.
func (r *runner) news(e api.Event) bool {
	if e.Event != "state" {
		return true
	}
	if e.State != api.WorkWorking && e.State != api.WorkNeedsInput || e.State == r.told {
		return false
	}
	r.told = e.State
	return true
}

// progress puts an event into words; empty for those that tell nothing.
func progress(e api.Event) string {
	switch e.Event {
	case "created":
		if e.Task != nil {
			return "creating " + clean(e.Task.Name)
		}
	case "setup":
		return "setup: " + clean(e.Line)
	case "prompt_queued":
		return "prompt queued"
	case "prompt_delivered":
		return "prompt delivered"
	case "state":
		return "agent: " + stateWords(e.State)
	}
	return ""
}

// reportExit is the exit code of client verify: a script asks whether a client would connect.
func reportExit(data json.RawMessage) int {
	var report api.ClientReport
	if json.Unmarshal(data, &report) == nil && report.OK {
		return fault.ExitOK
	}
	return fault.ExitError
}

// outcomeExit reads the exit code from a result: how a wait ended, or whether apply left conflicts.
func outcomeExit(data json.RawMessage) int {
	var r struct {
		api.WaitOutcome
		Wait   *api.WaitOutcome `json:"wait"`
		Prompt json.RawMessage  `json:"prompt"`
		// Conflicts is on task_apply alone.
		Conflicts []string `json:"conflicts"`
	}
	if json.Unmarshal(data, &r) != nil {
		return fault.ExitOK // a shape that has no outcome, or one of another type
	}
	if len(r.Conflicts) > 0 {
		return fault.ExitConflicts
	}
	outcome := r.Outcome
	if r.Wait != nil {
		outcome = r.Wait.Outcome
	}
	var nested api.TaskSendResult
	if json.Unmarshal(r.Prompt, &nested) == nil && nested.Wait != nil {
		outcome = nested.Wait.Outcome
	}
	switch outcome {
	case api.OutcomeNeedsInput:
		return fault.ExitNeedsInput
	case api.OutcomeTimeout:
		return fault.ExitTimeout
	case api.OutcomeNotDelivered:
		return fault.ExitNotDelivered
	}
	return fault.ExitOK
}

// print writes a result in the form that was asked for.
func (r *runner) print(inv invocation, data json.RawMessage) error {
	if r.global.json() {
		_, err := r.Stdout.Write(append(bytes.Clone(data), '\n'))
		return err
	}
	p := &printer{out: r.Stdout, err: r.Stderr, raw: !isTerminal(r.Stdout), values: inv.values}
	show, ok := renderers()[inv.verb.Name]
	if !ok {
		return fmt.Errorf("no text for the result of %s", inv.verb.Name)
	}
	if err := show(p, data); err != nil {
		return fault.Wrap(err, fault.Internal, "The app's answer to %s could not be read", inv.verb.Name).
			WithHint("The app may be of another version than this command.")
	}
	return p.failed
}

// printLosses lists what a refused call would have destroyed.
func (r *runner) printLosses(f *fault.Error) {
	if files, ok := f.Data["conflicts"].([]any); ok {
		for _, file := range files {
			fmt.Fprintf(r.Stderr, "  conflict: %s\n", clean(fmt.Sprint(file)))
		}
	}
	raw, err := json.Marshal(f.Data["losses"])
	var words []string
	if err == nil && json.Unmarshal(raw, &words) == nil {
		for _, w := range words {
			fmt.Fprintf(r.Stderr, "  %s\n", clean(w))
		}
		return
	}
	var losses []api.Loss
	if err != nil || json.Unmarshal(raw, &losses) != nil {
		return // the data is of another form; --json shows it
	}
	for _, l := range losses {
		fmt.Fprintf(r.Stderr, "  %d %s%s\n", l.Count, clean(l.Kind), some(l.Items, l.Count))
	}
}

// some shows the first items of a longer list.
func some(items []string, count int) string {
	if len(items) == 0 {
		return ""
	}
	s := ": "
	for i, item := range items {
		if i > 0 {
			s += ", "
		}
		s += clean(item)
	}
	if count > len(items) {
		s += ", ..."
	}
	return s
}
