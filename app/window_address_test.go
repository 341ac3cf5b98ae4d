package app

import (
	"strings"
	"testing"
)

func TestOnlyWebPagesAreOpened(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com/a?b=c&d=%20#e": true,
		"http://127.0.0.1:8080/":            true,
		"HTTPS://EXAMPLE.COM":               true,
		"":                                  false,
		"example.com":                       false,
		"https://":                          false,
		"file:///etc/passwd":                false,
		"javascript:alert(1)":               false,
		"ssh://host/":                       false,
		"-https://example.com":              false,
		"https://example.com/ --new-window": false,
		"https://example.com/\nfile:///":    false,
		"https://example.com/$(id)`id`":     false,
		"https://example.com/" + strings.Repeat("a", 3000): false,
	} {
		if got := webAddress(address); got != want {
			t.Errorf("%.60q: %v", address, got)
		}
	}
}
