import { expect, test } from "vitest";
import { approvalState, planLines } from "./approvals";

test("a plan is told thing by thing: what changes, what is lost, what ends", () => {
  expect(
    planLines({
      summary: "",
      apply: {
        task_id: "t",
        task: "fix",
        project: "web",
        files: [],
        total: 3,
        added: 1,
        modified: 2,
        deleted: 0,
        tracked_files: 3,
        untracked_files: 0,
        conflicts: ["a.txt"],
      },
      tasks: [{ task_id: "t", name: "fix", agents: 1, losses: [{ kind: "untracked", count: 2 }] }],
      ends: [{ tab_id: "x", title: "claude", running: true, working: true, queued: 1 }],
      deletes: ["feature/fix"],
    }),
  ).toEqual([
    "Changes 3 files in the main checkout: 1 added, 2 changed, 0 deleted",
    "Leaves conflict marks in a.txt",
    "Removes the worktree of fix and ends 1 agent",
    expect.stringMatching(/^Loses 2 /),
    "Ends claude, which works and drops 1 queued prompt",
    "Deletes the branch feature/fix",
  ]);
  expect(planLines({ summary: "" })).toEqual([]);
});

test("every state of an approval has a word, and one that is not known is named as it is", () => {
  expect(approvalState({ state: "stale" })).toBe("Overtaken");
  expect(approvalState({ state: "pending" })).toBe("Waiting");
  expect(approvalState({ state: "paused" })).toBe("paused");
});
