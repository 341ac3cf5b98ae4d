import { type Action, actions } from "../../core/keys";
import type { Entry, Group } from "../../core/palette";
import { count, shown } from "../../core/text";
import { taskStays } from "../../core/tree";
import type { Prompt, TaskDetail } from "../../gen/api";
import { pickPaths } from "../drop";
import { act } from "../keyboard";
import { canPickDirectory, writeClipboard } from "../native";
import { activityTabs, operationTabs } from "../open";
import { goCommit, stageAll, undoDiscard } from "../panel/git";
import { fold, projectMenu } from "../sidebar/order";
import type { AppState, Open } from "../state.svelte";
import { openTab } from "../task/acts";
import { othersOf, pinTab } from "../task/tabacts";
import { tabTitle } from "../task/title";
import { call } from "../transport";

/** Everything that the palette can do now: every act of the table of keys, and what has no key. Each act is the one of its button or shortcut elsewhere. */
export function entriesOf(app: AppState, prompts: Prompt[]): Entry[] {
  const { task } = app;
  return [
    ...app.waiting.map((one) => waiting(app, one)),
    ...approvals(app),
    ...(task ? ofTask(app, task) : []),
    ...(task ? prompts.filter((one) => one.enabled).map((one) => promptEntry(app, task, one)) : []),
    ...places(app),
    ...acts(app),
  ];
}

/** The window's own themes, by the value of the setting. */
export const themes = [
  ["system", "Like the system"],
  ["dark", "Dark"],
  ["light", "Light"],
] as const;

const labels = new Map(actions.map((row) => [row.name, row.label]));

/** What makes the entries of one group: by what they run, or by the shortcut whose act they are. */
function makers(app: AppState, group: Group) {
  const make = (label: string, run: () => void, more: Partial<Entry> = {}): Entry => ({
    id: `${group} ${label}`,
    group,
    label,
    icon: "right",
    run,
    ...more,
  });
  const byKey = (action: Action, more: Partial<Entry> = {}) =>
    make(more.label ?? labels.get(action) ?? action, () => void act(app, action), { shortcut: action, ...more });
  return { make, byKey };
}

const reasoned = (reason: string | undefined) => (reason ? { reason } : {});

/** What waits to be approved: one entry for all of it, since each is decided where what it would do is shown. */
function approvals(app: AppState): Entry[] {
  const n = app.window?.approvals ?? 0;
  if (n === 0) return [];
  return [
    {
      id: "waiting approvals",
      group: "Waiting for you",
      label: n === 1 ? "Decide 1 approval" : `Decide ${n} approvals`,
      icon: "queue",
      run: () => app.openActivity("approvals"),
    },
  ];
}

function waiting(app: AppState, task: TaskDetail): Entry {
  return {
    id: `waiting ${task.id}`,
    group: "Waiting for you",
    label: shown(task.name),
    hint: shown([app.agentName(task.agent), task.detail].filter(Boolean).join(": ")),
    mark: "waiting",
    verb: "Go and answer",
    run: () => app.answer(task),
  };
}

