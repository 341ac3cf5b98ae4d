// What a window costs in which nothing happens: no picture is drawn of it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Window } from "./driver.mjs";

let window;
before(async () => {
  window = await Window.start();
  window.cli("project", "add", window.repo);
  window.cli("new", "Rest", "--project", "repo", "--agent", "fake");
});
after(() => window?.stop());

/** How often the toolkit has woken for the next picture: it stops when nobody asks for one. */
function pictures() {
  let wakes = 0;
  const tasks = `/proc/${window.pid()}/task`;
  for (const id of readdirSync(tasks)) {
    try {
      if (!/VBlank/.test(readFileSync(`${tasks}/${id}/comm`, "utf8"))) continue;
      wakes += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`${tasks}/${id}/status`, "utf8"))?.[1]);
    } catch {
      // the thread has ended
    }
  }
  return wakes;
}

test("a shown window with the focus in a terminal draws nothing while nothing happens", async () => {
  await window.click(await window.find(".task-row"));
  await window.find('[data-connection="live"]');
  await window.click(await window.find(".xterm-host"));
  await window.until(
    () => window.run("return document.activeElement?.classList.contains('xterm-helper-textarea')"),
    "the terminal to have the focus",
  );
  let last = -1;
  await window.until(
    async () => {
      const was = last;
      await new Promise((resolve) => setTimeout(resolve, 3000));
      last = pictures();
      return was >= 0 && last - was <= 10; // sixty a second while it draws
    },
    "the window to come to rest",
    30_000,
  );
  assert.ok(last >= 0);
});
