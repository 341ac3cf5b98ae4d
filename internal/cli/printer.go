package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// printer writes a result as text. The first failure to write is kept and later ones are not tried.
type printer struct {
	out    io.Writer
	err    io.Writer
	raw    bool // out is no terminal: text of programs goes through as it is
	values map[string]any
	failed error
}

func (p *printer) printf(format string, args ...any) {
	if p.failed == nil {
		_, p.failed = fmt.Fprintf(p.out, format, args...)
	}
}

// note writes a line that belongs to the result but is not part of it.
func (p *printer) note(format string, args ...any) { fmt.Fprintf(p.err, format+"\n", args...) }

// program writes text that a program made, with a newline at its end.
func (p *printer) program(s string) {
	if !p.raw {
		s = cleanLines(s)
	}
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	p.printf("%s", s)
}

// columns aligns cells that are clean already. The last one of a row is not filled up.
func (p *printer) columns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
			}
		}
		p.printf("%s\n", strings.TrimRight(b.String(), " "))
	}
}

// table is columns under a head. Cells are cleaned here.
func (p *printer) table(head []string, rows [][]string) {
	all := [][]string{head}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = clean(cell)
			if cells[i] == "" {
				cells[i] = "-"
			}
		}
		all = append(all, cells)
	}
	p.columns(all)
}

// fields writes names and values, leaving out empty values. Values are cleaned here.
func (p *printer) fields(pairs ...string) {
	var rows [][]string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			rows = append(rows, []string{pairs[i], clean(pairs[i+1])})
		}
	}
	p.columns(rows)
}

// as decodes a result and shows it.
func as[R any](show func(*printer, R)) func(*printer, json.RawMessage) error {
	return func(p *printer, data json.RawMessage) error {
		var r R
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		show(p, r)
		return nil
	}
}
