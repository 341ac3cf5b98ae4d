import { expect, test } from "vitest";
import type { LedgerRow } from "../gen/api";
import { duration, recentCalls } from "./calls";

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
  expect(recentCalls(rows, 3)).toEqual([
    { seq: 6, time: rows[0]?.time, who: "full token", verb: "–", ok: false, took: "invalid argument" },
    { seq: 5, time: rows[1]?.time, who: "ci", verb: "task_list", ok: true, took: "41.2 s" },
    { seq: 2, time: rows[4]?.time, who: "task:x", verb: "task_list", ok: true, took: "12 ms" },
  ]);
  expect(recentCalls([], 3)).toEqual([]);
});

test("durations are short", () => {
  expect([0, 999, 1000, 59_999, 60_000, 125_400].map(duration)).toEqual([
    "0 ms",
    "999 ms",
    "1.0 s",
    "60.0 s",
    "1 min 0 s",
    "2 min 5 s",
  ]);
});
