import { tick } from "svelte";
import { called, isLoose, named } from "../../core/changes";
import { shown } from "../../core/text";
import type { FileChange, TaskDetail } from "../../gen/api";
import { writeClipboard } from "../native";
import type { MenuItem } from "../parts/MenuList.svelte";
import type { AppState } from "../state.svelte";
import { call } from "../transport";

// What a person does with the changes of a task. Each tells of its failure, and has the changes read again.

/** Stages files, or takes them out of what is staged. */
export async function stage(app: AppState, task: TaskDetail, files: FileChange[], on: boolean): Promise<void> {
  if (files.length === 0) return;
  await app.attempt(async () => {
    const { undo } = await call("task_stage", { task: task.id, ...named(files), ...(on ? {} : { unstage: true }) });
    if (undo)
      app.tell("What was staged is kept", {
        hint: "It was in no other place.",
        act: { label: "Undo", run: () => void undoDiscard(app, task, undo) },
      });
  });
  app.changesTick++;
}

/** Stages everything, or nothing of it. */
export async function stageAll(app: AppState, task: TaskDetail, on: boolean): Promise<void> {
  await app.attempt(async () => {
    const { warnings } = await call("task_stage", { task: task.id, all: true, ...(on ? {} : { unstage: true }) });
    if (warnings?.length) app.tell("Not all of it could be staged", { hint: warnings.join(". ") });
  });
  app.changesTick++;
}

/** Asks whether changes are to be discarded. */
export function askDiscard(app: AppState, task: TaskDetail, files: FileChange[], staged: boolean): void {
  if (files.length > 0) app.dialog = { kind: "discard", task, files, staged };
}

/** Puts back what a discard took away; the newest one of the task where none is named. */
export async function undoDiscard(app: AppState, task: TaskDetail, undo = "last"): Promise<void> {
  await app.attempt(async () => {
    const { paths } = await call("task_discard", { task: task.id, undo });
    app.tell(`Put back ${shown(called(paths))}`);
  });
  app.changesTick++;
}

/** Opens a file, or the whole worktree, in the person's editor. One that lives in a terminal is shown in its tab. */
export async function edit(app: AppState, task: TaskDetail, path = "", more: { main?: boolean } = {}): Promise<void> {
  await app.launch(async (acceptFiles) => {
    const opened = await call("task_edit", {
      task: task.id,
      ...(path ? { path } : {}),
      ...more,
      ...(acceptFiles ? { acceptFiles } : {}),
    });
    if (opened.tab_id) {
      await app.refresh();
      app.select(task.id);
      app.selectTab(opened.tab_id);
      return;
    }
    const hint = opened.warnings?.join(" ");
    app.tell(`Opened ${shown(path || task.name)} in ${shown(opened.editor)}`, hint ? { hint } : {});
  });
}

/** Goes to the message of the next commit. */
export async function goCommit(app: AppState, task: TaskDetail): Promise<void> {
  app.page = "tasks";
  app.showInPanel(task.id, "changes");
  await tick();
  document.querySelector<HTMLElement>("[data-commit]")?.focus();
}

/** What can be done with one file of the changes. */
export function fileMenu(app: AppState, task: TaskDetail, file: FileChange): MenuItem[] {
  const items: MenuItem[] = [{ label: "Review", icon: "eye", shortcut: "Enter", run: () => app.review(file.path) }];
  if (file.status !== "deleted")
    items.push({ label: "Open in editor", icon: "edit", shortcut: "E", run: () => void edit(app, task, file.path) });
  if (isLoose(file))
    items.push({ label: "Stage", icon: "plus", shortcut: "S", run: () => void stage(app, task, [file], true) });
  if (file.staged) items.push({ label: "Unstage", icon: "minus", run: () => void stage(app, task, [file], false) });
  if (isLoose(file) && file.status !== "unmerged")
    items.push({
      label: "Discard…",
      danger: true,
      apart: true,
      shortcut: "Delete",
      run: () => askDiscard(app, task, [file], false),
    });
  if (file.staged)
    items.push({
      label: isLoose(file) ? "Discard what is staged too…" : "Discard…",
      danger: true,
      apart: !isLoose(file),
      run: () => askDiscard(app, task, [file], true),
    });
  items.push(
    { label: "Undo the last discard", icon: "undo", apart: true, run: () => void undoDiscard(app, task) },
    { label: "Copy path", icon: "copy", run: () => void app.attempt(() => writeClipboard(file.path)) },
  );
  return items;
}
