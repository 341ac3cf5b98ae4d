import { count, shown } from "../core/text";
import { onFilesDropped, pickFiles } from "./native";
import type { AppState } from "./state.svelte";
import { call } from "./transport";

/**
 * Takes files that are dropped on the window: on a terminal their paths are typed, on the sidebar a folder is offered as a
 * project. Anywhere else nothing happens; that a dropped file is never shown in the place of the page is the watchdog's.
 */
export function listenDrops(app: AppState): () => void {
  return onFilesDropped((x, y, paths) => {
    const at = document.elementFromPoint(x, y);
    if (app.dialog || !at || paths.length === 0) return;
    const tab = at.closest<HTMLElement>("[data-tab][data-connection]")?.dataset.tab;
    if (tab) void typePaths(app, tab, paths);
    else if (at.closest("[data-region=sidebar]")) app.dialog = { kind: "addProject", path: paths[0] ?? "" };
  });
}

/** Lets the person pick files and types their paths into the terminal that has the keys. */
export async function pickPaths(app: AppState): Promise<void> {
  const tab = app.panes.keyTab?.id;
  const paths = tab ? await pickFiles("Choose files") : [];
  if (tab && paths.length > 0) await typePaths(app, tab, paths);
}

/** Types paths as one paste, quoted for a shell: a program that asked for it is told that it is one, and nothing runs. */
async function typePaths(app: AppState, tab: string, paths: string[]): Promise<void> {
  const task = app.rows.find((one) => one.tabs.some(({ id }) => id === tab));
  if (!task) return;
  await app.attempt(async () => {
    const { text, unreadable } = await call("task_drop", { task: task.id, tab, paths });
    const view = app.pool.open(task.id, tab);
    view.terminal.paste(text);
    view.focus();
    if (unreadable.length === 0) return;
    const [first = ""] = unreadable;
    app.tell(
      unreadable.length === 1
        ? `The cage of this task does not let its agent read ${shown(first)}`
        : `The cage of this task does not let its agent read ${count(unreadable.length, "file")} of these`,
      { act: { label: "Sandbox…", run: () => (app.dialog = { kind: "sandbox", task }) } },
    );
  });
}
