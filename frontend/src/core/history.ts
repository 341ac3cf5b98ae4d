import type { TaskSummary } from "../gen/api";

// What the history shows of the tasks that were archived.

/** The projects that have tasks in a list, by name. */
export function projectsOf(tasks: TaskSummary[]): string[] {
  return [...new Set(tasks.map((task) => task.project))].sort((a, b) => a.localeCompare(b));
}

/** Tasks of a project, or of all where it is "", in which each word of a query stands: in the name, the branch, the agent or the project. */
export function foundIn(tasks: TaskSummary[], query: string, project: string): TaskSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter((task) => {
    const text = [task.name, task.branch, task.agent, task.project].join("\n").toLowerCase();
    return (project === "" || task.project === project) && words.every((word) => text.includes(word));
  });
}
