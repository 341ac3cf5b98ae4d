package cli

import (
	"bytes"
	"fmt"
	"strings"

	"termic/internal/fault"
)

// defaultDetachKeys leave an attached terminal. No program of note binds Ctrl-\, which else would kill it.
const defaultDetachKeys = `ctrl-\`

// modifiers are the numbers with which terminals report "control is held" in their extended key reports: alone, and
// with caps lock, num lock or both switched on.
var modifiers = []int{5, 69, 133, 197}

// detachKeys finds the keys that detach in what the person types, and holds back what may become them.
type detachKeys struct {
	keys [][][]byte // for each key in order, the byte sequences by which terminals send it
	next int        // how many keys were seen
	held []byte     // the bytes of those keys, and of a part of the next
	part []byte     // the part of the next key, at the end of held
}

// parseDetachKeys reads keys such as ctrl-\ or ctrl-p,ctrl-q or a letter.
func parseDetachKeys(spec string) (*detachKeys, error) {
	d := &detachKeys{}
	for _, name := range strings.Split(spec, ",") {
		key, err := keyBytes(name)
		if err != nil {
			return nil, err
		}
		d.keys = append(d.keys, key)
	}
	return d, nil
}

// keyBytes lists what a terminal may send for a key: the old control byte, and the reports that programs can switch
// on (CSI u and modifyOtherKeys), without which a person could not leave such a program.
func keyBytes(name string) ([][]byte, error) {
	bad := fault.New(fault.InvalidArgument, "--detach-keys does not know the key %q", clean(name)).
		WithHint(`Keys are letters or ctrl-a to ctrl-z, ctrl-@, ctrl-[, ctrl-\, ctrl-], ctrl-^, ctrl-_, joined by commas.`)
	if len(name) == 1 && name[0] > ' ' && name[0] < 0x7f {
		return [][]byte{{name[0]}}, nil
	}
	rest, ok := strings.CutPrefix(strings.ToLower(name), "ctrl-")
	if !ok || len(rest) != 1 {
		return nil, bad
	}
	c := rest[0]
	if !(c >= 'a' && c <= 'z') && !strings.ContainsRune(`@[\]^_`, rune(c)) {
		return nil, bad
	}
	out := [][]byte{{c & 0x1f}}
	for _, m := range modifiers {
		out = append(out, fmt.Appendf(nil, "\x1b[%d;%du", c, m), fmt.Appendf(nil, "\x1b[%d;%d:1u", c, m),
			fmt.Appendf(nil, "\x1b[27;%d;%d~", m, c))
	}
	return out, nil
}

// feed takes what was typed and returns what goes to the program, and whether the keys were completed; what follows
// them is dropped. A part of an escape sequence is not held beyond what was read at once, or the escape key itself
// would wait for the next key.
func (d *detachKeys) feed(in []byte) (out []byte, detached bool) {
	for _, b := range in {
		if out, detached = d.push(out, b); detached {
			return out, true
		}
	}
	if len(d.part) > 0 && d.part[0] == '\x1b' {
		out = append(out, d.held...)
		d.reset()
	}
	return out, false
}

// push takes one byte and appends what is not the detach keys.
func (d *detachKeys) push(out []byte, b byte) ([]byte, bool) {
	d.held, d.part = append(d.held, b), append(d.part, b)
	full, begun := d.match()
	switch {
	case full:
		d.next, d.part = d.next+1, nil
		return out, d.next == len(d.keys)
	case begun:
		return out, false
	}
	// Not these keys. The first byte goes out; a new start may hide in the rest.
	rest := d.held[1:]
	out = append(out, d.held[0])
	d.reset()
	for _, b := range rest {
		var done bool
		if out, done = d.push(out, b); done {
			return out, true
		}
	}
	return out, false
}

func (d *detachKeys) reset() { d.next, d.held, d.part = 0, nil, nil }

// match compares the part with the next key.
func (d *detachKeys) match() (full, begun bool) {
	for _, form := range d.keys[d.next] {
		if bytes.Equal(form, d.part) {
			return true, true
		}
		begun = begun || bytes.HasPrefix(form, d.part)
	}
	return false, begun
}
