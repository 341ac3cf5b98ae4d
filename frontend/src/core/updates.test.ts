import { expect, test } from "vitest";
import type { UpdateResult } from "../gen/api";
import { isNewer, updateWords, whatIsAsked } from "./updates";

const now = new Date(2026, 10, 30, 12, 0);
const found = new Date(2026, 10, 29, 9, 0).toISOString();

test.each<[Partial<UpdateResult>, string]>([
  [{ state: "off" }, "This is Termic 0.1.0."],
  [{ state: "unset" }, "Nothing is asked."],
  [{ state: "unasked" }, "Nothing is known yet."],
  [{ state: "current", latest: "0.1.0", found }, "This is the newest release, as of 2026-11-29."],
  [{ state: "newer", latest: "0.2.0", found }, "Termic 0.2.0 is out. This is 0.1.0."],
  [
    { state: "unknown", latest: "0.2.0", version: "dev" },
    "Termic 0.2.0 is the newest release. This build, dev, has no version to compare it with.",
  ],
])("%j in words", (is, words) => {
  const u = { version: "0.1.0", ...is } as UpdateResult;
  expect(updateWords(u, now)).toBe(words);
  expect(isNewer(u)).toBe(is.state === "newer");
});

test("what is asked is said before it is", () => {
  expect(whatIsAsked({ version: "0.1.0", state: "off" })).toContain("names no address");
  expect(whatIsAsked({ version: "0.1.0", state: "off", address: "https://example.com/latest.json" })).toContain(
    "Asks https://example.com/latest.json",
  );
  expect(isNewer(undefined)).toBe(false);
});
