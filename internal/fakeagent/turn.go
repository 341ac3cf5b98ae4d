package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// step is a part of a turn: after wait, do is done.
type step struct {
	wait time.Duration
	do   func()
}

// frame is the pace of the spinner.
const frame = 50 * time.Millisecond

// after queues a step behind what is left of the turn.
func (a *agent) after(wait time.Duration, s step) {
	s.wait = wait
	a.steps = append(a.steps, s)
	if len(a.steps) == 1 {
		a.timer.Reset(wait)
	}
}

// next does the step that is due.
func (a *agent) next() {
	if len(a.steps) == 0 {
		return
	}
	s := a.steps[0]
	a.steps = a.steps[1:]
	if s.do != nil {
		s.do()
	}
	if len(a.steps) > 0 && a.dialog == nil {
		a.timer.Reset(a.steps[0].wait)
	}
}

// submit sends what stands in the field.
func (a *agent) submit() {
	body := append([]byte(nil), a.field...)
	a.field = nil
	if len(body) == 0 {
		return
	}
	if a.manner[commands] && strings.ContainsRune("/!#@", rune(body[0])) {
		a.record(Record{Event: "command", Prompt: body})
		a.say("command " + string(body))
		return
	}
	a.prompts++
	a.record(Record{N: a.prompts, Prompt: body})
	a.session.add(body)
	a.say("> " + short(string(body)))
	if a.manner[asksOnFirst] && a.prompts == 1 {
		a.ask(&dialog{name: "trust", rows: []string{"Do you trust the contents of this directory?"}, options: []string{"Trust and continue", "Quit"}, foot: "Press enter to continue",
			on: func(choice int) {
				if choice == 1 {
					a.over = true
					return
				}
				a.turn(string(body))
			}})
		return
	}
	a.turn(string(body))
}

// short keeps the transcript small.
func short(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}

// turn works on a prompt.
func (a *agent) turn(body string) {
	if a.working {
		a.after(frame, step{do: func() { a.turn(body) }})
		return
	}
	a.begin()
	plan := parseDirectives(body)
	reply := fmt.Sprintf("done with prompt %d", a.prompts)
	if plan.work == 0 {
		plan.work = 3 * frame
	}
	a.spinFor(plan.work)
	for _, d := range plan.do {
		d := d
		a.after(0, step{do: func() { d(a) }})
	}
	if plan.say != "" {
		reply = plan.say
	}
	a.after(0, step{do: func() { a.finish(reply, plan) }})
}

// begin enters the working state.
func (a *agent) begin() {
	a.working = true
	a.report("working", "", "")
	a.setTitle("⠋ fakeagent")
	if a.manner[progress] {
		fmt.Fprint(a.out, "\x1b]9;4;3\x1b\\")
	}
	if a.manner[shellMarks] {
		fmt.Fprint(a.out, "\x1b]133;C\x1b\\")
	}
	a.draw()
}

// spinFor works for a while.
func (a *agent) spinFor(d time.Duration) {
	for ; d > 0; d -= frame {
		a.after(frame, step{do: func() {
			a.spin++
			a.setTitle(string([]rune("⠋⠙⠹⠸")[a.spin%4]) + " fakeagent")
			a.draw()
		}})
	}
}

// finish ends a turn.
func (a *agent) finish(reply string, p plan) {
	a.say("● " + reply)
	a.session.reply(reply)
	hold := p.pending
	if hold == 0 && a.manner[pending] {
		hold = a.o.delay
	}
	if hold > 0 {
		a.notes = []string{"  Waiting for 2 background agents to finish"}
		a.after(hold, step{do: func() { a.notes = nil; a.draw() }})
	}
	a.rested("done")
	if p.stage || a.manner[staged] {
		a.after(a.o.delay, step{do: a.begin})
		a.spinFor(4 * frame)
		a.after(0, step{do: func() { a.say("● really done"); a.rested("done") }})
	}
}

// rested enters the resting state.
func (a *agent) rested(how string) {
	a.working = false
	a.draw()
	a.report(how, "", "")
	a.setTitle("✳ fakeagent")
	if a.manner[progress] {
		fmt.Fprint(a.out, "\x1b]9;4;0\x1b\\")
	}
	if a.manner[shellMarks] {
		if how == "done" {
			fmt.Fprint(a.out, "\x1b]133;D;0\x1b\\")
		}
		fmt.Fprint(a.out, "\x1b]133;A\x1b\\\x1b]133;B\x1b\\")
	}
	if a.manner[notify] && how == "done" {
		fmt.Fprint(a.out, "\x1b]9;turn is over\x07")
	}
}

// report sends a status report to a terminal that understands it.
func (a *agent) report(state, why, msg string) {
	if !a.reports || !a.manner[status] && !a.manner[statusFirst] {
		return
	}
	s := "\x1b]7501;state=" + state + ":app=fakeagent"
	if why != "" {
		s += ":kind=" + why
	}
	if msg != "" {
		s += ":msg=" + base64.StdEncoding.EncodeToString([]byte(msg))
	}
	fmt.Fprint(a.out, s+"\x1b\\")
}

// setTitle sets the window title, ended by BEL as most programs do.
func (a *agent) setTitle(s string) {
	if a.manner[title] {
		fmt.Fprintf(a.out, "\x1b]0;%s\x07", s)
	}
}
