package core

import (
	"context"
	"fmt"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/sandbox"
)

// cageFindings say what this machine can enforce, and how to mend what it cannot.
func (c *Core) cageFindings(ctx context.Context) []api.Finding {
	var out []api.Finding
	for _, m := range []struct {
		mode sandbox.Mode
		name string
	}{{sandbox.Enforce, "cage: files and network"}, {sandbox.EnforceFs, "cage: files only"}} {
		f := api.Finding{Name: m.name, Level: "ok", Detail: "can be enforced"}
		if err := c.cages.Check(m.mode); err != nil {
			e := fault.From(err)
			f.Level, f.Detail, f.Fix = "warn", e.Message, e.Hint
		}
		out = append(out, f)
	}
	r := c.machine.Report(ctx)
	if r.Kernel != "" {
		detail := "Linux " + r.Kernel
		if len(r.LSMs) > 0 {
			detail += ", security modules " + strings.Join(r.LSMs, ", ")
		}
		if r.Enforce {
			detail += fmt.Sprintf(", Landlock %d", r.Holds.Landlock)
		}
		out = append(out, api.Finding{Name: "kernel", Level: "ok", Detail: detail})
	}
	if r.Enforce {
		out = append(out, limitsFinding(r.Holds.Processes.By, r.Holds.Memory.By, r.Holds.Processes.Note))
	}
	return out
}

// limitsFinding tells what bounds the processes and the memory of a cage.
func limitsFinding(processes, memory, note string) api.Finding {
	word := func(by string) string {
		if by == "" {
			return "not limited"
		}
		return "by " + by
	}
	f := api.Finding{Name: "cage limits", Level: "ok", Detail: "processes " + word(processes) + ", memory " + word(memory)}
	if processes == "" {
		f.Level, f.Fix = "note", orElse(note, "Run Termic in a user session of systemd, which hands a part of the control groups to its user.")
	}
	return f
}
