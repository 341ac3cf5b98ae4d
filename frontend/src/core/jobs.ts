import type { Job } from "../gen/api";

/** The states of a job by which a list of them can be narrowed, with what each is called. */
export const jobStates = [
  ["", "Every state"],
  ["running", "Running"],
  ["done", "Done"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["interrupted", "Interrupted"],
] as const;

const words = new Map<string, string>([...jobStates, ["waiting", "Waiting for approval"]]);

/** The state of a job in words: also one that a newer app knows. */
export function jobState(job: Pick<Job, "state">): string {
  return words.get(job.state) || job.state;
}

/** The mark of a state: an icon and its colour. */
export function jobMark(job: Pick<Job, "state">) {
  switch (job.state) {
    case "waiting":
      return { icon: "waiting", color: "c-amber" } as const;
    case "running":
      return { icon: "working", color: "c-blue" } as const;
    case "done":
      return { icon: "done", color: "c-green" } as const;
    case "cancelled":
      return { icon: "stopped", color: "t3" } as const;
    default:
      return { icon: "failed", color: "c-red" } as const;
  }
}

/** Whether there is something to cancel. */
export const cancellable = (job: Pick<Job, "state">) => job.state === "running" || job.state === "waiting";

/** The name of a file for an export of the ledger, in the home folder. */
export function exportName(now: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `~/termic-ledger-${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}-${two(now.getHours())}${two(now.getMinutes())}.jsonl`;
}
