// From an empty profile to a running task: what is found, and how few keys it takes.

import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({
  repos: ["src/harbor-web", "src/harbor-api", "work/deep/tidepool"],
  prepare: ({ home, page }) => {
    for (const [name, hours] of [
      ["src/harbor-web", 50],
      ["work/deep/tidepool", 500],
    ]) {
      const at = new Date(Date.now() - hours * 3_600_000);
      for (const file of ["HEAD", "index", "logs/HEAD"]) utimesSync(path.join(home, name, ".git", file), at, at);
    }
    return page.reload();
  },
});
const step = story(test);

step("agents and repositories are found, and the newest of them is chosen", async () => {
  const { page } = rig();
  await page.getByRole("heading", { name: "One task running in a minute" }).waitFor();
  await page.getByText("2 ready").waitFor();
  const rows = page.getByRole("region", { name: "Repositories" }).getByRole("checkbox");
  await rows.nth(2).waitFor();
  assert.deepEqual(
    await rows.evaluateAll((all) => all.map((one) => one.closest("label").querySelector(".mono").textContent)),
    ["~/src/harbor-api", "~/src/harbor-web", "~/work/deep/tidepool"],
  );
  assert.deepEqual(await rows.evaluateAll((all) => all.map((one) => one.checked)), [true, false, false]);
  await screen(rig(), "first-run");
});

step("one key starts the first task, well within a minute", async () => {
  const { page, home } = rig();
  await page.reload();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  const begun = Date.now();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("treeitem", { name: "Project harbor-api" }).waitFor();
  await page.locator('[data-connection="live"]').waitFor();
  await rig().seen(/Read this repository/);
  assert.ok(Date.now() - begun < 30_000, `it took ${Date.now() - begun} ms`);
  const [task] = rig().cli("list").tasks;
  assert.equal(task.name, "Read this repository and tell me what a");
  assert.equal(rig().cli("project", "list").projects[0].root_path, path.join(home, "src/harbor-api"));
  await page.waitForFunction(() => document.activeElement?.classList.contains("xterm-helper-textarea"));
  await rig().seen(/done with prompt 1/); // what is seen before is what was typed, not yet what the agent took
  assert.deepEqual(rig().received(), ["Read this repository and tell me what a new contributor should know first."]);
});
