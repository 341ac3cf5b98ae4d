import type { RefChange, TaskDetail } from "../gen/api";

/** The refs that changed while caged agents of some tasks ran, each once, by name. */
export function changedRefs(tasks: TaskDetail[]): RefChange[] {
  const by = new Map(tasks.flatMap((task) => task.refs ?? []).map((ref) => [ref.ref, ref]));
  return [...by.values()].sort((a, b) => a.ref.localeCompare(b.ref));
}

const short = (value: string) => (value.startsWith("ref:") ? value : value.slice(0, 10));

/** What happened to a ref, in few words. */
export function refWords({ old, new: now }: Pick<RefChange, "old" | "new">): string {
  if (!old) return now ? `new, at ${short(now)}` : "unchanged";
  return now ? `${short(old)} to ${short(now)}` : `gone, was at ${short(old)}`;
}
