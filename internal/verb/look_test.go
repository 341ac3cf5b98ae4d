package verb

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// window calls a verb as the window does, and reads its result.
func window[R any](t *testing.T, w *world, verb string, params map[string]any) R {
	t.Helper()
	var r R
	if params == nil {
		params = map[string]any{}
	}
	out, f := w.call(t, grant.OwnerOn(grant.Window), verb, params)
	if f != nil {
		t.Fatalf("%s: %s", verb, words(t, f))
	}
	check(t, json.Unmarshal([]byte(out), &r))
	return r
}

func (w *world) refused(t *testing.T, code fault.Code, verb string, params map[string]any) {
	t.Helper()
	if _, f := w.call(t, grant.OwnerOn(grant.Window), verb, params); f == nil || f.Code != code {
		t.Errorf("%s %v: %v, want %s", verb, params, f, code)
	}
}

func (w *world) tab(t *testing.T, v store.Tab) store.Tab {
	t.Helper()
	tab, err := w.store.CreateTab(t.Context(), v)
	check(t, err)
	return tab
}

// TestLayoutIsKept: what the window says of the panes of a task is there after the next start, without the tabs that were
// closed meanwhile.
func TestLayoutIsKept(t *testing.T) {
	dir := t.TempDir()
	var task store.Task
	var agent, second, shell store.Tab
	t.Run("it is stored", func(t *testing.T) {
		w := openWorld(t, dir)
		task, agent = w.task(t, w.a, "split", nil)
		other, foreign := w.task(t, w.a, "other", nil)
		second = w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: "Terminal"})
		shell = w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabShell, Title: "Shell"})
		layout := func(first, second string) string {
			return fmt.Sprintf(`{"root":{"split":"right","share":0.3,"first":{"tab":%q},"second":{"tab":%q}},"focus":%q,"bottom":%q,"open":true,"height":240}`, first, second, second, shell.ID)
		}
		for _, bad := range []string{"", "{}x", `{"root":{"split":"right","share":2,"first":{"tab":"a"},"second":{"tab":"b"}}}`, strings.Repeat("[", 20000)} {
			w.refused(t, fault.InvalidArgument, "task_layout", map[string]any{"task": task.ID, "layout": bad})
		}
		w.refused(t, fault.NotFound, "task_layout", map[string]any{"task": task.ID, "layout": layout(agent.ID, foreign.ID)})
		w.refused(t, fault.NotFound, "task_layout", map[string]any{"task": task.ID, "layout": layout(agent.ID, "no-such-tab")})
		got := window[api.Layout](t, w, "task_layout", map[string]any{"task": task.ID, "layout": layout(agent.ID, second.ID)})
		if got.Root == nil || got.Root.Share != 0.3 || got.Focus != second.ID || got.Bottom != shell.ID || !got.Open {
			t.Errorf("answer: %+v", got)
		}
		if all := window[api.WindowState](t, w, "window_state", nil).Layouts; len(all) != 1 || all[0].TaskID != task.ID {
			t.Errorf("layouts: %+v", all)
		}
		_ = other
	})
	t.Run("and there again", func(t *testing.T) {
		w := openWorld(t, dir)
		all := window[api.WindowState](t, w, "window_state", nil).Layouts
		if len(all) != 1 || all[0].Root == nil || all[0].Root.First.Tab != agent.ID || all[0].Height != 240 {
			t.Fatalf("layouts: %+v", all)
		}
		window[api.TaskTabCloseResult](t, w, "task_tab_close", map[string]any{"task": task.ID, "tab": second.ID})
		window[api.TaskTabCloseResult](t, w, "task_tab_close", map[string]any{"task": task.ID, "tab": shell.ID})
		all = window[api.WindowState](t, w, "window_state", nil).Layouts
		if len(all) != 1 || all[0].Root != nil || all[0].Focus != agent.ID || all[0].Bottom != "" || all[0].Open {
			t.Errorf("after closing: %+v", all)
		}
		// What was closed a moment ago is no reason to refuse; it is left out.
		got := window[api.Layout](t, w, "task_layout", map[string]any{"task": task.ID,
			"layout": fmt.Sprintf(`{"root":{"split":"below","share":0.5,"first":{"tab":%q},"second":{"tab":%q}}}`, agent.ID, second.ID)})
		if got.Root != nil || got.Focus != agent.ID {
			t.Errorf("with a closed tab: %+v", got)
		}
		// What no window could show is as if it had never been stored.
		check(t, w.store.SetLayout(t.Context(), task.ID, `{"root":{"split":"left"}}`))
		if all := window[api.WindowState](t, w, "window_state", nil).Layouts; len(all) != 0 {
			t.Errorf("a broken one: %+v", all)
		}
	})
}

