// What the page says when something is wrong, and what it asks to do then.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, withRig } from "./rig.mjs";

const rig = withRig();

test("an agent that asks is waited for in the row, the pill and the title", async () => {
  const { page } = rig();
  await rig().task("Asks", "--prompt", "#ask run make e2e");
  await rig().row("Asks").getByRole("img", { name: "Needs input" }).waitFor();
  await page.getByRole("button", { name: /1 waiting/ }).waitFor();
  await screen(rig(), "waiting");
  assert.equal(await page.title(), "(1) Asks needs input · Termic");
  await page.getByRole("status").filter({ hasText: "Asks needs input" }).waitFor({ state: "attached" });
  await page.keyboard.press("Control+Shift+A");
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /waiting/ }).waitFor({ state: "detached" });
});

test("a prompt for a busy agent is queued and counted", async () => {
  const { page } = rig();
  await rig().task("Busy", "--prompt", "#work 6");
  await rig().row("Busy").getByRole("img", { name: "Working" }).waitFor();
  await page.keyboard.press("Control+Alt+P");
  await page.getByRole("textbox", { name: /Prompt for/ }).fill("and then this");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Queued\./).waitFor();
  await page.locator(".status").getByText("1 queued").waitFor();
  await rig().seen(/and then this[\s\S]*done with prompt 2/, 30_000);
  await page.keyboard.press("Escape");
});

test("a task whose base is no commit says so, with what to do", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N");
  await page.getByRole("textbox", { name: "Name" }).fill("No base");
  await page.getByRole("combobox", { name: "Base" }).fill("no-such-branch");
  await page.keyboard.press("Control+Enter");
  await Promise.race([
    page.getByRole("dialog").getByRole("alert").waitFor(),
    page.getByText("This task could not be created.").waitFor(),
  ]);
  const text = await page.locator("body").textContent();
  assert.match(text, /no-such-branch/);
  if (await page.getByRole("dialog").count()) await page.keyboard.press("Escape");
});

test("a task whose folder was deleted is shown as gone, and archived from there", async () => {
  const { page } = rig();
  const { path: folder } = await rig().task("Deleted");
  rig().cli("stop", "Deleted", "--yes");
  rmSync(folder, { recursive: true, force: true });
  await page.reload();
  await rig().row("Deleted").click();
  await page.getByText("The folder of this task is gone.").waitFor();
  await screen(rig(), "gone");
  await page.getByRole("button", { name: "Archive…" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Archive/ })
    .click();
  await rig().row("Deleted").waitFor({ state: "detached" });
});

test("an agent that crashed is marked failed, with its status", async () => {
  const { page } = rig();
  await rig().task("Crashes", "--prompt", "#exit 7");
  await rig().row("Crashes").getByRole("img", { name: "Failed" }).waitFor();
  await rig().row("Crashes").getByText("exited with 7").waitFor();
  await page.getByText("Fake agent exited with 7.").waitFor();
});

test("a change in conflict with the main checkout is applied with its files named", async () => {
  const { page, repo } = rig();
  const { path: folder } = await rig().task("Conflict");
  writeFileSync(path.join(folder, "main.go"), "package task\n");
  writeFileSync(path.join(repo, "main.go"), "package theirs\n");
  rig().git(repo, "commit", "-q", "-a", "-m", "Theirs");
  await page.getByRole("button", { name: "Read the changes again" }).click();
  await page.getByRole("button", { name: "Apply…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Apply to main checkout" }).click();
  await dialog.getByText(/conflicts in 1 file/).waitFor();
  await dialog.getByText("main.go").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
});

test("the page that cannot start says so in words [G6]", async () => {
  const context = await rig().browser.newContext();
  const page = await context.newPage();
  await page.route(/assets\/.*\.js$/, (route) =>
    route.fulfill({ contentType: "text/javascript", body: "throw new Error('no luck')" }),
  );
  await page.goto(rig().url);
  await page.getByText("The window could not be drawn.").waitFor();
  assert.match(await page.locator("body").textContent(), /no luck/);
  await context.close();
});

test("a page that is only slow takes the words away when it is drawn [G6]", async () => {
  const context = await rig().browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    const wait = window.setTimeout;
    window.setTimeout = (run, milliseconds, ...more) => wait(run, milliseconds === 8000 ? 50 : milliseconds, ...more);
  });
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(/assets\/.*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(rig().url, { waitUntil: "commit" });
  const words = page.getByText("The window could not be drawn.");
  await words.waitFor();
  release();
  await page.locator(".win").waitFor();
  await words.waitFor({ state: "detached" });
  await context.close();
});

test("at rest the page sets no timer, draws no frame and asks the app nothing [G10]", async () => {
  const { page } = rig();
  await rig().row("Crashes").click();
  // What the app still tells of is waited for: a busy machine settles late. A page that asks by itself never has a quiet stretch.
  let did;
  for (let i = 0; i < 4; i++) {
    await page.waitForTimeout(1500);
    did = await page.evaluate(rest);
    if (did.length === 0) break;
  }
  assert.deepEqual(did, []);
});

/** In the page: what it does in three seconds. */
async function rest() {
  const calls = [];
  const kept = { setTimeout, setInterval, requestAnimationFrame, fetch };
  for (const name of Object.keys(kept)) {
    window[name] = (...args) => {
      calls.push(name);
      return kept[name].apply(window, args);
    };
  }
  await new Promise((resolve) => kept.setTimeout.call(window, resolve, 3000));
  Object.assign(window, kept);
  return [...calls, ...document.getAnimations().map((one) => `animation ${one.animationName ?? ""}`)];
}
