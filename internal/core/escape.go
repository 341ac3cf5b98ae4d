package core

import (
	"strings"
	"unicode/utf8"
)

// escapedSize is the number of bytes that a rune takes inside a JSON string as encoding/json writes it.
func escapedSize(r rune, n int) int {
	switch {
	case r == '\n' || r == '\r' || r == '\t' || r == '"' || r == '\\' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return 6
	}
	return n
}

// tailEscaped cuts a text from its beginning so that it takes at most limit bytes inside a JSON string.
func tailEscaped(s string, limit int) string {
	for i, size := len(s), 0; i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if size += escapedSize(r, n); size > limit {
			return s[i:]
		}
		i -= n
	}
	return s
}

// headEscaped cuts a text from its end, after a whole line where there is one, so that it takes at most limit bytes
// inside a JSON string.
func headEscaped(s string, limit int) string {
	size := 0
	for i, r := range s {
		if size += escapedSize(r, utf8.RuneLen(r)); size <= limit {
			continue
		}
		if nl := strings.LastIndexByte(s[:i], '\n'); nl >= 0 {
			return s[:nl+1]
		}
		return s[:i]
	}
	return s
}
