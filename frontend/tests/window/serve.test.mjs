// A window on a profile that `termic serve` holds: everything goes through its control socket.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { story } from "../profile.mjs";
import { Window } from "./driver.mjs";

let window;
before(async () => {
  window = await Window.start({
    before: async (window) => {
      await window.serve();
      window.cli("project", "add", window.repo);
      window.cli("new", "Served", "--project", "repo", "--agent", "fake", "--prompt", "Say hello\n#work 1");
      await window.until(() => JSON.parse(window.cli("status", "Served")).task.state === "live", "the task to be made");
      window.cli("tab", "Served", "--kind", "terminal");
    },
  });
});
after(() => window?.stop());
const step = story(test);

step("the window shows what serve runs, and says that it does", async () => {
  await window.shows(/Served/, "[role=tree]");
  await window.shows(/On termic serve/, "footer");
  assert.equal(JSON.parse(window.cli("status", "Served")).task.name, "Served");
});

step("what is typed into a terminal that serve started arrives there", async () => {
  await window.click(await window.find(".task-row"));
  await window.run(
    "[...document.querySelectorAll('[role=tab]')].find((one) => one.textContent.includes('Terminal')).click()",
  );
  await window.find('[data-connection="live"]');
  await window.click(await window.find(".xterm-screen"));
  await window.keys("echo typed-$((40+2)) | tee typed");
  await window.press("Enter");
  await window.shows(/^typed-42/m, ".xterm-rows");
  assert.match(JSON.parse(window.cli("logs", "Served", "--tab", "2")).data, /typed-42/);
});

step("a task is made, and its agent is seen at work", async () => {
  await window.press("Control", "Shift", "n");
  await window.type(await window.find("dialog input.name"), "Made here");
  await window.type(await window.find("dialog textarea"), "Greet\n#work 1");
  await window.click(await window.button("Create task", "dialog"));
  await window.shows(/done with prompt 1/, ".xterm-rows");
  assert.deepEqual(window.received(), ["Say hello\n#work 1", "Greet\n#work 1"]);
});

step("a second start shows this window, and hands its link over", async () => {
  window.second();
  window.second("termic://new?project=repo&name=From+a+link&prompt=Do+it");
  await window.shows(/A link filled this in/, "dialog");
  assert.equal(await window.run("return document.querySelector('dialog input.name').value"), "From a link");
  await window.press("Escape");
  assert.equal(JSON.parse(window.cli("list")).tasks.length, 2, "a link creates nothing");
});

step("closing the window asks nothing and leaves serve running, with its agents", async () => {
  await window.run("globalThis.runtime.Quit()").catch(() => {}); // the answer may be lost with the window
  await window.until(() => !window.pid(), "the window to close");
  assert.ok(window.holds());
  const { tabs } = JSON.parse(window.cli("status", "Served")).task;
  assert.ok(tabs.every((tab) => tab.live));
});

step("the next window has the same terminal", async () => {
  await window.relaunch();
  await window.run(
    "[...document.querySelectorAll('.task-row')].find((one) => one.textContent.includes('Served')).click()",
  );
  await window.run(
    "[...document.querySelectorAll('[role=tab]')].find((one) => one.textContent.includes('Terminal')).click()",
  );
  await window.shows(/^typed-42/m, ".xterm-rows");
});

step("when serve ends the window says so, and starts again by itself when asked", async () => {
  assert.equal(await window.endServe(), 0);
  await window.shows(/termic serve has ended/, "dialog");
  await window.click(await window.button("Start Termic here", "dialog"));
  await window.until(
    () => window.run("return document.querySelector('dialog') === null && document.querySelector('.win') !== null"),
    "the window to be there again",
  );
  await window.shows(/Served/, "[role=tree]");
  assert.doesNotMatch(await window.text("footer"), /On termic serve/);
  await window.press("Control", "Shift", "t");
  await window.find('[data-connection="live"]');
  await window.click(await window.find('[data-connection="live"] .xterm-screen'));
  await window.keys("echo again-$((40+2))");
  await window.press("Enter");
  await window.shows(/^again-42/m, ".xterm-rows");
});