// TestTasksAndProjectsAreMoved: the order of the sidebar is what the person made it, and stays that over the next start.
func TestTasksAndProjectsAreMoved(t *testing.T) {
	dir := t.TempDir()
	names := func(t *testing.T, w *world) (tasks, projects string) {
		t.Helper()
		s := window[api.WindowState](t, w, "window_state", nil)
		for _, task := range s.Tasks {
			if task.Project == "A" {
				tasks += task.Name
			}
		}
		for _, p := range s.Projects {
			projects += p.Name
		}
		return tasks, projects
	}
	want := func(t *testing.T, w *world, tasks, projects string) {
		t.Helper()
		if a, b := names(t, w); a != tasks || b != projects {
			t.Errorf("%s in %s; want %s in %s", a, b, tasks, projects)
		}
	}
	var kid store.Task
	t.Run("moved", func(t *testing.T) {
		w := openWorld(t, dir)
		all := map[string]store.Task{}
		for _, name := range []string{"1", "2", "3", "4"} {
			all[name], _ = w.task(t, w.a, name, nil)
		}
		_, before := names(t, w)
		want(t, w, "4321", before) // the newest first, until somebody moves one
		for _, c := range []struct {
			name string
			to   int
			want string
			at   int
		}{{"1", 1, "1432", 1}, {"4", 4, "1324", 4}, {"2", 2, "1234", 2}, {"1", 100, "2341", 4}, {"3", 2, "2341", 2}} {
			r := window[api.TaskMoveResult](t, w, "task_move", map[string]any{"task": all[c.name].ID, "position": c.to})
			if r.Position != c.at {
				t.Errorf("%s to %d: %+v", c.name, c.to, r)
			}
			want(t, w, c.want, before)
		}
		w.refused(t, fault.InvalidArgument, "task_move", map[string]any{"task": all["1"].ID, "position": 0})
		kid, _ = w.task(t, w.a, "k", func(k *store.Task) { k.ParentID, k.Depth = all["3"].ID, 1 })
		w.refused(t, fault.Conflict, "task_move", map[string]any{"task": kid.ID, "position": 1})
		window[api.TaskMoveResult](t, w, "task_move", map[string]any{"task": all["4"].ID, "position": 1})
		if a, _ := names(t, w); strings.ReplaceAll(a, "k", "") != "4231" {
			t.Errorf("beside a child: %s", a)
		}
		w.refused(t, fault.NotFound, "project_move", map[string]any{"name": "none", "position": 1})
		w.refused(t, fault.InvalidArgument, "project_move", map[string]any{"name": "A", "position": -1})
		for i, name := range []string{"C", "B", "A"} {
			window[api.ProjectMoveResult](t, w, "project_move", map[string]any{"name": name, "position": i + 1})
		}
		if _, b := names(t, w); b != "CBA" {
			t.Errorf("projects: %s", b)
		}
		// Projects of a group stay together, where the first of them is.
		for _, name := range []string{"C", "A"} {
			window[api.ProjectSettingsResult](t, w, "project_settings", map[string]any{"name": name, "group": "Work"})
		}
		if _, b := names(t, w); b != "CAB" {
			t.Errorf("with a group: %s", b)
		}
		r := window[api.ProjectMoveResult](t, w, "project_move", map[string]any{"name": "B", "position": 2})
		if _, b := names(t, w); b != "CAB" || r.Position != 3 {
			t.Errorf("into a group: %s, %+v", b, r)
		}
		window[api.ProjectMoveResult](t, w, "project_move", map[string]any{"name": "B", "position": 1})
	})
	t.Run("and still so", func(t *testing.T) {
		w := openWorld(t, dir)
		a, b := names(t, w)
		if strings.ReplaceAll(a, "k", "") != "4231" || b != "BCA" {
			t.Errorf("%s in %s", a, b)
		}
		p := window[api.ProjectSettingsResult](t, w, "project_settings", map[string]any{"name": "A", "group": "none"}).Project
		if p.Group != "" {
			t.Errorf("no group: %+v", p)
		}
		w.refused(t, fault.InvalidArgument, "project_settings", map[string]any{"name": "A", "group": "a\u202eb"})
	})
}