function ofTask(app: AppState, task: TaskDetail): Entry[] {
  const { tab } = app;
  const open = (what: Open) => {
    app.dialog = what;
  };
  const closed = app.window?.closed.find((one) => one.task_id === task.id);
  const live = task.tabs.some((one) => one.live);
  const diff = task.diff;
  const changes = diff ? `${count(diff.files_changed, "file")}, +${diff.insertions} −${diff.deletions}` : "";
  const { make, byKey } = makers(app, "This task");
  const needsTab = tab ? {} : { reason: "No tab is open." };
  return [
    byKey("review", { icon: "eye", hint: changes }),
    ...(task.race ? [make("Compare the race", () => app.compare(task.race ?? ""), { icon: "eye" })] : []),
    make("Duplicate task…", () => (app.dialog = { kind: "newTask", like: task }), { icon: "plus" }),
    make("Apply to the main checkout…", () => (app.dialog = { kind: "apply", task }), { icon: "apply" }),
    byKey("edit", { icon: "edit", hint: "the worktree" }),
    make("Stage every change", () => void stageAll(app, task, true), { icon: "plus" }),
    make("Unstage everything", () => void stageAll(app, task, false), { icon: "minus" }),
    make("Undo the last discard", () => void undoDiscard(app, task), { icon: "undo" }),
    make("Commit…", () => void goCommit(app, task), { icon: "done", hint: changes }),
    byKey("compose", { icon: "prompt" }),
    byKey("restartAgent", {
      icon: "refresh",
      ...(tab && !tab.live ? {} : { reason: tab ? "Its program is running. Stop it first." : "No tab is open." }),
    }),
    byKey("queue", {
      label: "Show what is queued…",
      icon: "queue",
      hint: task.queued ? count(task.queued, "prompt") : "nothing waits",
    }),
    byKey("stopAgents", {
      label: "Stop agents and terminals…",
      ...(live ? {} : { reason: "Nothing runs in this task." }),
    }),
    byKey("newTab", { icon: "terminal" }),
    byKey("closeTab", { label: "Close tab…", icon: "close", ...needsTab }),
    byKey("prevTab", needsTab),
    byKey("nextTab", needsTab),
    byKey("reopenTab", {
      icon: "history",
      ...(closed ? { hint: shown(closed.title) } : { reason: "No tab of this task was closed." }),
    }),
    byKey("allTabs", { label: "List all tabs…", icon: "tree", ...needsTab }),
    byKey("moveTabLeft", needsTab),
    byKey("moveTabRight", needsTab),
    make("Rename tab…", () => tab && open({ kind: "renameTab", task, tab }), needsTab),
    make(tab?.pinned ? "Unpin tab" : "Pin tab", () => tab && void pinTab(app, task, tab), { icon: "pin", ...needsTab }),
    make("Close the other tabs…", () => tab && open({ kind: "closeOthers", task, tab }), {
      icon: "close",
      ...(tab && othersOf(app, tab).length > 0 ? {} : { reason: "No other tab is open, but pinned ones." }),
    }),
    byKey("moveTaskUp", {
      icon: "up",
      ...reasoned(taskStays(app.tree, task.id, -1)),
    }),
    byKey("moveTaskDown", {
      icon: "down",
      ...reasoned(taskStays(app.tree, task.id, 1)),
    }),
    byKey("splitRight", { label: "Split to the right…", icon: "splitRight", ...needsTab }),
    byKey("splitBelow", { label: "Split below…", icon: "splitBelow", ...needsTab }),
    byKey("closePane", {
      icon: "close",
      hint: "its tab stays",
      ...(app.panes.layout.root ? {} : { reason: "There is one pane alone." }),
    }),
    ...(["paneLeft", "paneRight", "paneUp", "paneDown"] as const).map((action) =>
      byKey(action, app.panes.layout.root || app.panes.layout.open ? {} : { reason: "There is one pane alone." }),
    ),
    byKey("bottomTerminal", {
      label: app.panes.layout.open ? "Hide the bottom terminal" : "Show the bottom terminal",
      icon: "terminal",
    }),
    byKey("focusAgent", { icon: "terminal", ...needsTab }),
    byKey("find", { icon: "search", ...needsTab }),
    byKey("clearTerminal", needsTab),
    byKey("copy", { icon: "copy", ...needsTab }),
    byKey("paste", needsTab),
    ...(app.window?.agents ?? [])
      .filter((agent) => agent.enabled && agent.usable)
      .map((agent) =>
        make(`Open ${agent.name} in a new tab`, () => void openTab(app, task, { kind: "agent", agentId: agent.id }), {
          icon: "person",
        }),
      ),
    ...task.tabs.map((one) =>
      make(`Tab: ${shown(tabTitle(app, one))}`, () => app.selectTab(one.id), {
        id: `tab ${one.id}`,
        ...(one.kind === "agent" ? { mark: app.markOfTab(task, one) } : { icon: "terminal" }),
        hint: one.live ? "" : "not running",
      }),
    ),
    ...(tab
      ? [
          make("Signals of the agent…", () => (app.dialog = { kind: "signals", task, tab }), {
            icon: "info",
            ...(tab.kind === "agent" ? {} : { reason: "The tab that is shown runs no agent." }),
          }),
        ]
      : []),
    make("Show what was refused", () => app.showInPanel(task.id, "refused"), { icon: "shieldFull" }),
    make("Show the ledger of this task", () => app.showInPanel(task.id, "ledger"), { icon: "history" }),
    make("Sandbox…", () => (app.dialog = { kind: "sandbox", task }), { icon: "shieldFull" }),
    make("Rename task…", () => (app.dialog = { kind: "rename", task })),
    ...(task.branch
      ? [
          make("Copy branch name", () => void app.attempt(() => writeClipboard(task.branch)), {
            icon: "copy",
            hint: shown(task.branch),
          }),
        ]
      : []),
    make("Copy folder path", () => void app.attempt(() => writeClipboard(task.path)), {
      icon: "copy",
      hint: app.place(task.path),
    }),
    ...(app.panes.bottom
      ? [make("Show the bottom terminal as a tab", () => app.panes.freeBottom(), { icon: "terminal" })]
      : []),
    ...(task.warnings?.length || app.notices.length > 0
      ? [make("Hide notices and warnings", () => hideNotices(app, task), { icon: "close" })]
      : []),
    make(app.folded.has(task.id) ? "Unfold the tasks below" : "Fold the tasks below", () => void fold(app, task.id), {
      ...(app.rows.some((one) => one.parent_id === task.id) ? {} : { reason: "No task is below it." }),
    }),
    make("Archive task…", () => (app.dialog = { kind: "archive", task })),
  ];
}

function hideNotices(app: AppState, task: TaskDetail): void {
  for (const notice of app.notices) app.hideNotice(notice);
  for (const warning of task.warnings ?? []) app.hideNotice(task.id + warning);
}

