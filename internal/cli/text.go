package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"termic/internal/api"
)

// renderers turns the result of each verb into text.
func renderers() map[string]func(*printer, json.RawMessage) error {
	all := map[string]func(*printer, json.RawMessage) error{
		"task_list":         as(showList),
		"task_status":       as(showStatus),
		"task_new":          as(showNew),
		"task_send":         as(showSend),
		"task_wait":         as(showWait),
		"task_result":       as(showResult),
		"task_log":          as(showLog),
		"task_diff":         as(showDiff),
		"task_open":         as(showOpen),
		"window_link":       as(showLink),
		"task_rename":       as(showRename),
		"task_apply":        as(showApply),
		"task_archive":      as(showArchive),
		"task_restore":      as(showRestore),
		"task_race":         as(showRace),
		"task_signals":      as(showSignals),
		"task_stop":         as(showStop),
		"task_queue":        as(showQueue),
		"task_stage":        as(showStage),
		"task_discard":      as(showDiscard),
		"task_commit":       as(showCommit),
		"task_edit":         as(showEdit),
		"task_sandbox":      as(showSandbox),
		"sandbox_allow":     as(showAllow),
		"sandbox_groups":    as(showGroups),
		"task_tab":          as(showTab),
		"task_tab_close":    as(showTabClose),
		"task_tab_set":      as(showTabSet),
		"task_tab_reopen":   as(showTab),
		"task_move":         as(showTaskMove),
		"project_move":      as(showProjectMove),
		"task_agents":       as(showAgents),
		"prompts":           as(showPrompts),
		"project_list":      as(showProjects),
		"project_add":       as(showProjectAdd),
		"project_remove":    as(showProjectRemove),
		"project_settings":  as(showProjectSettings),
		"project_consent":   as(showConsent),
		"project_refs":      as(showProjectRefs),
		"project_git":       as(showProjectGit),
		"project_find":      as(showProjectFind),
		"secret_list":       as(showSecrets),
		"secret_set":        as(showSecretSet),
		"secret_delete":     as(showSecretDeleted),
		"path":              as(showPath),
		"ledger":            as(showLedger),
		"ledger_export":     as(showLedgerExport),
		"settings_get":      as(showSettings),
		"settings_set":      as(showSettings),
		"settings_reset":    as(showSettings),
		"client_list":       as(showClients),
		"client_plan":       as(showClientPlan),
		"client_register":   as(showClientWrite),
		"client_unregister": as(showClientWrite),
		"client_verify":     as(showClientReport),
		"theme_list":        as(showThemes),
		"mcp_status":        as(showMCP),
		"mcp_enable":        as(showMCP),
		"mcp_disable":       as(showMCP),
		"mcp_rotate":        as(showMCP),
		"health":            as(showHealth),
		"job_list":          as(showJobs),
		"job_get":           as(showJob),
		"job_wait":          as(showJob),
		"job_cancel":        as(showJob),
		"job_events":        as(showJobEvents),
		"job_log":           as(showJobLog),
		"approval_list":     as(showApprovals),
		"approval_get":      as(showApproval),
		"approval_decide":   as(showDecided),
		"task_plan":         as(showPlan),
		"task_drift":        as(showDrift),
		"token_new":         as(showToken),
		"check_list":        as(showChecks),
		"check_get":         as(showCheck),
		"check_add":         as(showCheck),
		"check_update":      as(showCheck),
		"check_set_enabled": as(showCheck),
		"check_snooze":      as(showCheck),
		"check_delete":      as(showCheckDelete),
		"check_probe":       as(showProbe),
		"netgroup_list":     as(showNetgroups),
		"netgroup_add":      as(showNetgroup),
		"netgroup_update":   as(showNetgroup),
		"netgroup_delete":   as(showNetgroupDelete),
		"token_list":        as(showTokens),
		"token_set":         as(showToken),
		"token_revoke":      as(showTokenRevoked),
		"quit":              as(showQuit),
		"doctor":            as(showDoctor),
		"update_check":      as(showUpdate),
	}
	maps.Copy(all, reactionRenderers())
	return all
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// stateWords puts a work state into words; a state is absent when it is not known.
func stateWords(s string) string {
	switch s {
	case "":
		return "unknown"
	case api.WorkNeedsInput:
		return "needs input"
	}
	return clean(s)
}

// taskState shows the work state of a task that lives, and the task's own state otherwise.
func taskState(t api.TaskSummary) string {
	if t.State != "" && t.State != api.TaskLive {
		return t.State
	}
	return stateWords(t.WorkState)
}

func diffWords(d *api.DiffStat) string {
	if d == nil {
		return ""
	}
	s := fmt.Sprintf("%d files +%d -%d", d.FilesChanged, d.Insertions, d.Deletions)
	if d.Untracked > 0 {
		s += fmt.Sprintf(" (%d untracked)", d.Untracked)
	}
	return s
}

func qualified(t api.TaskSummary) string { return t.Project + "/" + t.Name }

func waitWords(w api.WaitOutcome) string {
	switch w.Outcome {
	case api.OutcomeDone:
		return "the agent settled"
	case api.OutcomeNeedsInput:
		return "the agent needs input"
	case api.OutcomeTimeout:
		return "the wait ran out"
	case api.OutcomeNotDelivered:
		return "the prompt was not delivered"
	}
	return w.Outcome
}

func showOutcome(p *printer, w *api.WaitOutcome) {
	if w == nil {
		return
	}
	line := waitWords(*w)
	if w.Detail != "" {
		line += ": " + w.Detail
	}
	p.printf("%s\n", clean(line))
	if w.Outcome == api.OutcomeNeedsInput {
		p.note("Answer it in its terminal: `termic attach %s`.", p.target("TASK"))
	}
}

// target is how the command line called the task that a result is about, as it can be pasted into a shell again.
func (p *printer) target(other string) string {
	name, _ := p.values["task"].(string)
	if name == "" {
		name, _ = p.values["name"].(string)
	}
	if name == "" {
		name = other
	}
	return wordOf(name)
}

func showAgents(p *printer, r api.TaskAgentsResult) {
	var rows [][]string
	for _, a := range r.Agents {
		installed := "unknown"
		if a.Installed != nil {
			installed = yesNo(*a.Installed)
		}
		rows = append(rows, []string{a.ID, a.Name, a.Kind, yesNo(a.Enabled), installed, yesNo(a.Usable), a.Reason})
	}
	p.table([]string{"AGENT", "NAME", "KIND", "ENABLED", "INSTALLED", "USABLE", "REASON"}, rows)
}

func showPrompts(p *printer, r api.PromptsResult) {
	if _, one := p.values["selector"]; one && len(r.Prompts) == 1 {
		p.program(r.Prompts[0].Body)
		return
	}
	if len(r.Prompts) == 0 {
		p.note("The prompt library is empty.")
		return
	}
	var rows [][]string
	for _, x := range r.Prompts {
		rows = append(rows, []string{x.ID, x.Title, yesNo(x.Builtin), yesNo(x.Enabled)})
	}
	p.table([]string{"ID", "TITLE", "BUILT IN", "ENABLED"}, rows)
}

// showThemes lists the themes that were read, and what was not.
func showThemes(p *printer, r api.ThemeListResult) {
	var rows [][]string
	for _, t := range r.Themes {
		rows = append(rows, []string{clean(t.ID), clean(t.Name), clean(t.Scheme)})
	}
	if len(rows) > 0 {
		p.table([]string{"THEME", "NAME", "COLOURS"}, rows)
	} else {
		p.note("There is no theme in %s; docs/themes.md says how to write one", clean(r.Folder))
	}
	for _, t := range r.Themes {
		for _, problem := range t.Problems {
			p.printf("warning: %s: %s\n", clean(t.ID), clean(problem))
		}
	}
	for _, problem := range r.Problems {
		p.printf("warning: %s\n", clean(problem))
	}
}

func showProjects(p *printer, r api.ProjectListResult) {
	if len(r.Projects) == 0 {
		p.note("There are no projects. `termic project add PATH` adds one.")
		return
	}
	var rows [][]string
	for _, x := range r.Projects {
		root := x.RootPath
		if x.Missing {
			root += " (missing)"
		}
		rows = append(rows, []string{x.Name, x.ID, strconv.Itoa(x.Tasks), x.DefaultAgent, x.BaseBranch, root})
	}
	p.table([]string{"PROJECT", "ID", "TASKS", "AGENT", "BASE", "FOLDER"}, rows)
}

func showProjectAdd(p *printer, r api.ProjectAddResult) {
	verb := "Added"
	if r.Existed {
		verb = "Already there:"
	}
	p.printf("%s project %s at %s\n", verb, clean(r.Project.Name), clean(r.Project.RootPath))
}

func showProjectRemove(p *printer, r api.ProjectRemoveResult) {
	p.printf("Removed project %s; %s archived\n", clean(r.Name), plural(r.RemovedTasks, "task was", "tasks were"))
	for _, ref := range r.BackupRefs {
		p.printf("backup: %s\n", clean(ref))
	}
}

func showPath(p *printer, r api.PathResult) {
	if p.raw {
		p.printf("%s\n", r.Path)
		return
	}
	p.printf("%s\n", clean(r.Path))
}

func showLedger(p *printer, r api.LedgerResult) {
	var rows [][]string
	for _, x := range r.Rows {
		rows = append(rows, []string{strconv.FormatInt(x.Seq, 10), x.Time, x.Phase, x.Principal, x.Face, x.Verb, x.Target, x.Outcome,
			strconv.FormatInt(x.DurationMs, 10) + " ms", x.Shape})
	}
	p.table([]string{"SEQ", "TIME", "PHASE", "WHO", "FACE", "VERB", "TARGET", "OUTCOME", "TOOK", "ARGUMENTS"}, rows)
	if r.More {
		p.note("more than %d rows; the chain is %s", r.Total, clean(r.Chain))
		return
	}
	p.note("%d rows in all; the chain is %s", r.Total, clean(r.Chain))
}

func showLedgerExport(p *printer, r api.LedgerExportResult) {
	p.printf("%d rows in %s\n", r.Rows, clean(r.File))
	if r.Chain != "whole" {
		p.note("The chain of the ledger is %s.", clean(r.Chain))
	}
}

// showSettings writes one value bare, and all settings as JSON, which is as close to their types as text comes.
func showSettings(p *printer, r api.SettingsResult) {
	for _, text := range []string{r.Problem, r.Notes} {
		for _, line := range strings.Split(text, "\n") {
			if line != "" {
				p.note("termic: %s", clean(line))
			}
		}
	}
	if r.Key != "" {
		if r.Value == nil { // taken out, and without a default
			p.note("%s is not set any more", clean(r.Key))
			return
		}
		if s, ok := r.Value.(string); ok {
			p.printf("%s\n", clean(s))
			return
		}
		p.json(r.Value)
		return
	}
	p.note("%s", clean(r.File))
	p.json(r.Settings)
}

// json writes a value as JSON. Marshalling escapes control characters, and clean the rest.
func (p *printer) json(v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		p.failed = err
		return
	}
	p.printf("%s\n", cleanLines(string(b)))
}

