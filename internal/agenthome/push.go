package agenthome

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"termic/internal/atomicfile"
)

// push gives a login to the homes that have an older one, or something that is none. It reports false when an agent refreshed its
// own meanwhile: that is read now, and may be the newest.
func (x *exchange) push(doc object) bool {
	seed, whole := x.form.seedable(doc), true
	for _, l := range x.homes {
		next, changed := x.form.newer(l.doc, seed)
		if !changed {
			continue
		}
		err := x.give(l, next)
		if errors.Is(err, atomicfile.ErrChanged) {
			whole = false
			x.look(l)
			continue
		}
		if err != nil {
			x.refuse(l, fmt.Errorf("a newer login could not be given to it: %w", err))
			continue
		}
		if !slices.Contains(x.out.Pushed, l.home) {
			x.out.Pushed = append(x.out.Pushed, l.home)
		}
	}
	return whole
}

// give puts a login in the place of that of a home. What is no login is replaced whatever it is; a login, only if it is the one
// that was read.
func (x *exchange) give(l *lodger, doc object) error {
	if l.raw == nil {
		return writeLogin(l.tree, x.rel, doc)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	err = l.tree.writeOver(x.rel, l.raw, data, 0o600)
	if err == nil {
		l.raw, l.doc = data, doc // as it is now, for another round
	}
	return err
}

// newer is the document of a home with what seed has newer, and whether that is anything. What seed has and a home
// claims to have newer was refused, so it is replaced.
func (f *loginForm) newer(doc, seed object) (object, bool) {
	if doc == nil {
		return seed, true
	}
	changed := false
	for name, raw := range seed {
		if entry := doc[name]; !f.refreshes(seed, name) && !sameJSON(entry, raw) {
			doc, changed = maps.Clone(doc), true
			doc[name] = raw
		}
	}
	for _, path := range f.at(seed) {
		theirs, ours := f.entryAt(doc, path), f.entryAt(seed, path)
		for _, x := range f.fields {
			if !sameJSON(theirs[x.name], ours[x.name]) {
				doc, changed = f.put(doc, path, ours), true
				break
			}
		}
	}
	return doc, changed
}

// refreshes reports whether a member of a document is, or is part of, an entry that is refreshed.
func (f *loginForm) refreshes(doc object, name string) bool {
	if slices.ContainsFunc(f.fields, func(x field) bool { return x.above && x.name == name }) {
		return true
	}
	return slices.ContainsFunc(f.at(doc), func(path []string) bool {
		return len(path) > 0 && path[0] == name || len(path) == 0 && !slices.Contains(f.beside, name)
	})
}
