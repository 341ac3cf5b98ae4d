package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// fieldRows is the most rows that the field shows; of a longer text it shows the end.
const fieldRows = 8

// longPaste is the length from which a paste is shown by a stand-in.
const longPaste = 800

// say adds text to the transcript.
func (a *agent) say(text string) {
	a.history = append(a.history, strings.Split(text, "\n")...)
	if len(a.history) > 500 {
		a.history = a.history[len(a.history)-500:]
	}
}

// draw paints the whole screen.
func (a *agent) draw() {
	if !a.shown || a.shell || a.over {
		return
	}
	w, h, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || w < 10 || h < 8 {
		w, h = 80, 24
	}
	bottom, cursorRow, cursorCol := a.bottom(w)
	var top []string
	for _, row := range a.history {
		top = append(top, wrap(row, w)...)
	}
	room := h - len(bottom)
	if len(top) > room {
		top = top[len(top)-room:]
	}
	rows := append(top, bottom...)
	var b strings.Builder
	b.WriteString("\x1b[?25l")
	for i := 0; i < h; i++ {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K", i+1)
		if i < len(rows) {
			b.WriteString(rows[i])
		}
	}
	if cursorRow >= 0 {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", len(top)+cursorRow+1, cursorCol+1)
	}
	fmt.Fprint(a.out, b.String())
}

// bottom is what stands below the transcript: the open question, or notes, the field and the footer.
func (a *agent) bottom(w int) (rows []string, cursorRow, cursorCol int) {
	if d := a.dialog; d != nil {
		rows = append(rows, "")
		rows = append(rows, d.rows...)
		for i, o := range d.options {
			mark := "  "
			if i == d.at {
				mark = "❯ "
			}
			rows = append(rows, fmt.Sprintf("%s%d. %s", mark, i+1, o))
		}
		return append(rows, "", d.foot), -1, 0
	}
	if a.working {
		rows = append(rows, fmt.Sprintf("%c Working… (ctrl+c to stop)", []rune("✢✳✶✻")[a.spin%4]))
	}
	rows = append(rows, a.notes...)
	line := strings.Repeat("─", w)
	rows = append(rows, line)
	var shown []string
	for _, row := range strings.Split(a.fieldText(), "\n") {
		shown = append(shown, wrap(row, w-4)...)
	}
	if len(shown) > fieldRows {
		shown = shown[len(shown)-fieldRows:]
	}
	for i, row := range shown {
		mark := "  "
		if i == 0 {
			mark = "❯ "
		}
		rows = append(rows, mark+row)
	}
	cursorRow = len(rows) - 1
	cursorCol = 2 + ansi.StringWidth(shown[len(shown)-1])
	foot := "  ? for shortcuts"
	if a.manner[ticking] {
		foot += "  " + time.Now().Format("15:04:05.000")
	}
	return append(rows, line, foot), cursorRow, cursorCol
}

// fieldText is what the field shows: a long paste by its stand-in, tabs as blanks.
func (a *agent) fieldText() string {
	s := string(a.field)
	if len(s) >= longPaste && !a.manner[plain] {
		return fmt.Sprintf("[Pasted text #%d +%d lines]", a.prompts+1, strings.Count(s, "\n"))
	}
	return strings.ReplaceAll(s, "\t", "    ")
}

// wrap cuts a row to the width.
func wrap(row string, w int) []string {
	return strings.Split(ansi.Hardwrap(strings.ReplaceAll(row, "\t", "    "), w, true), "\n")
}
