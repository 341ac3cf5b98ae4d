package main

// dialog is an open question. Enter takes the marked option, a digit takes its own.
type dialog struct {
	name    string
	rows    []string
	options []string
	foot    string
	at      int
	on      func(choice int)
}

// ask opens a question.
func (a *agent) ask(d *dialog) {
	a.dialog = d
	a.draw()
}

// dialogKey takes a key while a question is open. Text that is no digit is thrown away, as menus do.
func (a *agent) dialogKey(ev event) {
	d := a.dialog
	choice := -1
	switch {
	case ev.kind == keyEnter:
		choice = d.at
	case ev.kind == key && string(ev.text) == "\x1b[B":
		d.at = min(d.at+1, len(d.options)-1)
	case ev.kind == key && string(ev.text) == "\x1b[A":
		d.at = max(d.at-1, 0)
	case ev.kind == text && len(ev.text) == 1 && ev.text[0] >= '1' && int(ev.text[0]-'1') < len(d.options):
		choice = int(ev.text[0] - '1')
	}
	if choice < 0 {
		return
	}
	a.record(Record{Event: d.name, Prompt: []byte(d.options[choice])})
	a.dialog = nil
	d.on(choice)
	a.draw()
}
