package ptyhost

// DEC private modes that a screen holds. Others are ignored: they change nothing that is drawn again.
const (
	modeAppKeys    = 1
	modeOrigin     = 6
	modeAutoWrap   = 7
	modeMouseX10   = 9
	modeBlink      = 12
	modeCursor     = 25
	modeAlt47      = 47
	modeKeypad     = 66
	modeAlt        = 1047
	modeSaveCursor = 1048
	modeAltSave    = 1049
	modePaste      = 2004
)

// plainModes are drawn again by setting or resetting them, and have no other effect here.
var plainModes = [...]int{modeAppKeys, modeMouseX10, modeBlink, 45, modeKeypad, 1000, 1002, 1003, 1004, 1005, 1006, 1015,
	1016, modePaste, 2031}

// modeSet is the set of DEC private modes that are on.
type modeSet map[int]bool

func newModes() modeSet { return modeSet{modeAutoWrap: true, modeCursor: true} }

func (m modeSet) on(mode int) bool { return m[mode] }

func (m modeSet) set(mode int, on bool) {
	if on {
		m[mode] = true
	} else {
		delete(m, mode)
	}
}

func isPlainMode(mode int) bool {
	for _, m := range plainModes {
		if m == mode {
			return true
		}
	}
	return false
}

// csiPrivate runs sequences with the prefix '?'.
func (e *emulator) csiPrivate(s *sequence) {
	switch s.final {
	case 'h', 'l':
		for i := range s.n {
			e.setMode(s.params[i], s.final == 'h')
		}
	case 'J':
		e.eraseDisplay(s.raw(0))
	case 'K':
		e.eraseLine(s.raw(0))
	case 'n':
		if s.raw(0) == 6 {
			e.cursorReport("?")
		}
	}
}

func (e *emulator) setMode(mode int, on bool) {
	switch mode {
	case modeOrigin:
		e.cur.origin = on
		e.moveTo(0, 0)
	case modeAutoWrap:
		e.modes.set(mode, on)
		e.cur.wrapNext = e.cur.wrapNext && on
	case modeCursor:
		e.modes.set(mode, on)
	case modeAlt47, modeAlt:
		e.useAlt(on)
	case modeSaveCursor:
		if on {
			e.save()
		} else {
			e.restore()
		}
	case modeAltSave:
		if on {
			e.save()
			e.useAlt(true)
		} else {
			e.useAlt(false)
			e.restore()
		}
	default:
		if isPlainMode(mode) {
			e.modes.set(mode, on)
		}
	}
}

// reportMode is DECRQM: 1 set, 2 reset, 0 not known.
func (e *emulator) reportMode(s *sequence) {
	mode, state, prefix := s.raw(0), 0, ""
	flag := func(on bool) {
		if state = 2; on {
			state = 1
		}
	}
	switch {
	case s.prefix == '?':
		prefix = "?"
		switch {
		case mode == modeOrigin:
			flag(e.cur.origin)
		case mode == modeAlt47 || mode == modeAlt || mode == modeAltSave:
			flag(e.g != e.main)
		case mode == modeAutoWrap || mode == modeCursor || isPlainMode(mode):
			flag(e.modes.on(mode))
		}
	case s.prefix != 0:
		return
	case mode == 4:
		flag(e.insert)
	case mode == 20:
		flag(e.newline)
	}
	e.answerf("\x1b[%s%d;%d$y", prefix, mode, state)
}
