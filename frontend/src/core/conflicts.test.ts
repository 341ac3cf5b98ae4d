import { expect, test } from "vitest";
import type { Fault } from "../gen/api";
import { conflictsOf } from "./conflicts";

test("the files of a conflict are those that the failure lists", () => {
  const fault = (code: Fault["code"], conflicts: unknown): Fault => ({ code, message: "x", data: { conflicts } });
  expect(conflictsOf(fault("apply_conflict", ["a", 7, "b"]))).toEqual(["a", "b"]);
  expect(conflictsOf(fault("apply_conflict", "a"))).toEqual([]);
  expect(conflictsOf(fault("conflict", ["a"]))).toEqual([]);
  expect(conflictsOf(undefined)).toEqual([]);
});
