package cli

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/verb"
)

// manual prints termic(1): every verb with its flags, made from the table like the rest of the help. It bears no date, so that the
// same version gives the same page.
func (r *runner) manual() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH TERMIC 1 \"\" \"Termic %s\" \"Termic\"\n", roff(r.Version))
	b.WriteString(".SH NAME\ntermic \\- run coding agents in real terminals, each task in its own git worktree\n")
	b.WriteString(".SH SYNOPSIS\n.B termic\n.br\n.B termic\n.I VERB\n[\\fIflags\\fR]\n")
	b.WriteString(".SH DESCRIPTION\nWithout a word the program opens its window, where it has one; \\fBtermic serve\\fR runs the same app without it. " +
		"Every other word is a verb: it asks the app that runs, and prints what that answers.\n.PP\n" +
		"A duration is a number of seconds, or parts such as 1m30s. A prompt of \\- is read from standard input.\n")
	b.WriteString(".SH \"FLAGS OF EVERY VERB\"\n")
	manFlags(&b, globalFlags())
	b.WriteString(".SH VERBS\n")
	for _, v := range verb.All() {
		if len(paths(&v)) > 0 {
			manVerb(&b, &v)
		}
	}
	b.WriteString(".SH \"EXIT STATUS\"\n")
	for _, code := range slices.Sorted(maps.Keys(fault.ExitDoc)) {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, roff(fault.ExitDoc[code]))
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B TERMIC_DATA_DIR\nfolder with the state, the settings and the tokens of the app, in place of the usual one\n")
	_, err := r.Stdout.Write(b.Bytes())
	return err
}

func manVerb(b *bytes.Buffer, v *verb.Verb) {
	fmt.Fprintf(b, ".SS \"%s\"\n%s.\n", roff(usageLine(v)), roff(v.Doc))
	if len(v.Aliases) > 0 {
		fmt.Fprintf(b, "Also: termic %s.\n", roff(strings.Join(v.Aliases, ", termic ")))
	}
	if note := notes(v); note != "" {
		fmt.Fprintf(b, "%s\n", roff(note))
	}
	c := commandOf(v)
	for _, a := range c.Args {
		fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(a.Name)), roff(a.Help))
	}
	manFlags(b, c.Flags)
}

func manFlags(b *bytes.Buffer, flags []flagDoc) {
	for _, f := range flags {
		name := `\fB` + roff(f.Flag) + `\fR`
		if f.Short != nil {
			name += `, \fB` + roff(*f.Short) + `\fR`
		}
		if f.Value != nil {
			name += ` \fI` + roff(*f.Value) + `\fR`
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(f.Help))
	}
}

// roff writes a text so that nothing in it is a request or an escape: dashes stay the dashes that are typed.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `"`, `\(dq`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
