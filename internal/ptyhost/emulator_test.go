package ptyhost

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

func draw(size Size, writes ...string) *screen {
	s := newScreen(size, 100, slog.New(slog.DiscardHandler))
	for _, w := range writes {
		s.write([]byte(w))
	}
	return s
}

func TestScreenText(t *testing.T) {
	size := Size{Cols: 10, Rows: 4}
	for _, c := range []struct {
		name, in string
		want     []string
		x, y     int
	}{
		{"text", "ab\r\ncd", []string{"ab", "cd", "", ""}, 2, 1},
		{"wrap", "0123456789X", []string{"0123456789", "X", "", ""}, 1, 1},
		{"wrap waits", "0123456789", []string{"0123456789", "", "", ""}, 9, 0},
		{"wrap cancelled by CR", "0123456789\rX", []string{"X123456789", "", "", ""}, 1, 0},
		{"no wrap", "\x1b[?7l0123456789XYZ", []string{"012345678Z", "", "", ""}, 9, 0},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", []string{"2", "3", "4", "5"}, 1, 3},
		{"region", "\x1b[2;3r\x1b[3;1Ha\r\nb\r\nc", []string{"", "b", "c", ""}, 1, 2},
		{"reverse index", "a\x1bMb", []string{" b", "a", "", ""}, 2, 0},
		{"wide at the edge", "012345678世", []string{"012345678", "世", "", ""}, 2, 1},
		{"half of a wide character", "世界\x1b[2GX", []string{" X界", "", "", ""}, 2, 0},
		{"erase half of a wide character", "世界\x1b[2G\x1b[X", []string{"  界", "", "", ""}, 1, 0},
		{"combining", "e\u0301x", []string{"e\u0301x", "", "", ""}, 2, 0},
		{"mark alone", "\u0301x", []string{"x", "", "", ""}, 1, 0},
		{"family", "👩‍👩‍👧X", []string{"👩‍👩‍👧X", "", "", ""}, 3, 0},
		{"flag", "🇩🇪X", []string{"🇩🇪X", "", "", ""}, 3, 0},
		{"emoji presentation", "❤️X", []string{"❤️X", "", "", ""}, 3, 0},
		{"insert mode", "abc\x1b[1G\x1b[4hXY", []string{"XYabc", "", "", ""}, 2, 0},
		{"insert and delete", "abcdef\x1b[2G\x1b[2@\x1b[5G\x1b[P", []string{"a  bdef", "", "", ""}, 4, 0},
		{"line drawing", "\x1b(0lqk\x1b(Bx", []string{"┌─┐x", "", "", ""}, 4, 0},
		{"shift out", "\x1b)0\x0eq\x0fq", []string{"─q", "", "", ""}, 2, 0},
		{"tabs", "\tx", []string{"        x", "", "", ""}, 9, 0},
		{"repeat", "ab\x1b[3b", []string{"abbbb", "", "", ""}, 5, 0},
		{"origin", "\x1b[2;3r\x1b[?6h\x1b[1;1Hx", []string{"", "x", "", ""}, 1, 1},
		{"bad UTF-8", "a\xc3\x1b[3Gb\xffc", []string{"a�b�c", "", "", ""}, 5, 0},
		{"C1 as characters", "a\u009b3Cb", []string{"a   b", "", "", ""}, 5, 0},
		{"string in the middle", "a\x1b]0;t\x07b\x1bPq...\x1b\\c\x1b_x\x1b\\d", []string{"abcd", "", "", ""}, 4, 0},
		{"cancel", "a\x1b[3\x18b", []string{"ab", "", "", ""}, 2, 0},
		{"controls inside", "a\x1b[\r1Cb", []string{"ab", "", "", ""}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := draw(size, c.in).text()
			if !slices.Equal(got.Lines, c.want) || got.CursorX != c.x || got.CursorY != c.y {
				t.Errorf("%q: got %q at %d,%d, want %q at %d,%d", c.in, got.Lines, got.CursorX, got.CursorY, c.want, c.x, c.y)
			}
			// Cut anywhere, the result is the same.
			for i := range c.in {
				if cut := draw(size, c.in[:i], c.in[i:]).text(); !slices.Equal(cut.Lines, c.want) {
					t.Errorf("cut at %d: %q", i, cut.Lines)
				}
			}
		})
	}
}

