import { expect, test } from "vitest";
import type { ApplyPlan } from "../gen/api";
import { foreseen, planCounts } from "./applyplan";

const plan = (more: Partial<ApplyPlan>): ApplyPlan => ({
  task_id: "t",
  task: "Fix it",
  project: "repo",
  files: [],
  total: 0,
  added: 0,
  modified: 0,
  deleted: 0,
  tracked_files: 0,
  untracked_files: 0,
  conflicts: [],
  ...more,
});

test.each([
  [{ total: 1 }, true, "Applies cleanly: 1 file"],
  [{ total: 8 }, true, "Applies cleanly: 8 files"],
  [{}, true, "The main checkout has all of it"],
  [{ total: 3, conflicts: ["a", "b"] }, false, "Applies with conflicts in 2 files"],
  [
    { total: 3, refused: { code: "conflict", message: "The main checkout has changes" } },
    false,
    "Cannot be applied now",
  ],
] as [Partial<ApplyPlan>, boolean, string][])("%j", (more, clean, words) => {
  expect(foreseen(plan(more))).toEqual({ clean, words });
});

test("the kinds of changes are counted, without what there is none of", () => {
  expect(planCounts(plan({ added: 2, deleted: 1 }))).toBe("2 added, 1 deleted");
  expect(planCounts(plan({ modified: 1 }))).toBe("1 changed");
  expect(planCounts(plan({}))).toBe("");
});
