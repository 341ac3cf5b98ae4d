package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// agent is the program. One goroutine, run, owns all of it; a second one reads the terminal and ends with the process.
type agent struct {
	o       options
	manner  map[string]bool
	out     *bufio.Writer
	in      input
	field   []byte   // what stands in the input field
	history []string // rows of the transcript
	dialog  *dialog  // open question
	notes   []string // rows above the field: background work
	session *session
	born    time.Time
	prompts int

	reports  bool // status reports are understood by the terminal
	working  bool
	spin     int
	steps    []step // what is left of the turn
	timer    *time.Timer
	shown    bool // the field is on the screen
	shell    bool // a shell stands in its place
	exitCode int
	over     bool
}

func newAgent(o options) (*agent, error) {
	s, err := openSession(o)
	if err != nil {
		return nil, err
	}
	return &agent{o: o, manner: o.manner, out: bufio.NewWriterSize(os.Stdout, 64<<10), session: s, born: time.Now(), timer: time.NewTimer(time.Hour)}, nil
}

// run is the whole program; it returns the exit status.
func (a *agent) run() int {
	if a.manner[cooked] {
		return a.runCooked()
	}
	if old, err := term.MakeRaw(int(os.Stdin.Fd())); err == nil {
		defer term.Restore(int(os.Stdin.Fd()), old)
	}
	defer a.out.Flush()
	ends := make(chan os.Signal, 4)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	resized := winch()
	reads := make(chan []byte)
	go readAll(os.Stdin, reads)
	a.start()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	if !a.manner[ticking] {
		tick.Stop()
	}
	for !a.over {
		a.out.Flush()
		select {
		case b, ok := <-reads:
			if !ok {
				a.over = true
				break
			}
			a.read(b)
		case <-a.timer.C:
			a.next()
		case <-resized:
			a.draw()
		case <-tick.C:
			a.draw()
		case <-ends:
			a.over = true
		}
	}
	a.report("clear", "", "")
	if a.shown && !a.shell {
		fmt.Fprint(a.out, "\x1b[?2004l\x1b[?1049l\x1b[?25h")
	}
	return a.exitCode
}

// readAll hands on what each read of the terminal gives, so that bursts stay what they were.
func readAll(r io.Reader, to chan<- []byte) {
	for {
		buf := make([]byte, 64<<10)
		n, err := r.Read(buf)
		if n > 0 {
			to <- buf[:n]
		}
		if err != nil {
			close(to)
			return
		}
	}
}

// start paints the first screen.
func (a *agent) start() {
	if a.manner[status] {
		fmt.Fprint(a.out, "\x1b]7501;?\x07\x1b[c")
	}
	if a.manner[statusFirst] {
		a.reports = true
		a.report("working", "", "")
	}
	if a.manner[title] {
		a.setTitle("⠋ starting") // a splash spinner: no work
	}
	switch {
	case a.manner[dropsFirst]:
		fmt.Fprint(a.out, "fakeagent is starting\r\n")
		a.after(a.o.delay, step{do: a.show})
	case a.manner[banner]:
		fmt.Fprint(a.out, "Last login: Mon Jan  1 00:00:00\r\nWelcome to this machine.\r\n")
		a.after(a.o.delay, step{do: a.show})
	case a.manner[update]:
		a.show()
		a.ask(&dialog{name: "update", rows: []string{"Update available! 1.0 -> 2.0"}, options: []string{"Update now", "Skip", "Skip until next version"}, foot: "Press enter to continue",
			on: func(choice int) {
				if choice == 0 {
					a.over, a.exitCode = true, 3
				}
			}})
	case a.manner[trust]:
		a.show()
		a.ask(&dialog{name: "trust", rows: []string{"Do you trust the files in this folder?"}, options: []string{"No, exit", "Yes, proceed"}, foot: "Enter to confirm",
			on: func(choice int) {
				if choice == 0 {
					a.over, a.exitCode = true, 1
				}
			}})
	default:
		a.show()
	}
}

// show puts the field on the screen.
func (a *agent) show() {
	a.shown = true
	modes := "\x1b[?1049h\x1b[2J"
	if !a.manner[plain] {
		modes += "\x1b[?2004h"
	}
	fmt.Fprint(a.out, modes)
	a.say("fakeagent " + strings.Join(a.o.argv, " "))
	a.say(a.session.greeting())
	a.draw()
	a.rested("idle")
}

// read takes what one read of the terminal gave.
func (a *agent) read(b []byte) {
	drop := (a.manner[dropsFirst] || a.manner[deaf]) && time.Since(a.born) < a.o.delay
	for _, ev := range a.in.feed(b) {
		typed := ev.kind != key && ev.kind != answer // the terminal's own answers are nobody's input
		switch {
		case typed && drop:
			continue
		case typed && !a.shown:
			a.record(Record{Event: "early", Prompt: ev.text})
			continue
		}
		a.event(ev, len(b) == 1)
		if a.over {
			return
		}
	}
	a.draw()
}

// event takes one key or piece of text; alone says that it was the only byte of its read.
func (a *agent) event(ev event, alone bool) {
	switch {
	case a.shell:
		if ev.kind == keyEnter {
			a.record(Record{Event: "shell-ran", Prompt: a.field})
			a.field = nil
			return
		}
		a.field = append(a.field, ev.text...)
		return
	case ev.kind == keyInterrupt:
		a.over = true
		return
	case ev.kind == answer:
		a.reports = true
		if a.shown {
			a.rested("idle")
		}
		return
	case a.dialog != nil:
		a.dialogKey(ev)
		return
	}
	switch ev.kind {
	case text, paste:
		a.typed(ev)
	case keyErase:
		if len(a.field) > 0 {
			r := []rune(string(a.field))
			a.field = []byte(string(r[:len(r)-1]))
		}
	case keyEnter:
		if a.manner[crWindow] && time.Since(a.in.lastText) < a.o.window || a.manner[bursts] && !alone {
			return
		}
		a.submit()
	}
}

// typed puts text into the field.
func (a *agent) typed(ev event) {
	a.field = append(a.field, ev.text...)
	switch {
	case a.manner[exits]:
		a.over, a.exitCode = true, 4
	case a.manner[toShell]:
		a.shell, a.field = true, nil
		fmt.Fprint(a.out, "\x1b[?2004l\x1b[?1049l\r\nuser@host:~$ ")
	case a.manner[statusFirst] && a.prompts > 0 && !a.working:
		a.report("idle", "", "")
	}
}

// runCooked is the manner of a program that leaves line editing to the terminal.
func (a *agent) runCooked() int {
	fmt.Fprint(a.out, "ready> ")
	a.out.Flush()
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		a.prompts++
		a.record(Record{N: a.prompts, Prompt: []byte(strings.TrimSuffix(line, "\n"))})
		fmt.Fprintf(a.out, "ok %d\nready> ", a.prompts)
		a.out.Flush()
	}
}
