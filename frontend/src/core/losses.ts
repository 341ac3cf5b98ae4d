import type { Fault } from "../gen/api";
import { count } from "./text";

/** Something that exists nowhere else and would be gone; as in api.Loss. */
export interface Loss {
  kind: string;
  count: number;
  items: string[];
}

const nouns: Record<string, [string, string]> = {
  dirty: ["changed file", "changed files"],
  staged: ["staged file", "staged files"],
  untracked: ["untracked file", "untracked files"],
  ignored: ["ignored file", "ignored files"],
  unpushed: ["commit that is on no other branch", "commits that are on no other branch"],
  stash: ["stash", "stashes"],
  rebase: ["unfinished rebase", "unfinished rebases"],
  submodule: ["submodule", "submodules"],
  repository: ["nested repository", "nested repositories"],
  unread: ["unreadable folder", "unreadable folders"],
  locked: ["lock on its worktree", "locks on its worktree"],
};

/** The losses that a needs_consent failure lists. What cannot be read is left out, never guessed. */
export function lossesOf(fault: Fault | undefined): Loss[] {
  const list = fault?.code === "needs_consent" ? fault.data?.losses : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    if (typeof one !== "object" || one === null) return [];
    const { kind, count: many, items } = one as Record<string, unknown>;
    if (typeof kind !== "string" || typeof many !== "number") return [];
    return [{ kind, count: many, items: Array.isArray(items) ? items.filter((item) => typeof item === "string") : [] }];
  });
}

export function lossWords(loss: Loss): string {
  const [one, many] = nouns[loss.kind] ?? [loss.kind.replaceAll("_", " "), loss.kind.replaceAll("_", " ")];
  return count(loss.count, one, many);
}

/** The shortest true words for a button: "2 changed files", or how many things there are. */
export function lossSummary(losses: Loss[]): string {
  const [first, ...rest] = losses;
  if (first && rest.length === 0) return lossWords(first).replace(/ (that|on) .*/, "");
  return count(
    losses.reduce((sum, loss) => sum + loss.count, 0),
    "item",
  );
}
