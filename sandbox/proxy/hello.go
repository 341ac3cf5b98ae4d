package proxy

import "encoding/binary"

// maxHello bounds a TLS greeting, records and all. Real ones are below 4 KiB.
const maxHello = 32 << 10

type helloState int

const (
	helloMore   helloState = iota // more bytes are needed
	helloNone                     // this is not TLS
	helloBad                      // it began as TLS and is no greeting that a server would take
	helloServer                   // a whole greeting; its server name may be empty
)

// readHello reads the server name out of the first bytes of a connection (RFC 8446, 4.1.2 and 5.1; RFC 6066, 3). It is
// strict where servers differ: what could be read in two ways is bad.
func readHello(b []byte) (server string, state helloState) {
	if len(b) == 0 {
		return "", helloMore
	}
	if b[0] != 0x16 { // a handshake record; servers may ignore the version behind it
		return "", helloNone
	}
	var msg []byte // the handshake message, without the heads of its records
	for rest := b; ; {
		if len(msg) >= 4 {
			if msg[0] != 1 { // client_hello
				return "", helloBad
			}
			if size := 4 + int(msg[1])<<16 + int(msg[2])<<8 + int(msg[3]); size > maxHello {
				return "", helloBad
			} else if len(msg) >= size {
				return serverName(msg[4:size])
			}
		}
		if len(rest) < 5 {
			break
		}
		size := int(binary.BigEndian.Uint16(rest[3:]))
		if rest[0] != 0x16 || size == 0 || size > 1<<14 {
			return "", helloBad
		}
		if len(rest) < 5+size {
			break
		}
		msg, rest = append(msg, rest[5:5+size]...), rest[5+size:]
	}
	if len(b) >= maxHello {
		return "", helloBad
	}
	return "", helloMore
}

// fields reads a message front to back. After ok turned false everything is empty.
type fields struct {
	b  []byte
	ok bool
}

func (f *fields) take(n int) []byte {
	if !f.ok || len(f.b) < n {
		f.ok = false
		return nil
	}
	out := f.b[:n]
	f.b = f.b[n:]
	return out
}

// vector reads a length of so many bytes and what follows.
func (f *fields) vector(width int) []byte {
	n := 0
	for _, c := range f.take(width) {
		n = n<<8 | int(c)
	}
	return f.take(n)
}

func serverName(body []byte) (string, helloState) {
	f := &fields{b: body, ok: true}
	f.take(2 + 32) // version, random
	f.vector(1)    // session id
	f.vector(2)    // cipher suites
	f.vector(1)    // compression methods
	if !f.ok {
		return "", helloBad
	}
	if len(f.b) == 0 {
		return "", helloServer // before extensions
	}
	ext := &fields{b: f.vector(2), ok: true}
	if !f.ok || len(f.b) > 0 {
		return "", helloBad
	}
	name, seen := "", false
	for ext.ok && len(ext.b) > 0 {
		kind, content := ext.take(2), ext.vector(2)
		if !ext.ok || binary.BigEndian.Uint16(kind) != 0 { // server_name
			continue
		}
		if seen {
			return "", helloBad
		}
		seen = true
		list := &fields{b: content, ok: true}
		one := &fields{b: list.vector(2), ok: list.ok}
		tag := one.take(1)
		name = string(one.vector(2))
		if !one.ok || len(one.b) > 0 || len(list.b) > 0 || tag[0] != 0 || name == "" {
			return "", helloBad
		}
	}
	if !ext.ok {
		return "", helloBad
	}
	return name, helloServer
}
