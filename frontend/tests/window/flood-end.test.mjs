// The end of a window whose terminal is flooded: what is on its way to the page is no reason to stay.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Window } from "./driver.mjs";

let window;
before(async () => {
  window = await Window.start();
  window.cli("project", "add", window.repo);
  window.cli("new", "Flood", "--project", "repo", "--agent", "fake");
  window.cli("tab", "Flood", "--kind", "terminal");
});
after(() => window?.stop());

test("SIGTERM ends a window in the midst of a flood", async () => {
  await window.click(await window.find(".task-row"));
  await window.run("[...document.querySelectorAll('[role=tab]')].at(-1).click()");
  await window.find('[data-connection="live"]');
  await window.click(await window.find(".xterm-host"));
  await window.keys("yes 'a flood of text that never ends'\n");
  await window.shows(/a flood/, ".xterm-host");
  await new Promise((resolve) => setTimeout(resolve, 2000));
  process.kill(window.pid(), "SIGTERM");
  await window.until(() => !window.pid(), "the window to end", 20_000);
  assert.equal(window.holds(), false);
});
