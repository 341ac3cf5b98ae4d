package sandbox

import (
	"runtime"
	"strings"

	"termic/internal/fault"
)

// An Entry is the place in a list that kept a cage from being composed. It is the datum "entry" of the fault.
type Entry struct {
	Layer string // Layer.Name
	Text  string // as the list has it
	Write bool   // of the list for writing
}

// ofEntry notes on a fault which entry it is about, so that who knows the lists can say how to take it out.
func ofEntry(err error, l Layer, text string, write bool) error {
	return fault.From(err).WithData("entry", Entry{Layer: l.Name, Text: text, Write: write})
}

// CheckEntry refuses at once an entry of a list for reading or writing that Compose would refuse in every task, or that would
// do nothing in any: a path that is not there, a folder that every cage has of its own, Termic's data folder, the home as a
// whole. Entries that mean another path in each task, or after each login, pass. name is how a person knows the list.
func CheckEntry(name, text, home, dataDir string) error {
	if text == SSHAgentEntry || text == "$WORKSPACE" || strings.HasPrefix(text, "$WORKSPACE/") {
		return nil
	}
	c := &composer{w: Wish{GOOS: runtime.GOOS, Home: home, DataDir: dataDir}}
	for _, dir := range []*string{&c.w.Home, &c.w.DataDir} {
		if real, _, err := resolve(*dir); err == nil {
			*dir = real
		}
	}
	l := Layer{Name: name}
	path, _, err := c.find(l, text)
	if err != nil {
		return entryFault(err, l, text)
	}
	if err := c.grantable(l, text, path); err != nil {
		return err
	}
	if path == c.w.Home {
		return fault.New(fault.InvalidArgument, "%s grants %q, your whole home, but the home in a cage is always the task's own", name, text).
			WithHint("Name the folders in your home that the agent needs.")
	}
	return nil
}

// grantable refuses a path that no cage is given.
func (c *composer) grantable(l Layer, text, path string) error {
	if covers(c.w.DataDir, path) {
		return fault.New(fault.InvalidArgument, "%s grants %q, which lies in Termic's own data folder", l.Name, text).
			WithHint("Take it out of the list. No cage may see that folder.")
	}
	if why := c.special(path); why != "" {
		return fault.New(fault.InvalidArgument, "%s grants %q: %s", l.Name, text, why).
			WithHint("Name the folders that the agent needs.")
	}
	return nil
}
