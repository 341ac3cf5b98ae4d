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
 * The sidebar's order: projects and tasks as the app lists them, children below the task that made them, however deep, in
 * the order in which they were made. A change of state moves nothing.
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
      tasks: own.filter(isRoot).map((task) => ({
        task,
        kids: own.filter((kid) => !isRoot(kid) && roots.get(kid.id) === task.id).sort(oldestFirst),
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

function oldestFirst(a: TaskDetail, b: TaskDetail): number {
  return a.created.localeCompare(b.created) || a.id.localeCompare(b.id);
}

/** Every task of the tree from top to bottom: the order in which the keyboard goes through it. */
export function rowOrder(tree: ProjectNode[]): TaskDetail[] {
  return tree.flatMap((node) => node.tasks.flatMap(({ task, kids }) => [task, ...kids]));
}

/** Projects that stand under one heading, or one that stands under none. */
export interface ProjectGroup {
  /** "" for none. */
  name: string;
  nodes: ProjectNode[];
}

/** What of the sidebar is folded: ids of projects and tasks, and this with the name of a group. */
export const groupKey = (name: string) => `group:${name}`;

/** The projects by their headings; the app lists those of a group together. */
export function groupsOf(tree: ProjectNode[]): ProjectGroup[] {
  const out: ProjectGroup[] = [];
  for (const node of tree) {
    const name = node.project.group ?? "";
    const last = out.at(-1);
    if (name && last?.name === name) last.nodes.push(node);
    else out.push({ name, nodes: [node] });
  }
  return out;
}

/** The tasks whose rows are there to be seen. */
export function shownRows(tree: ProjectNode[], folded: ReadonlySet<string>): TaskDetail[] {
  return tree
    .filter(({ project }) => !folded.has(project.id) && !folded.has(groupKey(project.group ?? "")))
    .flatMap((node) => node.tasks.flatMap(({ task, kids }) => [task, ...(folded.has(task.id) ? [] : kids)]));
}

/** The place, from 1, that a task gets when it moves one up or down among those of its project; 0: there is none, or it stands below another. */
export function taskStep(tree: ProjectNode[], task: string, by: 1 | -1): number {
  const roots = tree.find((node) => node.tasks.some((one) => one.task.id === task))?.tasks ?? [];
  const at = roots.findIndex((one) => one.task.id === task);
  const to = at + by;
  return at < 0 || to < 0 || to >= roots.length ? 0 : to + 1;
}

/** Why a task cannot move one up or down; undefined when it can. */
export function taskStays(tree: ProjectNode[], task: string, by: 1 | -1): string | undefined {
  if (taskStep(tree, task, by)) return undefined;
  const child = tree.some((node) => node.tasks.some((one) => one.kids.some((kid) => kid.id === task)));
  if (child) return "It stands below the task that made it, in the order in which they were made.";
  return by < 0 ? "It stands at the top." : "It stands at the end.";
}

/**
 * The place, from 1, that a project gets when it moves one up or down; 0: there is none. Within its group it changes places
 * with the next; the first and the last of a group take it along.
 */
export function projectStep(tree: ProjectNode[], project: string, by: 1 | -1): number {
  const at = tree.findIndex((node) => node.project.id === project);
  const groups = groupsOf(tree);
  const mine = groups.findIndex((group) => group.nodes.some((node) => node.project.id === project));
  const own = groups[mine];
  const next = tree[at + by];
  if (!own || !next) return 0;
  if (own.nodes.includes(next)) return at + by + 1;
  const block = groups[mine + by]?.nodes ?? [];
  const [edge] = block;
  const first = edge ? tree.indexOf(edge) : 0;
  return by < 0 ? first + 1 : first + block.length;
}
