package sandbox

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

// TestCheckEntry: what no task could be given is refused when it is written, and each sentence names the list and the entry. What means
// another path in each task passes.
func TestCheckEntry(t *testing.T) {
	h := newHouse(t)
	h.link(h.data, h.home+"/innocent")
	h.link(h.home, h.root+"/me")
	for entry, why := range map[string]string{
		h.root:                   "",
		"$HOME/code":             "",
		"~/code":                 "",
		SSHAgentEntry:            "",
		"$WORKSPACE":             "",
		"$WORKSPACE/out":         "",
		"$HOME":                  "your whole home",
		"~":                      "your whole home",
		h.home:                   "your whole home",
		h.root + "/me":           "your whole home",
		h.data:                   "Termic's own data folder",
		h.data + "/token":        "Termic's own data folder",
		"$HOME/innocent":         "Termic's own data folder",
		"$HOME/innocent/token":   "Termic's own data folder",
		"$HOME/nothing":          "does not exist",
		"code":                   "neither absolute",
		"$WORKSPACEX":            "neither absolute",
		"$SSH_AUTH_SOCK/more":    "neither absolute",
		"$HOME/c*":               "patterns are not understood",
		"regex:^/x":              "patterns are not understood",
		"/usr\n/etc":             "line break",
		"/":                      "that is everything",
		h.home + "/.local/../..": "", // resolved before it is judged
	} {
		err := CheckEntry("the project's list", entry, h.home, h.data)
		if why == "" {
			if err != nil {
				t.Errorf("%q is refused: %v", entry, err)
			}
			continue
		}
		f := fault.From(err)
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(f.Message, why) || !strings.HasPrefix(f.Message, "the project's list") {
			t.Errorf("%q: %v; want a sentence with %q", entry, err, why)
		}
	}
	if runtime.GOOS == "linux" {
		for _, entry := range []string{"/proc", "/proc/self", "/dev", "/dev/null", "/tmp", "/var/tmp"} {
			if err := CheckEntry("the list", entry, h.home, h.data); !strings.Contains(fault.From(err).Message, "a cage has its own") {
				t.Errorf("%q: %v", entry, err)
			}
		}
	}
}

// TestWhatEveryCageHolds: it is there, and it is what a cage that lists nothing has.
func TestWhatEveryCageHolds(t *testing.T) {
	h := newHouse(t)
	read, hosts := BuiltIn("claude")
	if !slices.Contains(read, "/usr") || !slices.Contains(hosts, "anthropic.com") {
		t.Errorf("%q %q", read, hosts)
	}
	p := h.compose()
	for _, root := range read {
		if real, _, err := resolve(root); err != nil || !p.Reads(real) {
			t.Errorf("%s is told, and a cage does not hold it: %v", root, err)
		}
	}
	for _, host := range hosts {
		if _, ok := p.Hosts().Allows(strings.TrimPrefix(host, "*."), 443); !ok && !strings.HasPrefix(host, "*.") {
			t.Errorf("%s is told, and a cage does not reach it", host)
		}
	}
	if _, none := BuiltIn("nobody"); len(none) != 0 {
		t.Errorf("an agent that nobody knows has %q", none)
	}
}
