package ptyhost

import "log/slog"

// screen is an emulator that no input can break. Terminal.mu guards it.
type screen struct {
	emu    *emulator
	size   Size
	lines  int
	log    *slog.Logger
	broken bool // a panic was logged: once is enough
}

func newScreen(size Size, lines int, log *slog.Logger) *screen {
	return &screen{emu: newEmulator(size, lines), size: size, lines: lines, log: log}
}

// write takes output in. It returns the answers to queries in it: own are given in any case, the others only when no
// viewer answers. The slices are valid until the next write.
func (s *screen) write(p []byte) (own, reply []byte) {
	s.emu.own, s.emu.reply = s.emu.own[:0], s.emu.reply[:0]
	s.guard(func() { s.emu.write(p) })
	return s.emu.own, s.emu.reply
}

// guard runs f. Should the emulator panic, which is a fault of ours, the terminal goes on with a blank one.
func (s *screen) guard(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if !s.broken {
				s.log.Error("the screen of a terminal was rebuilt after a fault", "panic", r)
			}
			s.broken = true
			s.emu = newEmulator(s.size, s.lines)
		}
	}()
	f()
}

func (s *screen) resize(size Size) {
	s.size = size
	s.guard(func() { s.emu.resize(size) })
}

func (s *screen) text() (t ScreenText) {
	s.guard(func() {
		e := s.emu
		t = ScreenText{Lines: e.text(), CursorX: e.cur.x, CursorY: e.cur.y, Title: e.title, AltScreen: e.g != e.main,
			BracketedPaste: e.modes.on(modePaste), CursorVisible: e.modes.on(modeCursor)}
	})
	t.Size = s.size
	return t
}

// snapshot returns the escape sequences that draw the present state.
func (s *screen) snapshot() (ansi []byte) {
	s.guard(func() { ansi = s.emu.snapshot() })
	if ansi == nil {
		ansi = []byte("\x1bc")
	}
	return ansi
}
