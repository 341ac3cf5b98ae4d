import { describe, expect, test } from "vitest";
import type { Check, CheckTarget } from "../gen/api";
import {
  checkAbout,
  checkAdd,
  checkCounts,
  checkMark,
  checkSays,
  checkTook,
  checkUpdate,
  complete,
  draftOf,
  lengthWords,
  linesOf,
  membersOf,
  withSet,
} from "./checks";

const target = (name: string, state: string, detail = "", ran = "2026-01-02T03:04:05Z", ms = 5): CheckTarget => ({
  target: name,
  state,
  duration_ms: ms,
  ...(detail ? { detail } : {}),
  ...(ran ? { ran } : {}),
});
const check = (over: Partial<Check>): Check => ({
  name: "site",
  kind: "http",
  state: "up",
  enabled: true,
  targets: [target("https://a.example", "up", "200 OK")],
  every_ms: 60_000,
  timeout_ms: 10_000,
  created_by: "owner",
  created: "2026-01-02T03:04:05Z",
  ...over,
});

describe("how a check is told", () => {
  const two = check({
    state: "down",
    targets: [target("a", "up", "200 OK"), target("b", "down", "refused", undefined, 70)],
  });
  test("about one target or several", () => {
    expect(checkAbout(check({}))).toBe("https://a.example");
    expect(checkAbout(two)).toBe("2 targets, 1 down");
    expect(checkAbout(check({ targets: [target("a", "up"), target("b", "up")] }))).toBe("2 targets");
  });
  test("what is down speaks", () => {
    expect(checkSays(two)).toBe("refused");
    expect(checkSays(check({}))).toBe("200 OK");
    expect(checkTook(two)).toBe(70);
    expect(checkTook(check({ targets: [target("a", "unknown", "", "")] }))).toBeUndefined();
  });
  test("what is off has no state", () => {
    expect(checkMark(check({ state: "down", enabled: false })).word).toBe("Off");
    expect(checkMark(check({ state: "down" })).word).toBe("Down");
    expect(checkMark(target("a", "unknown")).word).toBe("Not looked at yet");
    expect(checkCounts([two, check({}), check({ state: "down", enabled: false })])).toEqual({
      down: 1,
      up: 1,
      unknown: 0,
      off: 1,
    });
  });
  test("lengths of time", () => {
    expect([10_000, 90_000, 900_000, 86_400_000, 1500].map(lengthWords)).toEqual([
      "10 s",
      "90 s",
      "15 min",
      "24 h",
      "1500 ms",
    ]);
    expect(withSet([1, 3], 2)).toEqual([1, 2, 3]);
    expect(withSet([1, 3], 3)).toEqual([1, 3]);
  });
});

describe("the form", () => {
  test("sends what the kind has, and nothing else", () => {
    const draft = {
      ...draftOf(undefined),
      name: " x ",
      targets: " a.example \n\nb.example",
      expect: "left from before",
    };
    expect(checkAdd({ ...draft, kind: "tls" })).toEqual({
      name: "x",
      kind: "tls",
      targets: ["a.example", "b.example"],
      minDays: 14,
      everyMs: 60_000,
      lookMs: 10_000,
    });
    expect(checkAdd({ ...draft, kind: "tcp", retries: 2 })).toMatchObject({ retries: 2 });
    expect(checkAdd({ ...draft, kind: "tcp" })).not.toHaveProperty("expect");
    expect(linesOf("\n a \n")).toEqual(["a"]);
  });
  test("takes back what was emptied", () => {
    const draft = draftOf(check({ expect: "ok", retries: 1 }));
    expect(draft).toMatchObject({ expect: "ok", retries: 1, targets: "https://a.example" });
    expect(checkUpdate({ ...draft, expect: "", retries: 0 }, draft.name).clear).toEqual(["expect", "retries"]);
    expect(checkUpdate(draft, draft.name)).not.toHaveProperty("clear");
    expect(checkUpdate(draft, draft.name)).not.toHaveProperty("kind");
    expect(checkUpdate(draft, draft.name)).not.toHaveProperty("rename");
    expect(checkUpdate({ ...draft, name: "other" }, "site")).toMatchObject({ name: "site", rename: "other" });
  });
  test("needs a name, a target, and for a metric a value", () => {
    const draft = { ...draftOf(undefined), name: "x", targets: "a" };
    expect(complete(draft)).toBe(true);
    expect(complete({ ...draft, name: " " })).toBe(false);
    expect(complete({ ...draft, targets: "\n" })).toBe(false);
    expect(complete({ ...draft, kind: "metric" })).toBe(false);
    expect(complete({ ...draft, kind: "metric", value: "0" })).toBe(true);
  });
});

test("members that are taken out stand apart", () => {
  expect(membersOf({ members: ["192.0.2.0/24", "!192.0.2.7"] })).toEqual({ in: ["192.0.2.0/24"], out: ["192.0.2.7"] });
});
