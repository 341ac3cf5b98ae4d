// The command palette: every act by typing, what waits first, and the focus back where it was.

import assert from "node:assert/strict";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const palette = () => rig().page.getByRole("dialog", { name: "Command palette" });
const options = () => palette().getByRole("option");

async function open() {
  await rig().page.keyboard.press("Control+Shift+P");
  await palette().waitFor();
}

step("without a project it leads to adding one", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.type("add proj");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Add a project" }).waitFor();
  await page.keyboard.type(rig().repo);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

step("a new task is made from it", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.type("new task");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New task" }).waitFor();
  await page.keyboard.type("Palette work");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator('[data-connection="live"]').waitFor();
});

step("typing narrows, the match is marked, arrows move, and Esc gives the terminal its keys back", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+L");
  await open();
  const before = await options().count();
  await page.keyboard.type("re");
  const labels = await options().allTextContents();
  assert.ok(labels.length < before && labels.length > 2, labels.join(" | "));
  for (const label of labels) assert.match(label, /re/i);
  assert.equal(await palette().locator("u").first().textContent(), "Re");
  await screen(rig(), "palette");
  const chosen = () => palette().locator("[aria-selected=true]").textContent();
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await chosen(), first);
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen(), first);
  const field = palette().getByRole("combobox");
  assert.equal(
    await field.getAttribute("aria-activedescendant"),
    await palette().locator("[aria-selected=true]").getAttribute("id"),
  );
  await page.keyboard.press("Escape");
  await palette().waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.className), "xterm-helper-textarea");
});

step("every dialog gives the focus back", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("dialog", { name: /close/i }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.className), "xterm-helper-textarea");
});

step("what cannot be done says why and is not done", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.type("restart this");
  await options().filter({ hasText: "Its program is running" }).waitFor();
  await page.keyboard.press("Enter");
  assert.ok(await palette().isVisible());
  await palette().getByRole("combobox").fill("no such thing at all");
  await palette().getByText("Nothing fits").waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await palette().waitFor({ state: "detached" });
});

step("Tab narrows to the task; the pointer runs what it is on", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.press("Tab");
  const heads = await palette().locator(".g").allTextContents();
  assert.deepEqual(
    heads.filter((head) => head !== "Prompts"),
    ["This task"],
  );
  await palette().getByRole("combobox").fill("sandbox");
  await options().filter({ hasText: "Sandbox…" }).click();
  await page.getByRole("dialog", { name: "Sandbox" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

step("the ledger of the task says what was done to it, and the arrows go round the panel", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.type("ledger");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary", { name: "Panel" });
  await panel.getByRole("tab", { name: "Ledger", selected: true }).waitFor();
  const made = panel.getByRole("row").filter({ hasText: "task_new" });
  await made.filter({ hasText: "You, in the window" }).filter({ hasText: "Done" }).waitFor();
  await panel.getByRole("tab", { name: "Ledger" }).focus();
  await page.keyboard.press("ArrowRight");
  await panel.getByRole("tab", { name: /^Changes/, selected: true }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await panel.getByRole("tab", { name: "Ledger", selected: true }).waitFor();
});

step("a prompt of the library is sent from it", async () => {
  const { page } = rig();
  await open();
  await page.keyboard.type("prompt: ");
  await options().filter({ hasText: "Prompt:" }).first().waitFor();
  await page.keyboard.press("Enter");
  await palette().waitFor({ state: "detached" });
  await rig().seen(/done with prompt 1/);
});

step("what waits for the person stands first, and Enter goes there", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Alt+P");
  await page.getByRole("textbox", { name: /prompt/i }).fill("#ask May I?");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: /1 waiting/ }).waitFor();
  await open();
  assert.equal(await palette().locator(".g").first().textContent(), "Waiting for you");
  await options().first().filter({ hasText: "Go and answer" }).waitFor();
  await page.keyboard.press("Enter");
  await palette().waitFor({ state: "detached" });
});

step("in the smallest window nothing of it is cut off", async () => {
  const { page } = rig();
  const was = page.viewportSize();
  await page.setViewportSize({ width: 420, height: 420 });
  await open();
  const box = await palette().boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 420 && box.y + box.height <= 420, JSON.stringify(box));
  await page.keyboard.press("Escape");
  await page.setViewportSize(was);
});
