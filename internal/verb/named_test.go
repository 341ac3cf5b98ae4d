package verb

import (
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// namedMatrix says which verbs each scope of a named token has, by hand. A verb that is not here is for none of them.
const namedMatrix = `
verb           readonly operator approve
task_list      yes      yes      yes
task_status    yes      yes      yes
task_new       no       yes      no
task_send      no       yes      no
task_wait      yes      yes      yes
task_result    yes      yes      yes
task_log       yes      yes      yes
task_diff      yes      yes      yes
task_open      no       yes      no
task_rename    no       yes      no
task_tab       no       yes      no
task_agents    yes      yes      yes
prompts        yes      yes      yes
project_list   yes      yes      yes
project_add    no       yes      no
health         yes      yes      yes
job_list       yes      yes      yes
job_get        yes      yes      yes
job_events     yes      yes      yes
job_log        yes      yes      yes
job_wait       yes      yes      yes
job_cancel     no       yes      no
task_apply     no       yes      no
task_archive   no       yes      no
task_tab_close no       yes      no
project_remove no       yes      no
approval_list  yes      yes      yes
secret_list    yes      yes      yes
approval_get   yes      yes      yes
approval_decide no      no       yes
task_plan      yes      yes      yes
task_drift     yes      yes      yes
check_list     yes      yes      yes
check_get      yes      yes      yes
check_add      no       yes      no
check_update   no       yes      no
check_set_enabled no       yes      no
check_delete   no       yes      no
check_snooze   no       yes      no
check_probe    yes      yes      yes
netgroup_list  yes      yes      yes
netgroup_add   no       yes      no
netgroup_update no       yes      no
netgroup_delete no       yes      no
event_list       yes      yes      yes
event_explain    yes      yes      yes
trigger_list     yes      yes      yes
trigger_add      no       yes      no
trigger_update   no       yes      no
trigger_delete   no       yes      no
schedule_list    yes      yes      yes
schedule_add     no       yes      no
schedule_update  no       yes      no
schedule_delete  no       yes      no
schedule_run_now no       yes      no
`

func readNamed(t *testing.T) map[string]map[grant.Class]bool {
	t.Helper()
	rows := map[string]map[grant.Class]bool{}
	for _, line := range strings.Split(strings.TrimSpace(namedMatrix), "\n")[1:] {
		c := strings.Fields(line)
		if len(c) != 4 || rows[c[0]] != nil {
			t.Fatalf("row %q", line)
		}
		if _, ok := Lookup(c[0]); !ok {
			t.Errorf("there is no verb %s", c[0])
		}
		rows[c[0]] = map[grant.Class]bool{grant.ReadOnly: c[1] == "yes", grant.Operator: c[2] == "yes", grant.Approve: c[3] == "yes"}
	}
	return rows
}

// TestNamedMatrix calls every verb with a token of every scope, for every project and for one alone: a verb that the scope
// does not have is none for it, and a task outside of its projects answers as one that does not exist.
func TestNamedMatrix(t *testing.T) {
	rows := readNamed(t)
	shared := newWorld(t)
	for _, v := range All() {
		t.Run(v.Name, func(t *testing.T) {
			w := shared
			if v.Effect.Kind != Reads && rows[v.Name] != nil {
				w = newWorld(t)
			}
			w.cages.like = w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}})
			mine, _ := w.task(t, w.a, "mine "+v.Name, nil)
			foreign, _ := w.task(t, w.b, "foreign "+v.Name, nil)
			for _, class := range []grant.Class{grant.ReadOnly, grant.Operator, grant.Approve} {
				one := grant.Grant{Principal: "client:one", Class: class, Projects: []string{w.a.ID}}.Caller(grant.MCP)
				all := grant.Grant{Principal: "client:all", Class: class, Everywhere: true}.Caller(grant.MCP)
				none := grant.Grant{Principal: "client:none", Class: class}.Caller(grant.MCP)
				for _, c := range []struct {
					caller grant.Caller
					target store.Task
					within bool
				}{{one, mine, true}, {one, foreign, false}, {all, foreign, true}, {none, mine, false}, {all, store.Task{ID: missingID()}, false}} {
					want := map[bool]string{true: "reach", false: "hide"}[c.within]
					if !targets(&v) {
						want = "any"
					}
					if !rows[v.Name][class] {
						want = "none"
					}
					if got := w.outcome(t, &v, c.caller, c.target); got != want {
						t.Errorf("%s as %s, within %v: %s, want %s", c.caller.Principal, class, c.within, got, want)
					}
				}
			}
		})
	}
}

