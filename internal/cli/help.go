package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"termic/internal/control"
	"termic/internal/fault"
	"termic/internal/verb"
)

// flagDoc and the types below are the shape of `help --json`, which other programs read.
type flagDoc struct {
	Flag  string  `json:"flag"`
	Short *string `json:"short"`
	Value *string `json:"value"` // null: the flag takes none
	Help  string  `json:"help"`
}

type argDoc struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Help     string `json:"help"`
}

type commandDoc struct {
	Name      string            `json:"name"`
	Aliases   []string          `json:"aliases"`
	About     string            `json:"about"`
	Args      []argDoc          `json:"args"`
	Flags     []flagDoc         `json:"flags"`
	ExitCodes map[string]string `json:"exit_codes"`
}

type helpDoc struct {
	App         string            `json:"app"`
	Version     string            `json:"version"`
	Protocol    int               `json:"protocol"`
	GlobalFlags []flagDoc         `json:"global_flags"`
	ExitCodes   map[string]string `json:"exit_codes"`
	Commands    []commandDoc      `json:"commands"`
}

func ref(s string) *string { return &s }

// help explains the program, a group of verbs or one verb.
func (r *runner) help(path string) error {
	path = strings.Join(strings.Fields(path), " ")
	v := find(path)
	if v == nil && path != "" && !isPrefix(path) {
		return noVerb(path)
	}
	if r.global.json() {
		return r.helpJSON(path)
	}
	if v != nil {
		verbHelp(r.Stdout, v)
	}
	if nested := nextWords(path); path == "" || len(nested) > 0 && v == nil {
		r.overview(path)
	}
	return nil
}

