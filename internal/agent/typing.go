package agent

// pasteScan finds an Enter in what a person types, pasted text left out. The sequences may be cut anywhere.
type pasteScan struct {
	seq   []byte // an escape sequence under way, at most 8 bytes
	paste bool
}

// scan reports whether p holds an Enter outside a paste.
func (s *pasteScan) scan(p []byte) bool {
	enter := false
	for _, c := range p {
		if len(s.seq) > 0 {
			s.seq = append(s.seq, c)
			final := len(s.seq) > 2 && c >= 0x40 && c <= 0x7E || len(s.seq) == 2 && c != '['
			if !final && len(s.seq) < 8 {
				continue
			}
			switch string(s.seq) {
			case "\x1b[200~":
				s.paste = true
			case "\x1b[201~":
				s.paste = false
			case "\x1b[13u": // Enter, as the kitty keyboard protocol spells it
				enter = true
			}
			s.seq = s.seq[:0]
			continue
		}
		switch {
		case c == 0x1B:
			s.seq = append(s.seq, c)
		case c == '\r' && !s.paste:
			enter = true
		}
	}
	return enter
}
