package cli

import "termic/internal/api"

// This file shows what verbs about the look of the window have done.

func showTabSet(p *printer, r api.TaskTabSetResult) {
	pinned := ""
	if r.Tab.Pinned {
		pinned = ", pinned"
	}
	p.printf("Tab %d: %s%s\n", r.Tab.Index, clean(r.Tab.Title), pinned)
}

func showTaskMove(p *printer, r api.TaskMoveResult) {
	p.printf("%s has place %d in its project\n", clean(r.Name), r.Position)
}

func showProjectMove(p *printer, r api.ProjectMoveResult) {
	p.printf("%s has place %d in the sidebar\n", clean(r.Name), r.Position)
}

func showLink(p *printer, r api.WindowLinkResult) {
	if r.Kind == "open" {
		p.printf("The window shows the task.\n")
		return
	}
	p.printf("The window shows what the link fills in; nothing was created.\n")
}