// helpJSON writes the table as other programs read it, narrowed to the verbs at or below a path.
func (r *runner) helpJSON(path string) error {
	doc := helpDoc{App: "termic", Version: r.Version, Protocol: control.Protocol, GlobalFlags: globalFlags(),
		ExitCodes: exitDocs(slices.Sorted(maps.Keys(fault.ExitDoc))), Commands: []commandDoc{}}
	for _, v := range verb.All() {
		if at := paths(&v); len(at) > 0 && (path == "" || slices.Contains(at, path) || strings.HasPrefix(v.CLI, path+" ")) {
			doc.Commands = append(doc.Commands, commandOf(&v))
		}
	}
	enc := json.NewEncoder(r.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func commandOf(v *verb.Verb) commandDoc {
	c := commandDoc{Name: v.CLI, Aliases: append([]string{}, v.Aliases...), About: v.Doc, Args: []argDoc{}, Flags: []flagDoc{},
		ExitCodes: exitDocs(exitCodes(v))}
	for _, p := range v.Params {
		switch {
		case !p.On(face):
		case p.Positional != "":
			c.Args = append(c.Args, argDoc{Name: p.Name, Required: p.Required, Help: p.Doc})
		case p.Flag != "":
			c.Flags = append(c.Flags, flagOf(p))
		}
	}
	return c
}

func flagOf(p verb.Param) flagDoc {
	f := flagDoc{Flag: "--" + p.Flag, Help: p.Doc}
	if p.Short != "" {
		f.Short = ref("-" + p.Short)
	}
	if p.Type != verb.Bool {
		f.Value = ref(valueName(p))
	}
	return f
}

// valueName says what a flag takes: its allowed values, or a word for its kind.
func valueName(p verb.Param) string {
	switch {
	case p.Enum != nil:
		return strings.Join(p.Enum, "|")
	case p.Millis:
		return "DURATION"
	case p.Type == verb.Integer:
		return "N"
	case p.Type == verb.Strings && p.Parts != "whole":
		return "A,B,..."
	}
	return "TEXT"
}

// exitCodes lists the codes that a verb may end with.
func exitCodes(v *verb.Verb) []int {
	codes := append([]int{fault.ExitOK, fault.ExitError, fault.ExitUsage}, v.Exits...)
	if !v.Local {
		codes = append(codes, fault.ExitNotRunning, fault.ExitDisabled, fault.ExitRefused, fault.ExitLost)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func exitDocs(codes []int) map[string]string {
	out := map[string]string{}
	for _, c := range codes {
		out[strconv.Itoa(c)] = fault.ExitDoc[c]
	}
	return out
}

// argName is how a parameter is called in words: TASK, or --name.
func argName(p verb.Param) string {
	if p.Positional == "" {
		return "--" + p.Flag
	}
	return strings.ToUpper(p.Name)
}

// usageLine shows how a verb is called, on one line.
func usageLine(v *verb.Verb) string {
	var args, need []string
	for _, p := range v.Params {
		switch word := argName(p); {
		case !p.On(face):
		case p.Positional == "rest":
			args = append(args, "["+word+"...]")
		case p.Positional != "" && p.Required:
			args = append(args, word)
		case p.Positional != "":
			args = append(args, "["+word+"]")
		case p.Required:
			need = append(need, word+" "+valueName(p))
		}
	}
	words := append([]string{"termic", v.CLI}, args...)
	return strings.Join(append(append(words, need...), "[flags]"), " ")
}

// overview lists verbs: all of them, or those of a group.
func (r *runner) overview(group string) {
	p := &printer{out: r.Stdout}
	if group == "" {
		fmt.Fprint(r.Stdout, "Termic runs coding agents in real terminals, each task in its own git worktree.\n\nusage: termic VERB [flags]\n\nVerbs:\n")
	}
	var rows [][]string
	for _, v := range verb.All() {
		if len(paths(&v)) == 0 || group != "" && !strings.HasPrefix(v.CLI, group+" ") {
			continue
		}
		rows = append(rows, []string{"  " + v.CLI, v.Doc})
	}
	p.columns(rows)
	if group == "" {
		fmt.Fprint(r.Stdout, "\nFlags of every verb:\n")
		printFlags(r.Stdout, globalFlags())
		fmt.Fprint(r.Stdout, "\nA duration is a number of seconds, or parts such as 1m30s. A prompt of - is read from standard input.\n"+
			"`termic help VERB` explains one verb, `termic help --json` tells everything to a program.\n")
	}
}

// verbHelp writes what there is to know of one verb.
func verbHelp(w io.Writer, v *verb.Verb) {
	fmt.Fprintf(w, "%s.\n\nusage: %s\n", v.Doc, usageLine(v))
	if len(v.Aliases) > 0 {
		fmt.Fprintf(w, "also:  termic %s\n", strings.Join(v.Aliases, ", termic "))
	}
	c := commandOf(v)
	if len(c.Args) > 0 {
		fmt.Fprint(w, "\n")
		var rows [][]string
		for _, a := range c.Args {
			rows = append(rows, []string{"  " + strings.ToUpper(a.Name), a.Help})
		}
		(&printer{out: w}).columns(rows)
	}
	if len(c.Flags) > 0 {
		fmt.Fprint(w, "\nFlags:\n")
		printFlags(w, c.Flags)
	}
	if note := notes(v); note != "" {
		fmt.Fprintf(w, "\n%s\n", note)
	}
	fmt.Fprint(w, "\nExit codes:\n")
	var rows [][]string
	for _, code := range exitCodes(v) {
		rows = append(rows, []string{fmt.Sprintf("  %d", code), fault.ExitDoc[code]})
	}
	(&printer{out: w}).columns(rows)
}

func printFlags(w io.Writer, flags []flagDoc) {
	var rows [][]string
	for _, f := range flags {
		name := "  " + f.Flag
		if f.Short != nil {
			name += ", " + *f.Short
		}
		if f.Value != nil {
			name += " " + *f.Value
		}
		rows = append(rows, []string{name, f.Help})
	}
	(&printer{out: w}).columns(rows)
}

// notes says what the command line adds to a verb.
func notes(v *verb.Verb) string {
	switch v.Name {
	case "task_send":
		return "The first word is the task, unless --here is given; put -- before a prompt that begins with a dash."
	case "task_rename":
		return "Without TASK it is the task of this terminal (TERMIC_TASK_ID), then that of the current folder."
	case "task_log", "task_result":
		return "The text is passed on as it is to a file or a pipe; on a terminal control characters are shown as marks."
	case "task_diff":
		return "With --full only the patch goes to standard output, as it is to a file or a pipe."
	case "attach":
		return "All keys but the detach keys go to the program, Ctrl-C as well. --detach-keys takes keys such as ctrl-p,ctrl-q."
	}
	if v.CwdTarget {
		return "Without TASK it is the task of the current folder."
	}
	return ""
}
