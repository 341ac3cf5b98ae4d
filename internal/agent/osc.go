package agent

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// parseOSC tells what the payload of an operating system command means, if it means anything here.
func parseOSC(s string) (Signal, bool) {
	num, rest, _ := strings.Cut(s, ";")
	switch num {
	case "0", "2":
		return Signal{Kind: SigTitle, Text: cleanText(rest)}, true
	case "9":
		return parseOSC9(rest)
	case "133":
		return parseShell(rest)
	case "777":
		return parseNotify777(rest)
	case "1337":
		v, ok := strings.CutPrefix(rest, "RequestAttention=")
		return Signal{Kind: SigAttention, Text: cleanText(v)}, ok && (v == "yes" || v == "once" || v == "fireworks")
	case "7501":
		return parseStatus(rest)
	}
	return Signal{}, false
}

// parseOSC9 tells a progress report from a notification. ConEmu gave the single digits 1 to 12 other meanings, so a
// text that is such a number, alone or before a semicolon, is none.
func parseOSC9(rest string) (Signal, bool) {
	head, tail, more := strings.Cut(rest, ";")
	if head == "4" && more {
		state, pct, _ := strings.Cut(tail, ";")
		n, err := strconv.Atoi(state)
		if err != nil || n < 0 || n > 4 {
			return Signal{}, false
		}
		v, err := strconv.Atoi(pct)
		if err != nil || v < 0 || v > 100 {
			v = -1
		}
		return Signal{Kind: SigProgress, N: n, Pct: v}, true
	}
	if n, err := strconv.Atoi(head); err == nil && n >= 1 && n <= 12 {
		return Signal{}, false
	}
	text := cleanText(rest)
	return Signal{Kind: SigNotify, Text: text}, text != ""
}

// parseShell reads a shell integration mark.
func parseShell(rest string) (Signal, bool) {
	mark, tail, _ := strings.Cut(rest, ";")
	switch mark {
	case "A", "B", "C":
		return Signal{Kind: SigShell, State: mark}, true
	case "D":
		code, _, _ := strings.Cut(tail, ";")
		n, err := strconv.Atoi(code)
		if err != nil {
			n = -1
		}
		return Signal{Kind: SigShell, State: mark, N: n}, true
	}
	return Signal{}, false
}

// parseNotify777 reads "notify;title;body".
func parseNotify777(rest string) (Signal, bool) {
	tail, ok := strings.CutPrefix(rest, "notify;")
	if !ok {
		return Signal{}, false
	}
	title, body, _ := strings.Cut(tail, ";")
	text := cleanText(body)
	if text == "" {
		text = cleanText(title)
	}
	return Signal{Kind: SigNotify, Text: text}, text != ""
}

// parseStatus reads a status report: fields key=value between colons (semicolons are taken too), the message in
// base64. Unknown fields are passed over, an unknown state makes the report void.
func parseStatus(rest string) (Signal, bool) {
	if rest == "?" {
		return Signal{Kind: SigStatusQuery}, true
	}
	s := Signal{Kind: SigStatus}
	for _, f := range strings.FieldsFunc(rest, func(r rune) bool { return r == ':' || r == ';' }) {
		key, v, ok := strings.Cut(f, "=")
		if !ok {
			continue
		}
		switch key {
		case "state":
			s.State = v
		case "app":
			s.App = cleanText(v)
		case "kind":
			s.Why = cleanText(v)
		case "msg":
			s.Text = cleanText(decodeBase64(v))
		}
	}
	switch s.State {
	case "idle", "working", "done", "blocked", "clear":
		return s, true
	}
	return Signal{}, false
}

// decodeBase64 takes both alphabets, with or without padding; what is no base64 gives nothing.
func decodeBase64(v string) string {
	v = strings.TrimRight(v, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := enc.DecodeString(v); err == nil {
			return string(b)
		}
	}
	return ""
}
