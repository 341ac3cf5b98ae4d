import {
  type TabStatus,
  TaskCreating,
  type TaskDetail,
  TaskFailed,
  TaskMissing,
  WorkDone,
  WorkIdle,
  WorkNeedsInput,
  WorkWorking,
} from "../gen/api";

/** What a mark says. The order is that of a collapsed parent: the strongest first. */
export const markOrder = ["waiting", "failed", "working", "done", "idle", "stopped"] as const;
export type Mark = (typeof markOrder)[number];

export const markName: Record<Mark, string> = {
  waiting: "Needs input",
  failed: "Failed",
  working: "Working",
  done: "Done",
  idle: "Idle",
  stopped: "Stopped",
};

/** How a cage is shown; the names on the wire stay what they are. */
export const cageName: Record<string, string> = {
  off: "Off",
  monitor: "Monitor",
  "enforce-fs": "Files only",
  enforce: "Files and network",
};

/** True when a program ended otherwise than by returning success, and nobody asked it to. */
export function crashed(tab: TabStatus): boolean {
  return !tab.live && tab.exit !== undefined && (tab.exit.code !== 0 || Boolean(tab.exit.signal));
}

export function tabMark(tab: TabStatus, seen = false): Mark {
  if (!tab.live) return crashed(tab) ? "failed" : "stopped";
  const mark = workMark(tab.state, seen);
  return mark === "stopped" ? "idle" : mark; // an agent that gives no sign of its state still runs
}

function workMark(state: string | undefined, seen: boolean): Mark {
  switch (state) {
    case WorkWorking:
      return "working";
    case WorkNeedsInput:
      return "waiting";
    case WorkDone:
      return seen ? "idle" : "done";
    case WorkIdle:
      return "idle";
    default:
      return "stopped";
  }
}

/** The mark of a task. `seen` says that its finished work was looked at. */
export function taskMark(task: Pick<TaskDetail, "state" | "work_state" | "tabs">, seen = false): Mark {
  if (task.state === TaskFailed || task.state === TaskMissing) return "failed";
  if (task.state === TaskCreating) return "working";
  const work = workMark(task.work_state, seen);
  if (work !== "stopped") return work;
  const agents = task.tabs.filter((tab) => tab.kind === "agent");
  if (agents.some(crashed)) return "failed";
  // An agent that gives no sign of its state is still not stopped while it runs.
  return agents.some((tab) => tab.live) ? "idle" : "stopped";
}

/** The strongest of some marks. */
export function strongest(marks: Mark[]): Mark {
  return markOrder.find((mark) => marks.includes(mark)) ?? "stopped";
}
