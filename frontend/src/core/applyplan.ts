import type { ApplyPlan } from "../gen/api";
import { count } from "./text";

/** What applying a task would do, in words, and whether all of it would go in as it is. */
export interface Foreseen {
  clean: boolean;
  words: string;
}

/** Reads a plan of task_plan. Names are left out of the words: the dialog lists them. */
export function foreseen(plan: ApplyPlan): Foreseen {
  if (plan.refused) return { clean: false, words: "Cannot be applied now" };
  if (plan.conflicts.length > 0)
    return { clean: false, words: `Applies with conflicts in ${count(plan.conflicts.length, "file")}` };
  if (plan.total === 0) return { clean: true, words: "The main checkout has all of it" };
  return { clean: true, words: `Applies cleanly: ${count(plan.total, "file")}` };
}

/** "2 added, 3 changed, 1 deleted", without what there is none of. */
export function planCounts(plan: ApplyPlan): string {
  const parts = [
    [plan.added, "added"],
    [plan.modified, "changed"],
    [plan.deleted, "deleted"],
  ] as const;
  return parts
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${n} ${word}`)
    .join(", ");
}
