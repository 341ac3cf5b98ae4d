import { expect, test } from "vitest";
import type { FileChange } from "../gen/api";
import { racedFiles, raceName, racersOf } from "./race";

test.each([
  [["fix the bug claude", "fix the bug codex"], "fix the bug"],
  [["fix claude", "fix claude 2"], "fix claude"],
  [["fix claude"], "fix claude"],
  [["renamed", "fix codex"], "renamed"],
  [[], ""],
])("the race of %j is called %s", (names, race) => {
  expect(raceName(names)).toBe(race);
});

test("racers are those of one race, in the order in which they were made", () => {
  const task = (id: string, race: string, created: string) => ({ id, race, created });
  const tasks = [task("b", "R", "2"), task("x", "S", "1"), task("a", "R", "1"), task("n", "", "0")];
  expect(racersOf(tasks, "R").map((one) => one.id)).toEqual(["a", "b"]);
  expect(racersOf(tasks, "")).toEqual([]);
});

test("files that most racers changed stand first, and a racer that is not read yet changes nothing", () => {
  const file = (path: string) => ({ path }) as FileChange;
  const files = racedFiles([[file("a"), file("c")], undefined, [file("c"), file("b")]]);
  expect(files.map((one) => [one.path, one.by.map((by) => by?.path ?? "-").join("")])).toEqual([
    ["c", "c-c"],
    ["a", "a--"],
    ["b", "--b"],
  ]);
});
