import { tick } from "svelte";
import {
  type Direction,
  fitLayout,
  hasRoom,
  type Least,
  maxPanes,
  mayGrow,
  neighbour,
  type Place,
  type Side,
  showIn,
  splitAt,
  tabsOf,
  without,
  withShare,
} from "../core/panes";
import type { Fault, Layout, TabStatus, TaskDetail } from "../gen/api";
import type { AppState } from "./state.svelte";
import { call } from "./transport";

/** How long a pane must have the keys until the app is told, in milliseconds: going through panes is no change to keep. */
const settled = 1000;

/**
 * Which tabs of a task are shown, and where. The app keeps it; what the person just did holds here until the app has it
 * too. Of a task that is not split, which tab is shown is known to the page alone.
 */
export class Panes {
  readonly #app: AppState;
  #own = $state.raw<Readonly<Record<string, Layout>>>({});
  readonly #writing = new Set<string>();
  readonly #again = new Set<string>();
  #telling = 0;
  /** The terminal below the panes has the keys. */
  bottomHasKeys = $state(false);
  /** Where the panes of the selected task lie, as they were drawn last. */
  places: Place[] = [];
  /** The tab of the pane into which a tab would be dropped. */
  dropOn = $state("");
  /** A tab whose terminal takes the keys as soon as it is there. */
  wanted = $state("");

