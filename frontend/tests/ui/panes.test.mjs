// Splits and the bottom terminal: made, gone through, sized, closed, and kept over a killed app.

import assert from "node:assert/strict";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const task = { id: "" };

const panes = () => rig().page.locator(".cell.split");
const pane = (name) => rig().page.locator(".cell.split", { hasText: name });
const dialog = (name) => rig().page.getByRole("dialog", { name });
const choose = (name) => rig().page.getByRole("dialog").getByRole("button", { name }).click();
const gone = () => rig().page.getByRole("dialog").waitFor({ state: "detached" });

/** The text of one terminal. */
const textOf = async (where) => (await where.locator(".xterm-rows > div").allTextContents()).join("\n");

async function until(what, says) {
  const end = Date.now() + 15_000;
  for (;;) {
    if (await what()) return;
    if (Date.now() > end) throw new Error(`never so: ${says}`);
    await rig().page.waitForTimeout(50);
  }
}

/** The pane that has the keys, by its title; "bottom" for the terminal below. */
const keys = () =>
  rig().page.evaluate(() => {
    const at = document.activeElement;
    if (!at?.classList.contains("xterm-helper-textarea")) return at?.getAttribute("aria-label") ?? at?.tagName;
    return at.closest(".bottom") ? "bottom" : at.closest(".cell")?.querySelector(".name")?.textContent;
  });
const haveKeys = (name) => until(async () => (await keys()) === name, `${name} has the keys`);

/** What the app keeps of the task. */
const kept = () =>
  rig().page.evaluate(async () => {
    const body = JSON.stringify({ verb: "window_state", params: {} });
    const answer = await (await fetch("termic/call", { method: "POST", body })).json();
    return answer.data.layouts;
  });

step("a pane is split to the right, and shows what was chosen", async () => {
  const { page } = rig();
  task.id = (await rig().task("Side by side")).id;
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.press("Control+Shift+D");
  await dialog("Split to the right").waitFor();
  await page.keyboard.press("Enter"); // the first choice has the focus: a new terminal
  await gone();
  await until(async () => (await panes().count()) === 2, "two panes");
  await pane("Terminal").locator('[data-connection="live"]').waitFor();
  await haveKeys("Terminal");
  await rig().type("PS1='ready> '; clear; echo here-$((40+2))");
  await until(async () => /here-42/.test(await textOf(pane("Terminal"))), "the new pane is typed into");
  assert.doesNotMatch(await textOf(pane("Fake agent")), /here-42/);
  const [left, right] = [await panes().nth(0).boundingBox(), await panes().nth(1).boundingBox()];
  assert.ok(Math.abs(left.width - right.width) <= 2 && left.x + left.width + 1 === right.x, "both have half");
});

step("and below, with a tab that is open already", async () => {
  const { page } = rig();
  rig().cli("tab", task.id, "--kind", "agent", "--agent", "mute");
  await page.getByRole("tab", { name: "Mute agent" }).waitFor();
  await page.keyboard.press("Control+Shift+E");
  await dialog("Split below").waitFor();
  await choose(/Mute agent\s*Open in a tab/);
  await until(async () => (await panes().count()) === 3, "three panes");
  await haveKeys("Mute agent");
  assert.deepEqual((await kept())[0].root.second.split, "below");
});

step("the keys go from pane to pane, and what is shown goes on", async () => {
  const { page } = rig();
  await page.keyboard.press("Alt+Shift+ArrowUp");
  await haveKeys("Terminal");
  await page.keyboard.press("Alt+Shift+ArrowLeft");
  await haveKeys("Fake agent");
  assert.equal(await page.locator('[data-region="terminal"]').count(), 1);
  assert.equal(
    await page
      .locator(".tabs [role=tab][aria-selected=true]")
      .textContent()
      .then((t) => t.trim()),
    "Fake agent",
  );
  await page.keyboard.press("Alt+Shift+ArrowRight");
  await haveKeys("Terminal");
  await pane("Fake agent").locator(".xterm").click();
  await haveKeys("Fake agent");
  assert.equal(await page.locator('[data-connection="live"]').count(), 3);
});

