package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termic/internal/verb"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line   string
		verb   string
		values map[string]any
		global global
	}{
		{line: "list", verb: "task_list"},
		{line: "ls --archived --find words --before X --limit 5", verb: "task_list", values: map[string]any{"archived": true, "find": "words", "before": "X", "limit": int64(5)}},
		{line: "ls -q", verb: "task_list", values: map[string]any{"quiet": true}},
		{line: "--json list --quiet=false", verb: "task_list", values: map[string]any{"quiet": false}, global: global{output: outJSON}},
		{line: "--output=stream-json --no-launch wait fix", verb: "task_wait", values: map[string]any{"task": "fix"}, global: global{output: outStream, noLaunch: true}},
		{line: "wait fix --output json", verb: "task_wait", values: map[string]any{"task": "fix"}, global: global{output: outJSON}},
		{line: "project --json add /p", verb: "project_add", values: map[string]any{"path": "/p"}, global: global{output: outJSON}},
		{line: "project rm p --yes", verb: "project_remove", values: map[string]any{"name": "p", "yes": true}},
		{line: "tab close fix --tab 2 -y", verb: "task_tab_close", values: map[string]any{"task": "fix", "tab": "2", "allowDefault": true}},
		{line: "tab -- close", verb: "task_tab", values: map[string]any{"task": "close"}},
		{line: "tab fix --kind=shell", verb: "task_tab", values: map[string]any{"task": "fix", "kind": "shell"}},
		{line: "new fix -p hello --timeout 1m30s --projects a,b --projects c", verb: "task_new",
			values: map[string]any{"name": "fix", "prompt": "hello", "timeoutMs": int64(90000), "projects": []string{"a", "b", "c"}}},
		{line: "new -phello fix", verb: "task_new", values: map[string]any{"name": "fix", "prompt": "hello"}},
		{line: "new -p=hello fix", verb: "task_new", values: map[string]any{"name": "fix", "prompt": "hello"}},
		{line: "new --prompt --json fix", verb: "task_new", values: map[string]any{"name": "fix", "prompt": "--json"}},
		{line: "new fix --prompt=", verb: "task_new", values: map[string]any{"name": "fix", "prompt": ""}},
		{line: "send fix run the --wait tests", verb: "task_send", values: map[string]any{"task": "fix", "prompt": "run the tests", "wait": true}},
		{line: "send fix -- --wait is a word", verb: "task_send", values: map[string]any{"task": "fix", "prompt": "--wait is a word"}},
		{line: "send fix -", verb: "task_send", values: map[string]any{"task": "fix", "prompt": "-"}},
		{line: "send --here run tests", verb: "task_send", values: map[string]any{"here": true, "prompt": "run tests"}},
		{line: "logs fix --last-bytes 100", verb: "task_log", values: map[string]any{"task": "fix", "lastBytes": int64(100)}},
		{line: "settings set a.b c", verb: "settings_set", values: map[string]any{"key": "a.b", "value": "c"}},
		{line: "settings set a.b -- -1", verb: "settings_set", values: map[string]any{"key": "a.b", "value": "-1"}},
		{line: "help tab close", verb: "help", values: map[string]any{"verb": "tab close"}},
		{line: "attach fix --detach-keys ctrl-p,ctrl-q", verb: "attach", values: map[string]any{"task": "fix", "detach-keys": "ctrl-p,ctrl-q"}},
		{line: "sandbox fix --hosts example.com:80,8443,@office:1,2,b.example,7", verb: "task_sandbox", values: map[string]any{"task": "fix", "hosts": []string{"example.com:80,8443", "@office:1,2", "b.example", "7"}}},
		{line: "check update m --target http://a.example/m#x{a=\"b\",c=\"d\"} --target=b,c", verb: "check_update", values: map[string]any{"name": "m", "targets": []string{"http://a.example/m#x{a=\"b\",c=\"d\"}", "b,c"}}},
		{line: "check update m --clear expect,retries", verb: "check_update", values: map[string]any{"name": "m", "clear": []string{"expect", "retries"}}},
		{line: "--version", verb: "version"},
	} {
		inv, err := parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if c.values == nil {
			c.values = map[string]any{}
		}
		if inv.verb == nil || inv.verb.Name != c.verb || inv.global != c.global {
			t.Errorf("%s: verb %+v, global %+v", c.line, inv.verb, inv.global)
		}
		if diff := cmp.Diff(c.values, inv.values); diff != "" {
			t.Errorf("%s:\n%s", c.line, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"nope":                         `no verb "nope"`,
		"project":                      "needs one more word: list, add, remove",
		"project nope":                 `no verb "project nope"`,
		"--nope list":                  "no flag --nope",
		"list --nope":                  "list has no flag --nope",
		"list -z":                      "list has no flag -z",
		"list x":                       `"x" is one too many`,
		"list --quiet=maybe":           "true or false",
		"list --json=yes":              "takes no value",
		"list --output":                "needs a value",
		"list --output xml":            "must be text, json or stream-json",
		"list --project":               "--project needs a value",
		"list --project a --project b": "--project is given twice",
		"new fix --mode tree":          "--mode must be one of: worktree, main",
		"wait fix --timeout soon":      "a duration is",
		"logs fix --last-bytes 1.5":    "whole number",
		"logs fix --last-bytes=-1":     "whole number",
		"archive":                      "needs TASK",
		"rename fix":                   "needs --name",
		"settings set a":               "needs VALUE",
		"list --cwd /":                 "no flag --cwd",
		"list --idempotency-key k":     "no flag --idempotency-key",
	} {
		_, err := parse(strings.Fields(line))
		var usage *usageError
		if !errors.As(err, &usage) || !strings.Contains(usage.cause.Message, want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// TestEveryFlagOfTheTableParses walks over the table, so that a new parameter cannot be out of reach.
func TestEveryFlagOfTheTableParses(t *testing.T) {
	for _, v := range verb.All() {
		if len(paths(&v)) == 0 {
			continue
		}
		for _, p := range v.Params {
			if !p.On(face) || p.Flag == "" {
				continue
			}
			words := append(strings.Fields(v.CLI), "--"+p.Flag)
			if p.Type != verb.Bool {
				value := map[verb.Type]string{verb.Integer: "3", verb.Strings: "a", verb.String: "text"}[p.Type]
				if p.Enum != nil {
					value = p.Enum[0]
				}
				words = append(words, value)
			}
			words = append(words, required(&v, p)...)
			inv, err := parse(words)
			if err != nil {
				t.Errorf("%s: %v", strings.Join(words, " "), err)
			} else if _, ok := inv.values[p.Name]; !ok {
				t.Errorf("%s did not set %s", strings.Join(words, " "), p.Name)
			}
		}
	}
}

// required makes up what a verb needs beside one parameter.
func required(v *verb.Verb, beside verb.Param) []string {
	var out []string
	for _, p := range v.Params {
		switch {
		case !p.Required || p.Name == beside.Name:
		case p.Positional != "" && p.Enum != nil:
			out = append(out, p.Enum[0])
		case p.Positional != "":
			out = append(out, "x")
		case p.Type == verb.Integer:
			out = append(out, "--"+p.Flag, "3")
		default:
			out = append(out, "--"+p.Flag, "x")
		}
	}
	return out
}

// TestNamesDoNotClash: no two verbs on one path, no two flags of a verb alike, none that hides a global flag.
func TestNamesDoNotClash(t *testing.T) {
	seen := map[string]string{}
	for _, v := range verb.All() {
		for _, p := range paths(&v) {
			if other, twice := seen[p]; twice {
				t.Errorf("%q is %s and %s", p, other, v.Name)
			}
			seen[p] = v.Name
		}
		taken := []string{"output", "json", "no-launch", "help", "h", "version"}
		for _, p := range v.Params {
			for _, name := range []string{p.Flag, p.Short} {
				if name == "" || !p.On(face) {
					continue
				}
				if slices.Contains(taken, name) {
					t.Errorf("%s: the flag %q is taken", v.Name, name)
				}
				taken = append(taken, name)
			}
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "90": 90_000, "1m30s": 90_000, "1h": 3_600_000, "1h30m": 5_400_000, "2h0m5s": 7_205_000,
		"45s": 45_000, "720h": 2_592_000_000} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "1.5", "-1", "1d", "1m1h", "1m 30s", "1m30", "721h", "99999999999", "5m5m", "+5", "1H", "0x10"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q = %d", text, got)
		}
	}
}
