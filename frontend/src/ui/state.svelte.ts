import type { Foreseen } from "../core/applyplan";
import { type Disposable, Disposables, disposable } from "../core/disposable";
import { Keymap } from "../core/keymap";
import { type Mark, strongest, tabMark, taskMark } from "../core/marks";
import { selfRunOf } from "../core/selfrun";
import { defaultSettings, readSettings, type WindowSettings } from "../core/settings";
import { homely, homelyIn, shown } from "../core/text";
import { isLight, themeOf } from "../core/theme";
import { inProject, type ProjectNode, rowOrder, shownRows, sidebarTree } from "../core/tree";
import { clock } from "../core/when";
import type {
  ClientState,
  Fault,
  Project,
  TabStatus,
  TaskDetail,
  Theme,
  ThemeListResult,
  WindowState,
} from "../gen/api";
import { takeLink } from "./linked";
import { isMac } from "./native";
import type { ActivityTab, Open, OperationTab, Page, PanelTab, Told } from "./open";
import { Panes } from "./panes.svelte";
import { remember, remembered } from "./remember";
import { Side } from "./side.svelte";
import { TerminalPool } from "./terminal/pool";
import { call, faultOf, watch } from "./transport";

export type { Open, Page, PanelTab, Told } from "./open";

/**
 * What the page shows. The app's state comes whole from window_state and is never changed here; the rest is which part
 * of it the person looks at. One of it exists, made by main.ts and handed down by context.
 */
export class AppState implements Disposable {
  window = $state.raw<WindowState | undefined>();
  settings = $state.raw<WindowSettings>(defaultSettings);
  settingsFile = $state.raw({ path: "", readOnly: false, problem: "" });
  /** The registrations with clients, as they were found last; the settings page looks. */
  clients = $state.raw<{ list: ClientState[]; at: Date } | undefined>();
  lookingAtClients = $state(false);
  #lookAgain = false;
  /** The part of the settings that is to be shown when the page opens: the id of a heading. */
  settingsPart = $state("");
  /** False while the app does not answer. */
  connected = $state(true);
  served = $state(false); // another process, `termic serve`, runs what is shown

  page = $state<Page>("tasks");
  activity = $state<ActivityTab>("jobs"); // the list that its page shows
  activityOpens = $state(""); // id of what that list is to open
  operation = $state<OperationTab>("checks"); // likewise
  selected = $state("");
  dialog = $state.raw<Open | undefined>();
  /** A second dialog above the first, which keeps what was typed into it. */
  over = $state.raw<Open | undefined>();
  toast = $state.raw<Fault | undefined>();
  /** What was done and can be taken back, or needs no answer. */
  told = $state.raw<Told | undefined>();
  readonly #sidebar = new Side("sidebar", "(min-width: 900px)");
  readonly #panel = new Side("panel", "(min-width: 1180px)");
  composing = $state(false);
  /** Takes every key press while somebody chooses a shortcut. */
  catchKeys: ((event: KeyboardEvent) => void) | undefined;
  /** A task that was just made: its terminal takes the focus when it appears, wherever that was before. */
  focusWanted = $state("");
  /** The tab in whose terminal the person looks for something, or "". */
  finding = $state("");
  /** Where a review is left to. */
  back = $state<Page>("tasks");
  /** The file that the review should show first. */
  reviewPath = $state("");
  /** What applying the task under review would do, as it was foreseen last. */
  foreseen = $state.raw<(Foreseen & { task: string }) | undefined>();
  /** The race that is compared, by its id. */
  race = $state("");
  /** Grows whenever the changes of a task should be read again. */
  changesTick = $state(0);
  /** What a reader hears: the newest change of state that needs a person. */
  spoken = $state("");
  hiddenNotices = $state.raw<ReadonlySet<string>>(new Set());

  #panelTabs = $state<Record<string, PanelTab>>({});
  /** Tasks whose finished work was looked at. */
  #seen = $state.raw<ReadonlySet<string>>(new Set());
  /** When a task was seen to finish, by task. */
  #finished = new Map<string, string>();
  #light = $state(matchMedia("(prefers-color-scheme: light)").matches);

