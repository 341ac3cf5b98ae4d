// The main job in the real window: what a person does first, with the toolkit's own web view, its asset server and its
// bound struct.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { story } from "../profile.mjs";
import { Window } from "./driver.mjs";

let window;
before(async () => {
  window = await Window.start();
});
after(() => window?.stop());
const step = story(test);

step("the window opens on the first steps, and has its bound struct", async () => {
  await window.shows(/One task running in a minute/);
  assert.deepEqual(await window.run("return Object.keys(globalThis.go.app.Bridge).sort()"), [
    "ClipboardRead",
    "ClipboardWrite",
    "CloseShown",
    "DrawsInHardware",
    "Looking",
    "NotificationProblem",
    "OpenExternal",
    "Over",
    "Painted",
    "PickDirectory",
    "PickFiles",
    "Served",
    "Shaped",
    "StartAgain",
  ]);
});

step("a repository is added", async () => {
  await window.click(await window.button("Add a project"));
  await window.type(await window.find("dialog input"), window.repo);
  await window.click(await window.button("Add project", "dialog"));
  await window.shows(/repo/, "[role=tree]");
});

step("a task is made with a prompt, and its agent gets the exact bytes", async () => {
  await window.press("Control", "Shift", "n");
  await window.type(await window.find("dialog input.name"), "Greet the world");
  await window.type(await window.find("dialog textarea"), "Say hello\n#work 1\n#write greeting.txt hello there");
  await window.click(await window.button("Create task", "dialog"));
  await window.shows(/done with prompt 1/, ".xterm-rows");
  assert.deepEqual(window.received(), ["Say hello\n#work 1\n#write greeting.txt hello there"]);
});

step("its mark changes to done", async () => {
  await window.find('.task-row [aria-label="Done"]');
});

step("what is typed into the terminal arrives", async () => {
  await window.click(await window.find(".xterm-screen"));
  await window.keys("typed by hand");
  await window.shows(/typed by hand/, ".xterm-rows");
  await window.press("Enter");
  await window.shows(/done with prompt 2/, ".xterm-rows");
  assert.equal(window.received().at(-1), "typed by hand");
});

step("the change is shown line by line", async () => {
  await window.click(await window.button("Read the changes again"));
  await window.shows(/greeting\.txt/, "aside.panel");
  await window.press("Control", "Shift", "r");
  await window.shows(/hello there/, ".patch .t.added");
});

step("it is applied to the main checkout", async () => {
  await window.click(await window.button("Apply to main checkout"));
  await window.click(await window.button("Apply to main checkout", "dialog"));
  await window.shows(/Applied/, "dialog");
  assert.equal(readFileSync(path.join(window.repo, "greeting.txt"), "utf8").trim(), "hello there");
  await window.click(await window.button("Close", "dialog footer"));
});

step("the clipboard is the system's", async () => {
  const text = "é 漢 🙂";
  await window.run("return globalThis.go.app.Bridge.ClipboardWrite(arguments[0])", text);
  assert.equal(await window.run("return globalThis.go.app.Bridge.ClipboardRead()"), text);
});

step("a fresh terminal has no descriptors of other terminals' streams", async () => {
  await window.press("Escape"); // out of the review
  await window.find("[role=tab]");
  const before = await window.run("return document.querySelectorAll('[role=tab]').length");
  for (let tab = 1; tab <= 4; tab++) {
    await window.press("Control", "Shift", "t");
    await window.until(
      async () => (await window.run("return document.querySelectorAll('[role=tab]').length")) === before + tab,
      `tab ${before + tab}`,
    );
    await window.find('[data-connection="live"]');
  }
  await window.click(await window.find(".xterm-screen"));
  await window.keys("clear; ls /proc/self/fd | wc -l > fds; ls -l /proc/self/fd > list; echo told");
  await window.press("Enter");
  await window.shows(/^told/m, ".xterm-rows");
  const { path: folder } = JSON.parse(window.cli("path", "Greet the world"));
  const count = Number(readFileSync(path.join(folder, "fds"), "utf8"));
  assert.ok(count <= 5, readFileSync(path.join(folder, "list"), "utf8"));
});

step("closing the window asks while an agent runs, and keeps it running", async () => {
  await window.run("globalThis.runtime.Quit()");
  await window.shows(/Ends 1 agent/, "dialog");
  await window.click(await window.button("Keep running", "dialog"));
  await window.until(async () => (await window.run("return document.querySelector('dialog')")) === null, "no dialog");
});

step("a second start shows this window instead of another", () => {
  window.second();
});

step("having agreed, the window closes, and nothing of it is left running", async () => {
  await window.run("globalThis.runtime.Quit()");
  const quit = await window.button("Quit and end", "dialog");
  await window.click(quit).catch(() => {}); // the answer may be lost with the window
  await window.until(() => !window.holds(), "the profile to be free");
});
