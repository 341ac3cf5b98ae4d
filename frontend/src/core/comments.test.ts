import { expect, test } from "vitest";
import { type Comment, inOrder, messageOf, readNotes } from "./comments";

const comment = (more: Partial<Comment> = {}): Comment => ({
  path: "a.go",
  side: "new",
  line: 3,
  code: "\treturn x",
  words: "Why x?",
  ...more,
});

test("one comment is one message, with its place and its line", () => {
  expect(messageOf([comment()])).toBe("A comment on your changes:\n\na.go:3\n> return x\nWhy x?");
});

test("several go in the order of files and lines, whichever was written first", () => {
  const list = [
    comment({ path: "b.go", line: 1, words: "third\nin two lines " }),
    comment({ line: 20, words: "second" }),
    comment({ side: "old", words: "first", code: "" }),
  ];
  expect(messageOf(list)).toBe(
    "3 comments on your changes:\n\na.go, line 3 before the change\nfirst\n\na.go:20\n> return x\nsecond\n\nb.go:1\n> return x\nthird\nin two lines",
  );
  expect(inOrder(list).map((one) => one.words[0])).toEqual(["f", "s", "t"]);
});

test("a long line is quoted in part", () => {
  expect(messageOf([comment({ code: "x".repeat(500) })])).toContain(`> ${"x".repeat(200)}…\n`);
});

test("notes that were kept are read, and what does not fit is left out", () => {
  const notes = {
    comments: [comment(), { path: 1 }, null, comment({ side: "up" as "old" })],
    viewed: { "a.go": "1", "b.go": 2 },
  };
  expect(readNotes(JSON.stringify(notes))).toEqual({ comments: [comment()], viewed: { "a.go": "1" } });
  for (const text of [null, "", "{", "3", "null", '{"comments":1,"viewed":null}'])
    expect(readNotes(text)).toEqual({ comments: [], viewed: {} });
  expect(readNotes(JSON.stringify({ comments: Array(500).fill(comment()) })).comments.length).toBe(200);
});
