// Shortcuts: one table for the keys, the palette and the settings page; changed, refused in words, and taken back.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({ head: "# of the person\n" });
const step = story(test);
const file = () => readFileSync(rig().settingsFile, "utf8");
const row = (label) =>
  rig()
    .page.locator(".box li")
    .filter({ hasText: new RegExp(`^\\s*${label}`) });
const change = (label) => rig().page.getByRole("button", { name: `Change the shortcut of ${label}`, exact: true });

async function inFile(pattern) {
  for (let i = 0; i < 100; i++) {
    if (pattern.test(file())) return;
    await rig().page.waitForTimeout(50);
  }
  assert.match(file(), pattern);
}

step("the settings page shows every action with its keys", async () => {
  const { page } = rig();
  await rig().task("Keys");
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("shortcuts");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Shortcuts" }).waitFor();
  assert.ok((await page.getByRole("button", { name: /^Change the shortcut of/ }).count()) >= 37);
  assert.match(await row("Command palette").textContent(), /Ctrl\+Shift\+P/);
});

step("keys are changed by pressing them: while they are chosen they do nothing else", async () => {
  const { page } = rig();
  await change("New task").click();
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("alert").filter({ hasText: "Ctrl+Shift+P is taken by “Command palette”" }).waitFor();
  await screen(rig(), "shortcuts");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("Control+c");
  await page.getByRole("alert").filter({ hasText: "Ctrl+C belongs to the program in the terminal" }).waitFor();
  assert.doesNotMatch(file(), /\[keys\]/);
  await page.keyboard.press("Control+Shift+Y");
  await inFile(/newTask = "Ctrl\+Shift\+Y"/);
  assert.match(file(), /^# of the person$/m);
  await row("New task").locator("kbd", { hasText: "Ctrl+Shift+Y" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === "change-newTask");
});

step("the new keys act at once, the old ones no more, and the palette shows them", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  await rig().row("Keys").waitFor();
  await page.keyboard.press("Control+Shift+N");
  await page.keyboard.press("Control+Shift+Y");
  await page.getByRole("dialog", { name: "New task" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("new task");
  await page.getByRole("option").filter({ hasText: "New task…" }).filter({ hasText: "Ctrl+Shift+Y" }).waitFor();
  await page.keyboard.press("Escape");
});

step("keys of another's are given back only when they are free", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  await change("Review changes").click();
  await page.keyboard.press("Control+Shift+N");
  await inFile(/review = "Ctrl\+Shift\+N"/);
  await page.getByRole("button", { name: "Reset the shortcut of New task" }).click();
  await page.getByRole("alert").filter({ hasText: "Ctrl+Shift+N is taken by “Review changes”" }).waitFor();
  assert.match(file(), /newTask = /);
});

step("Backspace takes a key away, Esc keeps it", async () => {
  const { page } = rig();
  await change("Clear the terminal").click();
  await page.keyboard.press("Escape");
  await row("Clear the terminal").locator("kbd", { hasText: "Ctrl+Shift+K" }).waitFor();
  assert.ok(await page.getByRole("heading", { name: "Shortcuts" }).isVisible());
  await page.keyboard.press("Enter");
  await page.keyboard.press("Backspace");
  await inFile(/clearTerminal = ""/);
  await row("Clear the terminal").getByText("none").waitFor();
});

step("what is written by hand is taken up, and what cannot be is named", async () => {
  const { page, settingsFile } = rig();
  writeFileSync(settingsFile, `${file()}\nfind = "ctrl+c"\nsing = "Ctrl+Alt+S"\nsettings = "alt+shift+s"\n`);
  await page.getByText("Find in the terminal: Ctrl+C belongs to the program in the terminal").waitFor();
  await page.getByText("There is no action “sing”").waitFor();
  await row("Settings").locator("kbd", { hasText: "Alt+Shift+S" }).waitFor();
});

step("all are taken back at once, and the file is as it was", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Reset all shortcuts" }).click();
  await page.getByRole("button", { name: "Reset all shortcuts" }).waitFor({ state: "detached" });
  assert.doesNotMatch(file(), /newTask|review|clearTerminal|sing|find/);
  assert.match(file(), /^# of the person$/m);
  await row("New task").locator("kbd", { hasText: "Ctrl+Shift+N" }).waitFor();
  assert.equal(await page.getByText("There is no action").count(), 0);
});

step("every action of the page is in the palette as well", async () => {
  const { page } = rig();
  const labels = await page
    .getByRole("button", { name: /^Change the shortcut of/ })
    .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label").replace("Change the shortcut of ", "")));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+P");
  const texts = await page.getByRole("option").allTextContents();
  const elsewhere = /^(Command palette|Row (above|below)|Tab \d|Show or hide)/; // the palette itself, twins, tabs by name
  for (const label of labels.filter((one) => !elsewhere.test(one)))
    assert.ok(
      texts.some((text) => text.trim().startsWith(label)),
      `${label} is not in the palette`,
    );
  await page.keyboard.press("Escape");
});
