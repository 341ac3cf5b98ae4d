// The order of tabs, tasks and projects: with the mouse, by keys and from menus; names, pins, headings and folds; widths.

import assert from "node:assert/strict";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const task = { id: "" };

async function until(what, wanted) {
  const end = Date.now() + 15_000;
  let got;
  for (;;) {
    got = await what();
    if (JSON.stringify(got) === JSON.stringify(wanted)) return;
    if (Date.now() > end) assert.deepEqual(got, wanted);
    await rig().page.waitForTimeout(50);
  }
}

const strip = () => rig().page.locator("[data-tab] > [role=tab]");
const titles = () => strip().evaluateAll((all) => all.map((one) => one.title));
const rows = () => rig().page.locator(".task-row .nm").allTextContents();
const projects = () =>
  rig()
    .page.locator(".sec .fold")
    .allTextContents()
    .then((all) => all.map((one) => one.trim()));
const menuitem = (name) => rig().page.getByRole("menuitem", { name }).click();

async function drag(from, to, at = 0.5) {
  const { page } = rig();
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move(a.x + 20, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width * at, b.y + b.height / 2, { steps: 8 });
  await page.mouse.up();
}

step("tabs are moved by keys, from the menu and with the mouse", async () => {
  const { page } = rig();
  task.id = (await rig().task("Ordered")).id;
  for (const name of ["one", "two"]) {
    const tab = rig().cli("tab", task.id, "--kind", "terminal").tab_id;
    rig().cli("tab", "set", task.id, "--tab", tab, "--name", name);
  }
  await until(titles, ["Fake agent", "one", "two"]);
  await strip().nth(2).click();
  await page.locator(".cell .xterm").click();
  await page.keyboard.press("Alt+Shift+PageUp");
  await until(titles, ["Fake agent", "two", "one"]);
  await strip().nth(0).click({ button: "right" });
  await menuitem(/Move to the right/);
  await until(titles, ["two", "Fake agent", "one"]);
  await drag(strip().nth(2), strip().nth(0));
  await until(titles, ["one", "two", "Fake agent"]);
  assert.equal(await page.locator("[data-tab] > [aria-selected=true]").getAttribute("title"), "two"); // a drag is no click
  // Escape ends a drag, and nothing moves.
  const [a, b] = [await strip().nth(0).boundingBox(), await strip().nth(2).boundingBox()];
  await page.mouse.move(a.x + 20, a.y + 10);
  await page.mouse.down();
  await page.mouse.move(b.x + 20, b.y + 10, { steps: 4 });
  await page.keyboard.press("Escape");
  await page.mouse.up();
  assert.deepEqual(await titles(), ["one", "two", "Fake agent"]);
});

step("a tab is named, pinned and named by its program again", async () => {
  const { page } = rig();
  await strip().nth(2).click({ button: "right" });
  await menuitem("Rename…");
  await page.getByRole("dialog", { name: "Rename tab" }).getByRole("textbox").fill("Main");
  await page.keyboard.press("Enter");
  await until(titles, ["one", "two", "Main"]);
  await strip().nth(2).click({ button: "right" });
  await menuitem("Pin");
  await page.getByRole("tab", { name: "Main, pinned" }).waitFor();
  assert.equal((await strip().nth(2).textContent()).trim(), "");
  await strip().nth(2).click({ button: "right" });
  await menuitem("Rename…");
  await page.getByRole("dialog", { name: "Rename tab" }).getByRole("textbox").fill("");
  await page.keyboard.press("Enter");
  await until(titles, ["one", "two", "Fake agent"]);
});

step("the others are closed, pinned ones stay, and the last one is opened again", async () => {
  const { page } = rig();
  await strip().nth(1).click({ button: "right" });
  await menuitem("Close the others…");
  await page.getByRole("dialog", { name: "Close 1 other tab" }).getByText("one", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Close and end 1 program" }).click();
  await until(titles, ["two", "Fake agent"]);
  await page.keyboard.press("Alt+Shift+T");
  await until(titles, ["two", "Fake agent", "one"]);
  await page.locator('.cell [data-connection="live"]').waitFor();
});

step("a tab is dropped on a pane", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+D");
  await page.getByRole("dialog").getByRole("button", { name: /^two/ }).click();
  await until(() => page.locator(".cell.split").count(), 2);
  const left = page.locator(".cell.split").first();
  await drag(strip().nth(1), left);
  await until(() => page.locator(".cell.split .head .name").allTextContents(), ["Fake agent", "two"]);
});

step("tasks are moved by keys, from the menu and with the mouse; a change of state moves nothing", async () => {
  const { page } = rig();
  for (const name of ["Second", "Third"]) rig().cli("new", name, "--project", "repo", "--agent", "mute");
  await until(rows, ["Third", "Second", "Ordered"]);
  await rig().row("Ordered").click();
  await page.keyboard.press("Control+Shift+ArrowUp");
  await until(rows, ["Third", "Ordered", "Second"]);
  await rig().row("Third").click({ button: "right" });
  await menuitem(/Move down/);
  await until(rows, ["Ordered", "Third", "Second"]);
  await drag(rig().row("Second"), rig().row("Ordered"));
  await until(rows, ["Second", "Ordered", "Third"]);
  rig().cli("send", "Third", "hello");
  await page.waitForTimeout(300);
  assert.deepEqual(await rows(), ["Second", "Ordered", "Third"]);
});