func TestScreenState(t *testing.T) {
	s := draw(Size{20, 5}, "main\x1b]2;a; b\x07\x1b[?2004h\x1b[?1049h\x1b[?25l\x1b[2Jalt")
	got := s.text()
	if got.Title != "a; b" || !got.AltScreen || !got.BracketedPaste || got.CursorVisible {
		t.Errorf("state %+v", got)
	}
	s.write([]byte("\x1b[?1049l\x1b[?2004l"))
	got = s.text()
	if got.AltScreen || got.BracketedPaste || got.Lines[0] != "main" || got.CursorX != 4 {
		t.Errorf("after leaving: %+v", got)
	}
	s.write([]byte("\x1b]0;evil\x1b]2;\u009b31m" + strings.Repeat("é", 400) + "\x07"))
	if title := s.text().Title; len(title) > MaxTitle || strings.ContainsAny(title, "\x1b\u009b") {
		t.Errorf("title %q", title)
	}
}

// A sequence with a huge count costs no more than a screen.
func TestScreenHugeCounts(t *testing.T) {
	s := draw(Size{80, 24})
	for _, final := range "@ABCDEFGHIJKLMPSTXZ`abdefghlmnrsu" {
		s.write(fmt.Appendf(nil, "x\x1b[999999999999%c", final))
	}
	if s.broken {
		t.Fatal("the emulator panicked")
	}
}

func TestScreenQueries(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[c":                        "\x1b[?1;2c",
		"\x1b[>c":                       "\x1b[>0;276;0c",
		"ab\x1b[6n":                     "\x1b[1;3R",
		"\x1b[5n":                       "\x1b[0n",
		"\x1b[?2004h\x1b[?2004$p":       "\x1b[?2004;1$y",
		"\x1b[?9999$p":                  "\x1b[?9999;0$y",
		"\x1b]11;?\x07":                 "\x1b]11;rgb:0000/0000/0000\x1b\\",
		"\x1b]11;#fff\x07\x1b]11;?\x07": "\x1b]11;#fff\x1b\\",
		"\x1bP$qm\x1b\\":                "\x1bP1$r0m\x1b\\",
		"\x1b[?u":                       "",
	} {
		s := draw(Size{80, 24})
		own, reply, _ := s.write([]byte(in))
		if string(reply) != want || len(own) > 0 {
			t.Errorf("%q: answered %q and %q, want %q", in, own, reply, want)
		}
	}
	for _, in := range []string{"\x1b]7501;?\x07", "\x1b]7501;?\x1b\\"} {
		own, reply, _ := draw(Size{80, 24}).write([]byte(in))
		if string(own) != "\x1b]7501;?\x1b\\" || len(reply) > 0 {
			t.Errorf("%q: answered %q and %q", in, own, reply)
		}
	}
}

// whole is a snapshot in one piece.
func whole(s *screen) []byte {
	state, rest := s.snapshot(snapshotLines)
	return append(state, rest...)
}

// same compares all that a snapshot must carry over.
func same(t interface{ Errorf(string, ...any) }, a, b *screen) {
	x, y := a.text(), b.text()
	if !slices.Equal(x.Lines, y.Lines) {
		t.Errorf("lines\n%q\n%q", x.Lines, y.Lines)
	}
	x.Lines, y.Lines = nil, nil
	if fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("state\n%+v\n%+v", x, y)
	}
	if wrapsAfterBlank(a.emu) {
		return // then rows of blanks may be drawn in more than one way
	}
	// Blanks at the end of a row are left out, unless the row wrapped into one that is empty by now.
	trailing := regexp.MustCompile(` +\r\n`)
	p, q := trailing.ReplaceAll(whole(a), []byte("\r\n")), trailing.ReplaceAll(whole(b), []byte("\r\n"))
	if !bytes.Equal(p, q) {
		t.Errorf("snapshots\n%q\n%q", p, q)
	}
}

