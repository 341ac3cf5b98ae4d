// What the end of the window does, and what is there again after it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { story } from "../profile.mjs";
import { Window } from "./driver.mjs";
import { askToClose } from "./x11.mjs";

let window;
before(async () => {
  window = await Window.start();
  window.cli("project", "add", window.repo);
  window.cli("new", "Kept", "--project", "repo", "--agent", "fake");
});
after(() => window?.stop());
const step = story(test);

/** How the window is: its size, its panes with their tabs and shares, and the tabs of the strip. */
const state = () =>
  window.run(`return (async () => {
    const { w, h } = await globalThis.runtime.WindowGetSize();
    const panes = [...document.querySelectorAll("[data-tab][data-connection]")].map((one) => {
      const box = one.getBoundingClientRect();
      return [one.dataset.tab, Math.round(box.left), Math.round(box.top), Math.round(box.width), Math.round(box.height)];
    });
    return { w, h, panes, tabs: [...document.querySelectorAll("[role=tab]")].map((one) => one.textContent.trim()),
      side: Math.round(document.querySelector("nav.side").getBoundingClientRect().width) };
  })()`);

let before1;

step("a window is sized, its task split, its sides set", async () => {
  await window.run("globalThis.runtime.WindowSetSize(1100, 720)");
  await window.click(await window.find(".task-row"));
  window.cli("tab", "Kept", "--kind", "terminal");
  await window.until(
    async () => (await window.run("return document.querySelectorAll('[role=tab]').length")) === 2,
    "two tabs",
  );
  await window.run("document.querySelectorAll('[role=tab]')[0].click()");
  await window.press("Control", "Shift", "d");
  await window.shows(/Terminal/, "dialog");
  await window.press("Enter");
  await window.until(async () => (await state()).panes.length === 2, "two panes");
  await window.until(async () => (await state()).w === 1100, "the size");
  const divider = await window.find("[role=separator]");
  await window.run("arguments[0].focus()", { "element-6066-11e4-a52e-4f735466cecf": divider });
  before1 = await window.until(async () => {
    const one = await state();
    await new Promise((resolve) => setTimeout(resolve, 1000)); // what is kept is written once it is settled
    return JSON.stringify(one) === JSON.stringify(await state()) && one;
  }, "the window to settle");
});

step("SIGTERM ends the window, its agents too, and asks nothing", async () => {
  const pid = window.pid();
  process.kill(pid, "SIGTERM");
  await window.until(() => !window.pid(), "the window to end");
  assert.equal(window.holds(), false);
});

step("started again, it is as it was", async () => {
  await window.relaunch();
  await window.until(async () => (await state()).panes.length === 2, "two panes");
  let now;
  await window
    .until(async () => {
      now = await state();
      return JSON.stringify(now) === JSON.stringify(before1);
    }, "the same window")
    .catch(() => assert.deepEqual(now, before1));
});

/** Waits until the program runs that was started again, and one agent with it. */
async function runs() {
  window.cli("tab", "Kept", "--restart", "1");
  await window.until(() => JSON.parse(window.cli("quit")).live_agents === 1, "the agent");
}

step("its close button says what runs, and whoever keeps it running has everything as before", async () => {
  await runs();
  for (let again = 0; again < 2; again++) {
    await askToClose(window.pid());
    await window.shows(/Ends 1 agent/, "dialog");
    await window.press("Escape");
    await window.until(() => window.run("return document.querySelector('dialog[open]') === null"), "no dialog");
  }
  assert.equal(JSON.parse(window.cli("quit")).live_agents, 1);
});

step("agreeing ends it", async () => {
  await askToClose(window.pid());
  await window.shows(/Ends 1 agent/, "dialog");
  await window.click(await window.button("Quit and end", "dialog")).catch(() => {}); // the answer may be lost with the window
  await window.until(() => !window.pid(), "the window to end");
});

step("a page that does not answer cannot hold the window open: closing it a second time ends it", async () => {
  await window.relaunch();
  await runs();
  await window.run("window.runtime.EventsOffAll()"); // as one that hangs: it hears nothing
  await askToClose(window.pid());
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.notEqual(window.pid(), 0, "the first time it closed at once");
  await askToClose(window.pid());
  await window.until(() => !window.pid(), "the window to end");
});

step("where no agent runs, the close button asks nothing", async () => {
  await window.relaunch();
  assert.equal(JSON.parse(window.cli("quit")).live_agents, 0);
  await askToClose(window.pid());
  await window.until(() => !window.pid(), "the window to end");
});

step("a link starts the program and is shown then", async () => {
  await window.relaunch(["termic://new?project=repo&name=From+a+link"]);
  await window.shows(/A link filled this in/, "dialog");
  assert.equal(JSON.parse(window.cli("list")).tasks.length, 1, "a link creates nothing");
});
