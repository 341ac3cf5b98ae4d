package e2eclients

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Exchange is one request of a client's and what it was answered, as a proxy in front of the endpoint saw it. Nothing of a
// body is in it but the method and, of a handshake, the revision; clients put paths of the person's into their bodies.
type Exchange struct {
	Method   string // of the message; empty for what is none
	Revision string // as the header says, or the handshake
	Token    string // name of the header that a token came in; never the token
	Status   int
}

// Row is a client's row of the table in docs/clients.md.
type Row struct {
	Client  string // name, the row's key
	Version string
	Date    string // as 2006-01-02
	Opens   string // its first request, with the revision
	Sends   string // methods in the order of their first time
	Token   string // header of the token, if one arrived
	Again   string // whether a new token was read after the first was refused
	Button  string // whether a button to register is justified: it called a tool in the endpoint's revision
}

func (r Row) cells() []string {
	return []string{r.Client, r.Version, r.Date, r.Opens, r.Sends, r.Token, r.Again, r.Button}
}

// columns are the heads of the table.
func columns() []string {
	return []string{"client", "version", "tried on", "opens with", "sends", "token came in", "new token after 401", "button"}
}

// RowOf says what a client did by what it sent. revision is the endpoint's.
func RowOf(client, version, date, revision string, seen []Exchange) Row {
	r := Row{Client: client, Version: version, Date: date, Opens: "nothing", Sends: "nothing", Token: "no", Again: "no", Button: "no"}
	var sent []string
	refused := false
	for _, x := range seen {
		if x.Method == "" {
			continue
		}
		if len(sent) == 0 {
			r.Opens = code(x.Method) + ", " + cmp.Or(x.Revision, "no revision")
		}
		if name := code(x.Method); !slices.Contains(sent, name) {
			sent = append(sent, name)
		}
		if x.Token != "" && r.Token == "no" {
			r.Token = code(x.Token)
		}
		good := x.Status == 200 && x.Revision == revision && x.Token != ""
		if good && refused {
			r.Again = "yes"
		}
		if good && x.Method == "tools/call" {
			r.Button = "yes"
		}
		refused = refused || x.Status == 401 && r.Button == "yes"
	}
	if len(sent) > 0 {
		r.Sends = strings.Join(sent, ", ")
	}
	if !refused {
		r.Again = "not tried"
	}
	return r
}

// code marks a word as it stands in a program. What a client sent is not trusted to be a word.
func code(text string) string {
	const most = 40
	word := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '`' && r != '|' && r != '\\' {
			return r
		}
		return -1
	}, text)
	return "`" + word[:min(len(word), most)] + "`"
}

// The marks between which the table stands.
const (
	tableBegins = "<!-- probe-clients: the table is written by `make probe-clients` -->\n"
	tableEnds   = "<!-- probe-clients: end -->\n"
)

// Rewrite puts rows into the table of a page. Rows of clients that are not among them stay as they are, at their places;
// new ones come last. It fails if the page has not exactly one table that it can read.
func Rewrite(page string, rows []Row) (string, error) {
	before, rest, ok1 := strings.Cut(page, tableBegins)
	table, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok1 || !ok2 || strings.Contains(rest, tableBegins) || strings.Contains(after, tableEnds) {
		return "", fmt.Errorf("the page has not one table between its two marks")
	}
	have, err := readTable(table)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		cells := r.cells()
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.NewReplacer("|", "/", "\n", " ", "\r", " ").Replace(cells[i]))
		}
		i := slices.IndexFunc(have, func(old []string) bool { return old[0] == cells[0] })
		if i < 0 {
			have = append(have, cells)
		} else {
			have[i] = cells
		}
	}
	var b strings.Builder
	b.WriteString(before + tableBegins + line(columns()) + "|" + strings.Repeat("---|", len(columns())) + "\n")
	for _, cells := range have {
		b.WriteString(line(cells))
	}
	b.WriteString(tableEnds + after)
	return b.String(), nil
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// readTable returns the rows of a table by their cells, without its head. An empty text has none.
func readTable(text string) ([][]string, error) {
	var out [][]string
	for n, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if l == "" || n == 1 { // the line below the head
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != len(columns()) || n == 0 && !slices.Equal(cells, columns()) {
			return nil, fmt.Errorf("line %d of the table is not as it is written: %q", n+1, l)
		}
		if n > 0 {
			out = append(out, cells)
		}
	}
	return out, nil
}
