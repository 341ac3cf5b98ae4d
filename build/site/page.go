package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown reads what the pages are written in: that of the forges, with tables, and the few HTML elements of the README.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

// page is one page.
type page struct {
	path    string // in the repository
	chapter string
	title   string
	source  []byte
	tree    ast.Node
	parts   []part
	links   []*ast.Link
	images  []*ast.Image
}

// part is what stands below one heading, for the search.
type part struct{ id, heading, text string }

func newPage(at, chapter string, source []byte) *page {
	p := &page{path: at, chapter: chapter, source: source}
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&ids{}))))
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns what the function does
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			p.parts = append(p.parts, part{id: string(name), heading: plain(n, source)})
		case *ast.Link:
			p.links = append(p.links, n)
		case *ast.Image:
			p.images = append(p.images, n)
		case *ast.Text:
			p.say(string(n.Value(source)))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				p.say(string(line.Value(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	p.title = p.path
	if len(p.parts) > 0 {
		p.title = p.parts[0].heading
	}
	return p
}

func (p *page) say(words string) {
	if n := len(p.parts); n > 0 {
		p.parts[n-1].text += words + " "
	}
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(source))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		default:
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// ids names headings as the forges do, so that a link works in both places.
type ids struct{ taken map[string]int }

// Generate is of parser.IDs.
func (i *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r > 127:
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimSpace(string(value))))
	if i.taken == nil {
		i.taken = map[string]int{}
	}
	n := i.taken[id]
	if i.taken[id]++; n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put is of parser.IDs.
func (i *ids) Put(value []byte) { i.taken[string(value)]++ }

// out is where a page is written, relative to the folder of the site.
func (p *page) out() string {
	if p.path == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(p.path, ".md") + ".html"
}

// check looks where each link leads, and turns those between pages into links between files of the site.
func (s *site) check() error {
	var wrong []error
	for _, p := range s.pages {
		for _, l := range p.links {
			to, err := s.target(p, string(l.Destination), false)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			l.Destination = []byte(to)
		}
		for _, i := range p.images {
			if _, err := s.target(p, string(i.Destination), true); err != nil {
				wrong = append(wrong, err)
			}
		}
		for _, src := range sources(p.source) { // pictures in HTML
			if _, err := s.target(p, src, true); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	return errors.Join(wrong...)
}

// sources are the files that HTML in a page shows.
func sources(text []byte) []string {
	var out []string
	for _, name := range []string{` src="`, ` srcset="`} {
		rest := text
		for {
			_, after, ok := bytes.Cut(rest, []byte(name))
			if !ok {
				break
			}
			value, more, _ := bytes.Cut(after, []byte(`"`))
			out, rest = append(out, string(value)), more
		}
	}
	return out
}

// target is where a link of a page leads in the site.
func (s *site) target(p *page, link string, shown bool) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("%s: the link %q is none: %w", p.path, link, err)
	}
	if u.Scheme != "" || u.Host != "" {
		if shown {
			return "", fmt.Errorf("%s shows %q, which is elsewhere", p.path, link)
		}
		return link, nil
	}
	at := p.path
	if u.Path != "" {
		at = path.Join(path.Dir(p.path), u.Path)
	}
	i := slices.IndexFunc(s.pages, func(q *page) bool { return q.path == at })
	if i < 0 {
		st, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(at)))
		if err != nil {
			return "", fmt.Errorf("%s: the link %q leads nowhere", p.path, link)
		}
		if !st.IsDir() && !slices.Contains(s.files, at) {
			s.files = append(s.files, at)
		}
		if st.IsDir() { // a folder of pages: its first one
			j := slices.IndexFunc(s.pages, func(q *page) bool { return path.Dir(q.path) == at })
			if j < 0 {
				return "", fmt.Errorf("%s: the link %q leads to a folder without a page", p.path, link)
			}
			return relative(p, s.pages[j].out()), nil
		}
		return relative(p, at), nil
	}
	q := s.pages[i]
	if u.Fragment != "" && !slices.ContainsFunc(q.parts, func(part part) bool { return part.id == u.Fragment }) {
		return "", fmt.Errorf("%s: the link %q leads to no heading of %s", p.path, link, q.path)
	}
	to := relative(p, q.out())
	if u.Path == "" {
		to = ""
	}
	if u.Fragment != "" {
		to += "#" + u.Fragment
	}
	return to, nil
}

// relative is the way from a page to a file of the site.
func relative(p *page, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(p.out())), filepath.FromSlash(to))
	if err != nil {
		return to
	}
	return filepath.ToSlash(rel)
}