func wrapsAfterBlank(e *emulator) bool {
	for _, l := range e.history.lines {
		if l.wrapped && strings.HasSuffix(l.text, " ") {
			return true
		}
	}
	for i := range e.main.rows {
		if r := e.main.rows[i]; r.wrapped && r.cells()[e.cols-1].bare() {
			return true
		}
	}
	return false
}

// The law of snapshots: drawn on another terminal, whatever that showed, they make it show the same, and it goes on in
// the same way.
func checkSnapshot(t interface{ Errorf(string, ...any) }, size Size, in, more []byte) {
	s := draw(size)
	s.write(in)
	other := draw(size, "\x1b[?1049hjunk\x1b[3;4r\x1b[?6h\x1b[31m\x1b(0")
	other.emu.history.clear()
	other.write(whole(s))
	other.emu.last, other.emu.joinable = s.emu.last, s.emu.joinable
	other.emu.joinX, other.emu.joinY = s.emu.joinX, s.emu.joinY
	same(t, s, other)
	if s.broken || other.broken {
		t.Errorf("the emulator panicked")
	}
	s.write(more)
	other.write(more)
	x, y := s.text(), other.text()
	if !slices.Equal(x.Lines, y.Lines) {
		t.Errorf("went on differently\n%q\n%q", x.Lines, y.Lines)
	}
}

func genOutput() *rapid.Generator[string] {
	count := rapid.IntRange(0, 12)
	csi := rapid.Custom(func(t *rapid.T) string {
		final := rapid.SampledFrom([]string{"@", "A", "B", "C", "D", "G", "H", "J", "K", "L", "M", "P", "S", "T", "X", "d", "r", "b"}).Draw(t, "final")
		return fmt.Sprintf("\x1b[%d;%d%s", count.Draw(t, "n"), count.Draw(t, "m"), final)
	})
	text := rapid.SampledFrom([]string{"a", "xyz", "0123456789", "世", "e\u0301", "👩‍👩‍👧", "❤️", "─", " ", "\r\n", "\n", "\r", "\b", "\t"})
	state := rapid.SampledFrom([]string{"\x1b[m", "\x1b[1;31m", "\x1b[44m", "\x1b[38;5;200;4:3m", "\x1b[48;2;1;2;3m", "\x1b7", "\x1b8",
		"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l",
		"\x1b(0", "\x1b(B", "\x0e", "\x0f", "\x1b)0", "\x1b[?25l", "\x1b[?2004h", "\x1b]2;title\x07", "\x1bM", "\x1bD", "\x1bE",
		"\x1b]8;;http://x/\x07", "\x1b]8;;\x07", "\x1b[3 q", "\x1b[>1u", "\x1b[>4;2m", "\x1b[!p", "\x1b#8", "\x1b]11;#123456\x07"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(text, text, csi, state), 0, 60).Draw(t, "parts"), "")
	})
}

func TestSnapshotLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size{uint16(rapid.IntRange(2, 14).Draw(t, "cols")), uint16(rapid.IntRange(1, 7).Draw(t, "rows"))}
		checkSnapshot(t, size, []byte(genOutput().Draw(t, "in")), []byte(genOutput().Draw(t, "more")))
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Add([]byte("hello\x1b[31m world\r\n\x1b[?1049h\x1b[2;3Hx"), []byte("abc"))
	f.Add([]byte("\x1b[2;3r\x1b[?6h\x1b7世界e\u0301\x1b[48;5;3m\x1b[K"), []byte("\x1b8\n\n"))
	f.Add([]byte("0123456789\x1b]8;;http://a/\x07link\x1b]8;;\x07\x1b(0qqq"), []byte("\x0f"))
	f.Add([]byte("0123456789a\x1b[2K\x1b[3;1Hx"), []byte("")) // a row that wrapped, and the next one is empty now
	f.Add([]byte("012345678 a\x1b[1;10H\x1b[X"), []byte(""))
	f.Fuzz(func(t *testing.T, in, more []byte) {
		if len(in) > 4096 || len(more) > 4096 {
			return
		}
		checkSnapshot(t, Size{10, 4}, in, more)
	})
}

