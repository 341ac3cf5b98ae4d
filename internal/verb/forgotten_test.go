package verb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/grant"
)

// TestArchiveGivesTerminalsBack: what a terminal printed is kept for as long as its tab is there, and not for as long as the app runs.
func TestArchiveGivesTerminalsBack(t *testing.T) {
	r := newRig(t)
	plain := filepath.Join(r.dir, "plain")
	check(t, os.Mkdir(plain, 0o755))
	ask := func(verb, params string) (tab string) {
		t.Helper()
		data, err := r.Call(t.Context(), grant.OwnerOn(grant.CLI), verb, json.RawMessage(params), nil)
		check(t, err)
		var answer struct {
			TabID string `json:"tab_id"`
		}
		check(t, json.Unmarshal(data, &answer))
		return answer.TabID
	}
	ask("project_add", `{"path":"`+plain+`","name":"plain","nonGit":true}`)
	ask("task_new", `{"name":"one","project":"plain","noAgent":true}`)
	for { // it is made while others go on
		data, err := r.Call(t.Context(), grant.OwnerOn(grant.CLI), "task_status", json.RawMessage(`{"task":"one"}`), nil)
		check(t, err)
		if strings.Contains(string(data), `"state":"live"`) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, end := range []struct{ verb, params string }{{"task_tab_close", `{"task":"one","tab":"1","allowDefault":true}`}, {"task_archive", `{"task":"one"}`}} {
		tab := ask("task_tab", `{"task":"one","kind":"shell"}`)
		if _, ok := r.host.Get(tab); !ok {
			t.Fatalf("the terminal of the tab %q is not there", tab)
		}
		ask(end.verb, end.params)
		if _, ok := r.host.Get(tab); ok {
			t.Errorf("after %s the terminal is there still", end.verb)
		}
	}
}
