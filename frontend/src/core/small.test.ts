import { expect, test } from "vitest";
import { Disposables, disposable } from "./disposable";
import { LineReader } from "./lines";
import { readSettings } from "./settings";
import { branchFor, slug } from "./slug";
import { clock } from "./when";

test.each([
  ["Audit log for admin actions", "audit-log-for-admin-actions"],
  ["  Ünïcode & 漢字  ", "ünïcode-漢字"],
  ["a".repeat(80), "a".repeat(60)],
  ["é".repeat(40), "é".repeat(30)],
  ["--force", "force"],
  ["!!!", ""],
])("the slug of %j is %j", (name, wanted) => {
  expect(slug(name)).toBe(wanted);
});

test.each([
  ["feature", "Fix login", "feature/fix-login"],
  ["feature/", "Fix login", "feature/fix-login"],
  ["", "Fix login", "fix-login"],
  ["feature", "fix/Login form", "fix/login-form"],
  ["", "HEAD", "head-1"],
  ["feature", "!!!", ""],
])("with prefix %j the branch of %j is %j", (prefix, name, wanted) => {
  expect(branchFor(prefix, name)).toBe(wanted);
});

test("settings are read flat or nested, and nonsense is the default", () => {
  expect(readSettings({ "terminal.font_size": 15, "appearance.theme": "light" })).toMatchObject({
    fontSize: 15,
    theme: "light",
  });
  expect(readSettings({ terminal: { font_size: 900 }, appearance: { theme: "pink" } })).toMatchObject({
    fontSize: 72,
    theme: "system",
  });
});

test("lines are whole, however the stream is cut", () => {
  const reader = new LineReader();
  expect([...reader.push('{"re'), ...reader.push('v":1}\n{"rev"'), ...reader.push(":2}\n")]).toEqual([
    '{"rev":1}',
    '{"rev":2}',
  ]);
});

test("a moment of today is a time, another is a date", () => {
  const now = new Date("2026-03-05T15:00:00");
  expect(clock("2026-03-05T14:03:00", now)).toBe("14:03");
  expect(clock("2026-02-27T14:03:00", now)).toBe("2026-02-27");
  expect(clock("nonsense", now)).toBe("");
});

test("what is owned is undone once, in the reverse order, and late additions at once", () => {
  const undone: number[] = [];
  const owned = new Disposables();
  const first = owned.add(disposable(() => undone.push(1)));
  owned.add(disposable(() => undone.push(2)));
  owned.dispose();
  first.dispose();
  owned.add(disposable(() => undone.push(3)));
  expect(undone).toEqual([2, 1, 3]);
});
