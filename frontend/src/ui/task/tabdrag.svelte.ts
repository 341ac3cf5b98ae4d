import type { TabStatus, TaskDetail } from "../../gen/api";
import { type Drag, under } from "../parts/drag";
import type { AppState } from "../state.svelte";
import { moveTab } from "./tabacts";

/** The tab that is dragged, and where it would go: to the place of another tab, or into a pane. */
export class TabDrag {
  readonly #app: AppState;
  dragged = $state("");
  over = $state("");

  constructor(app: AppState) {
    this.#app = app;
  }

  of(task: TaskDetail, tab: TabStatus): Drag {
    return {
      start: () => {
        this.dragged = tab.id;
      },
      over: (x, y) => {
        const to = under(x, y, ".strip [data-tab]")?.dataset.tab ?? "";
        this.over = to === tab.id ? "" : to;
        this.#app.panes.dropOn = to ? "" : (under(x, y, "[data-pane]")?.dataset.pane ?? "");
      },
      drop: () => {
        const to = this.#app.panes.tabs.find((one) => one.id === this.over);
        const pane = this.#app.panes.dropOn;
        if (to) void moveTab(this.#app, task, tab.id, to);
        else if (pane) this.#app.panes.place(tab.id, pane);
      },
      end: () => {
        this.dragged = this.over = this.#app.panes.dropOn = "";
      },
    };
  }
}