step("projects are moved and stand under headings that fold, and stay folded", async () => {
  const { page } = rig();
  for (const name of ["beta", "gamma"]) rig().cli("project", "add", rig().newRepo(name));
  await until(projects, ["repo", "beta", "gamma"]);
  await drag(page.locator(".sec .fold", { hasText: "gamma" }), page.locator(".sec", { hasText: "repo" }));
  await until(projects, ["gamma", "repo", "beta"]);
  await page.locator(".sec", { hasText: "gamma" }).click({ button: "right" });
  await menuitem("Group…");
  await page.getByRole("dialog", { name: "Group of “gamma”" }).getByRole("combobox").fill("Work");
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: "Group Work" }).waitFor();
  await page.locator(".sec", { hasText: "repo" }).click({ button: "right" });
  await menuitem("Group…");
  await page.getByRole("dialog", { name: "Group of “repo”" }).getByRole("combobox").fill("Work");
  await page.keyboard.press("Enter");
  await until(() => page.getByRole("treeitem", { name: "Group Work" }).locator(".sec").count(), 2);
  await page.screenshot({ path: process.env.TERMIC_SHOT ?? `${rig().dir}/groups.png` });
  await page.getByRole("button", { name: "Work", exact: true }).click();
  await until(projects, ["beta"]);
  assert.deepEqual(await rows(), []);
  await page.reload();
  await until(projects, ["beta"]);
  await page.getByRole("treeitem", { name: "Group Work" }).getByRole("button").click();
  await until(projects, ["gamma", "repo", "beta"]);
  await page.getByRole("button", { name: "Fold repo" }).click();
  await until(rows, []);
  await page.getByRole("button", { name: "Unfold repo" }).click();
  await until(rows, ["Second", "Ordered", "Third"]);
});

step("the sidebar and the panel have the width that they were given", async () => {
  const { page } = rig();
  await rig().row("Ordered").click();
  const width = async (name) => (await page.locator(name).boundingBox()).width;
  const side = page.getByRole("separator", { name: "Width of the sidebar" });
  await side.focus();
  await page.keyboard.press("End");
  await until(() => width(".side"), 400);
  const panel = page.getByRole("separator", { name: "Width of the right panel" });
  await panel.focus();
  const kept = page.waitForResponse((one) => /window_set.*"panel":344/.test(one.request().postData() ?? ""));
  await page.keyboard.press("ArrowLeft");
  await until(() => panel.getAttribute("aria-valuenow"), "344");
  await kept; // it is shown before the app has it
  await page.reload();
  await until(() => width(".side"), 400);
  await until(() => panel.getAttribute("aria-valuenow"), "344");
  await side.dblclick();
  await until(() => width(".side"), 268);
});

step("of many tabs the one that is shown is in view, and all are listed", async () => {
  const { page } = rig();
  const many = (await rig().task("Many tabs")).id;
  for (let i = 1; i < 12; i++) {
    const tab = rig().cli("tab", many, "--kind", "terminal").tab_id;
    rig().cli("tab", "set", many, "--tab", tab, "--name", `terminal number ${i}`);
  }
  await until(() => strip().count(), 12);
  const inView = () =>
    page.evaluate(() => {
      const strip = document.querySelector(".strip").getBoundingClientRect();
      const tab = document.querySelector("[data-tab]:has([aria-selected=true])").getBoundingClientRect();
      return tab.left >= strip.left - 1 && tab.right <= strip.right + 1;
    });
  await strip().nth(0).click();
  await until(inView, true);
  assert.ok(
    await page.evaluate(
      () => document.querySelector(".strip").scrollWidth > document.querySelector(".strip").clientWidth + 200,
    ),
  );
  await page.locator(".cell .xterm").click();
  await page.keyboard.press("Control+PageUp"); // from the first to the last
  await page.getByRole("tab", { name: "terminal number 11", selected: true }).waitFor();
  await until(inView, true);
  // A wheel turns the strip.
  const before = await page.evaluate(() => document.querySelector(".strip").scrollLeft);
  await page.locator(".tabs .strip").hover();
  await page.mouse.wheel(0, -300);
  await until(() => page.evaluate((was) => document.querySelector(".strip").scrollLeft < was, before), true);
  // The list: by its key, from a terminal, with the keys of a menu.
  await page.locator(".cell .xterm").click();
  await page.keyboard.press("Alt+Shift+L");
  const list = page.getByRole("menu", { name: /All tabs/ });
  await list.waitFor();
  assert.equal(await list.getByRole("menuitem").count(), 12);
  assert.match(await page.evaluate(() => document.activeElement.textContent), /12\s+terminal number 11/);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "terminal number 1", exact: true, selected: true }).waitFor();
  await until(inView, true);
  // And by its button.
  await page.getByRole("button", { name: /^All tabs/ }).click();
  await list.getByRole("menuitem", { name: /terminal number 9/ }).click();
  await page.getByRole("tab", { name: "terminal number 9", selected: true }).waitFor();
  await until(inView, true);
});
