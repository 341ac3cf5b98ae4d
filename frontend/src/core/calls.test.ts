import { expect, test } from "vitest";
import type { LedgerRow } from "../gen/api";
import { actsOf, callersOf, duration, recentCalls } from "./calls";

const row = (seq: number, more: Partial<LedgerRow>): LedgerRow => ({
  seq,
  time: "2026-01-02T03:04:05Z",
  phase: "done",
  call: "c",
  principal: "outside",
  face: "mcp",
  verb: "task_list",
  outcome: "ok",
  duration_ms: 12,
  shape: "",
  ...more,
});

test("calls through the endpoint are shown once, newest first", () => {
  const rows = [
    row(6, { verb: "unknown", outcome: "invalid_argument" }),
    row(5, { principal: "client:ci", duration_ms: 41_200 }),
    row(4, { phase: "asked" }),
    row(3, { face: "cli" }),
    row(2, { principal: "task:x" }),
    row(1, {}),
  ];
  expect(recentCalls(rows, 3, (id) => (id === "x" ? "Fix it" : undefined))).toEqual([
    { seq: 6, time: rows[0]?.time, who: "full token", verb: "–", ok: false, took: "invalid argument" },
    { seq: 5, time: rows[1]?.time, who: "ci", verb: "task_list", ok: true, took: "41.2 s" },
    { seq: 2, time: rows[4]?.time, who: "Fix it", verb: "task_list", ok: true, took: "12 ms" },
  ]);
  expect(recentCalls([], 3, () => undefined)).toEqual([]);
});

test("who called is told once, whoever did so last first", () => {
  const at = (minute: string) => `2026-01-02T03:${minute}:05Z`;
  const rows = [
    row(7, { time: at("09"), phase: "asked" }),
    row(6, { time: at("08"), principal: "client:ci" }),
    row(5, { time: at("07"), outcome: "not_found" }),
    row(4, { time: at("06"), face: "cli", principal: "owner" }),
    row(3, { time: at("05"), principal: "task:x" }),
    row(2, { time: at("04"), principal: "task:y" }),
    row(1, { time: at("03") }),
  ];
  expect(callersOf(rows, (id) => (id === "x" ? "Fix it" : undefined))).toEqual([
    { principal: "client:ci", who: "ci", last: at("08"), calls: 1, refused: 0 },
    { principal: "outside", who: "full token", last: at("07"), calls: 2, refused: 1 },
    { principal: "task:x", who: "Fix it", last: at("05"), calls: 1, refused: 0 },
    { principal: "task:y", who: "a task that is gone", last: at("04"), calls: 1, refused: 0 },
  ]);
});

test("a call about a task is one line: its end, or that it is under way, and by whom", () => {
  const rows = [
    row(6, { call: "c", phase: "asked", principal: "owner", face: "window", verb: "task_send" }),
    row(5, { call: "b", principal: "task:x", outcome: "not_found" }),
    row(4, { call: "a", principal: "owner", face: "cli" }),
    row(3, { call: "a", phase: "asked", principal: "owner", face: "cli" }),
    row(2, { call: "z", principal: "task:gone" }),
    row(1, { call: "y", principal: "owner", face: "window", verb: "task_diff" }), // only looked
  ];
  const acts = actsOf(rows, (id) => (id === "x" ? "Orchestrate" : undefined));
  expect(acts.map((act) => [act.seq, act.who, act.ok, act.took])).toEqual([
    [6, "You, in the window", undefined, ""],
    [5, "Agent of Orchestrate", false, "not found"],
    [4, "You, on the command line", true, "12 ms"],
    [2, "Agent of another task", true, "12 ms"],
  ]);
});

test("durations are short", () => {
  expect([0, 999, 1000, 59_999, 60_000, 125_400].map(duration)).toEqual([
    "under 1 ms",
    "999 ms",
    "1.0 s",
    "60.0 s",
    "1 min 0 s",
    "2 min 5 s",
  ]);
});
