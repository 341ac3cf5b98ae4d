package proxy

import (
	"strings"
	"testing"
)

// vec is a length of so many bytes and the bytes.
func vec(width int, b string) string {
	var head []byte
	for i := width - 1; i >= 0; i-- {
		head = append(head, byte(len(b)>>(8*i)))
	}
	return string(head) + b
}

func named(list string) string { return "\x00\x00" + vec(2, vec(2, list)) }

func name(s string) string { return "\x00" + vec(2, s) }

// greeting is a client hello with these extensions.
func greeting(extensions string) string {
	body := "\x03\x03" + strings.Repeat("r", 32) + vec(1, "") + vec(2, "\x13\x01") + vec(1, "\x00")
	if extensions != "-" {
		body += vec(2, extensions)
	}
	return "\x01" + vec(3, body)
}

func TestReadHelloTakesOneReadingOnly(t *testing.T) {
	other := "\x00\x2b" + vec(2, "\x02\x03\x04") // another extension
	record := func(msg string) string { return "\x16\x03\x01" + vec(2, msg) }
	whole := greeting(named(name("a.test")))
	tests := []struct {
		what  string
		bytes string
		name  string
		state helloState
	}{
		{"nothing", "", "", helloMore},
		{"one name", record(whole), "a.test", helloServer},
		{"one name among others", record(greeting(other + named(name("a.test")) + other)), "a.test", helloServer},
		{"more behind it", record(whole) + "\x17\x03\x03", "a.test", helloServer},
		{"no extensions", record(greeting("-")), "", helloServer},
		{"no name", record(greeting(other)), "", helloServer},
		{"cut", record(whole)[:60], "", helloMore},
		{"two records", record(whole[:10]) + record(whole[10:]), "a.test", helloServer},
		{"another record in the middle", record(whole[:10]) + "\x14\x03\x01\x00\x01\x01" + record(whole[10:]), "", helloBad},
		{"the rest in a record of another kind", record(whole[:10]) + "\x17\x03\x01" + vec(2, whole[10:]), "", helloBad},
		{"two extensions of names", record(greeting(named(name("a.test")) + named(name("b.test")))), "", helloBad},
		{"the same twice", record(greeting(named(name("a.test")) + named(name("a.test")))), "", helloBad},
		{"two names", record(greeting(named(name("a.test") + name("b.test")))), "", helloBad},
		{"a name of another kind", record(greeting(named("\x01" + vec(2, "a.test")))), "", helloBad},
		{"an empty name", record(greeting(named(name("")))), "", helloBad},
		{"an empty list", record(greeting(named(""))), "", helloBad},
		{"bytes behind the list", record(greeting("\x00\x00" + vec(2, vec(2, name("a.test"))+"x"))), "", helloBad},
		{"bytes behind the extensions", record("\x01" + vec(3, whole[4:]+"x")), "", helloBad},
		{"an extension that is longer than it may be", record(greeting("\x00\x2b\x00\xff")), "", helloBad},
		{"another message", record("\x02" + whole[1:]), "", helloBad},
		{"a length without end", record("\x01\xff\xff\xff"), "", helloBad},
		{"a record without bytes", record(""), "", helloBad},
		{"a record that is too long", "\x16\x03\x01\x40\x01", "", helloBad},
		{"an alert", "\x15\x03\x01\x00\x02\x02\x28", "", helloNone},
		{"text", "GET / HTTP/1.1\r\n", "", helloNone},
	}
	for _, tt := range tests {
		if got, state := readHello([]byte(tt.bytes)); got != tt.name || state != tt.state {
			t.Errorf("%s: %q, state %d; want %q, %d", tt.what, got, state, tt.name, tt.state)
		}
	}
}
