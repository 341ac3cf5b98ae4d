package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termic/internal/fault"
	"termic/internal/verb"
)

func TestHelpText(t *testing.T) {
	var all strings.Builder
	fmt.Fprintf(&all, "$ termic help\n%s\n", alone(t, nil, "help").out)
	for _, v := range verb.All() {
		if len(paths(&v)) == 0 {
			continue
		}
		args := append([]string{"help"}, strings.Fields(v.CLI)...)
		got := alone(t, nil, args...)
		fmt.Fprintf(&all, "$ termic %s\n%s\n", strings.Join(args, " "), got.out)
		if got.exit != 0 || got.errors != "" {
			t.Errorf("%q: %+v", args, got)
		}
		for _, path := range paths(&v) {
			if other := alone(t, nil, append(strings.Fields(path), "--help")...); other.out != got.out {
				t.Errorf("%s --help says something else:\n%s", path, other.out)
			}
		}
	}
	golden(t, "help.golden", all.String())
}

func TestHelpJSON(t *testing.T) {
	got := alone(t, nil, "help", "--json")
	var pretty strings.Builder
	enc := json.NewEncoder(&pretty)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	var doc helpDoc
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(doc); err != nil {
		t.Fatal(err)
	}
	golden(t, "help.json", pretty.String())
	if len(doc.ExitCodes) != len(fault.ExitDoc) {
		t.Errorf("%d exit codes", len(doc.ExitCodes))
	}
	one := alone(t, nil, "new", "--help", "--json")
	if err := json.Unmarshal([]byte(one.out), &doc); err != nil || len(doc.Commands) != 1 || doc.Commands[0].Name != "new" {
		t.Errorf("help of one verb: %v %+v", err, doc.Commands)
	}
}

func TestHelpOnGroupsAndNonsense(t *testing.T) {
	if got := alone(t, nil, "help", "project"); got.exit != 0 || strings.Count(got.out, "\n") != 9 || strings.Contains(got.out, "archive ") {
		t.Errorf("%+v", got)
	}
	if got := alone(t, nil); got.exit != 0 || !strings.Contains(got.out, "usage: termic VERB") {
		t.Errorf("without a word: %+v", got)
	}
	if got := alone(t, nil, "help", "nope"); got.exit != fault.ExitUsage {
		t.Errorf("%+v", got)
	}
}
