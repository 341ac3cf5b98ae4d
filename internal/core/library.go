package core

import (
	"context"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
)

// maxPrompt is the largest prompt in bytes, text of the library included. It is the limit of every face.
const maxPrompt = 900 << 10

// shippedPrompts are the entries of the library that come with the app. A person's entry with the same id replaces one.
var shippedPrompts = []api.Prompt{
	{ID: "builtin:review", Title: "Review the changes", Body: "Review everything that this branch changes against its base. List faults first, each with file, line and why it is one; then risks; then what you would simplify. Change nothing."},
	{ID: "builtin:write-tests", Title: "Write tests", Body: "Write tests for what this branch changes. Cover the edges and the failures, not only the good path. Run them, and show that each fails when the code it tests is broken."},
	{ID: "builtin:fix-bug", Title: "Fix a bug", Body: "Find the cause before you change anything: reproduce it with a failing test, explain it in two sentences, then fix it and look for the same mistake elsewhere."},
	{ID: "builtin:explain-changes", Title: "Explain the changes", Body: "Explain what this branch changes and why, for somebody who knows the project but has not seen this work. Start with what a user would notice."},
	{ID: "builtin:commit", Title: "Commit", Body: "Commit the work in small commits that each stand on their own, with messages that say why. Do not push."},
	{ID: "builtin:verify", Title: "Verify", Body: "Check that the work is really done: build it, run its tests and its linters, and try the main case by hand. Report what you ran and what it printed."},
	{ID: "builtin:simplify", Title: "Simplify", Body: "Read the whole change once more and make it simpler without changing what it does: less state, fewer branches, no repetition. Keep the tests as they are."},
	{ID: "builtin:status", Title: "Status", Body: "Say in at most six lines what is done, what is left, and what you need from me."},
	{ID: "builtin:continue", Title: "Continue", Body: "Go on with the task where you left off."},
}

// Prompts is the verb prompts.
func (c *Core) Prompts(_ context.Context, _ *Call, p api.PromptsParams) (api.PromptsResult, error) {
	all := c.library()
	if p.Selector != "" {
		one, err := findPrompt(all, p.Selector)
		return api.PromptsResult{Prompts: []api.Prompt{one}}, err
	}
	for i := range all {
		all[i].Body = ""
	}
	return api.PromptsResult{Prompts: all}, nil
}

// library joins the shipped prompts and the person's.
func (c *Core) library() []api.Prompt {
	out := append([]api.Prompt{}, shippedPrompts...)
	for i := range out {
		out[i].Builtin, out[i].Enabled = true, true
	}
next:
	for _, p := range c.settings.Get().Prompts {
		for i := range out {
			if out[i].ID == p.ID {
				out[i].Title, out[i].Body, out[i].Enabled = orElse(p.Title, out[i].Title), orElse(p.Body, out[i].Body), !p.Disabled
				continue next
			}
		}
		out = append(out, api.Prompt{ID: p.ID, Title: orElse(p.Title, p.ID), Body: p.Body, Enabled: !p.Disabled})
	}
	return out
}

// findPrompt picks by exact id, then by title without regard to case.
func findPrompt(all []api.Prompt, selector string) (api.Prompt, error) {
	var found []api.Prompt
	for _, p := range all {
		if p.ID == selector {
			return p, nil
		}
		if strings.EqualFold(p.Title, selector) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		ids := make([]string, len(all))
		for i, p := range all {
			ids[i] = p.ID
		}
		return api.Prompt{}, fault.New(fault.NotFound, "The library has no prompt %q", selector).WithHint("`termic prompts` lists them.").OrNear(selector, ids)
	}
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	return api.Prompt{}, fault.New(fault.Ambiguous, "More than one prompt is called %q", selector).WithHint("Use an id: %s.", strings.Join(ids, ", "))
}

// compose puts a prompt of the library before the text, with a blank line between.
func (c *Core) compose(ref, text string) (string, error) {
	if ref != "" {
		p, err := findPrompt(c.library(), ref)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(p.Body) == "" {
			return "", fault.New(fault.InvalidArgument, "The prompt %q of the library has no text", ref)
		}
		text = strings.TrimSuffix(p.Body+"\n\n"+text, "\n\n")
	}
	if len(text) > maxPrompt {
		return "", fault.New(fault.InvalidArgument, "The prompt is %d bytes long; at most %d are taken", len(text), maxPrompt).
			WithHint("Write the text to a file in the worktree and ask the agent to read it.")
	}
	if text != "" && strings.TrimSpace(text) == "" {
		return "", fault.New(fault.InvalidArgument, "The prompt holds nothing but blanks")
	}
	return text, nil
}
