package app

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"termic/internal/api"
	"termic/internal/store"
	"termic/settings"
)

// notice is one thing that the desktop tells a person who does not look at the window.
type notice struct {
	ID    string // unique for each event
	Title string
	Body  string
	Task  string // id of the task to show when the person follows it
}

// sameEvent is how soon the same state of the same agent counts as the event that was told already: an agent's signs
// can waver for a moment while its screen is drawn anew.
const sameEvent = 10 * time.Second

// maxBody is how many characters of an agent's own words are told.
const maxBody = 160

// States of an agent of which a person may be told.
const (
	eventWaits  = "waits"
	eventDone   = "done"
	eventFailed = "failed"
)

// teller decides of what a person is told. It has the whole decision and nothing else: no clock, no window, no desktop.
// What happens while the person looks, or of what they want to hear nothing, is over: it is not told later.
type teller struct {
	began bool
	n     int
	was   map[string]string    // event by tab, or by task that could not be made
	told  map[string]time.Time // when an event of a tab was last there, by tab, event and words
}

// news returns what to tell now. The first call only takes note of how things stand: a start is no event.
func (t *teller) news(tasks []api.TaskDetail, looking bool, wants settings.Notify, now time.Time) []notice {
	var out []notice
	is := map[string]string{}
	for _, task := range tasks {
		for _, e := range eventsOf(task) {
			is[e.of] = e.kind
			again := t.repeats(e, now)
			if e.kind == "" || t.was[e.of] == e.kind || again || !t.began || looking || !wanted(wants, e.kind) {
				continue
			}
			t.n++
			out = append(out, notice{ID: fmt.Sprintf("%s-%d", e.of, t.n), Title: e.title(task), Body: e.body(task), Task: task.ID})
		}
	}
	t.was, t.began = is, true
	for key, at := range t.told {
		if now.Sub(at) > sameEvent {
			delete(t.told, key)
		}
	}
	return out
}

// repeats reports whether an event was there a moment ago, and takes note that it is.
func (t *teller) repeats(e event, now time.Time) bool {
	if e.kind == "" {
		return false
	}
	if t.told == nil {
		t.told = map[string]time.Time{}
	}
	key := e.of + "\x00" + e.kind + "\x00" + e.words
	at, was := t.told[key]
	t.told[key] = now
	return was && now.Sub(at) <= sameEvent
}

func wanted(w settings.Notify, kind string) bool {
	switch kind {
	case eventWaits:
		return w.NeedsInput
	case eventDone:
		return w.Done
	default:
		return w.Failed
	}
}

// event is how one agent stands; its kind is empty where there is nothing to tell.
type event struct {
	of    string // id of the tab, or of the task
	kind  string
	words string // the agent's own, or how it ended
}

// eventsOf tells how the agents of a task stand. Shells are the person's own: their end is no news.
func eventsOf(task api.TaskDetail) []event {
	if task.State == api.TaskFailed {
		return []event{{of: task.ID, kind: eventFailed, words: "It could not be made"}}
	}
	var out []event
	for _, tab := range task.Tabs {
		if tab.Kind != store.TabAgent {
			continue
		}
		e := event{of: tab.ID}
		switch {
		case tab.Live && tab.State == api.WorkNeedsInput:
			e.kind, e.words = eventWaits, tab.Detail
		case tab.Live && tab.State == api.WorkDone:
			e.kind = eventDone
		case !tab.Live && tab.Exit != nil && tab.Exit.Signal != "":
			e.kind, e.words = eventFailed, "Its agent was ended by "+tab.Exit.Signal
		case !tab.Live && tab.Exit != nil && tab.Exit.Code != 0:
			e.kind, e.words = eventFailed, fmt.Sprintf("Its agent exited with %d", tab.Exit.Code)
		}
		out = append(out, e)
	}
	return out
}

func (e event) title(task api.TaskDetail) string {
	name := "“" + plain(task.Name) + "”"
	switch e.kind {
	case eventWaits:
		return name + " needs input"
	case eventDone:
		return name + " is done"
	default:
		return name + " failed"
	}
}

func (e event) body(task api.TaskDetail) string {
	if e.words == "" {
		return plain(task.Project)
	}
	return plain(task.Project) + " · " + plain(e.words)
}

// plain makes one short line of a text that an agent or a repository chose. Some desktops read markup in what they are
// told, and those that do not would show an escape as it stands, so the signs of markup become ones that look alike.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '&':
			return '＆'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r): // control characters, and those that turn the direction of writing
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxBody {
		return string(runes[:maxBody-1]) + "…"
	}
	return text
}