step("find, clear and paste act on the pane that has the keys", async () => {
  const { page } = rig();
  await page.keyboard.press("Alt+Shift+ArrowRight");
  await haveKeys("Terminal");
  await page.keyboard.press("Control+Shift+F");
  assert.equal(await pane("Terminal").getByRole("search").count(), 1);
  assert.equal(await page.getByRole("search").count(), 1);
  await haveKeys("Find in this terminal");
  await page.keyboard.press("Escape");
  await haveKeys("Terminal");
  assert.equal(await page.getByRole("search").count(), 0);
  await page.evaluate(() => navigator.clipboard.writeText("pasted-here"));
  await page.keyboard.press("Control+Shift+V");
  await until(async () => /pasted-here/.test(await textOf(pane("Terminal"))), "pasted");
  assert.doesNotMatch(await textOf(pane("Fake agent")), /pasted-here/);
  await page.keyboard.press("Control+Shift+K");
  await until(async () => !/here-42/.test(await textOf(pane("Terminal"))), "cleared");
  await page.keyboard.press("Control+C");
});

step("a divider is moved by the keyboard and by the mouse, and evened by a double click", async () => {
  const { page } = rig();
  const line = page.getByRole("separator", { name: /^Between Fake agent/ });
  assert.equal(await line.getAttribute("aria-orientation"), "vertical");
  assert.equal(await line.getAttribute("aria-valuenow"), "50");
  await line.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
  await until(async () => Number(await line.getAttribute("aria-valuenow")) < 50, "moved by the arrows");
  await page.keyboard.press("Home");
  const least = await pane("Fake agent").boundingBox();
  const columns = () =>
    pane("Fake agent")
      .locator(".xterm")
      .evaluate((one) =>
        Math.floor(
          one.clientWidth / (one.querySelector(".xterm-char-measure-element")?.getBoundingClientRect().width / 32 || 8),
        ),
      );
  assert.ok((await columns()) >= 20, `the least pane has ${await columns()} columns`);
  const at = await line.boundingBox();
  await page.mouse.move(at.x, at.y + 40);
  await page.mouse.down();
  await page.mouse.move(at.x + 90, at.y + 40, { steps: 5 });
  await page.mouse.up();
  const wider = await pane("Fake agent").boundingBox();
  assert.ok(Math.abs(wider.width - least.width - 90) <= 3, `${least.width} became ${wider.width}`);
  await until(
    async () =>
      Math.abs(
        (await kept())[0].root.share - wider.width / (wider.width + 1 + (await pane("Terminal").boundingBox()).width),
      ) < 0.01,
    "the app keeps it",
  );
  await line.dblclick({ position: { x: 0, y: 40 } });
  await until(async () => (await line.getAttribute("aria-valuenow")) === "50", "evened");
});

step("the bottom terminal is the person's own shell, and is no tab", async () => {
  const { page } = rig();
  const tabs = await page.getByRole("tab").count();
  await pane("Terminal").locator(".xterm").click();
  await page.keyboard.press("Control+Shift+J");
  const bottom = page.getByRole("region", { name: "Bottom terminal" });
  await bottom.locator('[data-connection="live"]').waitFor();
  await haveKeys("bottom");
  await rig().type("PS1='low> '; clear; echo at-the-$((1))-bottom");
  await until(async () => /at-the-1-bottom/.test(await textOf(bottom)), "typed into");
  assert.equal(await page.getByRole("tab").count(), tabs);
  // It hides, gives the keys back, and what runs in it goes on.
  await rig().type("sleep 1; echo went-on");
  await page.keyboard.press("Control+Shift+J");
  await bottom.waitFor({ state: "detached" });
  await haveKeys("Terminal");
  await page.keyboard.press("Control+Shift+J");
  await until(async () => /went-on/.test(await textOf(bottom)), "it went on");
  await haveKeys("bottom");
  await page.keyboard.press("Alt+Shift+ArrowUp");
  await until(async () => (await keys()) !== "bottom", "back to the panes");
  // F6 knows it as a region of its own.
  await page.keyboard.press("F6");
  await haveKeys("bottom");
  const line = page.getByRole("separator", { name: "Height of the bottom terminal" });
  const before = (await bottom.boundingBox()).height;
  await line.focus();
  await page.keyboard.press("ArrowUp");
  await until(async () => (await bottom.boundingBox()).height === before + 16, "higher");
});