// TestTheWindowIsCutUp: widths within their limits, and what is folded among what there is.
func TestTheWindowIsCutUp(t *testing.T) {
	dir := t.TempDir()
	var task store.Task
	t.Run("set", func(t *testing.T) {
		w := openWorld(t, dir)
		task, _ = w.task(t, w.a, "work", nil)
		for _, bad := range []map[string]any{{"sidebar": 219}, {"sidebar": 401}, {"panel": 279}, {"panel": 481}, {"sidebar": -5}, {"fold": "x", "unfold": "y"}} {
			w.refused(t, fault.InvalidArgument, "window_set", bad)
		}
		w.refused(t, fault.NotFound, "window_set", map[string]any{"fold": "group:none"})
		window[api.ProjectSettingsResult](t, w, "project_settings", map[string]any{"name": "A", "group": "Work"})
		window[api.WindowLook](t, w, "window_set", map[string]any{"sidebar": 300})
		for _, key := range []string{w.b.ID, "group:Work", task.ID, w.b.ID} {
			window[api.WindowLook](t, w, "window_set", map[string]any{"fold": key})
		}
		got := window[api.WindowLook](t, w, "window_set", map[string]any{"panel": 280})
		if got.Sidebar != 300 || got.Panel != 280 || !slices.Equal(got.Folded, []string{"group:Work", task.ID, w.b.ID}) {
			t.Errorf("look: %+v", got)
		}
	})
	t.Run("and there again", func(t *testing.T) {
		w := openWorld(t, dir)
		got := window[api.WindowState](t, w, "window_state", nil).Look
		if got.Sidebar != 300 || len(got.Folded) != 3 {
			t.Errorf("look: %+v", got)
		}
		// A group that is gone is forgotten with the next change.
		window[api.ProjectSettingsResult](t, w, "project_settings", map[string]any{"name": "A", "group": "none"})
		got = window[api.WindowLook](t, w, "window_set", map[string]any{"unfold": w.b.ID})
		if !slices.Equal(got.Folded, []string{task.ID}) {
			t.Errorf("unfolded: %+v", got)
		}
	})
}

// TestTabsAreNamedPinnedAndMoved: each by itself, and all at once.
func TestTabsAreNamedPinnedAndMoved(t *testing.T) {
	w := newWorld(t)
	task, _ := w.task(t, w.a, "work", nil)
	for _, title := range []string{"two", "three"} {
		w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: title})
	}
	set := func(tab string, more map[string]any) api.TabStatus {
		t.Helper()
		params := map[string]any{"task": task.ID, "tab": tab}
		for k, v := range more {
			params[k] = v
		}
		return window[api.TaskTabSetResult](t, w, "task_tab_set", params).Tab
	}
	order := func() (out string) {
		for _, tab := range window[api.TaskStatusResult](t, w, "task_status", map[string]any{"task": task.ID}).Task.Tabs {
			out += fmt.Sprintf("%d:%s ", tab.Index, tab.Title)
		}
		return strings.TrimSpace(out)
	}
	if got := set("3", map[string]any{"position": 1, "name": "Tests", "pin": true}); got.Index != 1 || got.Title != "Tests" || !got.Named || !got.Pinned {
		t.Errorf("set: %+v", got)
	}
	if got := order(); got != "1:Tests 2:Mine 3:two" {
		t.Errorf("order: %s", got)
	}
	// It answers to its name, keeps what is not named, and can be told to be itself again.
	if got := set("tests", nil); got.Title != "Tests" || !got.Pinned || got.Index != 1 {
		t.Errorf("shown: %+v", got)
	}
	if got := set("Tests", map[string]any{"ownTitle": true, "unpin": true}); got.Title != "three" || got.Named || got.Pinned {
		t.Errorf("its own again: %+v", got)
	}
	set("1", map[string]any{"position": 99})
	if got := order(); got != "1:Mine 2:two 3:three" {
		t.Errorf("order: %s", got)
	}
	w.refused(t, fault.InvalidArgument, "task_tab_set", map[string]any{"task": task.ID, "tab": "1", "name": " "})
	w.refused(t, fault.InvalidArgument, "task_tab_set", map[string]any{"task": task.ID, "tab": "1", "name": "a\nb"})
	w.refused(t, fault.InvalidArgument, "task_tab_set", map[string]any{"task": task.ID, "tab": "1", "position": -1})
	w.refused(t, fault.InvalidArgument, "task_tab_set", map[string]any{"task": task.ID, "tab": "1", "pin": true, "unpin": true})
	w.refused(t, fault.NotFound, "task_tab_set", map[string]any{"task": task.ID, "tab": "nine"})
}

