// Links that fill in the dialog for a new task, and do nothing by themselves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { screen, withRig } from "./rig.mjs";

const rig = withRig({ prepare: (held) => held.cli("project", "add", held.repo) });

const link = (values) => `termic://new?${new URLSearchParams(values)}`;

/** Runs a link that is refused; the page says why, and the command line too. */
function refused(text) {
  assert.throws(() => rig().cli("link", text), /Command failed/);
}

test("a link fills in the dialog, says so, and creates nothing", async () => {
  const { page } = rig();
  await page.locator(".win").waitFor();
  rig().cli(
    "link",
    link({
      project: "repo",
      name: "From a link",
      prompt: "Say hello\n#work 1",
      agent: "mute",
      branch: "a/b",
      base: "main",
    }),
  );
  const dialog = page.getByRole("dialog");
  await dialog.getByText("A link filled this in.").waitFor();
  assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "From a link");
  assert.equal(await dialog.getByLabel("First prompt").inputValue(), "Say hello\n#work 1");
  assert.equal(await dialog.getByLabel("Branch").inputValue(), "a/b");
  assert.equal(await dialog.getByLabel("Base").inputValue(), "main");
  await dialog.getByText("from a link, 2 lines").waitFor();
  assert.equal(await dialog.getByRole("radio", { name: /Mute agent/ }).isChecked(), true);
  await screen(rig(), "link");
  assert.deepEqual(rig().cli("list").tasks, [], "nothing was created");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".win").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0, "the link is over");
  assert.deepEqual(rig().cli("list").tasks, []);
});

test("a key that was on its way when the link came creates nothing", async () => {
  const { page } = rig();
  // The key comes in the very moment in which the dialog is there.
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      const dialog = document.querySelector("dialog");
      const button = [...(dialog?.querySelectorAll("button") ?? [])].find((one) =>
        one.textContent.includes("Create task"),
      );
      if (!button) return;
      observer.disconnect();
      window.early = button.disabled;
      dialog.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
    }).observe(document.body, { childList: true, subtree: true });
  });
  rig().cli("link", link({ name: "Too quick", prompt: "Say hello" }));
  await page.getByText("A link filled this in.").waitFor();
  assert.equal(await page.evaluate(() => window.early), true, "a task could be created at once");
  assert.deepEqual(rig().cli("list").tasks, []);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("dialog button")].some(
      (one) => one.textContent.includes("Create task") && !one.disabled,
    ),
  );
  await page.keyboard.press("Control+Enter");
  await rig().row("Too quick").waitFor();
  await rig().seen(/done with prompt 1/);
  assert.deepEqual(rig().received(), ["Say hello"]);
});

test("what a link must not say is refused, in words", async () => {
  const { page } = rig();
  for (const [text, words] of [
    [link({ name: "x", sandbox: "off" }), /has a project, name, prompt, agent, branch and base, and nothing else/],
    [link({ name: "x", yolo: "true" }), /and nothing else/],
    [link({ prompt: "x\u001b[201~" }), /characters in it that cannot be seen/],
    [link({ project: "nowhere" }), /There is no project "nowhere"/],
    ["termic://open/nothing", /nothing/],
    ["termic://run/x", /does not know/],
  ]) {
    refused(text);
    await page.getByRole("alert").filter({ hasText: words }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.getByRole("alert").getByRole("button", { name: "Close" }).click();
  }
});

test("an agent that is not here is said, and another one is offered", async () => {
  const { page } = rig();
  rig().cli("link", link({ name: "Elsewhere", agent: "nobody" }));
  await page.getByText("It asks for the agent nobody, which is not here.").waitFor();
  await page.keyboard.press("Escape");
});

test("a link takes nothing away that the person is typing", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N");
  const name = page.getByRole("dialog").getByLabel("Name", { exact: true });
  await name.fill("Half a na");
  rig().cli("link", link({ name: "From a link" }));
  await page.getByText("A link wants to fill in a new task.").waitFor();
  assert.equal(await name.inputValue(), "Half a na");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByText("A link filled this in.").waitFor();
  assert.equal(await name.inputValue(), "From a link");
  await page.keyboard.press("Escape");
});

test("a link to a task shows it", async () => {
  const { page } = rig();
  await rig().task("Another");
  await rig().row("Too quick").click();
  const other = rig().cli("status", "Another").task;
  rig().cli("link", `termic://open/${other.id}`);
  await page
    .locator(".task-row[aria-current=true], .task-row.on, [aria-selected=true] > .task-row", { hasText: "Another" })
    .first()
    .waitFor();
});

test("what is told once is not lost with an answer that comes too late", async () => {
  const { page } = rig();
  // Holds back the first answer that has the link until a newer one without it was taken.
  let held;
  const released = new Promise((resolve) => {
    held = resolve;
  });
  let first = true;
  await page.route(/termic\/call$/, async (route) => {
    const mine = route.request().postDataJSON().verb === "window_state" && first;
    if (!mine) return route.continue();
    first = false;
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  rig().cli("link", link({ name: "Late", base: "main" }));
  await page.waitForFunction(() => true);
  for (let i = 0; first && i < 100; i++) await page.waitForTimeout(20);
  const newer = page.waitForResponse((response) => response.request().postDataJSON()?.verb === "window_state");
  rig().cli("rename", "Another", "--name", "Renamed");
  await newer;
  await rig().row("Renamed").waitFor();
  held();
  await page.getByText("A link filled this in.").waitFor();
  await page.unroute(/termic\/call$/);
  await page.keyboard.press("Escape");
});