// TestNamedSeesItsProjectsAlone: lists, names in refusals and details of a token for one project tell nothing of another.
func TestNamedSeesItsProjectsAlone(t *testing.T) {
	w := newWorld(t)
	w.cages.like = w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}})
	parent, _ := w.task(t, w.b, "hidden-parent", nil)
	mine, tab := w.task(t, w.a, "mine", func(t *store.Task) {
		t.ParentID, t.MCP, t.MCPProjects = parent.ID, true, []string{w.a.ID, w.b.ID}
	})
	_, err := w.store.CreateTab(t.Context(), store.Tab{TaskID: mine.ID, Kind: store.TabShell, Title: "hidden-shell"})
	check(t, err)
	_, err = w.store.UpdateProject(t.Context(), w.a.ID, func(p *store.Project) error {
		p.MCP, p.MCPProjects = true, []string{w.a.ID, w.b.ID}
		return nil
	})
	check(t, err)
	_, err = w.store.UpdateProject(t.Context(), w.b.ID, func(p *store.Project) error {
		p.Name, p.Secrets = "hidden-project", []string{"HIDDEN_KEY", "API_KEY"}
		return nil
	})
	check(t, err)
	for _, name := range []string{"HIDDEN_KEY", "API_KEY"} {
		do[api.SecretSetResult](t, w, grant.OwnerOn(grant.CLI), "secret_set", map[string]any{"name": name, "value": "pl4nted"})
	}
	do[api.ProjectSettingsResult](t, w, grant.OwnerOn(grant.CLI), "project_settings", map[string]any{"name": w.a.ID, "secrets": []string{"API_KEY"}})
	hidden := []string{"hidden", "HIDDEN_KEY", "pl4nted", parent.ID, w.b.ID, w.b.RootPath}
	for _, class := range []grant.Class{grant.ReadOnly, grant.Operator, grant.Approve} {
		one := grant.Grant{Principal: "client:one", Class: class, Projects: []string{w.a.ID}}.Caller(grant.MCP)
		for _, c := range []struct {
			verb   string
			params map[string]any
		}{
			{"task_list", map[string]any{}}, {"project_list", map[string]any{}}, {"secret_list", map[string]any{}}, {"task_status", map[string]any{"task": mine.ID}}, {"task_status", map[string]any{"task": "hiden-parent"}},
			{"task_status", map[string]any{"task": "mine", "project": "hiden-project"}}, {"task_log", map[string]any{"task": mine.ID, "tab": "9"}},
			{"task_log", map[string]any{"task": mine.ID, "tab": "2"}}, {"task_new", map[string]any{"name": "n", "project": "nope"}}, {"task_new", map[string]any{"name": "n"}},
		} {
			result, f := w.call(t, one, c.verb, c.params)
			if f != nil {
				result = words(t, f)
			}
			if strings.Contains(c.verb, "_list") && f != nil {
				t.Errorf("%s as %s: %v", c.verb, class, f)
			}
			if c.verb == "secret_list" && !strings.Contains(result, "API_KEY") {
				t.Errorf("%s as %s: %s", c.verb, class, result)
			}
			for _, h := range hidden {
				if strings.Contains(result, h) {
					t.Errorf("%s %v as %s tells %q: %s", c.verb, c.params, class, h, result)
				}
			}
			if c.verb == "task_status" && c.params["task"] == mine.ID && !strings.Contains(result, tab.ID) {
				t.Errorf("it does not see its own agent: %s", result)
			}
		}
	}
	if result, _ := w.call(t, full, "task_list", map[string]any{}); !strings.Contains(result, "hidden-parent") {
		t.Error("nothing was hidden, so the test shows nothing")
	}
}

// TestNamedAddsNoProject: a token for certain projects cannot reach more of the disk by adding one.
func TestNamedAddsNoProject(t *testing.T) {
	w := newWorld(t)
	one := grant.Grant{Principal: "client:one", Class: grant.Operator, Projects: []string{w.a.ID}}.Caller(grant.MCP)
	if _, f := w.call(t, one, "project_add", map[string]any{"path": w.dir, "nonGit": true}); f == nil || f.Code != "forbidden" {
		t.Errorf("it was added: %v", f)
	}
	all := grant.Grant{Principal: "client:all", Class: grant.Operator, Everywhere: true}.Caller(grant.MCP)
	if _, f := w.call(t, all, "project_add", map[string]any{"path": w.dir, "nonGit": true}); f != nil {
		t.Errorf("an operator for every project: %v", f)
	}
}

// TestNamedGivesNoKnobs: what a task is caged with is not a client's to say, so an operator cannot make an agent that may do
// more than the owner's defaults.
func TestNamedGivesNoKnobs(t *testing.T) {
	w := newWorld(t)
	all := grant.Grant{Principal: "client:all", Class: grant.Operator, Everywhere: true}.Caller(grant.MCP)
	for _, knob := range []map[string]any{{"sandbox": "off"}, {"mcp": true}, {"projects": []string{"A"}}, {"agents": []string{"mine"}}, {"mode": "main"}, {"yolo": true}} {
		params := map[string]any{"name": "x", "project": "A"}
		for k, v := range knob {
			params[k] = v
		}
		if _, f := w.call(t, all, "task_new", params); f == nil || f.Code != "invalid_argument" || !strings.Contains(f.Message, "has no argument") {
			t.Errorf("%v: %v", knob, f)
		}
	}
}
