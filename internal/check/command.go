package check

import (
	"bytes"
	"context"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"termic/internal/childproc"
	"termic/internal/shellenv"
)

// maxOutput of a command is kept, in bytes: its last line may become the detail.
const maxOutput = 64 << 10

// commandLine splits a command line into words by the shell's rules of quoting. Nothing is expanded and nothing else of a shell
// is understood, so that what is stored is what runs.
func commandLine(t string) ([]string, error) {
	var out []string
	var err error
	wrong := false
	for w, werr := range syntax.NewParser().WordsSeq(strings.NewReader(t)) {
		if err = werr; err != nil {
			break
		}
		text, plain := literal(w.Parts)
		out, wrong = append(out, text), wrong || !plain
	}
	if err != nil || wrong || len(out) == 0 || out[0] == "" {
		return nil, bad("target", "%q is not a program with its arguments", t).
			WithHint("There is no shell: quotes are read, but no variables, pipes or patterns. Name a script for what needs them.")
	}
	return out, nil
}

// literal is the text of a word in which nothing would be expanded.
func literal(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, plain := literal(p.Parts)
			if !plain || p.Dollar {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape takes the backslashes of quoted characters away.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// command runs a program of the owner's, as the owner would.
func (p *Prober) command(ctx context.Context, s Spec, target string) (Result, error) {
	words, err := commandLine(target)
	if err != nil {
		return Result{}, err
	}
	var env []string
	if p.o.Environ != nil {
		env = p.o.Environ(ctx)
	}
	program, err := shellenv.LookPath(words[0], p.o.Dir, env)
	if err != nil {
		return Result{}, err
	}
	res, err := childproc.Run(ctx, childproc.Cmd{Path: program, Args: words[1:], Dir: p.o.Dir, Env: env, Timeout: s.Timeout, MaxOutput: maxOutput})
	r := Result{Detail: lastLine(res.Stdout)}
	if r.Detail == "" {
		r.Detail = "ended with 0"
	}
	said := lastLine([]byte(res.Stderr))
	if said == "" {
		said = lastLine(res.Stdout)
	}
	if said != "" {
		said = ": " + said
	}
	switch {
	case res.TimedOut || isTimeout(err):
		return r, fail("did not end within %s", s.Timeout)
	case err != nil:
		return r, err
	case res.Code < 0:
		return r, fail("was ended by a signal%s", said)
	case res.Code != 0:
		return r, fail("ended with %d%s", res.Code, said)
	}
	return r, nil
}

// lastLine is the last line with something on it.
func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
		text = text[at+1:]
	}
	return string(text)
}
