package cli

import (
	"fmt"
	"strconv"
	"strings"

	"termic/internal/api"
)

func showList(p *printer, r api.TaskListResult) {
	if len(r.Tasks) == 0 {
		archived, _ := p.values["archived"].(bool)
		find, _ := p.values["find"].(string)
		switch {
		case find != "":
			p.note("No task fits %q.", clean(find))
		case archived:
			p.note("No task is archived, or none before that one.")
		default:
			p.note("There are no tasks. `termic new NAME` makes one.")
		}
		return
	}
	var rows [][]string
	for _, t := range r.Tasks {
		changes := diffWords(t.Diff)
		if t.DiffError != "" {
			changes = t.DiffError
		}
		tabs := ""
		if t.OpenTabs != nil {
			tabs = strconv.Itoa(*t.OpenTabs)
		}
		rows = append(rows, []string{t.Project, t.Name, taskState(t), t.Agent, t.Branch, tabs, changes})
	}
	p.table([]string{"PROJECT", "TASK", "STATE", "AGENT", "BRANCH", "TABS", "CHANGES"}, rows)
	if r.Total > len(r.Tasks) {
		p.note("%d of %d archived tasks. `--before %s` shows older ones, `--find WORDS` looks for some.", len(r.Tasks), r.Total, clean(r.Tasks[len(r.Tasks)-1].ID))
	}
}

func showStatus(p *printer, r api.TaskStatusResult) {
	t := r.Task
	dirty := ""
	if t.DirtyFiles != nil {
		dirty = strconv.Itoa(*t.DirtyFiles)
	}
	changes := diffWords(t.Diff)
	if t.DiffError != "" {
		changes = t.DiffError
	}
	p.fields("task", qualified(t.TaskSummary), "id", t.ID, "state", taskState(t.TaskSummary), "detail", t.Detail, "error", t.Error,
		"agent", t.Agent, "branch", t.Branch, "base", t.BaseBranch, "folder", t.Path, "sandbox", t.Sandbox, "secrets", clean(strings.Join(t.Secrets, ", ")),
		"changes", changes, "uncommitted", dirty, "created", t.Created, "archived", t.Archived)
	for _, w := range t.Warnings {
		p.printf("warning: %s\n", clean(w))
	}
	showDenials(p, t.Denials)
	showRefs(p, "changed while a caged agent ran", t.Refs)
	if t.Tabs == nil {
		p.note("The tabs are not known.")
		return
	}
	p.printf("\n")
	var rows [][]string
	for _, tab := range t.Tabs {
		rows = append(rows, tabRow(tab))
	}
	p.table([]string{"TAB", "KIND", "AGENT", "STATE", "QUEUED", "TITLE", "ID"}, rows)
	said := map[string]bool{}
	for _, tab := range t.Tabs {
		if tab.Cage == nil {
			continue
		}
		for _, n := range tab.Cage.Notes {
			if !said[n] {
				p.printf("note: %s\n", clean(n))
			}
			said[n] = true
		}
	}
}

func tabRow(t api.TabStatus) []string {
	state := stateWords(t.State)
	switch {
	case t.Exit != nil && t.Exit.Signal != "":
		state = "ended by " + t.Exit.Signal
	case t.Exit != nil:
		state = fmt.Sprintf("ended with %d", t.Exit.Code)
	case !t.Live:
		state = "not running"
	}
	if t.Detail != "" {
		state += ": " + t.Detail
	}
	index := strconv.Itoa(t.Index)
	if t.IsDefault {
		index += " *"
	}
	return []string{index, t.Kind, t.Agent, state, strconv.Itoa(t.Queued), t.Title, t.ID}
}

func showNew(p *printer, r api.TaskNewResult) {
	name := clean(qualified(r.Task))
	switch r.Task.State {
	case api.TaskCreating:
		name += " is being created"
	case api.TaskFailed:
		name += " could not be created"
	}
	p.printf("%s\n", name)
	p.fields("  id", r.Task.ID, "  branch", r.Task.Branch, "  folder", r.Task.Path)
	showOutcome(p, r.Wait)
}

// showRace lists the tasks of a race.
func showRace(p *printer, r api.TaskRaceResult) {
	p.printf("%s from %s (%s)\n", plural(len(r.Tasks), "task", "tasks"), clean(r.Base), clean(short(r.Commit)))
	for _, t := range r.Tasks {
		p.printf("  %s\n", clean(qualified(t)))
		p.fields("    id", t.ID, "    agent", t.Agent, "    branch", t.Branch)
	}
}

func showSend(p *printer, r api.TaskSendResult) {
	words := map[string]string{api.SendDelivered: "Delivered", api.SendQueued: "Queued; it follows when the agent is free",
		api.SendSpawned: "An agent was started; the prompt follows when it is ready", api.SendAccepted: "Accepted"}[r.Mode]
	if words == "" {
		words = r.Mode
	}
	if r.Mode == api.SendQueued && r.State == api.WorkNeedsInput {
		words = "Queued behind a question of the agent"
		if r.Detail != "" {
			words += ": " + r.Detail
		}
	}
	p.printf("%s\n", clean(words))
	if r.Mode == api.SendQueued && r.State == api.WorkNeedsInput && r.Wait == nil {
		p.note("Answer it in its terminal: `termic attach %s`. The prompt follows then.", p.target(r.TaskID))
	}
	if !r.Capable && r.Mode != api.SendAccepted {
		p.note("This agent has told nothing of its state so far. Without that, a wait goes by the silence of its terminal.")
	}
	showOutcome(p, r.Wait)
}

