package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"termic/internal/fault"
	"termic/internal/verb"
)

// maxPrompt is what standard input may give for a prompt, in bytes; the verb's own limit is the same.
const maxPrompt = verb.MaxPrompt

// fillIn adds what a person at a shell leaves out: the current folder, the task of this terminal, a prompt on standard
// input, paths from here.
func (r *runner) fillIn(inv invocation) error {
	values := inv.values
	if inv.text("prompt") == "-" {
		text, err := r.readPrompt()
		if err != nil {
			return err
		}
		values["prompt"] = text
	}
	if inv.verb.Name == "secret_set" {
		text, err := r.readSecret(inv)
		if err != nil {
			return err
		}
		values["value"] = text
	}
	inTask := inv.verb.Name == "task_edit" && (inv.text("task") != "" || inv.text("project") != "") // from wherever it is named
	for _, name := range []string{"path", "from"} {
		if name == "path" && inTask {
			continue
		}
		if p := inv.text(name); p != "" && !filepath.IsAbs(p) && r.Dir != "" {
			values[name] = filepath.Join(r.Dir, p)
		}
	}
	if inv.verb.Name == "task_log" && isTerminal(r.Stdout) && !r.global.json() {
		values["plain"] = true // raw output of a program would act on this terminal
	}
	return r.fillInTask(inv)
}

// fillInTask names the task by this terminal or by the current folder when the words did not.
func (r *runner) fillInTask(inv invocation) error {
	values := inv.values
	own := r.Getenv("TERMIC_TASK_ID")
	takesOwn := inv.on("here") || inv.verb.Name == "task_rename"
	if inv.text("task") == "" && takesOwn && own != "" {
		values["task"] = own
	}
	if inv.on("here") && inv.text("task") == "" && r.Dir == "" {
		return fault.New(fault.InvalidArgument, "This terminal belongs to no task: TERMIC_TASK_ID is not set")
	}
	offered := inv.verb.ParamsOn(face)
	has := func(name string) bool {
		return slices.ContainsFunc(offered, func(p verb.Param) bool { return p.Name == name })
	}
	named := inv.text("task") != "" || !has("task") && inv.text("project") != ""
	if has("cwd") && !named && r.Dir != "" {
		values["cwd"] = r.Dir
	}
	return nil
}

// readPrompt takes a prompt from standard input, without the newline that a shell's tools put at its end.
func (r *runner) readPrompt() (string, error) {
	b, err := io.ReadAll(io.LimitReader(r.Stdin, maxPrompt+2))
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidArgument, "The prompt could not be read from standard input")
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	switch {
	case strings.TrimSpace(text) == "":
		return "", fault.New(fault.InvalidArgument, "Standard input holds no prompt")
	case len(text) > maxPrompt:
		return "", fault.New(fault.InvalidArgument, "The prompt on standard input is longer than %d bytes", maxPrompt).
			WithHint("Write the text to a file in the worktree and ask the agent to read it.")
	}
	return text, nil
}

// fileMeant says what was meant where the only word of an edit is no task but a file that is here.
func (r *runner) fileMeant(inv invocation, err error) error {
	word := inv.text("task")
	f := fault.From(err)
	if inv.verb.Name != "task_edit" || f.Code != fault.NotFound || word == "" || inv.text("path") != "" || r.Dir == "" {
		return err
	}
	file, _, _ := strings.Cut(word, ":")
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Dir, file)
	}
	if _, serr := os.Lstat(file); serr != nil {
		return err
	}
	task := "TASK"
	if own := r.Getenv("TERMIC_TASK"); own != "" {
		task = wordOf(own)
	}
	return f.WithHint("%s is a file here, and the first word is the task: `termic edit %s %s`.", word, task, wordOf(word))
}

// wordOf is a text as one word of a shell.
func wordOf(text string) string {
	if q, err := syntax.Quote(clean(text), syntax.LangPOSIX); err == nil {
		return q
	}
	return text
}
