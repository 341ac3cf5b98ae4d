// What cages refused, as the window lists it.

import type { Cage, Denial, SandboxAllowParams } from "../gen/api";
import { count } from "./text";

/** The parameter of sandbox_allow that would let this through; undefined for what no list can allow. */
export function allowing(denial: Denial): Pick<SandboxAllowParams, "host" | "read" | "write"> | undefined {
  switch (denial.kind) {
    case "host":
      return { host: denial.target };
    case "read":
      return { read: denial.target };
    case "write":
      return { write: denial.target };
    default:
      return undefined;
  }
}

/** Names a denial among those of a task: the same thing again only counts. */
export const denialKey = (denial: Denial) => `${denial.kind} ${denial.would_deny ? "would" : ""} ${denial.target}`;

/** The same target refused to several tabs is one line: counts are added, the newest moment is kept. Newest first. */
export function gathered(denials: Denial[]): Denial[] {
  const by = new Map<string, Denial>();
  for (const one of denials) {
    const key = denialKey(one);
    const old = by.get(key);
    if (!old) by.set(key, one);
    else by.set(key, { ...(old.last >= one.last ? old : one), count: old.count + one.count });
  }
  return [...by.values()].sort((a, b) => b.last.localeCompare(a.last) || a.target.localeCompare(b.target));
}

export const times = (denial: Denial) => count(denial.count, "time");

const asked: Record<string, string> = { host: "connect", read: "read", write: "write" };

/** What was tried, in one word; "" where the kind says nothing. */
export const attempted = (denial: Denial) => asked[denial.kind] ?? "";

/** Whether a list allows exactly this by now; what runs may still have been started without it. */
export function allowedIn(denial: Denial, cage: Pick<Cage, "read" | "write" | "hosts"> | undefined): boolean {
  if (denial.kind === "host") return cage?.hosts.includes(denial.target) ?? false;
  if (denial.kind === "write") return cage?.write.includes(denial.target) ?? false;
  return denial.kind === "read" && [...(cage?.read ?? []), ...(cage?.write ?? [])].includes(denial.target);
}

/** How many things were really refused and not allowed since: what was only recorded is not among them. */
export function refusedCount(denials: Denial[] | undefined, ...cages: (Cage | undefined)[]): number {
  const open = (one: Denial) => !one.would_deny && !cages.some((cage) => allowedIn(one, cage));
  return gathered(denials ?? []).filter(open).length;
}

/** Why it was refused, as a sentence that does not say the target again, which stands above it. */
export function whyRefused(denial: Denial): string {
  const reason = denial.reason?.trim() ?? "";
  if (!reason) return "";
  const bare = denial.target.replace(/:\d+$/, "");
  const named = [denial.target, bare].find((name) => reason.startsWith(`${name} `));
  const text = named ? `It${reason.slice(named.length)}` : reason;
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
