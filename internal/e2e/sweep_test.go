package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"termic/internal/datadir"
)

// planted are the secrets that a rig knows of: what is in none of the places where anybody but their owner looks.
type planted struct {
	mu   sync.Mutex
	by   map[string]string // what each value is
	told map[string]bool   // those that the test itself put where they are found
}

// plant notes a secret. Values that are too short to be found for certain are none.
func (p *planted) plant(what, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]string{}
	}
	if value = strings.TrimSpace(value); len(value) >= 12 && !p.told[value] {
		p.by[value] = what
	}
}

// tell is for a test that types secrets into a prompt, which is kept: they are not looked for.
func (p *planted) tell(values ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil {
		p.told = map[string]bool{}
	}
	for _, v := range values {
		p.told[v] = true
		delete(p.by, v)
	}
}

// found are the secrets that stand in a text, in plain or in a form that programs give to texts in passing.
func (p *planted) found(text []byte) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for value, what := range p.by {
		for form, as := range formsOf(value) {
			if bytes.Contains(text, []byte(as)) {
				out = append(out, what+" ("+form+")")
			}
		}
	}
	return out
}

// formsOf are the texts that a value may stand as.
func formsOf(value string) map[string]string {
	forms := map[string]string{"plain": value, "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"in a URL": url.QueryEscape(value), "in a path": url.PathEscape(value), "quoted": strings.Trim(strconv.Quote(value), `"`)}
	for shift := range 3 { // base64 looks otherwise at each place of a group of three bytes, and its ends depend on the neighbours
		inner := []byte(strings.Repeat("x", shift) + value)
		for name, coding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 of URLs": base64.RawURLEncoding} {
			text := coding.EncodeToString(inner[:len(inner)-len(inner)%3])
			forms[fmt.Sprintf("%s, %d", name, shift)] = text[(shift*8+5)/6:]
		}
	}
	return forms
}

// gather takes in the tokens that lie in files and in the environments of children, which come and go while a test runs.
func (r *rig) gather() {
	for _, pattern := range []string{datadir.CLITokenFile, datadir.MCPTokenFile, filepath.Join(datadir.TokensDir, "*")} {
		files, _ := filepath.Glob(filepath.Join(r.data, pattern)) // the patterns are good
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil {
				r.secrets.plant(filepath.Base(f), string(text))
			}
		}
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err != nil || !strings.HasPrefix(cwd, filepath.Dir(r.home)+"/") {
			continue // of another rig, beside this one
		}
		env, _ := os.ReadFile(filepath.Join(proc, "environ")) // a process that ended, or another user's, has none
		if _, value, ok := strings.Cut(string(env), "\x00TERMIC_MCP_TOKEN="); ok {
			value, _, _ = strings.Cut(value, "\x00")
			r.secrets.plant("the token of a terminal", value)
		}
	}
}

// sweep fails if the log of the app or its database, with what SQLite keeps beside it, holds a secret of the rig. Every rig does it
// when it ends.
func (r *rig) sweep() {
	r.t.Helper()
	for _, what := range r.secrets.found([]byte(r.log.String())) {
		r.t.Errorf("the log holds %s", what)
	}
	files, _ := filepath.Glob(filepath.Join(r.data, datadir.DatabaseFile+"*")) // the pattern is good
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // SQLite removes some as it ends
		}
		for _, what := range r.secrets.found(text) {
			r.t.Errorf("%s holds %s", filepath.Base(f), what)
		}
	}
}

// sweepTree is sweep of every file below a folder, but those that are allowed to hold a secret.
func (r *rig) sweepTree(dir string, allowed func(path string) bool) {
	r.t.Helper()
	must(r.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || allowed(path) {
			return nil // it went away meanwhile
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, what := range r.secrets.found(text) {
			r.t.Errorf("%s holds %s", strings.TrimPrefix(path, dir), what)
		}
		return nil
	}))
}

// A search that finds nothing has to be one that could.
func TestSweepFinds(t *testing.T) {
	var p planted
	const value = "pl4nted/+secret \"value\" é?&%"
	p.plant("it", value)
	for _, around := range []string{"", "a", "ab", "abc", "Bearer "} {
		for name, text := range map[string]string{"plain": around + value + "x", "base64": base64.StdEncoding.EncodeToString([]byte(around + value + "tail")),
			"base64 at the end": base64.StdEncoding.EncodeToString([]byte(around + value)), "base64 of URLs": base64.URLEncoding.EncodeToString([]byte(around + value)),
			"hex": hex.EncodeToString([]byte(around + value)), "query": "?q=" + url.QueryEscape(around+value), "JSON": strconv.Quote(around + value)} {
			if got := p.found([]byte("before " + text + " after")); len(got) == 0 {
				t.Errorf("%s after %q is not found", name, around)
			}
		}
	}
	if got := p.found([]byte("nothing of the kind, " + value[:20])); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}
