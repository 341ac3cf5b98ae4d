package cli

import (
	"slices"
	"strconv"
	"strings"

	"termic/internal/verb"
)

// face is the name of this face in the verb table.
const face = "cli"

// Forms of output.
const (
	outText   = "text"
	outJSON   = "json"
	outStream = "stream-json"
)

// global holds the flags that every verb takes.
type global struct {
	output   string // one of the forms; empty: text
	noLaunch bool
	remote   string // name of a login; empty: the app on this machine
}

func (g global) json() bool { return g.output == outJSON || g.output == outStream }

// globalFlags describes them for help, in the order in which it shows them.
func globalFlags() []flagDoc {
	return []flagDoc{
		{Flag: "--output", Value: ref("text|json|stream-json"), Help: "form of the output; text when left out"},
		{Flag: "--json", Help: "short for --output json"},
		{Flag: "--remote", Value: ref("NAME"), Help: "ask the Termic elsewhere that `login` knows by this name"},
		{Flag: "--no-launch", Help: "never start the app; it is not started by any verb but serve"},
		{Flag: "--help", Short: ref("-h"), Help: "explain the verb instead of running it"},
	}
}

// invocation is a parsed command line.
type invocation struct {
	global global
	help   bool
	path   string     // the words that named the verb, or the group of verbs for help
	verb   *verb.Verb // nil only for help on a group or on everything
	values map[string]any
}

func (i invocation) text(name string) string { s, _ := i.values[name].(string); return s }
func (i invocation) on(name string) bool     { b, _ := i.values[name].(bool); return b }

// parser walks over the words once, from left to right.
type parser struct {
	words []string
	inv   invocation
	args  []string // positional words
}

// parse reads a command line. What it returned so far is valid with an error too, so that the error can be printed in
// the form that was asked for.
func parse(args []string) (invocation, error) {
	p := &parser{words: args, inv: invocation{values: map[string]any{}}}
	err := p.run()
	if err != nil && slices.Contains(args, "--json") {
		p.inv.global.output = outJSON // it may stand behind what did not parse
	}
	return p.inv, err
}

func (p *parser) run() error {
	if err := p.findVerb(); err != nil {
		return err
	}
	if p.inv.verb == nil {
		return p.withoutVerb()
	}
	if err := p.flagsAndWords(); err != nil {
		return err
	}
	if p.inv.help {
		return nil
	}
	if err := p.positionals(); err != nil {
		return err
	}
	return p.required()
}

// findVerb consumes global flags and the words of the verb's path: the longest that the table knows.
func (p *parser) findVerb() error {
	for len(p.words) > 0 {
		word := p.words[0]
		if took, err := p.globalFlag(nil); took || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if word == "--version" && p.inv.path == "" {
			p.inv.path, p.inv.verb = "version", mustFind("version")
			p.words = p.words[1:]
			return nil
		}
		longer := strings.TrimSpace(p.inv.path + " " + word)
		if !isPrefix(longer) {
			break
		}
		p.inv.path, p.inv.verb = longer, find(longer)
		p.words = p.words[1:]
	}
	return nil
}

// withoutVerb explains a line that names no verb.
func (p *parser) withoutVerb() error {
	switch {
	case len(p.words) == 0 && (p.inv.path == "" || p.inv.help):
		p.inv.help = true
		return nil
	case len(p.words) == 0:
		return badUsage(nil, "%q needs one more word: %s", p.inv.path, strings.Join(nextWords(p.inv.path), ", "))
	case strings.HasPrefix(p.words[0], "-"):
		return orNear(badUsage(nil, "There is no flag %s for every verb", clean(p.words[0])), p.words[0], flagsOf(nil))
	}
	return noVerb(strings.TrimSpace(p.inv.path + " " + p.words[0]))
}

// globalFlag takes a global flag from the front, if there is one.
func (p *parser) globalFlag(v *verb.Verb) (bool, error) {
	name, value, hasValue := strings.Cut(p.words[0], "=")
	switch name {
	case "--output":
		if !hasValue {
			if len(p.words) < 2 {
				return false, badUsage(v, "--output needs a value: text, json or stream-json")
			}
			value, p.words = p.words[1], p.words[1:]
		}
		if value != outText && value != outJSON && value != outStream {
			return false, badUsage(v, "--output must be text, json or stream-json")
		}
		p.inv.global.output = value
	case "--remote":
		if !hasValue {
			if len(p.words) < 2 {
				return false, badUsage(v, "--remote needs a value: the name of a login")
			}
			value, p.words = p.words[1], p.words[1:]
		}
		if value == "" {
			return false, badUsage(v, "--remote needs a value: the name of a login")
		}
		p.inv.global.remote = value
	case "--json":
		p.inv.global.output = outJSON
	case "--no-launch":
		p.inv.global.noLaunch = true
	case "--help", "-h":
		p.inv.help = true
	default:
		return false, nil
	}
	if hasValue && name != "--output" && name != "--remote" {
		return false, badUsage(v, "%s takes no value", name)
	}
	p.words = p.words[1:]
	return true, nil
}