// showMCP tells where clients connect, or why they cannot.
func showMCP(p *printer, r api.MCPResult) {
	switch {
	case r.Error != "":
		p.printf("The MCP endpoint is on but does not serve: %s\n", clean(r.Error))
		if r.Hint != "" {
			p.note("%s", clean(r.Hint))
		}
	case r.Enabled:
		p.printf("The MCP endpoint serves at %s\ntoken: %s\n", clean(r.URL), clean(r.TokenFile))
	default:
		p.printf("The MCP endpoint is off\n")
	}
	if r.Denied > 0 {
		p.note("%s without a right token", plural(int(r.Denied), "request came", "requests came"))
	}
}

func showQuit(p *printer, r api.QuitResult) {
	if r.Quitting {
		p.printf("Termic ends; %s\n", plural(r.LiveAgents, "agent is ended", "agents are ended"))
		return
	}
	p.printf("Ending Termic would end %s in %s; %s working\n", plural(r.LiveAgents, "agent", "agents"),
		plural(r.TasksWithAgents, "task", "tasks"), plural(r.WorkingTasks, "is", "are"))
	p.note("`termic quit --commit` does it.")
}

func showDoctor(p *printer, r api.DoctorResult) {
	p.printf("termic %s\n", clean(r.Version))
	var rows [][]string
	for _, f := range r.Findings {
		rows = append(rows, []string{strings.ToUpper(f.Level), f.Name, f.Detail})
		if f.Fix != "" {
			rows = append(rows, []string{" ", " ", "-> " + f.Fix})
		}
	}
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = clean(rows[i][j])
		}
	}
	p.columns(rows)
}