step("all of it is there again after the app was killed", async () => {
  const { page } = rig();
  await until(async () => (await kept())[0].height > 220, "kept");
  const before = (await kept())[0];
  rig().child.kill("SIGKILL");
  await rig().ended;
  await rig().serve();
  await page.goto(rig().url);
  await rig().row("Side by side").click();
  await until(async () => (await panes().count()) === 3, "three panes again");
  const after = (await kept())[0];
  assert.deepEqual(after.root, before.root);
  assert.equal(after.height, before.height);
  const bottom = page.getByRole("region", { name: "Bottom terminal" });
  await bottom.getByText(/not running|was stopped/).waitFor();
  await bottom.getByRole("button", { name: "Start again" }).click();
  await bottom.locator('[data-connection="live"]').waitFor();
  for (const name of ["Fake agent", "Terminal"]) await pane(name).getByRole("button", { name: "Start again" }).click();
  await until(async () => (await page.locator('.cell [data-connection="live"]').count()) >= 2, "they run again");
  rig().complaints.length = 0; // of the app that was away
});

step("closing a tab closes its pane; closing a pane leaves its tab; the last pane stays", async () => {
  const { page } = rig();
  const { tabs } = rig().cli("status", task.id).task;
  rig().cli("tab", "close", task.id, "--tab", tabs.find((one) => one.agent === "mute").id, "--yes");
  await until(async () => (await panes().count()) === 2, "two panes");
  await page.getByRole("button", { name: "Close the pane of Terminal" }).click();
  await until(async () => (await panes().count()) === 0, "one pane");
  await page.getByRole("tab", { name: "Terminal" }).waitFor();
  assert.equal(await page.locator(".cell").count(), 1);
  await page.keyboard.press("Alt+Shift+W");
  assert.equal(await page.locator(".cell").count(), 1);
  assert.equal((await kept())[0].root, undefined);
});

step("a narrow window shows fewer panes, and the rest are tabs", async () => {
  const { page } = rig();
  await page.getByRole("tab", { name: "Fake agent" }).click();
  await page.getByRole("button", { name: "Split to the right" }).click();
  await choose(/Terminal\s*Open in a tab/);
  await until(async () => (await panes().count()) === 2, "two panes");
  await page.setViewportSize({ width: 800, height: 560 });
  await page.evaluate(() => {
    document.documentElement.style.zoom = "2";
  });
  await until(async () => (await panes().count()) === 0, "one has room");
  await page.getByRole("tab", { name: "Fake agent" }).click();
  await page.locator(".tabs [role=tab][aria-selected=true]", { hasText: "Fake agent" }).waitFor();
  await page.evaluate(() => {
    document.documentElement.style.zoom = "";
  });
  await page.setViewportSize({ width: 1280, height: 800 });
  await until(async () => (await panes().count()) === 2, "two have room again");
});

step("at most six panes", async () => {
  const { page } = rig();
  rig().cli("stop", task.id, "--yes"); // panes of ended programs count too
  await page.setViewportSize({ width: 1920, height: 1080 });
  for (let n = 3; n <= 6; n++) {
    if (n === 6) await panes().first().locator(".xterm").click(); // the others have no room for another
    await page.keyboard.press(n % 2 ? "Control+Shift+E" : "Control+Shift+D");
    await choose("New terminal");
    await until(async () => (await panes().count()) === n, `${n} panes`);
  }
  await page.keyboard.press("Control+Shift+D");
  await page.getByText("There is room for 6 panes").waitFor();
  await until(
    async () => (await page.locator('.cell [data-connection="live"]').count()) === 4,
    "the new ones are live",
  );
  await page.setViewportSize({ width: 1280, height: 800 });
  await screen(rig(), "panes");
});
