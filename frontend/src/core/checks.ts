import type { Check, CheckAddParams, CheckTarget, CheckUpdateParams, Netgroup } from "../gen/api";
import { count } from "./text";

/** The kinds of check: what each is called, what its targets are, and an example of one. */
export const checkKinds = [
  ["http", "Page", "A page answers, below 400.", "https://example.com/health"],
  ["tls", "Certificate", "A server's certificate is trusted, and for its name.", "example.com:443"],
  ["dns", "Name", "A name has an address.", "example.com"],
  ["tcp", "Port", "A port takes connections.", "example.com:5432"],
  ["metric", "Metric", "A number on a page of metrics.", 'https://example.com/metrics#jobs_failed{queue="mail"}'],
  ["command", "Command", "A program ends with 0. It runs outside every cage, as you.", "pg_isready -q"],
] as const;
export type CheckKind = (typeof checkKinds)[number][0];

export const checkOps = [">", ">=", "<", "<=", "==", "!="] as const;
export type CheckOp = (typeof checkOps)[number];

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The times between two looks that the form offers, in milliseconds. */
export const checkTimes = [10 * second, 30 * second, minute, 5 * minute, 15 * minute, hour, 6 * hour, 24 * hour];
/** How long a look may take. */
export const lookTimes = [second, 2 * second, 5 * second, 10 * second, 30 * second, minute];

/** A length of time in words, in its largest whole unit: "30 s", "15 min", "6 h". */
export function lengthWords(ms: number): string {
  if (ms >= hour && ms % hour === 0) return `${ms / hour} h`;
  if (ms >= minute && ms % minute === 0) return `${ms / minute} min`;
  return ms % second === 0 ? `${ms / second} s` : `${ms} ms`;
}

/** The choices of a form, with one that is set and not among them. */
export const withSet = (choices: number[], set: number): number[] =>
  choices.includes(set) ? choices : [...choices, set].sort((a, b) => a - b);

/** The mark of a check or a target: an icon, its colour, and its word. */
export function checkMark(one: Pick<CheckTarget, "state"> & { enabled?: boolean }) {
  if (one.enabled === false) return { icon: "stopped", color: "t3", word: "Off" } as const;
  if (one.state === "down") return { icon: "failed", color: "c-red", word: "Down" } as const;
  if (one.state === "up") return { icon: "done", color: "c-green", word: "Up" } as const;
  return { icon: "idle", color: "t3", word: "Not looked at yet" } as const;
}

/** What a check is about, in one line: its target, or how many it has and how many of them are down. */
export function checkAbout(check: Pick<Check, "targets">): string {
  const [first] = check.targets;
  if (first && check.targets.length === 1) return first.target;
  const down = check.targets.filter((one) => one.state === "down").length;
  return count(check.targets.length, "target") + (down > 0 ? `, ${down} down` : "");
}

/** What the check says of itself: why it is down, else what it found last. */
export function checkSays(check: Pick<Check, "targets" | "state">): string {
  const worst = check.targets.find((one) => one.state === "down") ?? check.targets[0];
  return worst?.detail ?? "";
}

/** The longest of the newest looks, in milliseconds; undefined before the first. */
export function checkTook(check: Pick<Check, "targets">): number | undefined {
  const times = check.targets.filter((one) => one.ran).map((one) => one.duration_ms);
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** How many of the checks that are switched on stand how. */
export function checkCounts(checks: readonly Pick<Check, "state" | "enabled">[]) {
  const on = checks.filter((one) => one.enabled);
  const of = (state: string) => on.filter((one) => one.state === state).length;
  return { down: of("down"), up: of("up"), unknown: of("unknown"), off: checks.length - on.length };
}

/** What the form of a check holds, as it was typed. */
export interface CheckDraft {
  name: string;
  kind: CheckKind;
  targets: string;
  expect: string;
  minDays: number;
  expectAddr: string;
  op: CheckOp;
  value: string;
  every: number;
  timeout: number;
  retries: number;
}

export function draftOf(check: Check | undefined): CheckDraft {
  return {
    name: check?.name ?? "",
    kind: (check?.kind ?? "http") as CheckKind,
    targets: check?.targets.map((one) => one.target).join("\n") ?? "",
    expect: check?.expect ?? "",
    minDays: check?.min_days ?? 14,
    expectAddr: check?.expect_addr ?? "",
    op: (check?.op ?? ">") as CheckOp,
    value: check?.value ?? "",
    every: check?.every_ms ?? minute,
    timeout: check?.timeout_ms ?? 10 * second,
    retries: check?.retries ?? 0,
  };
}

/** The lines of a field that has one thing on each. */
export const linesOf = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || []);

/** Whether a draft has all that it needs. */
export const complete = (draft: CheckDraft): boolean =>
  draft.name.trim() !== "" &&
  linesOf(draft.targets).length > 0 &&
  (draft.kind !== "metric" || draft.value.trim() !== "");

/** The fields that checks of the draft's kind have; those of another kind are refused. */
function kindFields(draft: CheckDraft) {
  switch (draft.kind) {
    case "http":
      return draft.expect ? { expect: draft.expect } : {};
    case "tls":
      return draft.minDays > 0 ? { minDays: draft.minDays } : {};
    case "dns":
      return draft.expectAddr.trim() ? { expectAddr: draft.expectAddr.trim() } : {};
    case "metric":
      return { op: draft.op, value: draft.value.trim() };
    default:
      return {};
  }
}

export function checkAdd(draft: CheckDraft): CheckAddParams {
  return {
    name: draft.name.trim(),
    kind: draft.kind,
    targets: linesOf(draft.targets),
    ...kindFields(draft),
    everyMs: draft.every,
    lookMs: draft.timeout,
    ...(draft.retries > 0 ? { retries: draft.retries } : {}),
  };
}

/** The change that makes a check what its form says: what was emptied is taken back by name. */
export function checkUpdate(draft: CheckDraft, was: string): CheckUpdateParams {
  const { kind, name, ...rest } = checkAdd(draft);
  const clear = [
    ...(kind === "http" && !draft.expect ? ["expect"] : []),
    ...(kind === "tls" && draft.minDays <= 0 ? ["minDays"] : []),
    ...(kind === "dns" && !draft.expectAddr.trim() ? ["expectAddr"] : []),
    ...(draft.retries > 0 ? [] : ["retries"]),
  ];
  return {
    name: was,
    ...(name === was ? {} : { rename: name }),
    ...rest,
    ...(clear.length > 0 ? { clear } : {}),
  };
}

/** The members of a netgroup, those that are in it and those that are taken out. */
export function membersOf(group: Pick<Netgroup, "members">): { in: string[]; out: string[] } {
  return {
    in: group.members.filter((one) => !one.startsWith("!")),
    out: group.members.filter((one) => one.startsWith("!")).map((one) => one.slice(1)),
  };
}
