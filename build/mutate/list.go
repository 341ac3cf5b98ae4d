package main

import (
	"fmt"
	"os"
	"strings"
)

// list is what stands in equivalent.txt: reasons by key.
type list map[string]string

// readList reads lines of the form KEY: REASON. The key is what the command prints for a survivor, without the line number; empty lines and
// those that begin with # say nothing.
func readList(path string) (list, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of mutants that change nothing: %w", err)
	}
	l := list{}
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, " // ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: a mutant stands here without ` // ` and a reason", path, i+1)
		}
		if key = strings.TrimSpace(key); l[key] != "" {
			return nil, fmt.Errorf("%s:%d: this mutant stands here twice", path, i+1)
		}
		l[key] = reason
	}
	return l, nil
}

// mark gives the mutants their reasons, and returns the keys that are those of none.
func (l list) mark(mutants []*mutant) (stale []string) {
	found := map[string]bool{}
	for _, m := range mutants {
		key := m.key()
		m.reason, found[key] = l[key], true
	}
	for key := range l {
		if !found[key] {
			stale = append(stale, key)
		}
	}
	return stale
}