// Resizing never breaks the screen, and keeps the cursor on it.
func TestResizeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(Size{10, 4})
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			s.write([]byte(genOutput().Draw(t, "in")))
			size := Size{uint16(rapid.IntRange(2, 14).Draw(t, "cols")), uint16(rapid.IntRange(1, 7).Draw(t, "rows"))}
			s.resize(size)
			got := s.text()
			if s.broken {
				t.Fatal("the emulator panicked")
			}
			if len(got.Lines) != int(size.Rows) || got.CursorX >= int(size.Cols) || got.CursorY >= int(size.Rows) {
				t.Fatalf("size %v: %d lines, cursor %d,%d", size, len(got.Lines), got.CursorX, got.CursorY)
			}
		}
	})
}

func TestResizeKeepsLinesAboveTheCursor(t *testing.T) {
	s := draw(Size{10, 4}, "1\r\n2\r\n3\r\n4")
	s.resize(Size{10, 2})
	if got := s.text(); !slices.Equal(got.Lines, []string{"3", "4"}) || got.CursorY != 1 {
		t.Errorf("shrunk: %q, cursor %d", got.Lines, got.CursorY)
	}
	if s.emu.history.len() != 2 {
		t.Errorf("%d lines of history, want 2", s.emu.history.len())
	}
	s = draw(Size{10, 4}, "1\r\n2")
	s.resize(Size{10, 2})
	if got := s.text(); !slices.Equal(got.Lines, []string{"1", "2"}) {
		t.Errorf("blank rows should go first: %q", got.Lines)
	}
}

// A terminal that grows shows again what it showed before it shrank, as xterm.js does: a panel below it was opened and closed.
func TestResizeBringsLinesBack(t *testing.T) {
	s := draw(Size{12, 4}, "0\r\n1\r\n\x1b[31mred \x1b[44m世界\x1b[m\r\n\x1b]8;;http://x/\x07e\u0301\x1b]8;;\x07\r\n012345678901wrapped\r\n\x1b7last")
	before := whole(s)
	for _, rows := range []uint16{2, 1, 3, 4} {
		s.resize(Size{12, rows})
	}
	if after := whole(s); !bytes.Equal(before, after) {
		t.Errorf("before\n%q\nafter\n%q", before, after)
	}
	s.resize(Size{12, 20}) // more than there ever was
	want := []string{"0", "1", "red 世界", "e\u0301", "012345678901", "wrapped", "last"}
	if got := s.text(); !slices.Equal(got.Lines[:7], want) || got.CursorY != 6 || got.CursorX != 4 || s.emu.history.len() != 0 || s.emu.history.bytes != 0 {
		t.Errorf("%q, cursor in row %d, %d lines of history", got.Lines, got.CursorY, s.emu.history.len())
	}
	s.write([]byte("\x1b8*"))
	if got := s.text().Lines[6]; got != "*ast" {
		t.Errorf("the cursor was saved elsewhere: %q", got)
	}
	s = draw(Size{12, 2}, "one\r\ntwo\r\nthree\x1b[H")
	s.resize(Size{12, 3})
	if got := s.text().Lines; !slices.Equal(got, []string{"two", "three", ""}) {
		t.Errorf("with the cursor above, a blank row comes below: %q", got)
	}
	s = draw(Size{12, 2}, "a line of 12\r\ntwo\r\nthree")
	s.resize(Size{11, 3})
	if got := s.text().Lines; !slices.Equal(got, []string{"two", "three", ""}) {
		t.Errorf("a line that does not fit stays above: %q", got)
	}
}

