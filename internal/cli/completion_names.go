package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"termic/internal/api"
	"termic/internal/datadir"
	"termic/internal/remote"
	"termic/internal/verb"
)

// ask has the app answer a verb within the time that somebody waits with a hand on the keyboard. An app that does not answer has
// nothing to complete with.
func (r *runner) ask(ctx context.Context, name string, asked map[string]any, answer any) bool {
	if r.refuseInCage() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client, err := r.dial(ctx)
	if err != nil {
		return false
	}
	defer client.Close()
	params := json.RawMessage(`{}`)
	if asked != nil {
		if params, err = json.Marshal(asked); err != nil {
			return false
		}
	}
	data, err := client.Call(ctx, name, params, nil)
	return err == nil && json.Unmarshal(data, answer) == nil
}

// plain are the candidates that can be a line: words of others may hold anything.
func plain(list []candidate) []candidate {
	return slices.DeleteFunc(list, func(c candidate) bool { return strings.ContainsFunc(c.word+c.doc, unicode.IsControl) })
}

// named asks the app for a list, and takes what each of it is called.
func (r *runner) named(ctx context.Context, name, list string, asked map[string]any) []candidate {
	var answer map[string]json.RawMessage
	if !r.ask(ctx, name, asked, &answer) {
		return nil
	}
	var rows []struct {
		ID, Name, Project, Summary, Title, Verb, State, Kind, Subject string
		WorkState                                                     string `json:"work_state"`
	}
	if json.Unmarshal(answer[list], &rows) != nil {
		return nil
	}
	var out []candidate
	for _, row := range rows {
		c := candidate{row.Name, row.WorkState}
		switch list {
		case "agents", "clients":
			c = candidate{row.ID, row.Name}
		case "approvals":
			c = candidate{row.ID, row.Summary}
		case "jobs":
			c = candidate{row.ID, row.Verb + ", " + row.State}
		case "events":
			c = candidate{row.ID, row.Kind + " " + row.Subject}
		case "prompts":
			c = candidate{row.ID, row.Title}
		}
		out = append(out, c)
	}
	return plain(out)
}

// tabsOf are the tabs of the task that the words before name, or that this terminal belongs to.
func (r *runner) tabsOf(ctx context.Context, v *verb.Verb, before []string) []candidate {
	asked := map[string]any{}
	p := &parser{words: before, inv: invocation{values: map[string]any{}}}
	if p.findVerb() == nil {
		asked["task"] = cmp.Or(firstWord(v, p.words), r.Getenv("TERMIC_TASK_ID"))
	}
	if asked["task"] == "" {
		delete(asked, "task")
		asked["cwd"] = r.Dir
	}
	var answer api.TaskStatusResult
	if !r.ask(ctx, "task_status", asked, &answer) {
		return nil
	}
	var out []candidate
	for _, t := range answer.Task.Tabs {
		out = append(out, candidate{t.ID, strings.TrimSpace(t.Title + " " + t.Agent)})
		if t.Title != "" {
			out = append(out, candidate{t.Title, t.Agent})
		}
	}
	return plain(out)
}

// firstWord is the first word that is neither a flag nor the value of one.
func firstWord(v *verb.Verb, words []string) string {
	for i := range words {
		if place, flag := spot(v, words[:i]); flag == nil && place == 0 && !strings.HasPrefix(words[i], "-") {
			return words[i]
		}
	}
	return ""
}

// settingKeys are the keys that the app has settings for.
func (r *runner) settingKeys(ctx context.Context) []candidate {
	var answer api.SettingsResult
	if !r.ask(ctx, "settings_get", nil, &answer) {
		return nil
	}
	var out []candidate
	for _, key := range slices.Sorted(maps.Keys(answer.Settings)) {
		out = append(out, candidate{word: key})
	}
	return plain(out)
}

// logins are the names of Termics elsewhere that this user has logged in to.
func (r *runner) logins() []candidate {
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return nil
	}
	var out []candidate
	for _, name := range remote.Names(dir) {
		out = append(out, candidate{word: name})
	}
	return out
}

// zoneTable is where systems list the time zones, with the name in the third column.
const zoneTable = "/usr/share/zoneinfo/zone1970.tab"

// zones are the time zones that this machine knows.
func zones() []candidate {
	f, err := os.Open(zoneTable)
	if err != nil {
		return nil // none can be named; they can be typed all the same
	}
	defer func() { _ = f.Close() }() // only read from
	out := []candidate{{word: "UTC"}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Split(lines.Text(), "\t"); len(fields) >= 3 && !strings.HasPrefix(fields[0], "#") {
			out = append(out, candidate{word: fields[2]})
		}
	}
	return plain(out)
}
