// Package linux holds what a Linux desktop is told of Termic; here it is tested.
package linux

import (
	"os"
	"strings"
	"testing"

	"termic/internal/link"
)

// TestTheDesktopEntryHandsLinksOver: what the desktop runs for a link is the program with that link, and nothing else.
func TestTheDesktopEntryHandsLinksOver(t *testing.T) {
	text, err := os.ReadFile("termic.desktop")
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i == 0 {
			if line != "[Desktop Entry]" {
				t.Fatalf("it begins with %q", line)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || entry[key] != "" || value == "" {
			t.Errorf("the line %q", line)
		}
		entry[key] = value
	}
	for key, want := range map[string]string{"Type": "Application", "Name": "Termic", "Exec": "termic %u", "Terminal": "false",
		"MimeType": "x-scheme-handler/" + link.Scheme + ";", "StartupWMClass": "termic"} {
		if entry[key] != want {
			t.Errorf("%s is %q, want %q", key, entry[key], want)
		}
	}
	for _, bad := range []string{"--no-sandbox", "--disable-gpu", "sh -c", "Hidden", "NoDisplay"} { // G9
		if strings.Contains(string(text), bad) {
			t.Errorf("it has %q", bad)
		}
	}
}
