// The agents of the settings page, and the signals by which an agent's state is known.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const list = () => rig().page.getByRole("list", { name: "Agents" });
const file = () => readFileSync(rig().settingsFile, "utf8");

/** Waits until the settings file holds something. */
async function written(pattern) {
  for (let left = 100; left > 0 && !pattern.test(file()); left--) await new Promise((done) => setTimeout(done, 50));
  assert.match(file(), pattern);
}

step(
  "the agents are listed with where they were found; one is switched off for every place that offers them",
  async () => {
    const { page } = rig();
    await rig().task("Told");
    await page.keyboard.press("Control+,");
    await list()
      .getByRole("listitem")
      .filter({ hasText: "Fake agent" })
      .getByText(path.join(rig().bin, "fakeagent"))
      .waitFor();
    await list()
      .getByRole("listitem")
      .filter({ hasText: "Claude Code" })
      .getByText(/not found/i)
      .waitFor();
    await list().getByRole("checkbox", { name: "Offer Mute agent" }).uncheck();
    await page.waitForFunction(() => !document.querySelector('[aria-label="Offer Mute agent"]').checked);
    await written(/disabled = true/); // the box shows what was asked for at once
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Shift+N");
    await page.getByRole("radio", { name: "Fake agent" }).waitFor();
    assert.equal(await page.getByRole("radio", { name: "Mute agent" }).count(), 0);
    await page.keyboard.press("Escape");
  },
);

step("an agent of one's own is added and removed, and the rest of the file stays", async () => {
  const { page } = rig();
  const before = file();
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByRole("textbox", { name: "Id" }).fill("fake");
  await page.getByText("There is an agent with this id.").waitFor();
  await page.getByRole("textbox", { name: "Id" }).fill("mine");
  await page.getByRole("textbox", { name: "Name" }).last().fill('My "own"');
  await page.getByRole("textbox", { name: "Program" }).fill(path.join(rig().bin, "fakeagent"));
  await screen(rig(), "agents");
  await page.getByRole("button", { name: "Add agent" }).click();
  await list().getByRole("listitem").filter({ hasText: 'My "own"' }).getByText("yours").waitFor();
  assert.equal(
    rig()
      .cli("agents")
      .agents.find((one) => one.id === "mine").usable,
    true,
  );
  await page.getByRole("button", { name: 'Remove My "own"' }).click();
  await list().getByRole("listitem").filter({ hasText: 'My "own"' }).waitFor({ state: "detached" });
  assert.equal(file().trimEnd(), before.trimEnd());
  await page.keyboard.press("Escape");
});

step("what an agent said of its state is shown, and what was made of it", async () => {
  const { page } = rig();
  rig().cli("send", "Told", "hello");
  await rig()
    .row("Told")
    .getByRole("img", { name: /Done|Idle/ })
    .waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("signals of");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Signals of Fake agent" });
  await dialog.getByRole("row").filter({ hasText: "status report" }).first().waitFor();
  await dialog.getByRole("row").filter({ hasText: "done, by status report" }).first().waitFor();
  await screen(rig(), "signals");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});
