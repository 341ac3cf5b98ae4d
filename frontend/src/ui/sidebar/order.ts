import { changedRefs } from "../../core/refs";
import { groupKey, type ProjectNode, projectStep, taskStays, taskStep } from "../../core/tree";
import type { Project, TaskDetail } from "../../gen/api";
import type { MenuItem } from "../parts/Menu.svelte";
import type { AppState } from "../state.svelte";
import { call } from "../transport";

/** Moves a task by one place among those of its project. False: it stands at the end, or below the task that made it. */
export function moveTask(app: AppState, task: TaskDetail, by: 1 | -1): boolean {
  const position = taskStep(app.tree, task.id, by);
  if (position) void placeTask(app, task.id, position);
  return position > 0;
}

export async function placeTask(app: AppState, task: string, position: number): Promise<void> {
  await app.attempt(async () => {
    await call("task_move", { task, position });
    await app.refresh();
  });
}

/** Gives a project another place, and the heading under which it then stands. */
export async function placeProject(app: AppState, project: Project, position: number, group?: string): Promise<void> {
  await app.attempt(async () => {
    if (group !== undefined && group !== (project.group ?? ""))
      await call("project_settings", { name: project.id, group: group || "none" });
    await call("project_move", { name: project.id, position });
    await app.refresh();
  });
}

/** Folds something of the sidebar, or shows what is in it again. */
export async function fold(app: AppState, key: string): Promise<void> {
  await app.attempt(async () => {
    await call("window_set", app.folded.has(key) ? { unfold: key } : { fold: key });
    await app.refresh();
  });
}

export const foldGroup = (app: AppState, name: string) => fold(app, groupKey(name));

/** What can be done with the place of a project. */
function orderOf(app: AppState, { project }: ProjectNode): MenuItem[] {
  const move = (label: string, by: 1 | -1): MenuItem => {
    const position = projectStep(app.tree, project.id, by);
    return {
      label,
      apart: by < 0,
      ...(position ? {} : { reason: "It stands at the end." }),
      run: () => void placeProject(app, project, position),
    };
  };
  return [
    move("Move up", -1),
    move("Move down", 1),
    { label: "Group…", run: () => (app.dialog = { kind: "group", project }) },
    { label: app.folded.has(project.id) ? "Unfold" : "Fold", run: () => void fold(app, project.id) },
  ];
}

/** What can be done with a project. */
export function projectMenu(app: AppState, node: ProjectNode): MenuItem[] {
  const { project } = node;
  const refs = changedRefs(node.tasks.flatMap(({ task, kids }) => [task, ...kids]));
  return [
    { label: "New task…", run: () => (app.dialog = { kind: "newTask", project: project.id }) },
    { label: "Project settings…", run: () => (app.dialog = { kind: "projectSettings", project }) },
    ...(project.repo
      ? [{ label: "Look at .termic.yaml…", run: () => (app.dialog = { kind: "consent", project }) }]
      : []),
    ...(refs.length > 0 ? [{ label: "Changed refs…", run: () => (app.dialog = { kind: "refs", project }) }] : []),
    ...orderOf(app, node),
    {
      label: "Remove project…",
      danger: true,
      apart: true,
      run: () => (app.dialog = { kind: "removeProject", project }),
    },
  ];
}

/** What can be done with a task of the sidebar. */
export function taskMenu(app: AppState, task: TaskDetail, kids: number): MenuItem[] {
  const { keymap } = app;
  const stays = (by: 1 | -1) => taskStays(app.tree, task.id, by);
  const move = (label: string, by: 1 | -1): MenuItem => ({
    label,
    shortcut: keymap.label(by < 0 ? "moveTaskUp" : "moveTaskDown"),
    apart: by < 0,
    ...(stays(by) ? { reason: stays(by) ?? "" } : {}),
    run: () => moveTask(app, task, by),
  });
  return [
    { label: "Rename…", shortcut: "F2", run: () => (app.dialog = { kind: "rename", task }) },
    { label: "Sandbox…", run: () => (app.dialog = { kind: "sandbox", task }) },
    move("Move up", -1),
    move("Move down", 1),
    ...(kids > 0 ? [{ label: app.folded.has(task.id) ? "Unfold" : "Fold", run: () => void fold(app, task.id) }] : []),
    {
      label: "Stop agents and terminals…",
      apart: true,
      ...(task.tabs.some((tab) => tab.live) ? {} : { reason: "Nothing runs in this task" }),
      run: () => (app.dialog = { kind: "stop", task }),
    },
    { label: "Archive…", danger: true, run: () => (app.dialog = { kind: "archive", task }) },
  ];
}
