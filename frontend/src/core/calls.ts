import type { LedgerRow } from "../gen/api";

/** One call through the MCP endpoint, as the settings page shows it. */
export interface RecentCall {
  seq: number;
  time: string;
  who: string;
  verb: string;
  ok: boolean;
  /** How long it took, or why it was refused. */
  took: string;
}

/** Names of tasks that still are. */
type NameOf = (task: string) => string | undefined;

/** The newest calls through the endpoint, newest first: one line for each, when it is over. */
export function recentCalls(rows: LedgerRow[], most: number, nameOf: NameOf): RecentCall[] {
  return rows
    .filter((row) => row.face === "mcp" && row.phase === "done")
    .slice(0, most)
    .map((row) => ({
      seq: row.seq,
      time: row.time,
      who: caller(row.principal, nameOf),
      verb: row.verb === "unknown" ? "–" : row.verb,
      ok: row.outcome === "ok",
      took: row.outcome === "ok" ? duration(row.duration_ms) : (row.outcome ?? "").replaceAll("_", " "),
    }));
}

/** Somebody who called through the endpoint. */
export interface Caller {
  principal: string;
  who: string;
  /** When the newest call ended. */
  last: string;
  calls: number;
  /** How many of these were refused or failed. */
  refused: number;
}

/**
 * Who called through the endpoint, whoever did so last first. The protocol keeps no connections: a client that says nothing cannot be
 * told from one that is gone.
 */
export function callersOf(rows: LedgerRow[], nameOf: NameOf): Caller[] {
  const all = new Map<string, Caller>();
  for (const { principal, time, phase, face, outcome } of rows) {
    if (face !== "mcp" || phase !== "done") continue;
    const one = all.get(principal) ?? { principal, who: caller(principal, nameOf), last: time, calls: 0, refused: 0 };
    if (time > one.last) one.last = time;
    one.calls++;
    if (outcome !== "ok") one.refused++;
    all.set(principal, one);
  }
  return [...all.values()].sort((a, b) => (a.last < b.last ? 1 : a.last > b.last ? -1 : 0));
}

function caller(principal: string, nameOf: NameOf): string {
  const task = taskOf(principal);
  return task ? (nameOf(task) ?? "a task that is gone") : who(principal);
}

/** The id of the task whose agent a principal is; empty for anybody else. */
export function taskOf(principal: string): string {
  return /^task:(.+)$/.exec(principal)?.[1] ?? "";
}

/** One call about a task, as its panel shows it. */
export interface Act {
  seq: number;
  time: string;
  who: string;
  verb: string;
  /** undefined: it is under way, or the app ended before it did. */
  ok: boolean | undefined;
  took: string;
}

/** What only looks at a task. The window does that all the time, so the person's own are no news. */
const looks = new Set(["attach", "ledger", "path", "task_diff", "task_log", "task_result", "task_status", "task_wait"]);

/**
 * Calls by any face, newest first, one line for each: its end where that is known. What the person only looked at is left
 * out. nameOf names a task that still is.
 */
export function actsOf(rows: LedgerRow[], nameOf: (task: string) => string | undefined): Act[] {
  const ended = new Set(rows.filter((row) => row.phase === "done").map((row) => row.call));
  const looked = (row: LedgerRow) => row.principal === "owner" && row.outcome === "ok" && looks.has(row.verb);
  return rows
    .filter((row) => (row.phase === "done" ? !looked(row) : !ended.has(row.call)))
    .map((row) => ({
      seq: row.seq,
      time: row.time,
      who: actor(row, nameOf),
      verb: row.verb,
      ok: row.phase === "done" ? row.outcome === "ok" : undefined,
      took:
        row.phase !== "done"
          ? ""
          : row.outcome === "ok"
            ? duration(row.duration_ms)
            : (row.outcome ?? "").replaceAll("_", " "),
    }));
}

const faces: Record<string, string> = {
  window: "in the window",
  cli: "on the command line",
  mcp: "over MCP",
  web: "in a browser",
  api: "over the API",
  trigger: "by a trigger",
  schedule: "by a schedule",
};

/** Who asked for something, through which face. nameOf names a task that still is. */
export function actor(
  row: Pick<LedgerRow, "principal" | "face">,
  nameOf: (task: string) => string | undefined,
): string {
  const by = faces[row.face] ?? row.face;
  if (row.principal === "owner") return `You, ${by}`;
  const task = taskOf(row.principal);
  if (task) return `Agent of ${nameOf(task) ?? "another task"}`;
  return `${who(row.principal)}, ${by}`;
}

/** As whom a rule acts. */
export function maker(principal: string, nameOf: (task: string) => string | undefined): string {
  if (principal === "owner") return "you";
  const task = taskOf(principal);
  return task ? `the agent of ${nameOf(task) ?? "another task"}` : who(principal);
}

function who(principal: string): string {
  if (principal === "outside") return "full token";
  const [kind, name] = [principal.slice(0, principal.indexOf(":")), principal.slice(principal.indexOf(":") + 1)];
  return kind === "client" ? name : principal;
}

/** A duration in few characters. */
export function duration(ms: number): string {
  if (ms === 0) return "under 1 ms";
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
