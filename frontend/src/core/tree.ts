import { type Project, TaskArchived, type TaskDetail } from "../gen/api";

/** A task in the sidebar with those that it made. */
export interface TaskNode {
  task: TaskDetail;
  kids: TaskDetail[];
}

export interface ProjectNode {
  project: Project;
  tasks: TaskNode[];
}

export function inProject(task: TaskDetail, project: Project): boolean {
  return task.project === project.id || task.project === project.name;
}

/**
 * The sidebar's order: projects as the app lists them, tasks with the newest first, children below the task that made
 * them, however deep, in the order in which they were made. A change of state moves nothing.
 */
export function sidebarTree(projects: Project[], tasks: TaskDetail[]): ProjectNode[] {
  const live = tasks.filter((task) => task.state !== TaskArchived);
  const byId = new Map(live.map((task) => [task.id, task]));
  const roots = new Map<string, string>();
  for (const task of live) roots.set(task.id, rootOf(task, byId));
  return projects.map((project) => {
    const own = live.filter((task) => inProject(task, project));
    const ids = new Set(own.map((task) => task.id));
    const isRoot = (task: TaskDetail) => roots.get(task.id) === task.id || !ids.has(roots.get(task.id) ?? "");
    return {
      project,
      tasks: own
        .filter(isRoot)
        .sort(newestFirst)
        .map((task) => ({
          task,
          kids: own.filter((kid) => !isRoot(kid) && roots.get(kid.id) === task.id).sort((a, b) => -newestFirst(a, b)),
        })),
    };
  });
}

/** The topmost ancestor that is still there. A cycle, which the store forbids, ends at the task itself. */
function rootOf(task: TaskDetail, byId: Map<string, TaskDetail>): string {
  const passed = new Set([task.id]);
  let at = task;
  for (;;) {
    const up = at.parent_id ? byId.get(at.parent_id) : undefined;
    if (!up) return at.id;
    if (passed.has(up.id)) return task.id;
    passed.add(up.id);
    at = up;
  }
}

function newestFirst(a: TaskDetail, b: TaskDetail): number {
  return b.created.localeCompare(a.created) || a.id.localeCompare(b.id);
}

/** Every task of the tree from top to bottom: the order in which the keyboard goes through it. */
export function rowOrder(tree: ProjectNode[]): TaskDetail[] {
  return tree.flatMap((node) => node.tasks.flatMap(({ task, kids }) => [task, ...kids]));
}
