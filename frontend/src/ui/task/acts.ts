import { hasWalls } from "../../core/cage";
import type { TabStatus, TaskDetail } from "../../gen/api";
import type { AppState } from "../state.svelte";
import { call } from "../transport";

/** What can be opened in a tab. */
export type Opens = { kind: "agent"; agentId: string } | { kind: "default" | "terminal" | "shell" | "caged-shell" };

/** Opens a tab, or the one that there is of its kind, and shows it: in the pane that has the keys, where nothing else is said. */
export async function openTab(
  app: AppState,
  task: TaskDetail,
  what: Opens,
  show: (tab: string) => void = (tab) => app.selectTab(tab),
): Promise<void> {
  await app.launch(async (acceptFiles) => {
    const made = await call("task_tab", { task: task.id, ...what, ...(acceptFiles ? { acceptFiles } : {}) });
    await app.refresh();
    show(made.tab_id);
  });
}

/** Asks what a new pane should show; where there can be none, says why. */
export function splitPane(app: AppState, task: TaskDetail, to: "right" | "below"): void {
  const why = app.panes.refusal(to);
  if (why) app.toast = why;
  else app.dialog = { kind: "chooseTab", task, to };
}

/** Shows the person's own terminal below the panes or hides it. The first time it is opened, in a caged task after a question. */
export function toggleBottom(app: AppState, task: TaskDetail): void {
  const { bottom, layout } = app.panes;
  if (bottom) {
    app.panes.openBottom(!layout.open);
    if (!layout.open && !bottom.live) void restartTab(app, task, bottom);
  } else if (hasWalls(task.sandbox)) app.dialog = { kind: "chooseTab", task, to: "bottom" };
  else void openTab(app, task, { kind: "shell" }, (tab) => app.panes.setBottom(tab));
}

/** Starts the program of a tab again: an agent takes up its last conversation, a shell starts anew. */
export async function restartTab(app: AppState, task: TaskDetail, tab: TabStatus): Promise<void> {
  await app.launch((acceptFiles) =>
    call("task_tab", { task: task.id, restart: tab.id, ...(acceptFiles ? { acceptFiles } : {}) }),
  );
}

/**
 * Starts the agents of a task again that were ended for a change of its sandbox. One that does not start does not keep
 * the others from it; the first failure is thrown when all were tried.
 */
export async function startAgain(task: TaskDetail, tabs: TabStatus[]): Promise<void> {
  let failure: unknown;
  for (const tab of tabs) {
    try {
      await call("task_tab", { task: task.id, restart: tab.id });
    } catch (cause) {
      failure ??= cause;
    }
  }
  if (failure) throw failure;
}

/** What a shortcut asks of the terminal that is shown. */
export function runInTerminal(
  app: AppState,
  task: TaskDetail,
  tab: TabStatus,
  action: "focusAgent" | "clearTerminal" | "copy" | "paste",
): boolean {
  if (action === "focusAgent") {
    const agent = task.tabs.find((other) => other.is_default) ?? task.tabs.find((other) => other.kind === "agent");
    if (!agent) return false;
    app.selectTab(agent.id);
    app.panes.giveKeys(agent.id);
    return true;
  }
  const view = app.pool.open(task.id, tab.id);
  if (action === "clearTerminal") view.terminal.clear();
  else if (!view.element.contains(document.activeElement)) return false;
  else void app.attempt(() => (action === "copy" ? view.copy() : view.paste()));
  return true;
}
