package app

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"termic/internal/api"
	"termic/internal/store"
	"termic/settings"
)

var tellAll = settings.Notify{NeedsInput: true, Done: true, Failed: true}

// agentTask is a task with one agent in a state; "exit" is one that ended with 1.
func agentTask(name, state, detail string) api.TaskDetail {
	tab := api.TabStatus{ID: "tab-" + name, Kind: store.TabAgent, Live: true, State: state, Detail: detail}
	if state == "exit" {
		tab.Live, tab.State, tab.Exit = false, "", &api.Exit{Code: 1}
	}
	return api.TaskDetail{TaskSummary: api.TaskSummary{ID: "id-" + name, Name: name, Project: "harbor", State: api.TaskLive}, Tabs: []api.TabStatus{tab}}
}

// TestWhoIsTold goes through stories of one agent: its states one after the other, a minute apart, and what is told.
func TestWhoIsTold(t *testing.T) {
	for _, one := range []struct {
		name   string
		states []string
		want   []string
	}{
		{"a start is no event", []string{"needs_input"}, nil},
		{"it asks, once", []string{"working", "needs_input", "needs_input"}, []string{"“a” needs input"}},
		{"it finishes, once", []string{"working", "done", "done", "idle"}, []string{"“a” is done"}},
		{"it asks, is answered and asks again", []string{"working", "needs_input", "working", "needs_input"}, []string{"“a” needs input", "“a” needs input"}},
		{"it crashes", []string{"working", "exit", "exit"}, []string{"“a” failed"}},
		{"work and rest are no news", []string{"idle", "working", "idle"}, nil},
	} {
		var tell teller
		var got []string
		for i, state := range one.states {
			for _, n := range tell.news([]api.TaskDetail{agentTask("a", state, "")}, false, tellAll, time.Unix(int64(60*i), 0)) {
				got = append(got, n.Title)
			}
		}
		if !reflect.DeepEqual(got, one.want) {
			t.Errorf("%s: told %q, want %q", one.name, got, one.want)
		}
	}
}

func TestWhatIsTold(t *testing.T) {
	var tell teller
	tell.news([]api.TaskDetail{agentTask("a", "working", "")}, false, tellAll, time.Unix(0, 0))
	got := tell.news([]api.TaskDetail{agentTask("a", "needs_input", "run <b>make</b>\n&\x1b[31m e2e?\u202e")}, false, tellAll, time.Unix(60, 0))
	want := []notice{{ID: "tab-a-1", Title: "“a” needs input", Body: "harbor · run ‹b›make‹/b› ＆[31m e2e?", Task: "id-a"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	long := plain(strings.Repeat("é", 1000))
	if n := len([]rune(long)); n != maxBody || !strings.HasSuffix(long, "…") {
		t.Errorf("%d characters: %s", n, long)
	}
}

// TestNotWhileLooking: what happened before the person's eyes is not told when they look away.
func TestNotWhileLooking(t *testing.T) {
	var tell teller
	at := func(state string, looking bool, wants settings.Notify, second int64) int {
		return len(tell.news([]api.TaskDetail{agentTask("a", state, "")}, looking, wants, time.Unix(second, 0)))
	}
	at("working", true, tellAll, 0)
	if at("needs_input", true, tellAll, 60) != 0 || at("needs_input", false, tellAll, 120) != 0 {
		t.Error("told of what the person saw")
	}
	at("working", false, tellAll, 180)
	if at("needs_input", false, settings.Notify{Done: true, Failed: true}, 240) != 0 || at("needs_input", false, tellAll, 300) != 0 {
		t.Error("told of what the person wants to hear nothing of")
	}
	at("working", false, tellAll, 360)
	if at("needs_input", false, tellAll, 420) != 1 {
		t.Error("the next question was not told")
	}
}

// TestWaveringIsOneEvent: signs that come and go within a moment are one event.
func TestWaveringIsOneEvent(t *testing.T) {
	var tell teller
	count := 0
	for i, state := range []string{"working", "needs_input", "working", "needs_input", "working", "needs_input"} {
		count += len(tell.news([]api.TaskDetail{agentTask("a", state, "same?")}, false, tellAll, time.Unix(int64(i), 0)))
	}
	if count != 1 {
		t.Errorf("told %d times", count)
	}
	tell.news([]api.TaskDetail{agentTask("a", "working", "")}, false, tellAll, time.Unix(7, 0))
	if len(tell.news([]api.TaskDetail{agentTask("a", "needs_input", "another?")}, false, tellAll, time.Unix(8, 0))) != 1 {
		t.Error("another question was taken for the same")
	}
}

// TestNeverTwice: whatever agents do and however people look, no id is told twice, nobody is told while looking, and an
// unchanged state tells nothing.
func TestNeverTwice(t *testing.T) {
	states := []string{"working", "needs_input", "done", "idle", "exit"}
	rapid.Check(t, func(rt *rapid.T) {
		var tell teller
		seen := map[string]bool{}
		now := time.Unix(0, 0)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "seconds")) * time.Second)
			looking := rapid.Bool().Draw(rt, "looking")
			tasks := []api.TaskDetail{agentTask("a", rapid.SampledFrom(states).Draw(rt, "a"), ""), agentTask("b", rapid.SampledFrom(states).Draw(rt, "b"), "")}
			news := tell.news(tasks, looking, tellAll, now)
			if looking && len(news) > 0 {
				rt.Fatalf("told while looking: %q", news)
			}
			for _, n := range news {
				if seen[n.ID] {
					rt.Fatalf("told twice: %s", n.ID)
				}
				seen[n.ID] = true
			}
			if again := tell.news(tasks, false, tellAll, now); len(again) > 0 {
				rt.Fatalf("told of what did not change: %q", again)
			}
		}
	})
}
