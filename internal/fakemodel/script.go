package fakemodel

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// script is what a prompt asks for.
type script struct {
	steps []step
	last  hold // before the final text
	say   *string
}

// step is one tool call.
type step struct {
	tool  string
	input json.RawMessage
	hold  hold
}

// hold is what happens before an answer.
type hold struct {
	sleep time.Duration
	until []string // names of holds
	fail  int      // HTTP status; zero = none
}

// Patterns of the lines of a script. A line may be indented: agents and deliveries put blanks before it.
var (
	callLine  = regexp.MustCompile(`^CALL\s+(\S+)\s*(.*)$`)
	sleepLine = regexp.MustCompile(`^SLEEP\s+(\d+)$`)
	holdLine  = regexp.MustCompile(`^HOLD\s+(\S+)$`)
	failLine  = regexp.MustCompile(`^FAIL\s+([45]\d\d)$`)
	sayLine   = regexp.MustCompile(`^SAY\s+(.*)$`)
)

// parseScript reads a prompt. Lines that are no step mean nothing, so any text is a script.
func parseScript(text string) script {
	var s script
	var h hold
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if m := callLine.FindStringSubmatch(line); m != nil {
			s.steps = append(s.steps, step{tool: m[1], input: inputOf(m[2]), hold: h})
			h = hold{}
		} else if m := sleepLine.FindStringSubmatch(line); m != nil {
			ms, _ := strconv.Atoi(m[1]) // only too many digits fail, and then it is the greatest number
			h.sleep += time.Duration(min(ms, int(maxSleep/time.Millisecond))) * time.Millisecond
		} else if m := holdLine.FindStringSubmatch(line); m != nil {
			h.until = append(h.until, m[1])
		} else if m := failLine.FindStringSubmatch(line); m != nil {
			h.fail, _ = strconv.Atoi(m[1]) // three digits
		} else if m := sayLine.FindStringSubmatch(line); m != nil {
			s.say = &m[1]
		}
	}
	s.last = h
	return s
}

// maxSleep bounds one SLEEP: clients give up long before.
const maxSleep = time.Hour

// inputOf is the input of a call: JSON, or an object that holds what was no JSON, so that the mistake shows.
func inputOf(s string) json.RawMessage {
	if s == "" {
		return json.RawMessage(`{}`)
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	bad, _ := json.Marshal(map[string]string{"not_json": s}) // strings always encode
	return bad
}

// answer is what the model says next.
type answer struct {
	hold   hold
	text   string          // used when tool is empty
	tool   string          // as the client names it
	space  string          // namespace of the tool, where the client has namespaces
	search string          // a search for deferred tools, where the client has one of its own
	input  json.RawMessage // of the tool
}

// next chooses the answer from a script, the number of tool results that came since, and the newest of them.
func (s script) next(done int, result *string) (step, bool, string) {
	if done < len(s.steps) {
		return s.steps[done], true, ""
	}
	switch {
	case s.say != nil && result != nil:
		return step{}, false, strings.ReplaceAll(*s.say, "{{result}}", *result)
	case s.say != nil:
		return step{}, false, strings.ReplaceAll(*s.say, "{{result}}", "")
	case result != nil:
		return step{}, false, "FINAL: " + *result
	}
	return step{}, false, "HELLO"
}
