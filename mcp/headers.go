package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"
)

// The headers that repeat what the body says.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// single returns the value of a header that must be there exactly once, in visible characters. Two lines of one name
// are refused even if they agree: another reader could take the other one.
func single(h http.Header, name string) (string, bool) {
	lines := h[name]
	if len(lines) != 1 || lines[0] == "" {
		return "", false
	}
	for _, c := range []byte(lines[0]) {
		if c < ' ' && c != '\t' || c > '~' {
			return "", false
		}
	}
	return lines[0], true
}

// The marks around a value that a header cannot hold as it is. They are exact: a value with only one of them, or in
// other letters, means itself.
const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// unwrap decodes a header value: between the marks is UTF-8 in base64, with padding, without line breaks and without
// stray bits; anything else between them is refused.
func unwrap(value string) (string, bool) {
	inner, ok := strings.CutPrefix(value, sentinelStart)
	if !ok {
		return value, true
	}
	if inner, ok = strings.CutSuffix(inner, sentinelEnd); !ok {
		return value, true
	}
	if strings.ContainsAny(inner, "\r\n") { // the decoder would skip them
		return "", false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}