// TestClosedTabsAreReopened: the one that was closed last, or the one that is named; a second time it is open. A script is not
// run in this way, and what does not start stays closed.
func TestClosedTabsAreReopened(t *testing.T) {
	w := newWorld(t)
	tree := filepath.Join(w.dir, "tree")
	task, agent := w.task(t, w.a, "work", func(v *store.Task) { v.Sandbox, v.Path = "off", tree })
	w.refused(t, fault.NotFound, "task_tab_reopen", map[string]any{"task": task.ID})
	terminal := w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: "Terminal", Command: []string{"/bin/cat"}})
	script := w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabScript, Title: "setup", Command: []string{"/bin/cat"}})
	broken := w.tab(t, store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: "Broken", Command: []string{"/nonexistent/program"}})
	_, err := w.store.UpdateTab(t.Context(), agent.ID, func(v *store.Tab) error { v.SessionID, v.SessionUsed = "talk", true; return nil })
	check(t, err)
	for _, tab := range []store.Tab{agent, terminal, script} {
		window[api.TaskTabCloseResult](t, w, "task_tab_close", map[string]any{"task": task.ID, "tab": tab.ID, "allowDefault": true})
	}
	if closed := window[api.WindowState](t, w, "window_state", nil).Closed; len(closed) != 1 || closed[0].Title != "Terminal" || closed[0].TaskID != task.ID {
		t.Errorf("closed: %+v", closed)
	}
	if r := window[api.TaskTabResult](t, w, "task_tab_reopen", map[string]any{"task": task.ID}); r.TabID != terminal.ID {
		t.Errorf("reopened: %+v", r)
	}
	if r := window[api.TaskTabResult](t, w, "task_tab_reopen", map[string]any{"task": task.ID}); r.TabID != agent.ID || r.Agent != "mine" {
		t.Errorf("reopened next: %+v", r)
	}
	tabs := window[api.TaskStatusResult](t, w, "task_status", map[string]any{"task": task.ID}).Task.Tabs
	if len(tabs) != 3 || tabs[2].ID != agent.ID || !tabs[2].IsDefault || !tabs[2].Live || !tabs[1].Live {
		t.Errorf("tabs: %+v", tabs)
	}
	w.refused(t, fault.NotFound, "task_tab_reopen", map[string]any{"task": task.ID})
	w.refused(t, fault.NotFound, "task_tab_reopen", map[string]any{"task": task.ID, "tab": script.ID})
	window[api.TaskTabCloseResult](t, w, "task_tab_close", map[string]any{"task": task.ID, "tab": broken.ID})
	was, err := w.store.Tab(t.Context(), broken.ID)
	check(t, err)
	time.Sleep(time.Millisecond) // so that another time of closing would be another
	if _, f := w.call(t, owner, "task_tab_reopen", map[string]any{"task": task.ID}); f == nil {
		t.Error("a program that is not there was started")
	}
	if now, err := w.store.Tab(t.Context(), broken.ID); err != nil || !now.ClosedAt.Equal(was.ClosedAt) {
		t.Errorf("it is %+v, %v", now, err)
	}
}
