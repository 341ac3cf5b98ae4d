package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed page.html site.css search.js
var parts embed.FS

var layout = template.Must(template.ParseFS(parts, "page.html"))

// entry is a part of a page in the index of the search.
type entry struct {
	Page    string `json:"p"`
	URL     string `json:"u"`
	Heading string `json:"h"`
	Text    string `json:"t"`
}

// link is a line of the list of pages.
type link struct {
	Title, URL string
	Here       bool
}

// chapter is a part of that list.
type chapter struct {
	Title string
	Pages []link
}

// write writes the site into a folder: a file for each page, the files that they show, one sheet of style, one script and the index.
func (s *site) write(dir string) error {
	var index []entry
	for _, p := range s.pages {
		var body bytes.Buffer
		if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
			return err
		}
		var html bytes.Buffer
		err := layout.Execute(&html, map[string]any{"Title": p.title, "Root": strings.Repeat("../", strings.Count(p.out(), "/")), "Chapters": s.list(p), "Body": template.HTML(body.String())})
		if err != nil {
			return err
		}
		if err := put(dir, p.out(), html.Bytes()); err != nil {
			return err
		}
		for _, part := range p.parts {
			index = append(index, entry{p.title, p.out() + "#" + part.id, part.heading, strings.Join(strings.Fields(part.text), " ")})
		}
	}
	for _, file := range s.files {
		data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		if err := put(dir, file, data); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "search.js"} {
		data, err := parts.ReadFile(name)
		if err != nil {
			return err
		}
		if err := put(dir, name, data); err != nil {
			return err
		}
	}
	data, err := json.Marshal(index)
	if err != nil {
		return err
	}
	// A script and no JSON: a page that is opened from a folder may not fetch.
	return put(dir, "index.js", append(append([]byte("const index = "), data...), ";\n"...))
}

// list is the list of pages, as it stands beside one of them.
func (s *site) list(here *page) []chapter {
	var out []chapter
	for _, p := range s.pages {
		if len(out) == 0 || out[len(out)-1].Title != p.chapter {
			out = append(out, chapter{Title: p.chapter})
		}
		c := &out[len(out)-1]
		c.Pages = append(c.Pages, link{p.title, relative(here, p.out()), p == here})
	}
	return out
}

func put(dir, name string, data []byte) error {
	to := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
