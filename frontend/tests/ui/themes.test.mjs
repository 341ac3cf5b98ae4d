// Themes that the person wrote: chosen on the settings page and in the palette, and applied to the page and to terminals.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { faults, screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const write = (name, theme) => {
  mkdirSync(path.join(rig().data, "themes"), { recursive: true });
  writeFileSync(path.join(rig().data, "themes", name), typeof theme === "string" ? theme : JSON.stringify(theme));
};
const token = (name) =>
  rig().page.evaluate((of) => getComputedStyle(document.documentElement).getPropertyValue(of).trim(), `--${name}`);
const focus = () => rig().page.evaluate(() => window.dispatchEvent(new Event("focus")));

step("a theme is chosen on the settings page; what is wrong with it and with others is said", async () => {
  const { page } = rig();
  await rig().task("Painted");
  write("night.json", {
    name: "Night",
    colorScheme: "light",
    ui: { frame: "#102030", content: "#010203", "text-3": "#203040", blau: "#fff", line: "url(x)" },
    terminal: { red: "#ff0001" },
  });
  write("broken.json", "{");
  await page.keyboard.press("Control+,");
  await page.getByRole("radio", { name: "Night" }).check();
  await page.getByText("The chosen theme is not there").waitFor({ state: "detached" });
  await page.getByText("Parts of this theme are hard to read.").waitFor();
  await page.getByText("There is no colour ui.blau").waitFor();
  await page.getByText("ui.line is not a colour").waitFor();
  await page.getByText("broken.json: it is not a theme").waitFor();
  assert.equal(await token("frame"), "#102030");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.notEqual(await token("line"), "url(x)");
  // What measures every screen of these tests sees it as well.
  assert.match((await faults(page)).join("\n"), /color-contrast/);
  assert.equal(rig().cli("settings", "get", "appearance.theme").settings["appearance.theme"], "custom:night");
});

step("terminals have its colours, and a change of the file is seen when the window is looked at", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  const viewport = page.locator(".xterm-host .xterm-viewport, .xterm-host .xterm-scrollable-element").first();
  const has = (color) =>
    page.waitForFunction(
      ([of, want]) => [...document.querySelectorAll(of)].some((one) => getComputedStyle(one).backgroundColor === want),
      [".xterm-host *", color],
    );
  await viewport.waitFor();
  await has("rgb(1, 2, 3)");
  write("night.json", { name: "Night", colorScheme: "dark", ui: { content: "#040506" } });
  await focus();
  await has("rgb(4, 5, 6)");
  assert.notEqual(await token("frame"), "#102030");
});

step("the palette changes themes; one whose file is gone leaves the window like the system", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("theme light");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  assert.notEqual(await token("content"), "#040506");
  rig().cli("settings", "set", "appearance.theme", "custom:night");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  rmSync(path.join(rig().data, "themes", "night.json"));
  await page.keyboard.press("Control+,");
  await page.getByText("The chosen theme is not there").waitFor();
  assert.notEqual(await token("content"), "#040506");
  await screen(rig(), "settings");
});
