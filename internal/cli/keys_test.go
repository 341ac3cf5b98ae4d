package cli

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestDetachKeys(t *testing.T) {
	for _, c := range []struct {
		keys  string
		reads []string // what each read gives
		out   string   // what the program gets
		left  bool
	}{
		{`ctrl-\`, []string{"ab\x1ccd"}, "ab", true},
		{`ctrl-\`, []string{"\x03\x03"}, "\x03\x03", false}, // P24: Ctrl-C is the program's
		{`ctrl-\`, []string{"\x1b"}, "\x1b", false},         // the escape key does not wait
		{`ctrl-\`, []string{"\x1b[A\x1b[92;5u"}, "\x1b[A", true},
		{`ctrl-\`, []string{"\x1b\x1b[92;5u"}, "\x1b", true},
		{`ctrl-\`, []string{"\x1b[92;133u"}, "", true},
		{`ctrl-\`, []string{"\x1b[27;5;92~"}, "", true},
		{`ctrl-\`, []string{"\x1b[92;6u"}, "\x1b[92;6u", false},
		{`ctrl-\`, []string{"\x1b[", "A"}, "\x1b[A", false},
		{"ctrl-p,ctrl-q", []string{"\x10", "\x11x"}, "", true},
		{"ctrl-p,ctrl-q", []string{"\x10"}, "", false}, // withheld
		{"ctrl-p,ctrl-q", []string{"\x10", "a"}, "\x10a", false},
		{"ctrl-p,ctrl-q", []string{"\x10\x10", "\x11"}, "\x10", true},
		{"ctrl-p,ctrl-q", []string{"\x1b[112;5u\x1b[113;5u"}, "", true},
		{"a,a,b", []string{"aaab"}, "a", true},
		{"CTRL-A", []string{"\x01"}, "", true},
		{"ctrl-@", []string{"\x00"}, "", true},
	} {
		d, err := parseDetachKeys(c.keys)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		left := false
		for _, r := range c.reads {
			var got []byte
			if got, left = d.feed([]byte(r)); left {
				out = append(out, got...)
				break
			}
			out = append(out, got...)
		}
		if string(out) != c.out || left != c.left {
			t.Errorf("%s, %q: %q %v, want %q %v", c.keys, c.reads, out, left, c.out, c.left)
		}
	}
	for _, bad := range []string{"", "ctrl-", "ctrl-é", "ctrl-1", "f1", "ab", "ctrl-p,", " "} {
		if _, err := parseDetachKeys(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestDetachKeysLoseNothing is the law: without the keys in it, everything typed arrives, in order, once, however it is
// cut; only a beginning of the keys may be held back at the end.
func TestDetachKeysLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := parseDetachKeys("a,b,a,c")
		if err != nil {
			t.Fatal(err)
		}
		reads := rapid.SliceOf(rapid.SliceOf(rapid.SampledFrom([]byte("aabbc\x1b")))).Draw(t, "reads")
		var in, out []byte
		for _, r := range reads {
			in = append(in, r...)
			got, left := d.feed(r)
			out = append(out, got...)
			if found := bytes.Index(in, []byte("abac")); left != (found >= 0) {
				t.Fatalf("%q: left %v", in, left)
			} else if left {
				if !bytes.Equal(out, in[:found]) {
					t.Fatalf("%q: %q went out", in, out)
				}
				return
			}
		}
		if !bytes.Equal(append(out, d.held...), in) || len(d.held) > 3 {
			t.Fatalf("%q: %q went out and %q is held", in, out, d.held)
		}
	})
}
