import { expect, test } from "vitest";
import { bars, parsePatch, unquote } from "./patch";

test("lines are numbered on both sides", () => {
  const [file] = parsePatch(
    "diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -10,3 +10,4 @@ func main() {\n same\n-old\n+new\n+more\n end\n",
  );
  expect(file?.path).toBe("x.go");
  expect(file?.hunks[0]?.context).toBe("func main() {");
  expect(file?.hunks[0]?.lines.map(({ kind, oldNumber, newNumber }) => [kind, oldNumber, newNumber])).toEqual([
    ["same", 10, 10],
    ["removed", 11, undefined],
    ["added", undefined, 11],
    ["added", undefined, 12],
    ["same", 12, 13],
  ]);
});

test("what a file contains is never read as a header", () => {
  const files = parsePatch(
    "diff --git a/p b/p\n--- a/p\n+++ b/p\n@@ -1,2 +1,2 @@\n--- a/evil\n-diff --git a/q b/q\n+++ b/evil\n+diff --git a/q b/q\n\\ No newline at end of file\n",
  );
  expect(files.map((file) => file.path)).toEqual(["p"]);
  expect(files[0]?.hunks[0]?.lines.map((line) => line.text)).toEqual([
    "-- a/evil",
    "diff --git a/q b/q",
    "++ b/evil",
    "diff --git a/q b/q",
    "No newline at end of file",
  ]);
});

test("added, deleted, renamed, binary, mode and odd names", () => {
  const files = parsePatch(
    [
      "diff --git a/new b/new",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/new",
      "@@ -0,0 +1 @@",
      "+one",
      "diff --git a/old b/old",
      "deleted file mode 100644",
      "--- a/old",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-one",
      "diff --git a/from b/to",
      "similarity index 100%",
      "rename from from",
      "rename to to",
      "diff --git a/logo.png b/logo.png",
      "Binary files a/logo.png and b/logo.png differ",
      'diff --git "a/sp \\303\\251\\t.txt" "b/sp \\303\\251\\t.txt"',
      "old mode 100644",
      "new mode 100755",
    ].join("\n"),
  );
  expect(files.map(({ path, oldPath, notes }) => ({ path, oldPath, notes }))).toEqual([
    { path: "new", oldPath: undefined, notes: [] },
    { path: "old", oldPath: undefined, notes: [] },
    { path: "to", oldPath: "from", notes: [] },
    { path: "logo.png", oldPath: undefined, notes: ["Binary file, not shown"] },
    { path: "sp é\t.txt", oldPath: undefined, notes: ["old mode 100644", "new mode 100755"] },
  ]);
});

test("a patch that is cut gives what came before", () => {
  const [file] = parsePatch("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n same\n+ne");
  expect(file?.hunks[0]?.lines.length).toBe(2);
});

test("git's quoting of names", () => {
  expect(unquote('"a\\"b\\\\c\\303\\251"')).toBe('a"b\\cé');
  expect(unquote("plain")).toBe("plain");
});

test("the bar has five blocks, and shows either side that changed", () => {
  expect(bars(0, 0)).toEqual({ plus: 0, minus: 0 });
  expect(bars(100, 1)).toEqual({ plus: 4, minus: 1 });
  expect(bars(1, 100)).toEqual({ plus: 1, minus: 4 });
  expect(bars(3, 0)).toEqual({ plus: 5, minus: 0 });
});