// flagsAndWords reads what follows the verb: flags in any place, until "--".
func (p *parser) flagsAndWords() error {
	for len(p.words) > 0 {
		word := p.words[0]
		switch {
		case word == "--":
			p.args = append(p.args, p.words[1:]...)
			return nil
		case word == "-" || !strings.HasPrefix(word, "-"):
			p.args = append(p.args, word)
			p.words = p.words[1:]
			continue
		}
		took, err := p.globalFlag(p.inv.verb)
		if err == nil && !took {
			err = p.verbFlag(word)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) verbFlag(word string) error {
	p.words = p.words[1:]
	if strings.HasPrefix(word, "--") {
		name, value, has := strings.Cut(word[2:], "=")
		q := p.param(func(q verb.Param) bool { return q.Flag == name })
		return p.take(q, "--"+name, value, has)
	}
	for rest := word[1:]; rest != ""; {
		name := rest[:1]
		rest = rest[1:]
		q := p.param(func(q verb.Param) bool { return q.Short == name })
		if q != nil && q.Type == verb.Bool {
			if err := p.take(q, "-"+name, "", false); err != nil {
				return err
			}
			continue
		}
		return p.take(q, "-"+name, strings.TrimPrefix(rest, "="), rest != "")
	}
	return nil
}

// param finds a parameter of the verb that the command line offers.
func (p *parser) param(is func(verb.Param) bool) *verb.Param {
	for i, q := range p.inv.verb.Params {
		if q.On(face) && q.Flag+q.Short != "" && is(q) {
			return &p.inv.verb.Params[i]
		}
	}
	return nil
}

// take stores the value of one flag, fetching it from the next word when it was not joined.
func (p *parser) take(q *verb.Param, flag, value string, has bool) error {
	v := p.inv.verb
	if q == nil {
		return orNear(badUsage(v, "%s has no flag %s", v.CLI, clean(flag)), flag, flagsOf(v))
	}
	if q.Type == verb.Bool {
		return p.takeBool(q, flag, value, has)
	}
	if !has {
		if len(p.words) == 0 {
			return badUsage(v, "%s needs a value", flag)
		}
		value, p.words = p.words[0], p.words[1:]
	}
	return p.store(q, flag, value)
}

func (p *parser) takeBool(q *verb.Param, flag, value string, has bool) error {
	on := true
	if has {
		var err error
		if on, err = strconv.ParseBool(value); err != nil {
			return badUsage(p.inv.verb, "%s is true or false", flag)
		}
	}
	p.inv.values[q.Name] = on
	return nil
}

// store checks and keeps a value. A list may be given in parts; anything else only once.
func (p *parser) store(q *verb.Param, flag, value string) error {
	v := p.inv.verb
	if _, twice := p.inv.values[q.Name]; twice && q.Type != verb.Strings {
		return badUsage(v, "%s is given twice", flag)
	}
	switch {
	case q.Enum != nil && !slices.Contains(q.Enum, value):
		return badUsage(v, "%s must be one of: %s", flag, strings.Join(q.Enum, ", "))
	case q.Type == verb.Strings:
		list, given := p.inv.values[q.Name].([]string)
		if !given {
			list = []string{} // an empty value is an empty list, not none
		}
		p.inv.values[q.Name] = append(list, splitList(q, value)...)
	case q.Millis:
		ms, err := parseDuration(value)
		if err != nil {
			return badUsage(v, "%s: %v", flag, err)
		}
		p.inv.values[q.Name] = ms
	case q.Type == verb.Integer:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return badUsage(v, "%s must be a whole number, not below zero", flag)
		}
		p.inv.values[q.Name] = n
	default:
		p.inv.values[q.Name] = value
	}
	return nil
}

func splitList(q *verb.Param, s string) []string {
	if q.Parts == "whole" {
		return []string{s}
	}
	var out []string
	for _, item := range strings.Split(s, ",") {
		item = strings.TrimSpace(item)
		switch _, err := strconv.ParseUint(item, 10, 16); {
		case item == "":
		case err == nil && q.Parts == "hosts" && len(out) > 0 && strings.Contains(out[len(out)-1], ":"):
			out[len(out)-1] += "," + item
		default:
			out = append(out, item)
		}
	}
	return out
}

// positionals gives the words without a flag to the parameters that take them, in the order of the table. With --here
// the task is known, so the words begin behind it.
func (p *parser) positionals() error {
	v := p.inv.verb
	for _, q := range v.Params {
		if len(p.args) == 0 {
			return nil
		}
		if !q.On(face) || q.Name == "task" && p.inv.on("here") {
			continue
		}
		switch q.Positional {
		case "arg":
			if err := p.store(&q, argName(q), p.args[0]); err != nil {
				return err
			}
			p.args = p.args[1:]
		case "rest":
			p.inv.values[q.Name] = strings.Join(p.args, " ")
			if q.Type == verb.Strings {
				p.inv.values[q.Name] = p.args
			}
			p.args = nil
		}
	}
	if len(p.args) > 0 && slices.ContainsFunc(v.Params, func(q verb.Param) bool { return q.Secret }) {
		return badUsage(v, "%s takes its value from standard input or a file, not as a word, which others can read", v.CLI)
	}
	if len(p.args) > 0 {
		return badUsage(v, "%s takes no more words: %q is one too many", v.CLI, clean(p.args[0]))
	}
	return nil
}

func (p *parser) required() error {
	for _, q := range p.inv.verb.Params {
		if _, given := p.inv.values[q.Name]; q.Required && !given {
			oneOf := ""
			if len(q.Enum) > 0 {
				oneOf = " (" + strings.Join(q.Enum, ", ") + ")"
			}
			return badUsage(p.inv.verb, "%s needs %s%s: %s", p.inv.verb.CLI, argName(q), oneOf, q.Doc)
		}
	}
	return nil
}
