package wire

func (m *Setup) encode(e *encoder) {
	e.uint(Version)
	e.uint(uint64(len(m.Mounts)))
	for _, t := range m.Mounts {
		e.str(t.Source)
		e.str(t.Target)
		e.bool(t.Write)
		e.bool(t.Plain)
		e.uint(t.Dev)
		e.uint(t.Ino)
	}
	e.uint(uint64(len(m.Links)))
	for _, l := range m.Links {
		e.str(l.Path)
		e.str(l.To)
	}
	e.strs(m.Covers)
	e.strs(m.Pins)
	e.int(m.TmpBytes)
	e.bool(m.Net)
	e.uint(uint64(len(m.Ports)))
	for _, p := range m.Ports {
		e.uint(uint64(p))
	}
	e.bool(m.Terminal)
	e.uint(uint64(m.Cols))
	e.uint(uint64(m.Rows))
	e.int(m.PidMax)
	e.int(m.NumProcs)
	e.int(m.Data)
	e.int(m.OpenFiles)
	e.uint(uint64(m.NeedLandlock))
	e.uint(uint64(m.Watch))
	e.uint(m.Weak)
}

func (m *Setup) decode(d *decoder) {
	if v := d.uint(); d.err == nil && v != Version {
		d.b, d.err = nil, &VersionError{Got: v}
		return
	}
	for range d.count() {
		m.Mounts = append(m.Mounts, Mount{d.str(), d.str(), d.bool(), d.bool(), d.uint(), d.uint()})
	}
	for range d.count() {
		m.Links = append(m.Links, Link{d.str(), d.str()})
	}
	m.Covers, m.Pins = d.strs(), d.strs()
	m.TmpBytes, m.Net = d.int(), d.bool()
	for range d.count() {
		m.Ports = append(m.Ports, int(d.uint()))
	}
	m.Terminal, m.Cols, m.Rows = d.bool(), uint16(d.uint()), uint16(d.uint())
	m.PidMax, m.NumProcs, m.Data, m.OpenFiles = d.int(), d.int(), d.int(), d.int()
	m.NeedLandlock, m.Watch, m.Weak = int(d.uint()), byte(d.uint()), d.uint()
}

func (m *Entered) encode(e *encoder) { e.int(int64(m.Pid)) }
func (m *Entered) decode(d *decoder) { m.Pid = int(d.int()) }

func (m *Built) encode(e *encoder) {
	e.uint(uint64(m.Landlock))
	e.bool(m.PidMax)
	e.bool(m.Watched)
}

func (m *Built) decode(d *decoder) {
	m.Landlock, m.PidMax, m.Watched = int(d.uint()), d.bool(), d.bool()
}

func (f *Failed) encode(e *encoder) {
	e.str(string(f.Step))
	e.str(f.Path)
	e.int(int64(f.Errno))
	e.str(f.Text)
}

func (f *Failed) decode(d *decoder) {
	f.Step, f.Path, f.Errno, f.Text = Step(d.str()), d.str(), int(d.int()), d.str()
}

func (m *Run) encode(e *encoder) { e.strs(m.Argv); e.strs(m.Env); e.str(m.Dir) }
func (m *Run) decode(d *decoder) { m.Argv, m.Env, m.Dir = d.strs(), d.strs(), d.str() }

func (m *Started) encode(e *encoder) { e.int(int64(m.Pid)) }
func (m *Started) decode(d *decoder) { m.Pid = int(d.int()) }

func (m *Exited) encode(e *encoder) { e.int(int64(m.Code)); e.int(int64(m.Signal)) }
func (m *Exited) decode(d *decoder) { m.Code, m.Signal = int(d.int()), int(d.int()) }

func (m *Signal) encode(e *encoder) { e.int(int64(m.Number)) }
func (m *Signal) decode(d *decoder) { m.Number = int(d.int()) }

func (m *Dial) encode(e *encoder) { e.uint(m.ID); e.uint(uint64(m.Port)); e.bool(m.Six) }
func (m *Dial) decode(d *decoder) { m.ID, m.Port, m.Six = d.uint(), int(d.uint()), d.bool() }

func (m *Dialed) encode(e *encoder) { e.uint(m.ID); e.int(int64(m.Errno)) }
func (m *Dialed) decode(d *decoder) { m.ID, m.Errno = d.uint(), int(d.int()) }
