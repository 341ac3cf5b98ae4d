import type { TabStatus, TaskDetail } from "../../gen/api";
import type { MenuItem } from "../parts/Menu.svelte";
import type { AppState } from "../state.svelte";
import { call } from "../transport";
import { restartTab } from "./acts";

/** Gives a tab another place in the strip: that of another tab. */
export async function moveTab(app: AppState, task: TaskDetail, tab: string, to: TabStatus): Promise<void> {
  await app.attempt(async () => {
    await call("task_tab_set", { task: task.id, tab, position: to.index });
    await app.refresh();
  });
}

/** The tab that stands next to one in the strip. */
function beside(app: AppState, tab: TabStatus, by: 1 | -1): TabStatus | undefined {
  return app.panes.tabs[app.panes.tabs.findIndex((one) => one.id === tab.id) + by];
}

/** Moves a tab by one place. False: it stands at the end. */
export function stepTabBy(app: AppState, task: TaskDetail, tab: TabStatus, by: 1 | -1): boolean {
  const to = beside(app, tab, by);
  if (to) void moveTab(app, task, tab.id, to);
  return to !== undefined;
}

export async function pinTab(app: AppState, task: TaskDetail, tab: TabStatus): Promise<void> {
  await app.attempt(async () => {
    await call("task_tab_set", { task: task.id, tab: tab.id, ...(tab.pinned ? { unpin: true } : { pin: true }) });
    await app.refresh();
  });
}

/** Opens the tab of a task again that was closed last. */
export async function reopenTab(app: AppState, task: TaskDetail): Promise<void> {
  await app.launch(async (acceptFiles) => {
    const made = await call("task_tab_reopen", { task: task.id, ...(acceptFiles ? { acceptFiles } : {}) });
    await app.refresh();
    app.selectTab(made.tab_id);
  });
}

/** The tabs that closing the others would close. */
export function othersOf(app: AppState, tab: TabStatus): TabStatus[] {
  return app.panes.tabs.filter((one) => one.id !== tab.id && !one.pinned);
}

/** What can be done with a tab. */
export function tabMenu(app: AppState, task: TaskDetail, tab: TabStatus): MenuItem[] {
  const { panes, keymap } = app;
  const nothing = { reason: "It stands at the end." };
  const split = (side: "right" | "below") => {
    const why =
      panes.tab?.id === tab.id
        ? { message: "It is the pane to split", hint: "Choose another tab." }
        : panes.refusal(side);
    return why ? { reason: `${why.message}. ${why.hint}` } : {};
  };
  return [
    { label: "Rename…", run: () => (app.dialog = { kind: "renameTab", task, tab }) },
    { label: tab.pinned ? "Unpin" : "Pin", icon: "pin", run: () => void pinTab(app, task, tab) },
    ...(tab.kind === "agent"
      ? [{ label: "Signals…", icon: "info" as const, run: () => (app.dialog = { kind: "signals", task, tab }) }]
      : []),
    {
      label: "Move to the left",
      shortcut: keymap.label("moveTabLeft"),
      apart: true,
      ...(beside(app, tab, -1) ? {} : nothing),
      run: () => stepTabBy(app, task, tab, -1),
    },
    {
      label: "Move to the right",
      shortcut: keymap.label("moveTabRight"),
      ...(beside(app, tab, 1) ? {} : nothing),
      run: () => stepTabBy(app, task, tab, 1),
    },
    {
      label: "Show on the right",
      icon: "splitRight",
      apart: true,
      ...split("right"),
      run: () => panes.split("right", tab.id),
    },
    { label: "Show below", icon: "splitBelow", ...split("below"), run: () => panes.split("below", tab.id) },
    {
      label: "Restart",
      apart: true,
      ...(tab.live ? { reason: "Its program is running. Stop it first." } : {}),
      run: () => void restartTab(app, task, tab),
    },
    {
      label: "Close…",
      shortcut: keymap.label("closeTab"),
      icon: "close",
      run: () => (app.dialog = { kind: "closeTab", task, tab }),
    },
    {
      label: "Close the others…",
      ...(othersOf(app, tab).length > 0 ? {} : { reason: "No other tab is open, but pinned ones." }),
      run: () => (app.dialog = { kind: "closeOthers", task, tab }),
    },
  ];
}
