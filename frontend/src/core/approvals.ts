import type { Approval, ApprovalPlan } from "../gen/api";
import { lossWords } from "./losses";
import { count } from "./text";

/** The lists of approvals: what waits, and what is over. */
export const approvalLists = [
  ["pending", "Waiting"],
  ["all", "All"],
] as const;

/** What approving a call of a verb does, on the button that does it. */
export function approveWords(verb: string): string {
  switch (verb) {
    case "task_archive":
      return "Approve and archive";
    case "task_apply":
      return "Approve and apply";
    case "task_tab_close":
      return "Approve and close the tab";
    case "project_remove":
      return "Approve and remove";
    default:
      return "Approve, and do it now";
  }
}

/** How an approval stands, in words. */
export function approvalState(one: Pick<Approval, "state" | "decided_by">): string {
  switch (one.state) {
    case "pending":
      return "Waiting";
    case "approved":
      return "Approved";
    case "denied":
      return "Denied";
    case "expired":
      return "Expired";
    case "stale":
      return "Overtaken";
    case "withdrawn":
      return "Withdrawn";
    default:
      return one.state;
  }
}

/** What carrying it out would do, a line for each thing; names in it are untrusted text. */
export function planLines(plan: ApprovalPlan): string[] {
  const lines: string[] = [];
  if (plan.apply) {
    const { total, added, modified, deleted, conflicts, warnings, refused } = plan.apply;
    lines.push(
      `Changes ${count(total, "file")} in the main checkout: ${added} added, ${modified} changed, ${deleted} deleted`,
    );
    if (conflicts.length > 0) lines.push(`Leaves conflict marks in ${conflicts.join(", ")}`);
    lines.push(...(warnings ?? []));
    if (refused) lines.push(`Would write nothing: ${refused.message}`);
  }
  for (const task of plan.tasks ?? []) {
    lines.push(
      `Removes the worktree of ${task.name}${task.agents > 0 ? ` and ends ${count(task.agents, "agent")}` : ""}`,
    );
    lines.push(...(task.losses ?? []).map((loss) => `Loses ${lossWords({ ...loss, items: loss.items ?? [] })}`));
  }
  for (const end of plan.ends ?? []) {
    const what = end.working ? ", which works" : end.running ? ", which runs" : "";
    lines.push(`Ends ${end.title}${what}${end.queued ? ` and drops ${count(end.queued, "queued prompt")}` : ""}`);
  }
  if (plan.deletes?.length) lines.push(`Deletes the branch ${plan.deletes.join(", ")}`);
  return lines;
}
