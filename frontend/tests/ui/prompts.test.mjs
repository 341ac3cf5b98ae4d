// Prompts that wait, prompts for several tasks, and the library of saved ones.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const dialog = (name) => rig().page.getByRole("dialog", { name });
const closed = () => rig().page.getByRole("dialog").waitFor({ state: "detached" });

step("what is queued for a task is shown in its order, from the status bar", async () => {
  const { page } = rig();
  await rig().task("Busy", "--prompt", "#work 60");
  await rig().row("Busy").getByRole("img", { name: "Working" }).waitFor();
  for (const text of ["first follows", "second follows", "third <b>follows</b>"]) rig().cli("send", "Busy", text);
  await page.locator(".status").getByRole("button", { name: "3 queued" }).click();
  await dialog("Queued for “Busy”").waitFor();
  const texts = dialog("Queued for “Busy”").locator(".text");
  await texts.nth(2).waitFor();
  assert.deepEqual(await texts.allTextContents(), ["first follows", "second follows", "third <b>follows</b>"]);
  await screen(rig(), "queue");
});

step("a prompt is moved up and another taken out; the agent gets what is left in that order", async () => {
  const { page } = rig();
  const queue = dialog("Queued for “Busy”");
  assert.equal(await queue.getByRole("button", { name: "Move prompt 1 up" }).isDisabled(), true);
  await queue.getByRole("button", { name: "Move prompt 3 up" }).click();
  await queue.locator(".text").nth(1).filter({ hasText: "third" }).waitFor();
  await queue.getByRole("button", { name: "Take prompt 1 out" }).click();
  await queue.getByText("2 prompts wait").waitFor();
  assert.deepEqual(await queue.locator(".text").allTextContents(), ["third <b>follows</b>", "second follows"]);
  await queue.getByRole("button", { name: "Take out 2 prompts" }).click();
  await queue.getByText(/^Nothing waits/).waitFor();
  await screen(rig(), "queue-none");
  await page.keyboard.press("Escape");
  await closed();
  assert.deepEqual(rig().cli("queue", "Busy").prompts, []);
});

step("a prompt is saved to the library, in the file, with every letter", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "New prompt" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill('Say "hi"');
  await page.getByRole("textbox", { name: "Text" }).fill('Say "hi",\n\tthen \\stop\\ 🙂');
  await page.getByRole("button", { name: "Save prompt" }).click();
  await page.getByRole("button", { name: 'Edit Say "hi"' }).waitFor();
  assert.equal(rig().cli("prompts", "say-hi").prompts[0].body, 'Say "hi",\n\tthen \\stop\\ 🙂');
  await page.getByRole("button", { name: 'Edit Say "hi"' }).click();
  await page.getByRole("textbox", { name: "Text" }).fill("Say hi again");
  await page.getByRole("button", { name: "Save prompt" }).click();
  await page.getByRole("textbox", { name: "Text" }).waitFor({ state: "detached" });
  assert.equal(rig().cli("prompts", "say-hi").prompts[0].body, "Say hi again");
});

step("one of the app's own is changed, hidden and reset", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Edit Verify" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Verify all");
  await page.getByRole("button", { name: "Save prompt" }).click();
  await page.getByRole("button", { name: "Reset Verify all" }).waitFor();
  await page.getByRole("checkbox", { name: "Offer Status" }).uncheck();
  await page.getByRole("button", { name: "Reset Status" }).waitFor();
  assert.equal(rig().cli("prompts", "builtin:status").prompts[0].enabled, false);
  await page.getByRole("button", { name: "Reset Verify all" }).click();
  await page.getByRole("button", { name: "Edit Verify", exact: true }).waitFor();
  assert.doesNotMatch(readFileSync(rig().settingsFile, "utf8"), /builtin:verify/);
});

step("the library is at hand where a prompt is written", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+N");
  await dialog("New task").getByRole("button", { name: "Insert a prompt of the library" }).click();
  assert.equal(await page.getByRole("menuitem", { name: "Status" }).count(), 0);
  await page.getByRole("menuitem", { name: 'Say "hi"' }).click();
  const first = dialog("New task").getByRole("textbox", { name: /First prompt/ });
  await page.waitForFunction(() => document.querySelector("dialog textarea").value === "Say hi again");
  assert.equal(await first.inputValue(), "Say hi again");
  await page.keyboard.press("Escape");
  await closed();
  await rig().task("Other");
  await page.keyboard.press("Control+Alt+P");
  const area = page.getByRole("textbox", { name: /Prompt for/ });
  await area.fill("Look.");
  await page.locator(".composer").getByRole("button", { name: "Insert a prompt of the library" }).click();
  await page.getByRole("menuitem", { name: 'Say "hi"' }).click();
  await page.waitForFunction(() => document.querySelector(".composer textarea").value === "Look.\n\nSay hi again");
  await page.keyboard.press("Escape");
});

step("one prompt goes to several tasks, and each says how it fared", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+B");
  const cast = dialog("Broadcast a prompt");
  await cast.getByRole("textbox", { name: "Prompt" }).fill("Tell me all");
  assert.equal(await cast.getByRole("button", { name: /^Send/ }).isDisabled(), true);
  await cast.getByRole("button", { name: "Choose all 2" }).click();
  await cast.getByRole("button", { name: "Send to 2 tasks" }).click();
  await cast.getByRole("listitem").filter({ hasText: "Other" }).getByText("Delivered").waitFor();
  await cast
    .getByRole("listitem")
    .filter({ hasText: "Busy" })
    .getByText(/^Queued/)
    .waitFor();
  await cast.getByText("2 tasks have it.").waitFor();
  await screen(rig(), "broadcast");
  await page.keyboard.press("Escape");
  await closed();
  assert.equal(
    rig()
      .received()
      .filter((one) => one === "Tell me all").length,
    1,
  );
  assert.deepEqual(
    rig()
      .cli("queue", "Busy")
      .prompts.map((one) => one.text),
    ["Tell me all"],
  );
});

step("a prompt of one's own is deleted", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: 'Delete Say "hi"' }).click();
  await page.getByRole("button", { name: 'Delete Say "hi"' }).waitFor({ state: "detached" });
  assert.doesNotMatch(readFileSync(rig().settingsFile, "utf8"), /say-hi/);
});
