package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
)

// diligent is an agent that does something with each prompt, and says what it does by its title.
const diligent = `#!/bin/bash
title() { printf '\033]0;%s\a' "$1"; }
title 'ready'
printf '> '
while IFS= read -r line; do
  title 'working'
  sleep 1
  printf '%s\n' "$line" >>work.txt
  printf 'Done: %s\n> ' "$line"
  title 'ready'
done
`

const diligentSettings = `[[agents]]
id = "worker"
name = "Worker"
command = "~/bin/worker"
signals = { busy = ["^working"], idle = ["^ready"] }
`

// TestGuidePage reads docs/guide.md as a new user does: every command of it, in its order, in one shell.
func TestGuidePage(t *testing.T) {
	r := newRig(t)
	for _, f := range call[api.DoctorResult](r, "doctor", nil).Findings {
		if f.Name == "cage: files and network" && f.Level != "ok" {
			t.Skipf("NOT TESTED: docs/guide.md: this machine cannot cage a task: %s", f.Detail)
		}
	}
	must(t, os.MkdirAll(filepath.Join(r.home, "bin"), 0o755))
	must(t, os.WriteFile(filepath.Join(r.home, "bin", "worker"), []byte(diligent), 0o755))
	file := filepath.Join(r.data, "settings.toml")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(text, diligentSettings...), 0o600))
	r.pageAgent = "worker"
	blocks, parts, _ := runPage(t, r, "docs/guide.md", 13)
	for i, b := range blocks {
		for command, want := range map[string]string{
			"termic diff":         "The login page answers 500.",
			"git -C \"$repo\" st": "A  work.txt",
			"termic sandbox \"tr": "mirror.example.com",
			"termic token new":    "dashboard",
			"termic ledger":       "doctor",
			"termic schedule li":  "nightly",
		} {
			if strings.Contains(b.code, command) && !strings.Contains(parts[i], want) {
				t.Errorf("%s said nothing of %q:\n%s", command, want, parts[i])
			}
		}
	}
}
