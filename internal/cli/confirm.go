package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/verb"
)

// questions is what is asked before a verb that destroys; %s is what it is done to. Every verb with a --yes of the
// command line's own has one.
var questions = map[string]string{
	"task_apply":     "Apply task %s to the project's main checkout?",
	"task_archive":   "Archive task %s? Its terminals end and its worktree is removed.",
	"task_discard":   "Discard these changes of task %s? They are kept for 30 days.",
	"task_stop":      "Stop task %s? Its terminals end.",
	"task_sandbox":   "Change the sandbox of task %s? Its terminals end.",
	"secret_delete":  "Forget the secret %s? Its value is gone then.",
	"project_remove": "Remove project %s? Every task of it is archived; the repository is left alone.",
}

// asks reports whether the command line itself asks before it calls a verb.
func asks(v *verb.Verb) bool {
	return slices.ContainsFunc(v.Params, func(p verb.Param) bool { return p.ClientOnly && p.Name == "yes" })
}

// changes reports whether anything is given beside the target: a verb that shows and changes only shows without.
func (i invocation) changes() bool {
	for name := range i.values {
		if name != "task" && name != "project" && name != "cwd" {
			return true
		}
	}
	return false
}

// has reports whether a parameter is given.
func (i invocation) has(name string) bool { _, ok := i.values[name]; return ok }

// confirm asks the person before something is destroyed. Without a terminal there is nobody to ask, so --yes is needed.
func (r *runner) confirm(inv invocation) error {
	if !asks(inv.verb) || inv.on("yes") || inv.verb.Name == "task_sandbox" && !inv.changes() || inv.verb.Name == "task_discard" && !inv.has("paths") {
		return nil
	}
	target := inv.text("task")
	if target == "" {
		target = inv.text("name")
	}
	if !isTerminal(r.Stdin) {
		return fault.New(fault.Conflict, "`termic %s` needs a yes, and there is no terminal to ask on", inv.verb.CLI).
			WithHint("Run it again with --yes.")
	}
	fmt.Fprintf(r.Stderr, questions[inv.verb.Name]+" [y/N] ", clean(target))
	answer, err := bufio.NewReader(r.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return fault.Wrap(err, fault.Conflict, "The answer could not be read")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fault.New(fault.Conflict, "Nothing was done")
}
