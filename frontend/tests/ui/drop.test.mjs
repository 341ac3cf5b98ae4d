// Files that are dropped on the window. The real window tells of them by an event; here the test does.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, withRig } from "./rig.mjs";

const rig = withRig({
  before: () => {
    const heard = {};
    window.runtime = {
      EventsOn(name, run) {
        heard[name] = run;
        return () => delete heard[name];
      },
      WindowSetTitle() {},
      Quit() {},
    };
    window.tell = (name, ...data) => heard[name]?.(...data);
  },
});

/** Drops files in the middle of what a selector finds. */
async function drop(selector, ...paths) {
  const box = await rig().page.locator(selector).first().boundingBox();
  await rig().page.evaluate(
    ([x, y, list]) => window.tell("wails:file-drop", x, y, list),
    [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2), paths],
  );
}

test("the paths of dropped files are typed as words of the shell, and nothing runs", async () => {
  const { page } = rig();
  const { path: folder } = await rig().task("Drop");
  await rig().shell();
  const odd = path.join(rig().dir, "it's $(touch ran); a file");
  const plain = path.join(rig().dir, "plain.txt");
  for (const file of [odd, plain]) writeFileSync(file, "");
  await page.keyboard.type("printf '[%s]' ");
  await drop("[data-tab][data-connection]", odd, plain);
  await rig().seen(/plain\.txt $|plain\.txt$/m);
  await page.keyboard.press("Enter");
  await rig().seen(/\[.*it's \$\(touch ran\); a file\]\[.*plain\.txt\]/);
  assert.equal(existsSync(path.join(folder, "ran")), false, "a file's name was run");
});

test("a program that asked for it is told that the paths are a paste", async () => {
  const { page } = rig();
  const plain = path.join(rig().dir, "plain.txt");
  await rig().type("printf '\\033[?2004h'; cat -v");
  await rig().page.waitForTimeout(300); // the program is there when its output is, and it has none
  await drop("[data-tab][data-connection]", plain);
  await page.keyboard.press("Enter");
  await rig().seen(/\^\[\[200~.*plain\.txt \^\[\[201~/);
  await page.keyboard.press("Control+C");
});

test("a name with a line end or another control character is refused, in words", async () => {
  const { page } = rig();
  const evil = path.join(rig().dir, "evil\ntouch ran");
  const ended = path.join(rig().dir, "evil\u001b[201~");
  for (const file of [evil, ended]) writeFileSync(file, "");
  await rig().type("clear; echo so-$((40+2))");
  await rig().seen(/^so-42$/m);
  // The toolkit hands a name with a line end over as two.
  for (const paths of [[evil], [ended], evil.split("\n")]) {
    await drop("[data-tab][data-connection]", ...paths);
    await page.getByRole("alert").waitFor();
    assert.match(await page.getByRole("alert").textContent(), /control character|no path of a file|There is no file/);
    await page.getByRole("alert").getByRole("button", { name: "Close" }).click();
  }
  assert.doesNotMatch(await rig().screen(), /evil|touch/);
});

test("a folder that is dropped on the sidebar is offered as a project, and not added", async () => {
  const { page } = rig();
  const folder = rig().newRepo("dropped");
  await drop("[data-region=sidebar]", folder);
  const dialog = page.getByRole("dialog", { name: "Add a project" });
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel("Folder").inputValue(), folder);
  assert.equal(rig().cli("project", "list").projects.length, 1);
  await dialog.getByRole("button", { name: "Add project" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(rig().cli("project", "list").projects.length, 2);
});

test("a dropped file never takes the place of the page", async () => {
  const { page } = rig();
  mkdirSync(path.join(rig().dir, "x"), { recursive: true });
  const kept = await page.evaluate(() =>
    ["dragover", "drop"].every((name) => {
      const event = new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() });
      document.querySelector(".status").dispatchEvent(event);
      return event.defaultPrevented;
    }),
  );
  assert.equal(kept, true);
});

test("that termic serve has ended is said, with what can be done", async () => {
  const { page } = rig();
  await page.evaluate(() => window.tell("termic:over"));
  const dialog = page.getByRole("dialog", { name: "termic serve has ended" });
  await dialog.getByRole("button", { name: "Start Termic here" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await dialog.count(), 1, "there is nothing behind it to go back to");
  await screen(rig(), "serve-ended");
});
