package cli

import (
	"fmt"
	"strings"

	"termic/internal/api"
)

func showStage(p *printer, r api.TaskStageResult) {
	what := "Staged"
	if unstage, _ := p.values["unstage"].(bool); unstage {
		what = "Unstaged"
	}
	p.printf("%s %s\n", what, plural(len(r.Paths), "file", "files"))
	showPaths(p, r.Paths)
	if r.Undo != "" {
		p.note("A staged version that was nowhere else is kept: `termic discard %s --undo %s`", p.target(r.TaskID), clean(r.Undo))
	}
	showWarnings(p, r.Warnings)
}

func showPaths(p *printer, paths []string) {
	for _, path := range paths {
		p.printf("  %s\n", clean(path))
	}
}

func showWarnings(p *printer, warnings []string) {
	for _, w := range warnings {
		p.note("%s", clean(w))
	}
}

func showDiscard(p *printer, r api.TaskDiscardResult) {
	switch {
	case r.Undone != "":
		p.printf("Put back %s\n", plural(len(r.Paths), "file", "files"))
		showPaths(p, r.Paths)
	case len(r.Paths) > 0:
		p.printf("Discarded %s\n", plural(len(r.Paths), "file", "files"))
		showPaths(p, r.Paths)
		p.note("Put it back: `termic discard %s --undo %s`", p.target(r.TaskID), clean(r.Undo))
	case len(r.Kept) == 0:
		p.note("Nothing was discarded here that could be put back.")
	default:
		var rows [][]string
		for _, k := range r.Kept {
			files := strings.Join(k.Paths, ", ")
			if k.Unstaged {
				files += " (what was staged)"
			}
			rows = append(rows, []string{k.Time, plural(k.Files, "file", "files"), files, k.ID})
		}
		p.table([]string{"DISCARDED", "FILES", "PATHS", "UNDO"}, rows)
	}
	showWarnings(p, r.Warnings)
}

func showCommit(p *printer, r api.TaskCommitResult) {
	where := r.Branch
	if where == "" {
		where = "no branch"
	}
	p.printf("Committed %s on %s as %s\n", plural(r.Files, "file", "files"), clean(where), clean(short(r.Commit)))
	showWarnings(p, r.Warnings)
}

func showEdit(p *printer, r api.TaskEditResult) {
	path := r.Path
	if r.Line > 0 {
		path = fmt.Sprintf("%s:%d", path, r.Line)
	}
	if r.TabID == "" {
		p.printf("Opened %s in %s\n", clean(path), clean(r.Editor))
	} else {
		p.printf("Opened %s in %s, in a new tab\n", clean(path), clean(r.Editor))
		p.note("Join it: `termic attach %s --tab %s`", p.target(r.TaskID), clean(r.TabID))
	}
	showWarnings(p, r.Warnings)
}
