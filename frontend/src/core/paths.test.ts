import { expect, test } from "vitest";
import { pathsIn } from "./paths";

test.each([
  ["see src/main.go:12:3 there", [["src/main.go", 12]]],
  [
    "./a/b.txt and ../c/d",
    [
      ["./a/b.txt", undefined],
      ["../c/d", undefined],
    ],
  ],
  ["/abs/olute/päth.md.", [["/abs/olute/päth.md", undefined]]],
  ["main.go:7: error", [["main.go", 7]]],
  ["(internal/core/x_test.go:99)", [["internal/core/x_test.go", 99]]],
  ["'a b/c.txt'", [["b/c.txt", undefined]]],
  ["https://example.com/a/b.html", []],
  ["http://example.com:80/a/b", []],
  ["git@example.com:me/repo.git", []],
  ["~/secrets/key", []],
  ["1.2.3 main.go e.g. 12:30", []],
])("in %j there are the files %j", (text, want) => {
  expect(pathsIn(text).map((link) => [link.path, link.line])).toEqual(want);
});

test("a link covers what names the file, and no more", () => {
  const [link] = pathsIn("at src/main.go:12:3, then");
  expect(link && "at src/main.go:12:3, then".slice(link.start, link.end)).toBe("src/main.go:12:3");
});