/** The menu of the project of the task that is shown. */
function ofProject(app: AppState): Entry[] {
  const node = app.tree.find((one) => one.project.id === app.project?.id);
  if (!node) return [];
  const { make } = makers(app, "Do");
  const name = shown(node.project.name);
  return projectMenu(app, node)
    .filter((item) => !/^(New task|Project settings)/.test(item.label))
    .map(({ label, run, reason }) =>
      make(label === "Remove project…" ? `Remove ${name}…` : `${name}: ${label}`, run, {
        icon: "folder",
        ...(reason ? { reason } : {}),
      }),
    );
}

/** The parts of the settings, by the id of their headings. */
const parts = [
  ["general", "General"],
  ["appearance", "Appearance"],
  ["notifications", "Notifications"],
  ["terminal", "Terminal"],
  ["tasks", "Tasks"],
  ["agents", "Agents"],
  ["sandbox", "Sandbox"],
  ["shortcuts", "Shortcuts"],
  ["prompts", "Prompts"],
  ["updates", "Updates"],
] as const;
const partsOfMCP = [
  ["endpoint", "MCP endpoint"],
  ["tokens", "Tokens"],
  ["clients", "Registration of clients"],
  ["calls", "Recent calls"],
] as const;

function promptEntry(app: AppState, task: TaskDetail, prompt: Prompt): Entry {
  const name = app.agentName(task.agent);
  return {
    id: `prompt ${prompt.id}`,
    group: "Prompts",
    label: `Prompt: ${shown(prompt.title)}`,
    hint: task.work_state === "working" ? `to ${name}, queued until it is done` : `to ${name}`,
    icon: "prompt",
    verb: "Send",
    ...(task.agent ? {} : { reason: "This task has no agent." }),
    run: () => void app.attempt(() => call("task_send", { task: task.id, promptRef: prompt.id })),
  };
}

function places(app: AppState): Entry[] {
  const { make, byKey } = makers(app, "Go to");
  const tasks = app.rows.map(
    (task): Entry => ({
      id: `go ${task.id}`,
      group: "Go to",
      label: `${shown(task.project)} / ${shown(task.name)}`,
      hint: shown([app.agentName(task.agent), task.branch].filter(Boolean).join(" on ")),
      mark: app.markOf(task),
      run: () => app.select(task.id),
    }),
  );
  return [
    ...tasks,
    {
      id: "history",
      group: "Go to",
      label: "History",
      hint: "archived tasks",
      icon: "history",
      run: () => (app.page = "history"),
    },
    ...activityTabs.map(([list, name]) =>
      make(`Activity: ${name}`, () => app.openActivity(list), { icon: "queue", hint: "of everybody" }),
    ),
    ...operationTabs.map(([list, name]) =>
      make(`Operations: ${name}`, () => app.openOperations(list), { icon: "pulse" }),
    ),
    byKey("nextWaiting", {
      icon: "waiting",
      ...(app.waiting.length > 0 ? {} : { reason: "Nothing waits for you." }),
    }),
    byKey("prevTask"),
    byKey("nextTask"),
    byKey("settings", { icon: "sliders" }),
    ...[...parts, ...(app.window?.mcp ? partsOfMCP : [])].map(([part, name]) =>
      make(`Settings: ${name}`, () => app.openSettings(`settings-${part}`), { icon: "sliders" }),
    ),
  ];
}

function acts(app: AppState): Entry[] {
  const { make, byKey } = makers(app, "Do");
  return [
    byKey("broadcast", { label: "Broadcast a prompt…", icon: "broadcast" }),
    ...[...themes, ...app.themes.themes.map((one) => [one.id, one.name] as const)].map(([value, name]) =>
      make(
        `Theme: ${shown(name)}`,
        () => void app.attempt(() => call("settings_set", { key: "appearance.theme", value })),
        {
          icon: "sun",
          hint: app.settings.theme === value ? "in use" : "",
        },
      ),
    ),
    make("Race agents…", () => (app.dialog = { kind: "race" }), { icon: "person", hint: "one prompt, several agents" }),
    byKey("newTask", { label: "New task…", icon: "plus" }),
    make("Add a project…", () => (app.dialog = { kind: "addProject" }), { icon: "folder" }),
    ...(canPickDirectory() && app.panes.keyTab
      ? [make("Type the paths of files…", () => void pickPaths(app), { icon: "folder", hint: "into this terminal" })]
      : []),
    ...(app.window?.projects ?? []).map((project) =>
      make(`Settings of ${shown(project.name)}…`, () => (app.dialog = { kind: "projectSettings", project }), {
        id: `project ${project.id}`,
        icon: "folder",
      }),
    ),
    ...ofProject(app),
    byKey("toggleSidebar", { label: app.sidebar ? "Hide the sidebar" : "Show the sidebar", icon: "sidebar" }),
    byKey("togglePanel", { label: app.panel ? "Hide the right panel" : "Show the right panel", icon: "panel" }),
    byKey("nextRegion"),
    byKey("prevRegion"),
    byKey("bigger"),
    byKey("smaller"),
    byKey("normalSize"),
    make("Quit Termic…", () => (app.dialog = { kind: "quit" })),
  ];
}
