import { expect, test } from "vitest";
import { pasteable } from "./paste";
import { codeParts, count, homely, homelyIn, nameFrom, shown, shownLines, splitPath, tomlText } from "./text";

test.each([
  ["plain ünï 漢 🙂", "plain ünï 漢 🙂"],
  ["a\nb", "a⏎b"],
  ["\u001b[31mred", "␛[31mred"],
  ["nul\u0000 del\u007f", "nul␀ del␡"],
  ["c1\u009b31m", "c1\ufffd31m"],
  ["user\u202Egnp.exe", "user◌gnp.exe"],
  ["zero\u200Bwidth\uFEFF", "zero◌width◌"],
  ["👩\u200d👧", "👩\u200d👧"],
  ["tag\u{E0041}", "tag◌"],
  ["<b>&amp;", "<b>&amp;"],
])("%j is shown as %j", (given, wanted) => {
  expect(shown(given)).toBe(wanted);
});

test("a paste keeps its text and loses what could end the paste mode", () => {
  expect(pasteable("a\tb\r\nc\n")).toBe("a\tb\r\nc\n");
  expect(pasteable("a\u001b[201~\rrm x\r")).toBe("a[201~\rrm x\r");
  expect(pasteable("\u0003\u0004\u009b201~\u007f")).toBe("201~");
});

test.each([
  ["/home/ann/src/a", "/home/ann", "~/src/a"],
  ["/home/ann", "/home/ann/", "~"],
  ["/home/anna/src", "/home/ann", "/home/anna/src"],
  ["/srv/home/ann", "/home/ann", "/srv/home/ann"],
  ["/src/a", "", "/src/a"],
  ["/src/a", "/", "/src/a"],
])("%s is shown to who lives in %j as %s", (path, home, wanted) => {
  expect(homely(path, home)).toBe(wanted);
});

test("paths in a sentence are shortened too, and nothing else", () => {
  const said = "The entry in /home/ann/.claude.json and /home/anna/x names it.";
  expect(homelyIn(said, "/home/ann/")).toBe("The entry in ~/.claude.json and /home/anna/x names it.");
  expect(homelyIn(said, "")).toBe(said);
  expect(homelyIn(said, "/")).toBe(said);
});

test("numbers say what they count", () => {
  expect([count(0, "file"), count(1, "file"), count(2, "stash", "stashes")]).toEqual([
    "0 files",
    "1 file",
    "2 stashes",
  ]);
});

test("a path is split at its last slash", () => {
  expect(splitPath("a/b/c.go")).toEqual({ folder: "a/b", name: "c.go" });
  expect(splitPath("c.go")).toEqual({ folder: "", name: "c.go" });
});

test("text is written as TOML writes it", () => {
  expect(tomlText('a "b" \\ \n\u007f')).toBe('"a \\"b\\" \\\\ \\n\\u007F"');
});

test("lines stay lines, and what hides in them is shown", () => {
  expect(shownLines("one\r\ntwo\u001b[31m\nthree")).toBe(`one\n${shown("two\u001b[31m")}\nthree`);
});

test.each([
  [
    "Read this repository and tell me what a new contributor should know first.",
    "Read this repository and tell me what a",
  ],
  ["Fix the login. Then write a test.", "Fix the login"],
  ["  Why?\nBecause.", "Why"],
  ["x".repeat(100), "x".repeat(60)],
  ["", ""],
  ["...", ""],
])("a task is named after the first words of %j", (prompt, name) => {
  expect(nameFrom(prompt)).toBe(name);
});

test.each([
  ["", []],
  ["no code", ["no code"]],
  ["Run `termic list`, then wait", ["Run ", "<termic list>", ", then wait"]],
  ["`a` and `b`", ["<a>", " and ", "<b>"]],
  ["one ` alone", ["one ` alone"]],
  ["`a` and one ` alone", ["<a>", " and one ` alone"]],
  ["`a\u202Eb`", ["<a◌b>"]],
])("%j taken apart is %j", (text, parts) => {
  expect(codeParts(text).map((one) => (one.code ? `<${one.text}>` : one.text))).toEqual(parts);
});
