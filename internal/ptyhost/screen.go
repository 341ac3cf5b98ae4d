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
// viewer answers. And it returns the commands that a snapshot says nothing of. The slices are valid until the next write, the
// text of a command for good; its end is counted from the beginning of p.
func (s *screen) write(p []byte) (own, reply []byte, told []command) {
	s.emu.own, s.emu.reply, s.emu.told = s.emu.own[:0], s.emu.reply[:0], s.emu.told[:0]
	s.guard(func() { s.emu.write(p) })
	return s.emu.own, s.emu.reply, s.emu.told
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

// snapshot returns the escape sequences that draw the present state, with at most so many lines of history, and the
// beginning of a sequence, if the output is in the midst of one.
func (s *screen) snapshot(lines int) (state, rest []byte) {
	s.guard(func() { state, rest = s.emu.snapshot(lines), s.emu.parser.raw })
	if state == nil {
		state = []byte(afresh)
	}
	return state, rest
}
