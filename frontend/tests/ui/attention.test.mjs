// What waits for the person: said at the window's edge, and one key away wherever they are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const selected = () => rig().page.locator(".task-row.on .nm").textContent();
const inTerminal = () =>
  rig().page.waitForFunction(() => document.activeElement?.classList.contains("xterm-helper-textarea"));

step("a task that waits elsewhere is named in the status bar, and a click goes there", async () => {
  const { page } = rig();
  await rig().task("Asks first", "--prompt", "#ask run make e2e");
  await page.getByRole("button", { name: /1 waiting/ }).waitFor();
  const status = page.locator(".status");
  assert.equal(await status.getByText(/Asks first/).count(), 0); // the person is there
  await rig().task("Elsewhere");
  await status.getByRole("button", { name: /Asks first asks: / }).click();
  assert.equal(await selected(), "Asks first");
  await inTerminal();
});

step("the shortcut goes to the tab that asks, from any page, and gives it the keys", async () => {
  const { page } = rig();
  const { tab_id } = rig().cli("tab", "Elsewhere", "--kind", "agent", "--agent", "fake");
  rig().cli("send", "Elsewhere", "#ask and this", "--tab", tab_id);
  await page.getByRole("button", { name: /2 waiting/ }).waitFor();
  await page.keyboard.press("Control+,");
  await page.getByRole("heading", { name: "Notifications" }).waitFor();
  await page.keyboard.press("Control+Shift+A");
  assert.equal(await selected(), "Elsewhere");
  assert.equal(
    await page.locator("[role=tab][aria-selected=true]").getByRole("img", { name: "Needs input" }).count(),
    1,
  );
  await inTerminal();
  await rig().seen(/and this/);
  await page.keyboard.press("Control+Shift+A");
  assert.equal(await selected(), "Asks first");
});

step("of what the desktop tells is chosen in the settings", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  const done = page.getByRole("checkbox", { name: "An agent has finished" });
  assert.equal(await done.isChecked(), true);
  await done.uncheck();
  for (let i = 0; i < 100 && !/done = false/.test(readFileSync(rig().settingsFile, "utf8")); i++)
    await page.waitForTimeout(50);
  assert.match(readFileSync(rig().settingsFile, "utf8"), /\[notifications\]\s+done = false/);
  await page.reload();
  await page.locator(".win").waitFor();
  await page.keyboard.press("Control+,");
  assert.equal(await done.isChecked(), false);
  assert.equal(await page.getByRole("checkbox", { name: "An agent waits for you" }).isChecked(), true);
});
