package sandbox

import (
	"slices"
	"strings"

	"termic/internal/fault"
)

// Mode is how a task is caged, from open to tight. The names are those of the command line and of the store.
type Mode string

// The modes.
const (
	Off       Mode = "off"        // no cage
	Monitor   Mode = "monitor"    // no cage; what a cage would refuse is recorded
	EnforceFs Mode = "enforce-fs" // only the granted files; any host
	Enforce   Mode = "enforce"    // only the granted files and hosts
)

// Modes lists all modes in order.
var Modes = []Mode{Off, Monitor, EnforceFs, Enforce}

// ParseMode reads a mode. The empty string is not a mode: a caller chooses its default knowingly.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); slices.Contains(Modes, m) {
		return m, nil
	}
	names := make([]string, len(Modes))
	for i, m := range Modes {
		names[i] = string(m)
	}
	return "", fault.New(fault.InvalidArgument, "%q is not a sandbox mode", s).WithHint("Use one of: %s.", strings.Join(names, ", "))
}