func showWait(p *printer, r api.TaskWaitResult) { showOutcome(p, &r.WaitOutcome) }

func showResult(p *printer, r api.TaskResultResult) {
	p.program(r.Text)
	if r.Truncated {
		p.note("The text was cut; all of it is in %s", clean(r.Transcript))
	}
}

func showLog(p *printer, r api.TaskLogResult) {
	p.program(r.Data)
	if r.Truncated {
		p.note("Older output was dropped; %d bytes were printed in all.", r.Total)
	}
}

func showDiff(p *printer, r api.TaskDiffResult) {
	if full, _ := p.values["full"].(bool); full {
		p.program(r.Diff)
		if r.Truncated {
			p.note("The patch was cut: it is %d bytes long.", r.DiffBytes)
		}
		return
	}
	p.printf("%s against %s\n", diffWords(&r.DiffStat), clean(r.Base))
	var rows [][]string
	for _, f := range r.Files {
		path := clean(f.Path)
		if f.OldPath != "" {
			path = clean(f.OldPath) + " -> " + path
		}
		counts := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		if f.Binary {
			counts = "binary"
		}
		rows = append(rows, []string{"  " + clean(f.Status), counts, path})
	}
	p.columns(rows)
	if len(r.Commits) > 0 {
		p.printf("%s:\n", plural(len(r.Commits), "commit", "commits"))
	}
	for _, c := range r.Commits {
		p.printf("  %s %s\n", clean(short(c.ID)), clean(c.Subject))
	}
}

// short is as much of a commit's name as people read.
func short(id string) string { return id[:min(len(id), 10)] }

func showOpen(p *printer, r api.TaskOpenResult) {
	if r.Raised {
		p.printf("The window shows it.\n")
		return
	}
	p.printf("The app runs without a window.\n")
}

func showRename(p *printer, r api.TaskRenameResult) {
	p.printf("%s is now %s\n", clean(r.OldName), clean(r.Task.Name))
}

func showApply(p *printer, r api.TaskApplyResult) {
	if r.TrackedFiles == 0 && r.UntrackedFiles == 0 {
		p.printf("The main checkout has all of it already; nothing was changed\n")
		return
	}
	p.printf("Applied %s and %s\n", plural(r.TrackedFiles, "tracked file", "tracked files"),
		plural(r.UntrackedFiles, "untracked file", "untracked files"))
	if len(r.Conflicts) > 0 {
		p.printf("Conflict marks are in: %s\n", clean(strings.Join(r.Conflicts, ", ")))
	}
}

func showArchive(p *printer, r api.TaskArchiveResult) {
	p.printf("Archived %s; %s\n", clean(r.Project+"/"+r.Name), plural(r.KilledAgents, "agent was ended", "agents were ended"))
	p.fields("backup:", r.BackupRef)
}

func showRestore(p *printer, r api.TaskRestoreResult) {
	p.printf("%s is back at %s\n", clean(qualified(r.Task)), clean(r.Task.Path))
}

func showStop(p *printer, r api.TaskStopResult) {
	p.printf("%s\n", plural(r.Ended, "terminal was ended", "terminals were ended"))
}

func showTab(p *printer, r api.TaskTabResult) {
	p.printf("Opened %s (%s)\n", clean(r.Title), clean(r.TabID))
	for _, w := range r.Warnings {
		p.printf("warning: %s\n", clean(w))
	}
	if r.Prompt != nil {
		showSend(p, *r.Prompt)
	}
}

func showTabClose(p *printer, r api.TaskTabCloseResult) {
	end := ""
	if r.KilledPTY {
		end = "; its program was ended"
	}
	p.printf("Closed %s%s\n", clean(r.Title), end)
}

// showQueue lists what waits for the agents of a task.
func showQueue(p *printer, r api.TaskQueueResult) {
	if len(r.Prompts) == 0 {
		p.note("Nothing waits for the agents of this task")
		return
	}
	var rows [][]string
	for _, q := range r.Prompts {
		state := "waits"
		if q.Typing {
			state = "is being typed"
		}
		if q.Repeats > 0 {
			state += fmt.Sprintf(", then %s more", plural(q.Repeats, "time", "times"))
		}
		first, _, more := strings.Cut(strings.TrimSpace(q.Text), "\n")
		if runes := []rune(first); len(runes) > 60 {
			first, more = string(runes[:60]), true
		}
		if more || q.Truncated {
			first += "…"
		}
		rows = append(rows, []string{clean(q.ID), clean(short(q.TabID)), state, clean(first)})
	}
	p.table([]string{"PROMPT", "TAB", "STATE", "BEGINS"}, rows)
}
