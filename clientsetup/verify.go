package clientsetup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// Limits of Verify.
const (
	commandTimeout = 10 * time.Second // Claude Code's own
	maxWords       = 64 << 10         // of what a program says
	shownWords     = 400              // characters of that which are shown
)

// access is how a client would connect by the entry in its file.
type access struct {
	source  source
	folder  string   // in which the client runs the command
	environ []string // which it gives to the command
}

// Verify connects as the client would: it takes the entry from the client's file, runs its command with the environment
// that the client gives it, discovers the server and lists its tools. What is wrong is in the report, not in an error. A
// token is sent nowhere but to the endpoint of e.
func (p Place) Verify(ctx context.Context, id string, e Entry) (Report, error) {
	k, err := find(id)
	if err != nil {
		return Report{}, err
	}
	r := &Report{}
	if p.tryEntry(k, e, r) {
		if a, err := k.access(p); err != nil {
			r.fail("entry", said(err), "")
		} else if headers, ok := tryCommand(ctx, a, r); ok {
			tryServer(ctx, e, headers, r)
		}
	}
	if r.OK = len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].OK; r.OK {
		r.Summary = fmt.Sprintf("%s would connect: %s answers with %d tools", k.about().Name, r.Server, r.Tools)
	}
	return *r, context.Cause(ctx)
}

func (r *Report) pass(name, words string, args ...any) {
	r.Steps = append(r.Steps, Step{Name: name, OK: true, Words: fmt.Sprintf(words, args...)})
}

func (r *Report) fail(name, words, hint string) {
	r.Steps = append(r.Steps, Step{Name: name, Words: words})
	r.Summary, r.Hint = words, hint
}

// tryEntry looks at what the file says.
func (p Place) tryEntry(k kind, e Entry, r *Report) bool {
	st := k.look(p, e)
	const again = "Register again."
	switch {
	case st.Problem != nil:
		r.fail("entry", said(st.Problem), "Correct the file, then register again.")
		return false
	case !st.Registered:
		r.fail("entry", fmt.Sprintf("%s has no entry %q in %s", st.Client.Name, Name, st.File), "Register first.")
		return false
	case st.Foreign:
		r.fail("entry", fmt.Sprintf("The entry %q in %s is not Termic's", Name, st.File), "Registering replaces it, and unregistering brings it back.")
		return false
	}
	for _, s := range st.Stale {
		if s.Key != "timeout" {
			r.fail("entry", s.Words, again)
			return false
		}
	}
	r.pass("entry", "The entry in %s names the endpoint", st.File)
	if !st.Installed {
		r.Notes = append(r.Notes, st.Client.Name+" itself was not found, in the PATH of your login shell or where it usually is")
	}
	for _, s := range st.Stale {
		r.Notes = append(r.Notes, s.Words)
	}
	for _, s := range st.Shadows {
		r.Notes = append(r.Notes, s.Words)
	}
	return true
}

// tryCommand gets the headers as the client does.
func tryCommand(ctx context.Context, a access, r *Report) (map[string]string, bool) {
	if a.source.command == "" {
		doc, missing, err := readFile(a.source.file, maxWords)
		if err != nil || missing || len(strings.TrimSpace(string(doc))) == 0 {
			r.fail("command", "There is no token in "+a.source.file, startTermic)
			return nil, false
		}
		r.pass("command", "The token file can be read")
		return map[string]string{TokenHeader: strings.TrimSpace(string(doc))}, true
	}
	res, err := childproc.Run(ctx, childproc.Cmd{Path: "/bin/sh", Args: []string{"-c", a.source.command}, Dir: a.folder, Env: a.environ,
		Timeout: commandTimeout, MaxOutput: maxWords})
	switch {
	case err != nil && res.TimedOut:
		r.fail("command", fmt.Sprintf("The command that prints the headers did not end within %v", commandTimeout), "")
		return nil, false
	case err != nil:
		r.fail("command", "The command that prints the headers could not be run", "The entry may name a folder that is not there.")
		return nil, false
	case res.Code != 0:
		r.fail("command", fmt.Sprintf("The command that prints the headers ended with %d: %s", res.Code, words(res.Stderr)), startTermic)
		return nil, false
	}
	headers := map[string]string{}
	if err := json.Unmarshal(res.Stdout, &headers); err != nil || len(headers) == 0 {
		r.fail("command", "The command prints no JSON object of headers", "Register again.")
		return nil, false
	}
	r.pass("command", "The command prints the headers")
	return headers, true
}

const startTermic = "Start Termic and switch its MCP endpoint on."

// said is what an error says to people.
func said(err error) string { return fault.From(err).Message }

// words makes what a program said fit to be shown: one line, without control characters.
func words(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > shownWords {
		text = string(runes[:shownWords]) + "…"
	}
	if text == "" {
		return "it said nothing"
	}
	return text
}

// scrubbed is the environment that Codex gives to the command.
func (p Place) scrubbed() []string {
	var out []string
	for _, name := range []string{"HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER"} {
		if v := p.env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

func (k *fileKind) access(p Place) (access, error) {
	_, f, _, err := k.read(k.file(p))
	if err != nil || f.entry == nil {
		return access{}, err
	}
	src, _ := k.shape.source(f.entry)
	a := access{source: src, folder: p.Home, environ: slices.Clone(p.Environ)}
	if k.scrubbed {
		a.environ = p.scrubbed()
	}
	return a, nil
}

func (k *fileKind) block(p Place, e Entry) (Block, error) {
	fields, err := k.shape.fields(e)
	if err != nil {
		return Block{}, err
	}
	return k.fallback(p, k.file(p), fields), nil
}
