import { expect, test } from "vitest";
import { clock, moment } from "./when";

test("a moment has its date and the hours of a day, whatever the language of the machine", () => {
  expect(moment(new Date(2026, 11, 1, 13, 5))).toBe("2026-12-01 13:05");
  expect(moment("nothing")).toBe("");
  expect(clock(new Date(2026, 11, 1, 3, 5), new Date(2026, 11, 1, 9))).toBe("03:05");
});
