// That no screen is forgotten: each dialog, page and part of the window is on a screen that a test looks at, and each screen is looked at.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "../profile.mjs";
import { screens, seenOn } from "./screens.mjs";

const ui = path.join(root, "frontend/src/ui");
const tests = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.mjs"))
  .map((name) => readFileSync(path.join(import.meta.dirname, name), "utf8"));

test("every dialog and every page is on a screen", () => {
  const found = [];
  for (const folder of ["dialogs", "pages"]) {
    for (const file of readdirSync(path.join(ui, folder))) {
      if (!file.endsWith(".svelte")) continue;
      const text = readFileSync(path.join(ui, folder, file), "utf8");
      if (folder === "pages" || text.includes("<Dialog")) found.push(`${folder}/${file.replace(".svelte", "")}`);
    }
  }
  assert.ok(found.length > 30, `only ${found.length} components were found`);
  assert.deepEqual(
    found.filter((name) => !(seenOn[name]?.length > 0)),
    [],
    "on no screen: name it in screens.mjs, and look at it with screen()",
  );
  for (const [name, on] of Object.entries(seenOn))
    for (const one of on) assert.ok(screens[one], `${name} is said to be on ${one}, which is no screen`);
});

test("the tests that the page about the window names are there", () => {
  const [, table = ""] = readFileSync(path.join(root, "docs/window.md"), "utf8").split(
    "## What it has, and the test that shows it",
  );
  const named = [...table.matchAll(/`(?:window: )?([a-z-]+)`(?=[^|]*\|\n)/g)].map((match) =>
    match[0].replaceAll("`", ""),
  );
  const of = (folder, before) =>
    readdirSync(path.join(root, "frontend/tests", folder))
      .filter((name) => name.endsWith(".test.mjs"))
      .map((name) => `${before}${name.replace(".test.mjs", "")}`);
  const there = [...of("ui", ""), ...of("window", "window: ")];
  assert.deepEqual(
    named.filter((name) => !there.includes(name)),
    [],
    "named in docs/window.md, and no test",
  );
  assert.ok(named.length > 60, `only ${named.length} names were found`);
});

test("every screen is looked at once", () => {
  const looked = tests.flatMap((text) =>
    [...text.matchAll(/\b(?:screen\(rig\(\)|look\([^;\n]*), "([^"]+)"\)/g)].map((match) => match[1]),
  );
  assert.deepEqual([...looked].sort(), Object.keys(screens).sort());
});