  readonly tree: ProjectNode[] = $derived(sidebarTree(this.window?.projects ?? [], this.window?.tasks ?? []));
  readonly rows: TaskDetail[] = $derived(rowOrder(this.tree));
  readonly folded: ReadonlySet<string> = $derived(new Set(this.window?.look.folded));
  readonly task: TaskDetail | undefined = $derived(this.rows.find((task) => task.id === this.selected));
  readonly project: Project | undefined = $derived(
    this.window?.projects.find((project) => this.task && inProject(this.task, project)),
  );
  readonly panes = new Panes(this);
  /** The tab of the pane that has the keys, or had them last. */
  readonly tab: TabStatus | undefined = $derived(this.panes.tab);
  readonly waiting: TaskDetail[] = $derived(this.rows.filter((task) => this.markOf(task) === "waiting"));
  readonly agentsLive: number = $derived(
    this.rows.reduce((sum, task) => sum + task.tabs.filter((tab) => tab.kind === "agent" && tab.live).length, 0),
  );
  /** The themes that the person wrote, as their files were read last. */
  themes = $state.raw<ThemeListResult>({ folder: "", themes: [] });
  readonly theme: Theme | undefined = $derived(themeOf(this.settings.theme, this.themes.themes));
  readonly light: boolean = $derived(isLight(this.settings.theme, this.theme, this.#light));
  readonly keymap: Keymap = $derived(new Keymap(isMac, this.settings.keys));
  readonly notices: string[] = $derived(
    (this.window?.notices ?? []).filter((notice) => !this.hiddenNotices.has(notice)),
  );

  readonly pool = new TerminalPool({ settings: defaultSettings, light: false, colors: {} });
  readonly #owned = new Disposables();

  /** Starts hearing of changes. */
  start(): void {
    this.#owned.add(this.pool);
    this.#owned.add(this.#sidebar);
    this.#owned.add(this.#panel);
    this.#owned.add(
      watch(
        () => void this.refresh(),
        () => (this.connected = false),
        () => (this.connected = true),
      ),
    );
    const scheme = matchMedia("(prefers-color-scheme: light)");
    const changed = () => (this.#light = scheme.matches);
    scheme.addEventListener("change", changed);
    this.#owned.add(disposable(() => scheme.removeEventListener("change", changed)));
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Reads the app's state again. Calls that overlap are answered in any order; an older answer is dropped. */
  async refresh(): Promise<void> {
    try {
      const [state, settings] = await Promise.all([call("window_state", {}), call("settings_get", {})]);
      if (state.focus) this.select(state.focus); // what is told once is told in whichever answer comes first
      if (state.link) takeLink(this, state.link, state.projects);
      if (this.window && state.rev < this.window.rev) return;
      this.settings = readSettings(settings.settings);
      this.settingsFile = {
        path: settings.file,
        readOnly: settings.read_only ?? false,
        problem: settings.problem ?? "",
      };
      this.#take(state);
    } catch (cause) {
      this.fail(cause);
    }
  }

  #take(state: WindowState): void {
    const before = new Map((this.window?.tasks ?? []).map((task) => [task.id, task]));
    const seen = new Set(this.#seen);
    for (const task of state.tasks) {
      const old = before.get(task.id);
      if (old && old.work_state !== task.work_state) this.#moved(task);
      if (task.work_state !== "done") seen.delete(task.id);
    }
    this.#seen = seen;
    this.window = state;
    this.panes.took();
    this.pool.keepOnly(new Set(state.tasks.flatMap((task) => task.tabs.map((tab) => tab.id))));
    if (!this.task) {
      const last = remembered("selected", "");
      this.selected = this.rows.find((task) => task.id === last)?.id ?? this.rows[0]?.id ?? "";
    }
  }

  /** Takes note of a change of what a task does. */
  #moved(task: TaskDetail): void {
    if (task.id === this.selected) this.changesTick++;
    if (task.work_state === "done") this.#finished.set(task.id, clock(new Date(), new Date()));
    else this.#finished.delete(task.id);
    const mark = taskMark(task);
    if (mark === "waiting") this.spoken = `${task.name} needs input`;
    else if (mark === "failed") this.spoken = `${task.name} failed`;
  }

  /** Reads the themes again: their files are written by hand, and nobody tells of it. */
  async lookAtThemes(): Promise<void> {
    await this.attempt(async () => {
      this.themes = await call("theme_list", {});
    });
  }

  /** Looks which clients are here and how their registrations stand. It asks programs for their version. */
  async lookAtClients(): Promise<void> {
    this.#lookAgain = this.lookingAtClients; // what is being looked at may have changed since
    if (this.lookingAtClients) return;
    this.lookingAtClients = true;
    try {
      do {
        this.#lookAgain = false;
        const { clients: list } = await call("client_list", {});
        if (!this.#lookAgain) this.clients = { list, at: new Date() };
      } while (this.#lookAgain);
    } catch (cause) {
      this.fail(cause);
    } finally {
      this.lookingAtClients = false;
    }
  }

  /** Takes a newer state of one client. */
  tookClient(client: ClientState): void {
    this.#lookAgain = this.lookingAtClients; // a look that began before would bring back the older state
    if (!this.clients) return;
    const list = this.clients.list.map((one) => (one.id === client.id ? client : one));
    this.clients = { ...this.clients, list };
  }

  /** The name of a task that is there; undefined for one that is gone. */
  /** A path as it is shown: as text that is safe to draw, with a ~ for the home folder. */
  readonly place = (path: string): string => shown(homely(path, this.window?.home ?? ""));
  /** A sentence of the app as it is shown, with its paths as `place` has them. */
  readonly sentenceOf = (text: string): string => shown(homelyIn(text, this.window?.home ?? ""));
  readonly taskName = (id: string): string | undefined => this.window?.tasks.find((one) => one.id === id)?.name;

  /** Shows a list of everybody's, and opens one of its rows. */
  openActivity(list: ActivityTab, opened = ""): void {
    this.activity = list;
    this.activityOpens = opened;
    this.page = "activity";
  }

  openOperations(list: OperationTab): void {
    this.operation = list;
    this.page = "operations";
  }

  openSettings(part = ""): void {
    this.settingsPart = part;
    this.page = "settings";
  }

  markOf(task: TaskDetail): Mark {
    return taskMark(task, this.#seen.has(task.id));
  }

  markOfTab(task: TaskDetail, tab: TabStatus): Mark {
    return tabMark(tab, this.#seen.has(task.id));
  }

  markOfAll(tasks: TaskDetail[]): Mark {
    return strongest(tasks.map((task) => this.markOf(task)));
  }

  finishedAt(task: TaskDetail): string {
    return this.#finished.get(task.id) ?? "";
  }

  /** The person did something in front of the selected task: what it finished was looked at. */
  looked(): void {
    const { task } = this;
    if (this.page !== "tasks" || task?.work_state !== "done" || this.#seen.has(task.id)) return;
    this.#seen = new Set(this.#seen).add(task.id);
  }

  agentName(id: string | undefined): string {
    return this.window?.agents.find((agent) => agent.id === id)?.name ?? id ?? "";
  }

  select(id: string): void {
    this.looked();
    this.page = "tasks";
    if (this.selected !== id) {
      this.composing = this.panes.bottomHasKeys = false;
      this.finding = "";
    }
    if (this.focusWanted !== id) this.focusWanted = "";
    this.selected = id;
    this.#sidebar.leave();
    remember("selected", id);
  }

  selectTab(id: string): void {
    this.panes.show(id);
    this.finding = "";
  }

  /** The selected task's neighbour among the rows that are seen, or among its tabs. */
  step(by: 1 | -1): void {
    const rows = shownRows(this.tree, this.folded);
    const at = rows.findIndex((task) => task.id === this.selected);
    const next = rows[(at + by + rows.length) % Math.max(1, rows.length)];
    if (next) this.select(next.id);
  }

  stepTab(by: 1 | -1): void {
    const { tabs } = this.panes;
    const at = tabs.findIndex((tab) => tab.id === this.tab?.id);
    const next = tabs[(at + by + tabs.length) % Math.max(1, tabs.length)];
    if (next) this.selectTab(next.id);
  }

  /** Shows a task that waits for the person, at the tab that asks, and gives its terminal the keys. */
  answer(task: TaskDetail): void {
    this.select(task.id);
    const asks = task.tabs.find((tab) => tabMark(tab) === "waiting");
    if (asks) this.selectTab(asks.id);
    this.focusWanted = task.id;
  }

  nextWaiting(): void {
    const at = this.waiting.findIndex((task) => task.id === this.selected);
    const next = this.waiting[(at + 1) % Math.max(1, this.waiting.length)];
    if (next) this.answer(next);
  }

  get sidebar(): boolean {
    return this.#sidebar.open;
  }

  get panel(): boolean {
    return this.#panel.open;
  }

  panelTab(task: string): PanelTab {
    return this.#panelTabs[task] ?? "changes";
  }

  showInPanel(task: string, tab: PanelTab): void {
    this.#panelTabs[task] = tab;
    if (!this.panel) this.togglePanel();
  }

  toggleSidebar(): void {
    this.#sidebar.toggle();
  }

  togglePanel(): void {
    this.#panel.toggle();
  }

  /** Shows the review of the selected task, and where Esc leads from there. */
  review(path = "", back: Page = "tasks"): void {
    if (!this.task) return;
    this.reviewPath = path;
    this.page = "review";
    this.back = back;
  }

  /** Shows the tasks of a race side by side. */
  compare(race: string): void {
    this.race = race;
    this.page = "race";
  }

  hideNotice(notice: string): void {
    this.hiddenNotices = new Set(this.hiddenNotices).add(notice);
  }

  /** Shows a failure for which no dialog is open. */
  fail(cause: unknown): void {
    this.told = undefined;
    this.toast = faultOf(cause);
  }

  /** Tells what was done. */
  tell(message: string, more: Omit<Told, "message"> = {}): void {
    this.toast = undefined;
    this.told = { message, ...more };
  }

  /**
   * Runs an act that starts a program. Where it is refused because of files that a caged agent may have written, the
   * person is asked, and it is run again with their consent.
   */
  async launch(act: (acceptFiles: boolean) => Promise<unknown>): Promise<void> {
    try {
      await act(false);
    } catch (cause) {
      const fault = faultOf(cause);
      if (selfRunOf(fault)) this.dialog = { kind: "acceptFiles", fault, again: () => act(true) };
      else this.fail(cause);
    }
  }

  /** Runs an act that has no dialog of its own; a failure is shown. */
  async attempt(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      this.fail(cause);
    }
  }
}