  readonly layout: Layout = $derived.by(() => this.of(this.#app.task));
  /** The tabs of the strip: all but the terminal below the panes. */
  readonly tabs: TabStatus[] = $derived.by(() =>
    (this.#app.task?.tabs ?? []).filter((tab) => tab.id !== this.layout.bottom),
  );
  readonly bottom: TabStatus | undefined = $derived.by(() =>
    this.#app.task?.tabs.find((tab) => tab.id === this.layout.bottom),
  );
  /** The tab of the pane that has the keys, or had them last. */
  readonly tab: TabStatus | undefined = $derived(
    this.tabs.find((tab) => tab.id === this.layout.focus) ?? this.tabs.find((tab) => tab.is_default) ?? this.tabs[0],
  );
  /** The tab whose terminal has the keys: that of a pane, or the one below them. */
  readonly keyTab: TabStatus | undefined = $derived(this.bottomHasKeys && this.layout.open ? this.bottom : this.tab);
  /** What a pane must hold: twenty columns and five lines, with its head. */
  readonly least: Least = $derived.by(() => {
    const size = this.#app.settings.fontSize;
    return { width: Math.ceil(20 * size * 0.62) + 24, height: Math.ceil(5 * size * 1.3) + 28 + 12 };
  });

  constructor(app: AppState) {
    this.#app = app;
  }

  of(task: TaskDetail | undefined): Layout {
    if (!task) return { task_id: "" };
    const layout = this.#own[task.id] ?? this.#kept(task.id);
    return fitLayout(layout, new Set(task.tabs.map((tab) => tab.id)));
  }

  #kept(task: string): Layout {
    return this.#app.window?.layouts.find((one) => one.task_id === task) ?? { task_id: task };
  }

  /** The app told how things are: that holds, but for what is still on its way there. Which pane has the keys is the page's. */
  took(): void {
    const own: Record<string, Layout> = {};
    for (const { id: task } of this.#app.window?.tasks ?? []) {
      const layout = this.#own[task];
      if (!layout) continue;
      own[task] = layout;
      if (this.#writing.has(task)) continue;
      own[task] = { ...this.#kept(task), ...(layout.focus ? { focus: layout.focus } : {}) };
    }
    this.#own = own;
  }

  /** Changes the layout of the selected task, and has it kept. */
  #change(more: Partial<Layout>, keep = true): void {
    const { layout } = this;
    if (!layout.task_id) return;
    this.#own = { ...this.#own, [layout.task_id]: { ...layout, ...more } };
    if (keep) void this.#write(layout.task_id);
  }

  async #write(task: string): Promise<void> {
    if (this.#writing.has(task)) {
      this.#again.add(task);
      return;
    }
    this.#writing.add(task);
    try {
      do {
        this.#again.delete(task);
        const of = this.#app.rows.find((one) => one.id === task);
        if (of) await call("task_layout", { task, layout: JSON.stringify(this.of(of)) });
        await this.#app.refresh();
      } while (this.#again.has(task)); // changed again meanwhile
    } catch (cause) {
      this.#app.fail(cause);
      const { [task]: _, ...others } = this.#own;
      this.#own = others;
    } finally {
      this.#writing.delete(task);
      this.#again.delete(task);
      this.took();
    }
  }

  /** Shows a tab: in its pane if it has one, else in the pane that has the keys. */
  show(id: string): void {
    const { layout, tab } = this;
    this.wanted = "";
    if (id === layout.bottom) {
      this.#change({ open: true }, !layout.open);
      this.giveKeys(id);
      return;
    }
    this.bottomHasKeys = false;
    const { root } = layout;
    if (root && tab && !tabsOf(root).includes(id)) this.#change({ root: showIn(root, tab.id, id), focus: id });
    else if (id !== layout.focus) this.#focus(id);
  }

  /** A pane got the keys. */
  gotKeys(id: string): void {
    if (this.wanted === id) this.wanted = "";
    this.bottomHasKeys = id === this.layout.bottom;
    if (!this.bottomHasKeys && id !== this.layout.focus) this.#focus(id);
  }

  #focus(id: string): void {
    this.#change({ focus: id }, false);
    const { task_id, root, bottom } = this.layout;
    if (!root && !bottom) return;
    clearTimeout(this.#telling);
    this.#telling = window.setTimeout(() => void this.#write(task_id), settled);
  }

  /** Gives a terminal that is shown the keys, once it is drawn. */
  giveKeys(id: string): void {
    this.wanted = id;
    void tick().then(() => {
      const { task } = this.#app;
      if (task && this.wanted === id) this.#app.pool.open(task.id, id).focus();
    });
  }

  /** Why the pane that has the keys cannot be split. */
  refusal(side: Side): Fault | undefined {
    const { tab, layout, places, least } = this;
    if (!tab) return { code: "conflict", message: "No tab is open", hint: "Open one first." };
    if (!mayGrow(layout.root ?? { tab: tab.id }))
      return { code: "conflict", message: `There is room for ${maxPanes} panes`, hint: "Close one first." };
    const at = places.find((one) => one.tab === tab.id);
    if (!at || hasRoom(at, side, least)) return undefined;
    const hint = "Make the window bigger, or hide the sidebar or the right panel.";
    return { code: "conflict", message: "There is no room for another pane here", hint };
  }

  /** The tabs that no pane shows. */
  get hidden(): TabStatus[] {
    const shown = this.layout.root ? tabsOf(this.layout.root) : [this.tab?.id];
    return this.tabs.filter((tab) => !shown.includes(tab.id));
  }

  /** Shows a tab in a new pane beside or below that of another, which is the one with the keys when left out. */
  split(side: Side, id: string, beside = this.tab?.id): void {
    const { root } = this.layout;
    if (!beside || id === beside || id === this.layout.bottom) return;
    const tree = (root && without(root, id)) ?? { tab: beside };
    this.bottomHasKeys = false;
    this.#change({ root: splitAt(tree, beside, side, id), focus: id });
    this.giveKeys(id);
  }

  /** Shows a tab in the pane of another; where it had a pane, the two change places. */
  place(id: string, pane: string): void {
    const { root } = this.layout;
    if (root) this.#change({ root: showIn(root, pane, id), focus: id });
    else this.show(id);
    this.giveKeys(id);
  }

  /** Takes a pane away; its tab stays in the strip. The last one stays. */
  close(id: string): boolean {
    const { root } = this.layout;
    if (!root || !tabsOf(root).includes(id)) return false;
    const rest = without(root, id);
    const left = tabsOf(rest);
    const { focus = "" } = this.layout;
    const to = left.includes(focus) ? focus : (this.#nearest(id, left) ?? left[0] ?? "");
    this.#change(rest ? { root: rest, focus: to } : { focus: to });
    this.giveKeys(to);
    return true;
  }

  #nearest(id: string, left: string[]): string | undefined {
    for (const to of ["left", "up", "right", "down"] as const) {
      const found = neighbour(this.places, id, to);
      if (found && left.includes(found)) return found;
    }
    return undefined;
  }

  resize(between: readonly [string, string], share: number): void {
    const { root } = this.layout;
    if (root) this.#change({ root: withShare(root, between, share) });
  }

  /** Goes to the pane in a direction; the terminal below the panes is one of them. */
  step(to: Direction): boolean {
    const { layout, tab, bottom } = this;
    if (this.bottomHasKeys) {
      if (to !== "up" || !tab) return false;
      this.gotKeys(tab.id);
      this.giveKeys(tab.id);
      return true;
    }
    const next = tab && neighbour(this.places, tab.id, to);
    if (next) {
      this.show(next);
      this.giveKeys(next);
    } else if (to === "down" && layout.open && bottom) this.giveKeys(bottom.id);
    else return layout.root !== undefined || Boolean(layout.open);
    return true;
  }

  /** Makes a tab the terminal below the panes, and shows it. */
  setBottom(id: string): void {
    const { root, focus } = this.layout;
    const rest = root && without(root, id);
    const { root: _, ...others } = this.layout;
    const next = { ...others, ...(rest ? { root: rest } : {}), bottom: id, open: true };
    this.#own = { ...this.#own, [next.task_id]: { ...next, ...(focus && focus !== id ? { focus } : {}) } };
    void this.#write(next.task_id);
    this.giveKeys(id);
  }

  /** Shows the terminal below the panes, or hides it; its program goes on. */
  openBottom(open: boolean): void {
    const had = this.bottomHasKeys;
    this.#change({ open });
    if (open && this.bottom) this.giveKeys(this.bottom.id);
    if (open) return;
    this.bottomHasKeys = false;
    if (had && this.tab) this.giveKeys(this.tab.id);
  }

  /** The terminal below the panes becomes a tab as others are. */
  freeBottom(): void {
    const { bottom } = this;
    if (!bottom) return;
    this.bottomHasKeys = false;
    this.#change({ bottom: "", open: false });
    this.show(bottom.id);
  }

  resizeBottom(height: number): void {
    this.#change({ height });
  }
}