// A second emulator, written by others, agrees on what programs of every day do.
func TestAgreesWithVT(t *testing.T) {
	const cols, rows = 20, 6
	text := rapid.SampledFrom([]string{"a", "hello", "0123456789", "\r\n", "\n", "\r", "é", " "})
	csi := rapid.Custom(func(t *rapid.T) string {
		n, m := rapid.IntRange(1, 7).Draw(t, "n"), rapid.IntRange(1, 21).Draw(t, "m")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return fmt.Sprintf("\x1b[%d;%dH", n, m)
		case 1:
			return fmt.Sprintf("\x1b[%dA", n)
		case 2:
			return fmt.Sprintf("\x1b[%dB", n)
		case 3:
			return fmt.Sprintf("\x1b[%dC", n)
		case 4:
			return fmt.Sprintf("\x1b[%dD", n)
		case 5:
			return fmt.Sprintf("\x1b[%d;%dH\x1b[K", n, m)
		case 6:
			return fmt.Sprintf("\x1b[%d;%dH\x1b[J", n, m)
		case 7:
			return fmt.Sprintf("\x1b[%d;%dH\x1b[%dL", n, m, n)
		case 8:
			return fmt.Sprintf("\x1b[%d;%dH\x1b[%dM", n, m, n)
		}
		return "\x1b[1;32m"
	})
	theirs := vt.NewEmulator(cols, rows)
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.OneOf(text, csi), 0, 30).Draw(t, "parts"), "")
		if _, err := theirs.Write([]byte("\x1bc" + in)); err != nil {
			t.Fatal(err)
		}
		ours := draw(Size{cols, rows}, in).text()
		var want []string
		for y := range rows {
			line := ""
			for x := 0; x < cols; x++ {
				c := theirs.CellAt(x, y)
				if c != nil && c.Width > 0 {
					line += c.Content
				} else if c != nil && c.Content == "" && (x == 0 || theirs.CellAt(x-1, y).Width != 2) {
					line += " "
				}
			}
			want = append(want, strings.TrimRight(line, " "))
		}
		if !slices.Equal(ours.Lines, want) {
			t.Fatalf("%q\nours   %q\ntheirs %q", in, ours.Lines, want)
		}
	})
}

func TestTablesAreBounded(t *testing.T) {
	s := draw(Size{80, 24})
	for i := range 3 * internMax {
		s.write(fmt.Appendf(nil, "\x1b]8;;http://x/%d\x07e\u0301%c\x1b]8;;\x07", i, rune(0x4e00+i%5000)))
		s.write(fmt.Appendf(nil, "%c\u0301", rune('A'+i)))
	}
	if s.broken || len(s.emu.links.list) > internMax || len(s.emu.clusters.list) > internMax {
		t.Fatalf("%d links, %d clusters", len(s.emu.links.list), len(s.emu.clusters.list))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	s := draw(Size{80, 5})
	for i := range 1000 {
		s.write(fmt.Appendf(nil, "line %d\r\n", i))
	}
	h := &s.emu.history
	if h.len() != 100 || cap(h.lines) > 1000 {
		t.Fatalf("%d lines in %d", h.len(), cap(h.lines))
	}
	if got := h.tail(1, 1000); len(got) != 1 || got[0].text != "line 995" {
		t.Errorf("newest %+v", got)
	}
}

// A fault of the emulator does not take the terminal down.
func TestScreenSurvivesPanic(t *testing.T) {
	s := draw(Size{10, 3}, "x")
	s.emu.g = nil
	s.write([]byte("boom"))
	if !s.broken {
		t.Fatal("nothing broke")
	}
	s.write([]byte("on"))
	if got := s.text().Lines[0]; got != "on" {
		t.Errorf("after the fault: %q", got)
	}
}

func benchScreen(b *testing.B, chunk []byte) {
	s := draw(Size{120, 40})
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(chunk); i += 4096 {
			s.write(chunk[i:min(i+4096, len(chunk))])
		}
	}
}

func BenchmarkScreenText(b *testing.B) {
	var s strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&s, "%06d the quick brown fox jumps over the lazy dog and some more text\r\n", i)
	}
	benchScreen(b, []byte(s.String()))
}

func BenchmarkScreenYes(b *testing.B) { benchScreen(b, bytes.Repeat([]byte("y\r\n"), 100000)) }

func BenchmarkScreenColors(b *testing.B) {
	benchScreen(b, bytes.Repeat([]byte("\x1b[31mhello\x1b[0m \x1b[1;32mworld\x1b[m ─── 世界\r\n"), 20000))
}
