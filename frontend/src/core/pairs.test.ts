import { expect, test } from "vitest";
import { marksOf, pairsOf, runsOf, type Stretch } from "./pairs";
import { parsePatch } from "./patch";
import { inkPieces } from "./syntax";

const pieces = (text: string, marks: Stretch[]) =>
  inkPieces(text, marks, []).map(({ marked, parts }) => ({ marked, text: parts.map((part) => part.text).join("") }));

const hunk = (lines: string[]) => {
  const old = lines.filter((line) => line[0] !== "+").length;
  const now = lines.filter((line) => line[0] !== "-").length;
  const text = ["diff --git a/f b/f", "--- a/f", "+++ b/f", `@@ -1,${old} +1,${now} @@`, ...lines, ""].join("\n");
  const found = parsePatch(text)[0]?.hunks[0];
  if (!found) throw new Error("no hunk");
  return found;
};

/** Both sides in short: numbers and signs. */
const sides = (lines: string[]) =>
  pairsOf(hunk(lines)).map((pair) => {
    const left = pair.left ? `${pair.left.line.oldNumber}${pair.left.line.kind === "removed" ? "-" : ""}` : "";
    const right = pair.right ? `${pair.right.line.newNumber}${pair.right.line.kind === "added" ? "+" : ""}` : "";
    return `${left}|${right}${pair.change ? "!" : ""}`;
  });

test.each([
  ["the same", [" a", " b"], ["1|1", "2|2"]],
  ["one line changed", [" a", "-b", "+c", " d"], ["1|1", "2-|2+!", "3|3"]],
  ["more come than go", ["-a", "+b", "+c"], ["1-|1+!", "|2+"]],
  ["more go than come", ["-a", "-b", "+c"], ["1-|1+!", "2-|"]],
  ["only new", ["+a", " b"], ["|1+!", "1|2"]],
  ["only gone", [" a", "-b"], ["1|1", "2-|!"]],
  ["a change that follows another", ["+a", "-b", "+c"], ["|1+!", "1-|2+!"]],
] as const)("%s", (_, lines, want) => {
  expect(sides([...lines])).toEqual(want);
  expect(runsOf(hunk([...lines])).length).toBe(want.filter((pair) => pair.endsWith("!")).length);
});

test("a note of git stands across both sides", () => {
  const pairs = pairsOf(hunk(["-a", "+b", "\\ No newline at end of file"]));
  expect(pairs.at(-1)).toEqual({ note: "No newline at end of file", change: false });
});

const shown = (old: string, now: string) => {
  const marks = marksOf(old, now);
  const mark = (text: string, at: (typeof marks)["left"]) =>
    pieces(text, at)
      .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
      .join("");
  return [mark(old, marks.left), mark(now, marks.right)];
};

test.each([
  ["tokens int", "tokens float64", "tokens [int]", "tokens [float64]"],
  ["return true", "return true", "return true", "return true"],
  [
    "func (b *B) Take() bool {",
    "func (b *B) Take(now time.Time) bool {",
    "func (b *B) Take() bool {",
    "func (b *B) Take([now time.Time]) bool {",
  ],
  ["if b.tokens > 0 {", "if b.tokens >= 1 {", "if b.tokens > [0] {", "if b.tokens >[= 1] {"],
  ["\tx", "\t\tx", "[\t]x", "[\t\t]x"],
  ["grüße ä", "grüße ö", "grüße [ä]", "grüße [ö]"],
])("within %j and %j the words that differ are marked", (old, now, left, right) => {
  expect(shown(old, now)).toEqual([left, right]);
});

test("lines that have little in common are not marked at all", () => {
  expect(marksOf("completely another text", "nothing of it, here")).toEqual({ left: [], right: [] });
  expect(marksOf("a".repeat(3000), `${"a".repeat(3000)}b`)).toEqual({ left: [], right: [] });
});

test("pieces joined are the line, whatever is marked", () => {
  let seed = 7;
  const next = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % n;
  };
  const some = () => Array.from({ length: next(12) }, () => ["a", "b", " ", "(", "é", "🙂", "\t"][next(7)]).join("");
  for (let i = 0; i < 2000; i++) {
    const [old, now] = [some(), some()];
    const marks = marksOf(old, now);
    for (const [text, at] of [
      [old, marks.left],
      [now, marks.right],
    ] as const) {
      expect(
        pieces(text, at)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
      let before = -1;
      for (const [from, to] of at) {
        expect(from).toBeGreaterThan(before);
        expect(to).toBeGreaterThan(from);
        before = to;
      }
    }
    // What is not marked is the same row of signs on both sides.
    const rest = (text: string, at: typeof marks.left) =>
      pieces(text, at)
        .filter((piece) => !piece.marked)
        .map((piece) => piece.text)
        .join("")
        .replace(/\s+/g, "");
    if (marks.left.length + marks.right.length > 0) expect(rest(old, marks.left)).toBe(rest(now, marks.right));
  }
});
