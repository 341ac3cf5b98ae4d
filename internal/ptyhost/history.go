package ptyhost

import "github.com/charmbracelet/x/ansi"

// historyBytes bounds the history of one screen, whatever its number of lines.
const historyBytes = 4 << 20

// history holds the lines that left the top of the main screen, drawn as text with escape sequences: a line costs what
// it says, not what its cells cost.
type history struct {
	max   int // lines
	lines []historyLine
	head  int // index of the oldest in lines, once the ring is full
	bytes int
}

type historyLine struct {
	text    string
	wrapped bool
}

func (h *history) len() int { return len(h.lines) - h.head }

func (h *history) push(text string, wrapped bool) {
	h.lines = append(h.lines, historyLine{text, wrapped})
	h.bytes += len(text)
	for h.len() > h.max || h.bytes > historyBytes {
		h.bytes -= len(h.lines[h.head].text)
		h.lines[h.head] = historyLine{}
		h.head++
	}
	if h.head > h.max { // move once in max pushes: cheap on average, and no line is kept twice
		n := copy(h.lines, h.lines[h.head:])
		clear(h.lines[n:])
		h.lines, h.head = h.lines[:n], 0
	}
}

// pop takes the newest line away.
func (h *history) pop() {
	last := len(h.lines) - 1
	h.bytes -= len(h.lines[last].text)
	h.lines[last] = historyLine{}
	h.lines = h.lines[:last]
}

// recall makes the newest line of the history a row again. It returns nil when there is none, or none that fits.
func (e *emulator) recall(cols int) *row {
	if e.history.len() == 0 || max(len(e.clusters.list), len(e.links.list))+cols > internMax {
		return nil
	}
	l := e.history.lines[len(e.history.lines)-1]
	if ansi.GraphemeWidth.StringWidth(l.text) > cols {
		return nil
	}
	e.history.pop()
	kept := *e
	r := newRow(cols, empty)
	e.g, e.cur, e.cols, e.rows, e.clear, e.insert = &grid{rows: []*row{r}}, newCursor(), cols, 1, empty, false
	e.joinable = false
	e.modes = modeSet{} // without wrapping
	var p parser
	p.write([]byte(l.text), e)
	r.wrapped = l.wrapped
	// Of what the drawing of a row changes, only what it has names for is kept.
	kept.clusters, kept.links, kept.scratch = e.clusters, e.links, e.scratch
	*e = kept
	return r
}

func (h *history) clear() { h.lines, h.head, h.bytes = nil, 0, 0 }

// tail returns the newest lines, at most n of them with at most size bytes.
func (h *history) tail(n, size int) []historyLine {
	i := len(h.lines)
	for i > h.head && n > 0 {
		size -= len(h.lines[i-1].text) + 2
		if size < 0 {
			break
		}
		i--
		n--
	}
	return h.lines[i:]
}
