// What no other story comes by: a plain web address, copy and paste, a slow creation, a task in the main checkout, the right conversation
// in each tab after a restart, a very large change, and a person who wants no motion.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
const dialog = (name) => rig().page.getByRole("dialog", { name });

async function until(what, says) {
  const end = Date.now() + 15_000;
  for (;;) {
    if (await what()) return;
    if (Date.now() > end) throw new Error(`never so: ${says}`);
    await rig().page.waitForTimeout(50);
  }
}

step("while a task is created its log is shown line by line", async () => {
  const { page, repo } = rig();
  rig().cli("project", "add", repo);
  const gate = path.join(rig().dir, "gate");
  mkdirSync(path.join(repo, ".git/hooks"), { recursive: true });
  const hook = `#!/bin/sh\nwhile [ ! -e '${gate}' ]; do sleep 0.05; done\n`;
  writeFileSync(path.join(repo, ".git/hooks/post-checkout"), hook, { mode: 0o755 });
  await page.getByRole("treeitem", { name: "Project repo" }).waitFor();
  await page.keyboard.press("Control+Shift+N");
  await page.getByRole("textbox", { name: "Name" }).fill("Slow to make");
  await page.keyboard.press("Control+Enter");
  const creation = page.getByRole("region", { name: "Creation of the task" });
  await creation.getByText("Created the branch feature/slow-to-make").waitFor();
  await creation.getByText("~/termic/tasks/").waitFor(); // of the home folder, as shells write it
  await page.locator(".task-row", { hasText: "Slow to make" }).waitFor();
  writeFileSync(gate, "");
  await page.locator('[data-connection="live"]').waitFor();
  await creation.waitFor({ state: "detached" });
});

step("a new task is caged as the settings say, until they say otherwise", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  await page.getByRole("combobox", { name: "Default mode" }).selectOption("monitor");
  await until(() => rig().cli("settings", "get", "sandbox.default_mode").value === "monitor", "it is in the settings");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+N");
  await until(
    () =>
      dialog("New task")
        .getByRole("radio", { name: /^Monitor/ })
        .isChecked(),
    "the dialog begins with it",
  );
  await page.keyboard.press("Escape");
  rig().cli("settings", "reset", "sandbox.default_mode");
});

step("a task without a worktree works in the main checkout", async () => {
  const { page, repo } = rig();
  await page.keyboard.press("Control+Shift+N");
  await dialog("New task").getByText("No worktree").click();
  await dialog("New task").getByRole("textbox", { name: "Name" }).fill("In place");
  await page.keyboard.press("Control+Enter");
  await dialog("New task").waitFor({ state: "detached" });
  await rig().row("In place").waitFor();
  await page.locator('[data-connection="live"]').waitFor();
  assert.equal(rig().cli("path", "In place").path, repo);
});

step("what runs in a task is stopped by its shortcut, after it was named", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+.");
  await dialog("Stop “In place”")
    .getByRole("button", { name: /^End 1 program/ })
    .click();
  await page.locator(".task-row", { hasText: "In place" }).getByText("stopped").waitFor();
});

step("what is selected in a terminal is copied, and pasted as it was", async () => {
  const { page } = rig();
  await rig().row("Slow to make").click();
  await page.locator('[data-connection="live"]').waitFor();
  await rig().shell();
  await rig().type("clear; echo to''copy");
  await rig().seen(/^tocopy$/m);
  const row = page.locator(".xterm-rows > div", { hasText: /^tocopy/ }).last();
  const box = await row.boundingBox();
  await page.mouse.dblclick(box.x + 20, box.y + box.height / 2);
  await page.keyboard.press("Control+Shift+C");
  await until(
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === "tocopy",
    "it is on the clipboard",
  );
  await page.keyboard.type("echo got-");
  await page.keyboard.press("Control+Shift+V");
  await rig().seen(/^ready> echo got-tocopy$/m);
  await page.keyboard.press("Enter");
  await rig().seen(/^got-tocopy$/m);
});

