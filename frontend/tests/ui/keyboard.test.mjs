// The main job by keyboard alone, and the way round the window.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);

/** What has the focus, in words. */
const focused = () =>
  rig().page.evaluate(() => {
    const at = document.activeElement;
    return `${at?.closest("[data-region]")?.dataset.region ?? ""}|${at?.getAttribute("aria-label") ?? at?.textContent?.trim()}`;
  });

step("a project is added", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N"); // without a project this leads to adding one
  await page.getByRole("dialog", { name: "Add a project" }).waitFor();
  await page.keyboard.type(rig().repo);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("treeitem", { name: "Project repo" }).waitFor();
});

step("a task is made: the name has the focus, everything else a default", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N");
  await page.getByRole("dialog", { name: "New task" }).waitFor();
  await page.keyboard.type("By keyboard");
  for (let i = 0; i < 12; i++) {
    if (await page.evaluate(() => document.activeElement.tagName === "TEXTAREA")) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("#write keys.txt typed");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rig().seen(/done with prompt 1/);
});

step("F6 goes round the regions, and a terminal is left by it", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+L");
  assert.match(await focused(), /^terminal\|/);
  const seen = [];
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("F6");
    seen.push((await focused()).split("|")[0]);
  }
  assert.deepEqual(seen, ["panel", "status", "sidebar", "tabs", "terminal"]);
  await page.keyboard.press("Shift+F6");
  assert.match(await focused(), /^tabs\|/);
});

/**
 * The controls in sight that no key reaches: neither F6 and Tab, nor the arrows of a list. What is for the pointer alone says so, and
 * has keys of its own.
 */
async function unreached() {
  const { page } = rig();
  const here = () =>
    page.evaluate(() => document.activeElement?.dataset.probe ?? document.activeElement?.className ?? "");
  await page.evaluate(() => {
    let n = 0;
    for (const one of document.querySelectorAll("button, input, select, textarea, a[href], [role=separator]")) {
      const alone =
        one.closest(".xterm, [aria-hidden=true], .row-of .acts, [popover]:not(:popover-open)") || one.disabled;
      if (!alone && one.checkVisibility({ opacityProperty: false })) one.dataset.probe = String(n++);
    }
  });
  const met = new Set();
  /** Takes note of what has the keys, and of what the arrows reach from there. False: it is a terminal, which Tab does not leave. */
  const note = async () => {
    const at = await here();
    if (/xterm/.test(at)) return false;
    met.add(at);
    const arrow = await page.evaluate(() => {
      const at = document.activeElement;
      if (at?.closest("[role=tablist]")) return "ArrowRight";
      return at?.matches(".task-row, .frow") ? "ArrowDown" : "";
    });
    for (let i = 0; arrow && i < 12; i++) {
      await page.keyboard.press(arrow);
      met.add(await here());
    }
    return true;
  };
  for (let region = 0; region < 10; region++) {
    await page.evaluate(() => {
      window.before = document.activeElement;
    });
    await page.keyboard.press("F6");
    await page.waitForFunction(() => window.before !== document.activeElement); // the focus follows a moment later
    await page.evaluate(() => {
      window.begun = document.activeElement;
      window.region = window.begun.closest("[data-region]").dataset.region;
    });
    // A part that was drawn anew meanwhile, since the agent changed something, has another control in that place.
    const begin = () =>
      page.evaluate(() => {
        const { begun, region } = window;
        (begun.isConnected ? begun : document.querySelector(`[data-region=${region}] button:not(:disabled)`)).focus();
      });
    for (const [key, most] of [
      ["Shift+Tab", 6],
      ["Tab", 60],
    ]) {
      for (let i = 0; i < most && (await note()); i++) {
        await page.keyboard.press(key);
        if (await page.evaluate(() => window.begun === document.activeElement)) break;
      }
      await begin();
    }
  }
  return page.evaluate(
    (met) =>
      [...document.querySelectorAll("[data-probe]")]
        .filter((one) => !met.includes(one.dataset.probe))
        .map((one) => one.getAttribute("aria-label") ?? one.textContent.trim()),
    [...met],
  );
}

step("every control of the window is reached without a pointer", async () => {
  const { page } = rig();
  assert.deepEqual(await unreached(), []);
  // Where a program ended, what can be done about it stands below its terminal.
  rig().cli("stop", "By keyboard", "--yes");
  await page.getByRole("button", { name: "Start again" }).waitFor();
  assert.deepEqual(await unreached(), []);
  await page.getByRole("button", { name: "Start again" }).focus();
  await page.keyboard.press("Enter");
  await page.locator('[data-connection="live"]').waitFor();
});

step("what is written for an agent goes into its field at once, and not into the terminal", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+L");
  await page.keyboard.press("Control+Alt+P");
  await page.getByRole("textbox", { name: /^Prompt for/ }).waitFor();
  await page.keyboard.type("by keys alone");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Delivered.").waitFor();
  assert.equal(rig().received().at(-1), "by keys alone");
  await page.keyboard.press("Escape");
});

step("Tab belongs to the program in the terminal", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+L");
  await page.keyboard.press("Tab");
  assert.match(await focused(), /^terminal\|/);
});

step("the change is reviewed and applied", async () => {
  const { page, repo } = rig();
  await page.keyboard.press("Control+Shift+R");
  await page.getByRole("heading", { name: /keys\.txt/ }).waitFor();
  await page.getByRole("button", { name: /Apply to main checkout/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Applied/).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.ok(existsSync(path.join(repo, "keys.txt")));
  await page.locator("[data-region=terminal]").waitFor();
});

step("a menu is gone through with the arrows, and gives the focus back", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Actions of this task" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Rename…" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.role === "menuitem"); // it takes the focus once it is drawn
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(), /Duplicate…/);
  await page.keyboard.press("Escape");
  assert.match(await focused(), /Actions of this task/);
});

step("in a dialog that destroys the first focus is never on the button that destroys", async () => {
  const { page } = rig();
  await rig().row("By keyboard").focus();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog", { name: /^Archive/ }).waitFor();
  assert.match(await focused(), /Cancel/);
  await page.keyboard.press("Escape");
  assert.match(await focused(), /By keyboard/);
});

step("tabs and tasks are reached by their shortcuts", async () => {
  const { page } = rig();
  rig().cli("new", "Another", "--project", "repo", "--agent", "mute");
  await rig().row("Another").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  assert.equal(await page.locator(".task-row.on .nm").textContent(), "Another");
  await page.keyboard.press("Control+Shift+PageDown");
  assert.equal(await page.locator(".task-row.on .nm").textContent(), "By keyboard");
});
