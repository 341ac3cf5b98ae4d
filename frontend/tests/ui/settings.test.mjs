// The settings page, notices, and what is remembered.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig({ head: "# a comment of the person\n[terminal]\nfont_size = 13 # big enough\n" });
const step = story(test);

const theme = () => rig().page.evaluate(() => document.documentElement.dataset.theme);

step("the theme follows the system until it is chosen", async () => {
  const { page } = rig();
  assert.equal(await theme(), "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  await page.keyboard.press("Control+,");
  await page.getByRole("radio", { name: "Dark" }).check();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

step("a change is in the file, and every other byte stays", async () => {
  const { page } = rig();
  await page.getByRole("textbox", { name: "Font size" }).fill("15");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("[role=alert]") === null);
  await assertFile(/font_size = 15 # big enough/);
  const text = readFileSync(rig().settingsFile, "utf8");
  assert.match(text, /^# a comment of the person$/m);
  assert.match(text, /theme = "dark"/);
});

async function assertFile(pattern) {
  for (let i = 0; i < 100; i++) {
    if (pattern.test(readFileSync(rig().settingsFile, "utf8"))) return;
    await rig().page.waitForTimeout(50);
  }
  assert.match(readFileSync(rig().settingsFile, "utf8"), pattern);
}

step("a value that is out of range is refused with words, and the text stays", async () => {
  const { page } = rig();
  await page.getByRole("textbox", { name: "Font size" }).fill("400");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "400" }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Font size" }).inputValue(), "400");
  await assertFile(/font_size = 15/);
});

step("it persists over a reload", async () => {
  const { page } = rig();
  await page.reload();
  await page.locator(".win").waitFor();
  assert.equal(await theme(), "dark");
  await page.keyboard.press("Control+,");
  assert.equal(await page.getByRole("textbox", { name: "Font size" }).inputValue(), "15");
});

step("a hand edit is taken up while the page is open", async () => {
  const { page, settingsFile } = rig();
  writeFileSync(settingsFile, readFileSync(settingsFile, "utf8").replace('theme = "dark"', 'theme = "light"'));
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
});

step("a file that does not parse is kept and named; nothing can be changed meanwhile", async () => {
  const { page, settingsFile } = rig();
  const good = readFileSync(settingsFile, "utf8");
  appendFileSync(settingsFile, "\n[broken\n");
  await page.getByText(/does not parse/).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Font size" }).isDisabled(), true);
  await page.keyboard.press("Escape");
  await page.locator(".notice").waitFor();
  assert.equal(readFileSync(settingsFile, "utf8"), `${good}\n[broken\n`);
  writeFileSync(settingsFile, good);
  await page.locator(".notice").waitFor({ state: "detached" });
});

step("the size of the terminal's text has shortcuts", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+=");
  await assertFile(/font_size = 16/);
  await page.keyboard.press("Control+0");
  await assertFile(/font_size = 13/);
});
