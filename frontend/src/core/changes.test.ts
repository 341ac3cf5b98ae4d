import { expect, test } from "vitest";
import type { FileChange } from "../gen/api";
import { called, commitOf, groupsOf, named } from "./changes";

const file = (path: string, more: Partial<FileChange> = {}): FileChange => ({
  path,
  status: "modified",
  insertions: 1,
  deletions: 0,
  ...more,
});

const some = [
  file("both", { staged: true, unstaged: true, seen: "c1" }),
  file("new", { status: "untracked", seen: "c2" }),
  file("old"),
  file("conflict", { status: "unmerged" }),
  file("to", { status: "renamed", old_path: "from", also: "from", staged: true, unstaged: true, seen: "c3" }),
];

test("files stand in the groups that they belong to", () => {
  const groups = groupsOf(some).map((group) => [group.kind, ...group.files.map((one) => one.path)]);
  expect(groups).toEqual([
    ["staged", "both", "to"],
    ["loose", "both", "new", "conflict", "to"],
    ["committed", "old"],
  ]);
  expect(groupsOf([file("old")])).toHaveLength(1);
});

test("a rename is named by both of its halves, and each file as it was seen", () => {
  expect(named(some.slice(3))).toEqual({ paths: ["conflict", "to", "from"], seen: ["", "c3", ""] });
});

test("a commit takes what is staged, or everything", () => {
  expect(commitOf(some)).toEqual({ files: 2, all: false });
  expect(commitOf(some.slice(1, 3))).toEqual({ files: 1, all: true });
  expect(commitOf([file("old")])).toEqual({ files: 0, all: true });
});

test("one file has its name, more have their number", () => {
  expect([called(["a"]), called(["a", "b"])]).toEqual(["a", "2 files"]);
});
