import type { Action } from "../core/keys";
import { fontSizes } from "../core/settings";
import { edit } from "./panel/git";
import { nextRegion } from "./regions";
import { moveTask } from "./sidebar/order";
import type { AppState } from "./state.svelte";
import { openTab, restartTab, runInTerminal, splitPane, toggleBottom } from "./task/acts";
import { reopenTab, stepTabBy } from "./task/tabacts";
import { call } from "./transport";

/** Listens to the shortcuts of the window until the returned function is called. */
export function listenKeys(app: AppState): () => void {
  const keydown = (event: KeyboardEvent) => {
    if (event.isComposing || event.defaultPrevented) return;
    if (app.catchKeys) return app.catchKeys(event);
    if (app.dialog) return; // a dialog has keys of its own
    if (event.key === "Escape" && leavePage(app, event)) return;
    const action = app.keymap.actionOf(event);
    if (!action || !act(app, action)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const looked = () => app.looked();
  window.addEventListener("keydown", keydown, { capture: true });
  window.addEventListener("keydown", looked);
  window.addEventListener("pointerdown", looked);
  return () => {
    window.removeEventListener("keydown", keydown, { capture: true });
    window.removeEventListener("keydown", looked);
    window.removeEventListener("pointerdown", looked);
  };
}

/** Esc leaves every page but that of the task, where it belongs to the program in the terminal. */
function leavePage(app: AppState, event: KeyboardEvent): boolean {
  if (app.page === "tasks" || document.querySelector("[popover]:popover-open")) return false;
  if (event.target instanceof Element && event.target.closest("[data-esc]")) return false; // it takes back something of its own
  event.preventDefault();
  event.stopPropagation();
  app.page = app.page === "review" ? app.back : "tasks";
  return true;
}

/** Does what a shortcut asks. False: it means nothing here, and the key goes to whatever has the focus. */
export function act(app: AppState, action: Action): boolean {
  const { task } = app;
  const tabNumber = /^tab(\d)$/.exec(action)?.[1];
  if (tabNumber) {
    const wanted = app.panes.tabs[Number(tabNumber) - 1];
    if (wanted) app.selectTab(wanted.id);
    return wanted !== undefined;
  }
  switch (action) {
    case "nextRegion":
    case "prevRegion":
      nextRegion(action === "nextRegion" ? 1 : -1);
      return true;
    case "palette":
      app.dialog = { kind: "palette" };
      return true;
    case "newTask":
      app.dialog = app.window?.projects.length ? { kind: "newTask" } : { kind: "addProject" };
      return true;
    case "settings":
      app.openSettings();
      return true;
    case "broadcast":
      app.dialog = { kind: "broadcast" };
      return true;
    case "toggleSidebar":
      app.toggleSidebar();
      return true;
    case "togglePanel":
      app.togglePanel();
      return true;
    case "nextWaiting":
      app.nextWaiting();
      return true;
    case "prevTask":
    case "rowUp":
      app.step(-1);
      return true;
    case "nextTask":
    case "rowDown":
      app.step(1);
      return true;
    case "bigger":
    case "smaller":
    case "normalSize":
      void resizeText(app, action);
      return true;
    default:
      return (
        task !== undefined &&
        app.page === "tasks" &&
        (actOnPanes(app, action, task) || actOnTask(app, action, task, app.panes.keyTab))
      );
  }
}

function actOnPanes(app: AppState, action: Action, task: NonNullable<AppState["task"]>): boolean {
  switch (action) {
    case "splitRight":
    case "splitBelow":
      splitPane(app, task, action === "splitRight" ? "right" : "below");
      return true;
    case "closePane":
      if (app.panes.bottomHasKeys) app.panes.openBottom(false);
      else if (!app.tab || !app.panes.close(app.tab.id)) return false;
      return true;
    case "paneLeft":
      return app.panes.step("left");
    case "paneRight":
      return app.panes.step("right");
    case "paneUp":
      return app.panes.step("up");
    case "paneDown":
      return app.panes.step("down");
    case "bottomTerminal":
      toggleBottom(app, task);
      return true;
    case "reopenTab":
      void reopenTab(app, task);
      return true;
    case "moveTabLeft":
    case "moveTabRight":
      return app.tab !== undefined && stepTabBy(app, task, app.tab, action === "moveTabLeft" ? -1 : 1);
    case "moveTaskUp":
    case "moveTaskDown":
      return moveTask(app, task, action === "moveTaskUp" ? -1 : 1);
    default:
      return false;
  }
}

function actOnTask(app: AppState, action: Action, task: NonNullable<AppState["task"]>, tab: AppState["tab"]): boolean {
  switch (action) {
    case "prevTab":
    case "nextTab":
      app.stepTab(action === "nextTab" ? 1 : -1);
      return true;
    case "allTabs":
      document.querySelector<HTMLElement>("[data-menu=tabs]")?.click();
      return true;
    case "newTab":
      void openTab(app, task, { kind: "terminal" });
      return true;
    case "closeTab":
      if (tab) app.dialog = { kind: "closeTab", task, tab };
      return true;
    case "review":
      app.review();
      return true;
    case "edit":
      void edit(app, task);
      return true;
    case "compose":
      app.composing = !app.composing;
      return true;
    case "queue":
      app.dialog = { kind: "queue", task };
      return true;
    case "stopAgents":
      app.dialog = { kind: "stop", task };
      return true;
    case "restartAgent":
      if (tab) void restartTab(app, task, tab);
      return true;
    case "find":
      if (tab) app.finding = tab.id;
      return tab !== undefined;
    case "focusAgent":
    case "clearTerminal":
    case "copy":
    case "paste":
      return tab !== undefined && runInTerminal(app, task, tab, action);
    default:
      return false;
  }
}

/** Changes the size of the terminals' text, in the settings. */
async function resizeText(app: AppState, action: "bigger" | "smaller" | "normalSize"): Promise<void> {
  const now = app.settings.fontSize;
  const size = action === "normalSize" ? 13 : now + (action === "bigger" ? 1 : -1);
  if (size < fontSizes.least || size > fontSizes.most || size === now) return;
  await app.attempt(() => call("settings_set", { key: "terminal.font_size", value: String(size) }));
}
