// A race: one prompt for several agents, what each made of it side by side, and whose is taken. And tasks like others.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

// Without a pause between prompts: a person steps in there, and no test.
const rig = withRig({ settings: "[queue]\ninterval_seconds = 0\n" });
const step = story(test);
const dialog = (name) => rig().page.getByRole("dialog", { name });
const closed = () => rig().page.getByRole("dialog").waitFor({ state: "detached" });
const taskOf = (name) =>
  rig()
    .cli("list")
    .tasks.find((one) => one.name === name);

step("a race is started from the palette; its tasks are compared at once", async () => {
  const { page } = rig();
  await rig().task("first");
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("race agents");
  await page.keyboard.press("Enter");
  const race = dialog("Race agents");
  await race.getByRole("textbox", { name: "Name" }).fill("contest");
  await race.getByRole("combobox", { name: /How many of Fake/ }).selectOption("2");
  await race.getByRole("combobox", { name: /How many of Mute/ }).selectOption("none");
  assert.equal(await race.getByRole("button", { name: /^Start/ }).isDisabled(), true, "without a prompt");
  await race.getByRole("textbox", { name: "Prompt" }).fill("do it");
  await screen(rig(), "race-new");
  await race.getByRole("button", { name: "Start 2 tasks" }).click();
  await closed();
  await page.getByRole("region", { name: "contest fake 2" }).waitFor();
  assert.equal(await page.locator(".race section").count(), 2);
});

step("what each changed stands side by side, file by file", async () => {
  const { page } = rig();
  for (const [name, text] of [
    ["contest fake", "one way\n"],
    ["contest fake 2", "another way\n"],
  ]) {
    const dir = taskOf(name).path;
    writeFileSync(path.join(dir, "both.txt"), text);
  }
  writeFileSync(path.join(taskOf("contest fake 2").path, "alone.txt"), "only here\n");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  const files = page.getByRole("navigation", { name: "Changed files" });
  await files.getByRole("button", { name: /alone\.txt/ }).waitFor();
  assert.match(await files.getByRole("button").first().textContent(), /both\.txt/);
  const [one, two] = [0, 1].map((n) => page.locator(".race section").nth(n));
  await one.getByText("one way").waitFor();
  await two.getByText("another way").waitFor();
  await screen(rig(), "race");
  await page.keyboard.press("j");
  await two.getByText("only here").waitFor();
  await one.getByText("Not changed here.").waitFor();
});

step("a review of one of them leads back to the race", async () => {
  const { page } = rig();
  await page.locator(".race section").first().getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: /^Back to the race/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".race section").nth(1).waitFor();
});

step("one is adopted; another that would lose work is asked about by name, and nothing is lost unasked", async () => {
  const { page } = rig();
  await page.locator(".race section").first().getByRole("button", { name: "Adopt…" }).click();
  const adopt = dialog("Adopt “contest fake”");
  await adopt.getByText(/contest fake 2/).waitFor();
  await adopt.getByRole("button", { name: "Adopt and archive 1 task" }).click();
  await adopt.getByText("Its changes are in the main checkout").waitFor();
  await adopt.getByText("This exists nowhere else:").waitFor();
  await screen(rig(), "adopt");
  assert.equal(readFileSync(path.join(rig().repo, "both.txt"), "utf8"), "one way\n");
  assert.equal(taskOf("contest fake 2").state, "live");
  assert.equal(await adopt.getByRole("button", { name: /and lose it/ }).isDisabled(), true);
  await adopt.getByRole("checkbox", { name: /Lose it/ }).check();
  await adopt.getByRole("button", { name: "Archive 1 task and lose it" }).click();
  await adopt.getByText("contest fake 2 is archived.").waitFor();
  assert.equal(taskOf("contest fake 2"), undefined);
  assert.notEqual(taskOf("contest fake"), undefined);
  await page.keyboard.press("Escape");
  await closed();
});

step("a task is duplicated: its settings, and a name and branch of its own", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  await rig().row("first").click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("duplicate");
  await page.keyboard.press("Enter");
  const copy = dialog("New task like “first”");
  assert.equal(await copy.getByRole("textbox", { name: "Name" }).inputValue(), "first 2");
  assert.equal(await copy.getByRole("combobox", { name: /Base/ }).inputValue(), "main");
  await copy.getByRole("button", { name: /^Create task/ }).click();
  await closed();
  await rig().row("first 2").waitFor();
  assert.equal(taskOf("first 2").branch, "feature/first-2");
});

step("a worktree that is there is chosen from the list", async () => {
  const { page } = rig();
  const other = path.join(path.dirname(rig().repo), "by-hand");
  rig().git(rig().repo, "worktree", "add", "-q", "-b", "by-hand", other);
  await page.keyboard.press("Control+Shift+N");
  const made = dialog("New task");
  await made.getByText("Existing worktree").click();
  await made.getByRole("button", { name: /by-hand/ }).click();
  await screen(rig(), "adopt-worktree");
  await made.getByRole("button", { name: /^Create task/ }).click();
  await closed();
  await rig().row("by-hand").waitFor();
  assert.equal(taskOf("by-hand").path, other);
});

step("a prompt is sent several times, each when the agent is ready", async () => {
  const { page } = rig();
  await rig().row("first 2").click();
  await page.locator('[data-connection="live"]').waitFor();
  await page.keyboard.press("Control+Alt+P");
  await page.getByRole("textbox", { name: /Prompt for/ }).fill("loop");
  await page.getByRole("spinbutton", { name: "Times" }).fill("3");
  await page.keyboard.press("Control+Enter");
  const times = () =>
    rig()
      .received()
      .filter((one) => one === "loop").length;
  for (let i = 0; times() < 3 && i < 400; i++) await page.waitForTimeout(50);
  assert.equal(times(), 3);
});
