package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/verb"
)

// faces are those that a verb may be on, in the order of the columns.
func faces() []grant.Face { return []grant.Face{grant.Window, grant.CLI, grant.MCP} }

// markdown renders docs/verbs.md.
func markdown() []byte {
	b := &bytes.Buffer{}
	fmt.Fprint(b, `# Verbs

<!-- Made from the verb table by "make gen". Do not edit. -->

Every operation of Termic is written once, in `+"`internal/verb/table.go`"+`. The window, the command line and the MCP
endpoint call the same handlers with the same parameters, and get the same bytes back.

## Who may call what

A dot means that the class may call the verb on that face. A face that is blank in every column does not offer the verb;
the reason stands with the verb below. "asks" means that the call waits until somebody else approves it.

The classes readonly, operator and approve are the scopes of named tokens, on MCP.

| verb | command line | changes | owner, window | owner, CLI | full, MCP | scoped, MCP | readonly | operator | approve |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, v := range verb.All() {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |", v.Name, cliPaths(&v), effect(v.Effect), dot(v.On(grant.Window)), dot(v.On(grant.CLI)))
		for _, c := range []grant.Class{grant.Full, grant.Scoped, grant.ReadOnly, grant.Operator, grant.Approve} {
			mark := dot(v.On(grant.MCP) && v.For(c))
			if mark != "" && v.Waits(c) {
				mark = "asks"
			}
			fmt.Fprintf(b, " %s |", mark)
		}
		fmt.Fprint(b, "\n")
	}
	reach(b)
	commandLine(b)
	exitCodes(b)
	fmt.Fprint(b, "\n## The verbs\n")
	for _, v := range verb.All() {
		section(b, &v)
	}
	return b.Bytes()
}

func dot(on bool) string {
	if on {
		return "●"
	}
	return ""
}

func cliPaths(v *verb.Verb) string {
	if v.CLI == "" {
		return ""
	}
	var out []string
	for _, p := range append([]string{v.CLI}, v.Aliases...) {
		out = append(out, "`"+p+"`")
	}
	return strings.Join(out, ", ")
}

func effect(e verb.Effect) string {
	s := string(e.Kind)
	if e.Idempotent && e.Kind != verb.Reads {
		s += ", idempotent"
	}
	return s
}

// reach says on what a class may use its verbs.
func reach(b *bytes.Buffer) {
	fmt.Fprint(b, `
## What a caller reaches

| class | who | sees | acts on |
|---|---|---|---|
| owner | the window; the command line | everything | everything |
| full | the `+"`mcp-token`"+` file; agents and terminals of tasks in mode off | every task and project | every task and project, with the verbs above |
| scoped | the agent of a caged task whose MCP box is checked | its own task, and those that it created in its allowed projects | what it sees; and by `+"`task_send`"+` any task of its allowed projects whose exact id it knows |

For a scoped caller more holds:

- What it may neither see nor address answers exactly as what does not exist. Names are looked up among what it sees alone.
- It drives an agent only if that agent's cage, as it was provisioned and as it would be now, allows nothing beyond its own: mode,
  files, hosts, projects, agents, control of Termic.
- A prompt for a task that it does not see takes the exact id, no tab and no wait, and answers `+"`{\"mode\":\"accepted\"}`"+` alone. It is
  compared once more when it is about to be typed.
- A task that it creates has its own mode, lists, projects and agents, a worktree of its own, and never runs without a cage. A task has at most
  8 live children, and tasks create tasks at most 3 levels deep.
- Terminals that the user opened beside the agents are not there for it, and results hold no `+"`job`"+`.
`)
}

// commandLine says what holds for every verb on the command line.
func commandLine(b *bytes.Buffer) {
	fmt.Fprint(b, `
## On the command line

`+"`termic VERB`"+` talks to the running app through `+"`termic.sock`"+` in the data folder, or through the socket that TERMIC_SOCKET names; the
token lies beside it in `+"`cli-token`"+`. Flags stand anywhere, before or after the words; `+"`--`"+` ends them.

- `+"`--json`"+`, short for `+"`--output json`"+`: standard output is exactly the bytes of the result and a newline. An error is
  `+"`{\"error\":{\"code\",\"message\",\"hint\",\"data\"}}`"+` there, and the same words are on standard error.
- `+"`--output stream-json`"+`: each event is a line of its own, `+"`{\"event\":...}`"+`, before the result.
- Text is plain. Names, titles and other text from outside have their control characters shown as marks. What a program printed
  (`+"`logs`, `result`, `diff --full`"+`) goes as it is to a file or a pipe, and with marks to a terminal.
- `+"`apply`, `archive`, `stop` and `project remove`"+` ask on a terminal; without one they need `+"`--yes`"+`.
- A duration is a number of seconds, or parts such as `+"`1m30s`"+`. A prompt of `+"`-`"+` is read from standard input.
- An interrupt ends the watching, with exit code 130, and never what was begun in the app.
- In a cage that keeps the app out, every verb ends at once with exit code 6.
`)
}

func exitCodes(b *bytes.Buffer) {
	fmt.Fprint(b, "\n## Exit codes of the command line\n\n| code | meaning |\n|---|---|\n")
	for _, code := range slices.Sorted(maps.Keys(fault.ExitDoc)) {
		fmt.Fprintf(b, "| %d | %s |\n", code, fault.ExitDoc[code])
	}
}

func section(b *bytes.Buffer, v *verb.Verb) {
	fmt.Fprintf(b, "\n### `%s`\n\n%s.\n\n", v.Name, v.Doc)
	fmt.Fprintf(b, "Narrowest class: %s. Effect: %s.", v.Class, effect(v.Effect))
	if v.Streams {
		fmt.Fprint(b, " Tells events while it runs.")
	}
	if v.CwdTarget {
		fmt.Fprint(b, " On the command line the task may be left out: then it is the one of the current folder.")
	}
	fmt.Fprint(b, "\n")
	for _, f := range faces() {
		if why := v.NotOn[f]; why != "" {
			fmt.Fprintf(b, "\nNot on %s: %s.\n", faceName(f), why)
		}
	}
	if len(v.Exits) > 0 {
		var list []string
		for _, code := range v.Exits {
			list = append(list, fmt.Sprintf("%d (%s)", code, fault.ExitDoc[code]))
		}
		fmt.Fprintf(b, "\nExit codes beside 0, 1 and 2: %s.\n", strings.Join(list, ", "))
	}
	if len(v.Params) == 0 {
		return
	}
	fmt.Fprint(b, "\n| parameter | type | command line | faces | meaning |\n|---|---|---|---|---|\n")
	for _, p := range v.Params {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", paramName(p), paramKind(p), paramCLI(v, p), paramFaces(v, p), p.Doc)
	}
}

func faceName(f grant.Face) string {
	switch f {
	case grant.CLI:
		return "the command line"
	case grant.MCP:
		return "MCP"
	}
	return "the window"
}

func paramName(p verb.Param) string {
	switch {
	case p.ClientOnly:
		return "(client only)"
	case p.Required:
		return "`" + p.Name + "` (required)"
	}
	return "`" + p.Name + "`"
}

func paramKind(p verb.Param) string {
	switch {
	case p.Enum != nil:
		return strings.Join(p.Enum, ", ")
	case p.Millis:
		return "integer, milliseconds"
	case p.Type == verb.Strings:
		return "list of strings"
	}
	return string(p.Type)
}

func paramCLI(v *verb.Verb, p verb.Param) string {
	switch {
	case v.CLI == "" || !p.On(grant.CLI):
		return ""
	case p.Positional == "rest":
		return "the remaining words"
	case p.Positional != "":
		return "positional"
	case p.Flag == "":
		return "by itself"
	case p.Short != "":
		return fmt.Sprintf("`--%s`, `-%s`", p.Flag, p.Short)
	}
	return "`--" + p.Flag + "`"
}

func paramFaces(v *verb.Verb, p verb.Param) string {
	if p.ClientOnly {
		return "CLI"
	}
	var out []string
	for _, f := range faces() {
		if v.On(f) && p.On(f) {
			name := map[grant.Face]string{grant.Window: "window", grant.CLI: "CLI", grant.MCP: "MCP"}[f]
			if f == grant.MCP && p.Class == grant.Full && v.Class == grant.Scoped {
				name += " (not scoped)"
			}
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}
