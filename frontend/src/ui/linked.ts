import type { LinkOffer, Project } from "../gen/api";
import type { AppState } from "./state.svelte";
import { CallError } from "./transport";

/**
 * Shows what a link asks for: it fills in the dialog for a new task, and does nothing more. What the person is typing
 * into another dialog is not taken away by it.
 */
export function takeLink(app: AppState, link: LinkOffer, projects: Project[]): void {
  if (link.refused !== undefined) {
    app.fail(refused(link.refused, link.hint));
    return;
  }
  if (projects.length === 0) {
    app.fail(refused("The link is for a new task, and there is no project yet", "Add one, then open the link again."));
    return;
  }
  const fill = () => {
    app.dialog = link.project ? { kind: "newTask", link, project: link.project } : { kind: "newTask", link };
  };
  const { dialog } = app;
  if (!dialog || dialog.kind === "palette") fill();
  else app.tell("A link wants to fill in a new task", { act: { label: "Show", run: fill } });
}

const refused = (message: string, hint = "") =>
  new CallError({ code: "invalid_argument", message, ...(hint ? { hint } : {}) });