step("a web address in a terminal goes to the browser, and nothing else is opened", async () => {
  const { page } = rig();
  const opened = [];
  await page.exposeFunction("openedAddress", (url) => opened.push(url));
  await page.evaluate(() => {
    window.open = (url) => {
      window.openedAddress(url);
      return null;
    };
  });
  await rig().type("clear; echo 'javascript:alert(1)'; echo 'https://example.com/a?b=1'");
  await rig().seen(/^https:\/\/example\.com\/a\?b=1$/m);
  for (const text of ["javascript:alert", "https://example.com"]) {
    const row = page.locator(".xterm-rows > div", { hasText: new RegExp(`^${text}`) }).last();
    const box = await row.boundingBox();
    await page.mouse.move(box.x + 40, box.y + box.height / 2);
    await page.waitForTimeout(100); // the link under the pointer is looked for
    await page.mouse.click(box.x + 42, box.y + box.height / 2);
  }
  await until(() => opened.length > 0, "it was opened");
  assert.deepEqual(opened, ["https://example.com/a?b=1"]);
});

step("after a restart of the app each tab has its own conversation again", async () => {
  const { page } = rig();
  rig().cli("tab", "Slow to make", "--agent", "fake");
  const ids = () =>
    rig()
      .cli("status", "Slow to make")
      .task.tabs.filter((tab) => tab.kind === "agent");
  await until(() => ids().length === 2 && ids().every((tab) => tab.live), "two agents run");
  const said = [];
  for (const [i, tab] of ids().entries()) {
    rig().cli("send", "Slow to make", `of tab ${i}`, "--tab", tab.id, "--wait");
    await until(() => ids()[i].session_id, "its conversation has a name");
    said.push(ids()[i].session_id);
  }
  assert.notEqual(said[0], said[1]);
  rig().child.kill("SIGKILL");
  await rig().ended;
  await rig().serve();
  await page.goto(rig().url);
  await rig().row("Slow to make").click();
  for (let i = 0; i < said.length; i++) {
    await page
      .getByRole("tab", { name: /Fake agent/ })
      .nth(i)
      .click();
    await page.getByRole("button", { name: "Start again" }).click();
    await rig().seen(new RegExp(`resumed ${said[i]} with 1 prompt`));
  }
  rig().complaints.length = 0; // of the app that was away
});

step("a very large change is drawn in part, and the rest on demand; what a file names is not fetched", async () => {
  const { page } = rig();
  const folder = rig().cli("path", "Slow to make").path;
  const asked = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(rig().url).origin) && !request.url().startsWith("data:"))
      asked.push(request.url());
  });
  writeFileSync(path.join(folder, "big.txt"), Array.from({ length: 6000 }, (_, i) => `line ${i}\n`).join(""));
  writeFileSync(
    path.join(folder, "picture.md"),
    "![x](https://example.com/x.png)\n<img src=https://example.com/y.png>\n",
  );
  for (let i = 0; i < 40; i++) writeFileSync(path.join(folder, `many-${i}.txt`), "a\n".repeat(200));
  await page.keyboard.press("Control+Shift+R");
  const more = page.getByRole("button", { name: "Show 4500 more lines" });
  await more.waitFor();
  await page.getByRole("button", { name: /^picture\.md/ }).click();
  await page.getByText("![x](https://example.com/x.png)").waitFor();
  const drawn = await page.locator(".patch tr").count();
  assert.ok(drawn < 6000, `${drawn} lines are drawn at once`);
  assert.deepEqual(asked, [], "the page asked somebody else for something");
  await page.getByRole("button", { name: /^big\.txt/ }).click();
  await more.click();
  await page.getByText("line 5999", { exact: true }).waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
});

step("who wants no motion gets none, and the mark of work is still told by its shape", async () => {
  const { page } = rig();
  await page.emulateMedia({ reducedMotion: "reduce" });
  rig().cli("send", "Slow to make", "#work 20");
  const mark = page.locator(".task-row", { hasText: "Slow to make" }).getByRole("img", { name: "Working" });
  await mark.waitFor();
  const running = () =>
    page.evaluate(() => document.getAnimations().filter((one) => one.playState === "running").length);
  assert.equal(await running(), 0);
  await page.keyboard.press("Control+Shift+P");
  assert.equal(await running(), 0, "the palette rises");
  await page.keyboard.press("Escape");
  await page.emulateMedia({ reducedMotion: "no-preference" });
});
