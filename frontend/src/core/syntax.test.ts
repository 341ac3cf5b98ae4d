import { expect, test } from "vitest";
import type { PatchLine } from "./patch";
import { inkPieces, inksOf } from "./syntax";

/** The inked stretches of some lines, as "ink:text". */
function inked(path: string, lines: string[], kinds: PatchLine["kind"][] = []): string[][] {
  const list: PatchLine[] = lines.map((text, i) => ({ kind: kinds[i] ?? "same", text }));
  const inks = inksOf([{ context: "", oldStart: 1, newStart: 1, lines: list }], path);
  return list.map((line) => (inks.get(line) ?? []).map(([from, to, ink]) => `${ink}:${line.text.slice(from, to)}`));
}

test.each([
  [
    "a.go",
    'func (b *Bucket) Take() string { return "a\\"b" } // why',
    ["keyword:func", "type:Bucket", "type:string", "keyword:return", 'text:"a\\"b"', "comment:// why"],
  ],
  ["a.go", "x := 'a' + 0x1f + 1.5e3 + y2", ["text:'a'", "number:0x1f", "number:1.5e3"]],
  ["a.rs", "fn f<'a>(x: &'a str) {}", ["keyword:fn", "type:str"]],
  ["a.ts", "const it = don('t') as string;", ["keyword:const", "text:'t'", "keyword:as", "type:string"]],
  ["a.py", "def f(x): # said", ["keyword:def", "comment:# said"]],
  ["run.sh", 'echo "$#" a#b # why', ['text:"$#"', "comment:# why"]],
  ["Makefile", "all: a#b", []],
  ["q.sql", "SELECT a -- why", ["keyword:SELECT", "comment:-- why"]],
  ["a.yaml", "on: true # yes", ["keyword:true", "comment:# yes"]],
  ["notes.txt", "func // nothing", []],
  ["README", 'it\'s "so"', []],
] as [string, string, string[]][])("%s: %s", (path, line, wanted) => {
  expect(inked(path, [line])).toEqual([wanted]);
});

test("what goes over lines is followed, on each side by itself", () => {
  expect(inked("a.go", ["a /* one", "two", "three */ func"])).toEqual([
    ["comment:/* one"],
    ["comment:two"],
    ["comment:three */", "keyword:func"],
  ]);
  expect(inked("a.py", ['x = """a', 'b"""', "if"])).toEqual([['text:"""a'], ['text:b"""'], ["keyword:if"]]);
  // The old side opens a comment that the new one does not.
  expect(inked("a.ts", ["/* a", "if", "else"], ["removed", "added", "removed"])).toEqual([
    ["comment:/* a"],
    ["keyword:if"],
    ["comment:else"],
  ]);
});

test("a line within a comment whose beginning is left out is told by its star", () => {
  expect(inked("a.ts", [" * if it is so", "a * if"])).toEqual([["comment: * if it is so"], ["keyword:if"]]);
});

test("very long lines stay plain", () => {
  expect(inked("a.js", [`const a = "${"x".repeat(3000)}";`])).toEqual([[]]);
});

test("pieces have both their inks and whether they differ, and together are the text", () => {
  const text = "return true // x";
  const pieces = inkPieces(
    text,
    [[7, 14]],
    [
      [0, 6, "keyword"],
      [7, 11, "keyword"],
      [12, 16, "comment"],
    ],
  );
  expect(pieces).toEqual([
    {
      marked: false,
      parts: [
        { text: "return", ink: "keyword" },
        { text: " ", ink: undefined },
      ],
    },
    {
      marked: true,
      parts: [
        { text: "true", ink: "keyword" },
        { text: " ", ink: undefined },
        { text: "//", ink: "comment" },
      ],
    },
    { marked: false, parts: [{ text: " x", ink: "comment" }] },
  ]);
  expect(inkPieces("", [], [])).toEqual([]);
});
