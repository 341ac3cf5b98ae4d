import { TaskCreating, type TaskDetail, TaskFailed, TaskMissing } from "../gen/api";
import { crashed, type Mark } from "./marks";
import { shown } from "./text";

/** How a program ended, in words. */
export function exitWords(exit: { code: number; signal?: string } | undefined): string {
  if (!exit) return "ended";
  if (exit.signal) return `ended by ${exit.signal}`;
  return exit.code === 0 ? "ended" : `exited with ${exit.code}`;
}

/** The second line of a task's row: who does what. Details are the agent's own words and must be shown as such. */
export function activity(task: TaskDetail, mark: Mark, agentName: string, finished = ""): string {
  if (task.state === TaskCreating) return task.log?.at(-1) ?? "Creating its worktree";
  if (task.state === TaskFailed) return "Could not be created";
  if (task.state === TaskMissing) return "Its folder is gone";
  switch (mark) {
    case "waiting":
      return task.detail ? `${agentName} asks: ${task.detail}` : `${agentName} waits for you`;
    case "working":
      return task.detail ? `${agentName} · ${task.detail}` : `${agentName} · working`;
    case "done":
      return finished ? `${agentName} · done ${finished}` : `${agentName} · done`;
    case "idle":
      return `${agentName} · idle`;
    case "failed":
      return `${agentName} · ${exitWords(task.tabs.find(crashed)?.exit)}`;
    case "stopped":
      return task.agent ? `${agentName} · stopped` : "No agent";
  }
}

/** The title of the window, which also stands in the system's list of windows: how many tasks wait, and the first. */
export function windowTitle(waiting: readonly { name: string }[]): string {
  const first = waiting[0];
  return first ? `(${waiting.length}) ${shown(first.name)} needs input · Termic` : "Termic";
}
