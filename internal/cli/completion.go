package cli

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"termic/internal/verb"
)

// shells are the scripts that let a shell complete; all that they know is how to ask this program.
//
//go:embed shells/*
var shells embed.FS

// completion prints the script of a shell, or, for such a script, what may stand in place of the last word of standard input.
// Each candidate is a line, with its meaning behind a tab; <file> stands for the names of files.
func (r *runner) completion(ctx context.Context, shell string) error {
	if shell != "words" {
		script, err := shells.ReadFile(map[string]string{"bash": "shells/termic.bash", "zsh": "shells/_termic", "fish": "shells/termic.fish"}[shell])
		if err == nil {
			_, err = r.Stdout.Write(script)
		}
		return err
	}
	var words []string
	lines := bufio.NewScanner(r.Stdin)
	for lines.Scan() {
		words = append(words, lines.Text())
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	var said []string
	for _, c := range r.candidates(ctx, words[:len(words)-1], last) {
		line := c.word
		if c.doc != "" {
			line += "\t" + c.doc
		}
		if c.word != anyFile && !strings.HasPrefix(c.word, last) || slices.Contains(said, line) {
			continue
		}
		said = append(said, line)
		if _, err := fmt.Fprintln(r.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// candidate is one word that could stand there, and what it means.
type candidate struct{ word, doc string }

// anyFile is what a script takes as the names of files.
const anyFile = "<file>"

// candidates are the words that could follow those before.
func (r *runner) candidates(ctx context.Context, before []string, last string) []candidate {
	if n := len(before); n > 0 && before[n-1] == "--remote" {
		return r.logins()
	} else if n > 0 && before[n-1] == "--output" {
		return []candidate{{word: "text"}, {word: "json"}, {word: "stream-json"}}
	}
	p := &parser{words: before, inv: invocation{values: map[string]any{}}}
	if p.findVerb() != nil {
		return nil
	}
	var out []candidate
	if len(p.words) == 0 && !strings.HasPrefix(last, "-") {
		out = wordsAfter(p.inv.path)
	}
	v := p.inv.verb
	if v == nil {
		if strings.HasPrefix(last, "-") {
			out = append(out, ofFlags(globalFlags())...)
		}
		return out
	}
	place, flag := spot(v, p.words)
	switch {
	case flag != nil:
		return r.valuesOf(ctx, v, flag, before)
	case strings.HasPrefix(last, "-"):
		return append(ofFlags(commandOf(v).Flags), ofFlags(globalFlags())...)
	}
	var positional []verb.Param
	for _, q := range v.Params {
		if q.Positional != "" && q.On(face) {
			positional = append(positional, q)
		}
	}
	if place < len(positional) {
		out = append(out, r.valuesOf(ctx, v, &positional[place], before)...)
	}
	return out
}

// spot finds out what the next word is: which of the words without a flag, or the value of a flag.
func spot(v *verb.Verb, words []string) (place int, flag *verb.Param) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "-") || word == "-" {
			place++
			continue
		}
		if word == "--remote" || word == "--output" { // of every verb, with a value
			i++
			continue
		}
		at := slices.IndexFunc(v.Params, func(p verb.Param) bool {
			return p.Flag != "" && word == "--"+p.Flag || p.Short != "" && word == "-"+p.Short
		})
		if at < 0 || v.Params[at].Type == verb.Bool {
			continue
		}
		if i++; i == len(words) {
			return place, &v.Params[at]
		}
	}
	return place, nil
}

// wordsAfter are the words that go on from a path of verbs, each with the meaning of the verb that it ends.
func wordsAfter(path string) []candidate {
	var out []candidate
	for _, v := range verb.All() {
		for _, at := range paths(&v) {
			rest, ok := strings.CutPrefix(at, strings.TrimPrefix(path+" ", " "))
			word, more, _ := strings.Cut(rest, " ")
			if !ok || word == "" || slices.ContainsFunc(out, func(c candidate) bool { return c.word == word }) {
				continue
			}
			c := candidate{word: word}
			if more == "" {
				c.doc = v.Doc
			}
			out = append(out, c)
		}
	}
	return out
}

func ofFlags(flags []flagDoc) []candidate {
	var out []candidate
	for _, f := range flags {
		out = append(out, candidate{f.Flag, f.Help})
	}
	return out
}

// askTime is how long the app may take to say which tasks, projects or agents there are. Somebody waits with a hand on the keyboard.
const askTime = 700 * time.Millisecond

// valuesOf are the values that a parameter can have, as far as they can be told, behind the words before.
func (r *runner) valuesOf(ctx context.Context, v *verb.Verb, p *verb.Param, before []string) []candidate {
	var out []candidate
	for _, value := range p.Enum {
		out = append(out, candidate{word: value})
	}
	switch p.Name {
	case "task":
		return append(out, r.named(ctx, "task_list", "tasks", map[string]any{"archived": v.Name == "task_restore"})...)
	case "secrets":
		return append(out, r.named(ctx, "secret_list", "secrets", nil)...)
	case "approval":
		return append(out, r.named(ctx, "approval_list", "approvals", nil)...)
	case "client":
		return append(out, r.named(ctx, "client_list", "clients", nil)...)
	case "name":
		return append(out, r.ofGroup(ctx, v)...)
	case "project", "projects":
		return append(out, r.named(ctx, "project_list", "projects", nil)...)
	case "agent", "agents":
		return append(out, r.named(ctx, "task_agents", "agents", nil)...)
	case "job":
		return append(out, r.named(ctx, "job_list", "jobs", nil)...)
	case "event":
		return append(out, r.named(ctx, "event_list", "events", nil)...)
	case "promptRef", "selector":
		return append(out, r.named(ctx, "prompts", "prompts", nil)...)
	case "tab":
		return append(out, r.tabsOf(ctx, v, before)...)
	case "key":
		return append(out, r.settingKeys(ctx)...)
	case "which":
		return append(out, r.logins()...)
	case "zone":
		return append(out, zones()...)
	case "path", "from", "file", "files", "cwd", "to":
		return append(out, candidate{word: anyFile})
	case "verb":
		return append(out, wordsAfter("")...)
	}
	return out
}

// ofGroup are the names of what a group of verbs is about, such as checks; none for the verb that makes one, whose name is new.
func (r *runner) ofGroup(ctx context.Context, v *verb.Verb) []candidate {
	group, does, _ := strings.Cut(v.Name, "_")
	lists := map[string]string{"check": "checks", "netgroup": "netgroups", "trigger": "triggers", "schedule": "schedules", "hook": "hooks", "token": "tokens", "secret": "secrets",
		"project": "projects"}
	if lists[group] == "" || does == "add" || does == "new" {
		return nil
	}
	return r.named(ctx, group+"_list", lists[group], nil)
}
