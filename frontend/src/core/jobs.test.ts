import { expect, test } from "vitest";
import { cancellable, exportName, jobMark, jobState, jobStates } from "./jobs";

test("every state has words and a mark of its own kind, and one that is not known is named as it is", () => {
  for (const [state, label] of jobStates) if (state) expect(jobState({ state })).toBe(label);
  expect(jobState({ state: "paused" })).toBe("paused");
  expect(jobMark({ state: "done" }).color).toBe("c-green");
  expect(jobMark({ state: "interrupted" }).icon).toBe("failed");
  expect(jobMark({ state: "paused" }).icon).toBe("failed");
});

test("only what has not ended can be cancelled", () => {
  expect(["waiting", ...jobStates.map(([state]) => state)].filter((state) => cancellable({ state }))).toEqual([
    "waiting",
    "running",
  ]);
});

test("an export has a name that sorts by its time", () => {
  expect(exportName(new Date(2026, 10, 3, 9, 5))).toBe("~/termic-ledger-2026-11-03-0905.jsonl");
});
