// The changes of a task as a work surface: staging, discarding with undo, committing; by mouse and by keys.

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
let folder = "";
const panel = () => rig().page.getByRole("complementary", { name: "Panel" });
const short = () => rig().git(folder, "status", "--short", "-uall").trimEnd();
const toast = () => rig().page.locator(".toast");

/** The files of each section, as the panel lists them. */
const sections = () =>
  panel()
    .locator(".list > *")
    .evaluateAll((parts) => {
      const out = {};
      let title = "";
      for (const part of parts) {
        if (part.tagName === "H3") title = part.firstChild.textContent.trim();
        else if (part.querySelector(".frow"))
          out[title] = [...(out[title] ?? []), part.querySelector(".name").firstElementChild.textContent];
      }
      return out;
    });

async function until(ask, want) {
  let last;
  for (let i = 0; i < 100; i++) {
    last = await ask();
    try {
      assert.deepEqual(last, want);
      return;
    } catch {
      await rig().page.waitForTimeout(100);
    }
  }
  assert.deepEqual(last, want);
}

step("a task has changed files", async () => {
  const { repo } = rig();
  writeFileSync(path.join(repo, "a.txt"), "one\ntwo\n");
  writeFileSync(path.join(repo, "b.txt"), "b\n");
  rig().git(repo, "add", ".");
  rig().git(repo, "commit", "-q", "-m", "files");
  await rig().task("Work here");
  folder = rig().cli("list").tasks[0].path;
  writeFileSync(path.join(folder, "a.txt"), "one\nTWO\n");
  writeFileSync(path.join(folder, "new.txt"), "fresh\n");
  writeFileSync(path.join(folder, "b.txt"), "b\nmore\n");
  await panel().getByRole("button", { name: "Read the changes again" }).click();
  await until(sections, { "Not staged": ["a.txt", "b.txt", "new.txt"] });
  await panel().getByRole("button", { name: "Commit all 3 files" }).waitFor();
});

step("files are staged by a button, by S and all at once", async () => {
  const { page } = rig();
  const row = panel().locator(".row-of", { hasText: "a.txt" });
  await row.hover();
  await row.getByRole("button", { name: "Stage a.txt" }).click();
  await until(sections, { Staged: ["a.txt"], "Not staged": ["b.txt", "new.txt"] });
  await panel().locator(".frow").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("s");
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["new.txt"] });
  await panel().getByRole("button", { name: "Unstage all" }).click();
  await until(sections, { "Not staged": ["a.txt", "b.txt", "new.txt"] });
  await panel().getByRole("button", { name: "Stage all" }).click();
  await until(sections, { Staged: ["a.txt", "b.txt", "new.txt"] });
  await panel().locator(".frow", { hasText: "new.txt" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Unstage" }).click();
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["new.txt"] });
  assert.equal(short(), "M  a.txt\nM  b.txt\n?? new.txt");
});

step("a discard asks, and Undo gives everything back", async () => {
  const { page } = rig();
  writeFileSync(path.join(folder, "a.txt"), "one\nTWO\nlater\n");
  chmodSync(path.join(folder, "new.txt"), 0o755);
  await panel().getByRole("button", { name: "Read the changes again" }).click();
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["a.txt", "new.txt"] });
  const before = short();
  await panel().locator(".frow", { hasText: "new.txt" }).focus();
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog", { name: "Discard changes to a file" });
  await dialog.getByText("It is new, so it is deleted").waitFor();
  assert.equal(
    await dialog.getByRole("button", { name: "Cancel" }).evaluate((b) => b === document.activeElement),
    true,
  );
  await screen(rig(), "discard");
  await dialog.getByRole("button", { name: "Discard 1 file" }).click();
  await toast().getByText("Discarded new.txt.").waitFor();
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["a.txt"] });
  assert.equal(existsSync(path.join(folder, "new.txt")), false);
  await toast().getByRole("button", { name: "Undo" }).click();
  await toast().getByText("Put back new.txt.").waitFor();
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["a.txt", "new.txt"] });
  assert.equal(short(), before);
  assert.equal(readFileSync(path.join(folder, "new.txt"), "utf8"), "fresh\n");

  // Only what is not staged goes, and both halves where that is meant.
  await panel().locator(".frow", { hasText: "a.txt" }).last().click({ button: "right" });
  await page.getByRole("menuitem", { name: /^Discard…/ }).click();
  await page.getByRole("button", { name: "Discard 1 file" }).click();
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["new.txt"] });
  assert.equal(readFileSync(path.join(folder, "a.txt"), "utf8"), "one\nTWO\n");
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox").fill("undo the last discard");
  await page.keyboard.press("Enter");
  await until(sections, { Staged: ["a.txt", "b.txt"], "Not staged": ["a.txt", "new.txt"] });
});

step("what changed since it was shown is left alone", async () => {
  const { page } = rig();
  writeFileSync(path.join(folder, "new.txt"), "the agent wrote this meanwhile\n");
  await panel().locator(".frow", { hasText: "new.txt" }).focus();
  await page.keyboard.press("Delete");
  await page.getByRole("button", { name: "Discard 1 file" }).click();
  await page.getByText("new.txt changed since it was shown, so it was left as it is").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(readFileSync(path.join(folder, "new.txt"), "utf8"), "the agent wrote this meanwhile\n");
});

step("the review shows what is staged, and S stages", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+R");
  await page.getByRole("article", { name: "a.txt" }).getByText("partly staged").waitFor();
  await page.getByRole("region", { name: "Patch" }).focus();
  await page.keyboard.press("s");
  await page.getByRole("article", { name: "a.txt" }).getByText("staged", { exact: true }).waitFor();
  assert.match(short(), /^M {2}a\.txt$/m);
  await screen(rig(), "review-staged");
  await page.getByRole("article", { name: "new.txt" }).getByRole("button", { name: "Stage" }).click();
  await page.getByRole("article", { name: "new.txt" }).getByText("staged", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
});

step("a file is opened in the editor of the settings, a terminal's in a tab", async () => {
  const { page, home } = rig();
  const told = path.join(home, "told");
  const editor = (name) => {
    const at = path.join(home, name);
    writeFileSync(at, `#!/bin/sh\nprintf '%s' "$*" >'${told}'\nexec sleep 2\n`, { mode: 0o755 });
    rig().cli("settings", "set", "general.editor", at);
  };
  const opened = () => (existsSync(told) ? readFileSync(told, "utf8") : "");
  editor("mine");
  await panel().locator(".frow", { hasText: "b.txt" }).focus();
  await page.keyboard.press("e");
  await toast().getByText("Opened b.txt in mine.").waitFor();
  await until(opened, path.join(folder, "b.txt"));
  await page.keyboard.press("Control+Alt+E");
  await toast().getByText("Opened Work here in mine.").waitFor();
  await until(opened, folder);
  await page.keyboard.press("Control+Shift+R");
  await page.getByRole("article", { name: "a.txt" }).getByRole("button", { name: "Open a.txt in the editor" }).click();
  await until(opened, path.join(folder, "a.txt"));
  await page.keyboard.press("Escape");
  rig().cli("settings", "set", "general.editor", "no-such-editor");
  await panel().locator(".frow", { hasText: "b.txt" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: /^Open in editor/ }).click();
  await toast().getByText("The editor no-such-editor was not found.").waitFor();
  editor("vim");
  await panel().locator(".frow", { hasText: "b.txt" }).focus();
  await page.keyboard.press("e");
  await page.getByRole("tab", { name: /vim b\.txt/, selected: true }).waitFor();
});

step("a commit needs a message, and takes what is staged", async () => {
  const { page } = rig();
  await until(sections, { Staged: ["a.txt", "b.txt", "new.txt"] });
  const button = panel().getByRole("button", { name: "Commit 3 files" });
  assert.equal(await button.isDisabled(), true);
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox").fill("commit…");
  await page.keyboard.press("Enter");
  await panel().getByRole("textbox", { name: "Commit message" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Work on it");
  await page.reload();
  await page.locator(".win").waitFor();
  await panel().getByRole("textbox", { name: "Commit message" }).focus();
  assert.equal(await panel().getByRole("textbox", { name: "Commit message" }).inputValue(), "Work on it");
  await page.keyboard.press("Control+Enter"); // the git of the login shell does not know this machine's person yet
  await panel().getByText("git does not know in whose name to commit").waitFor();
  rig().git(rig().repo, "config", "user.name", "Tester");
  rig().git(rig().repo, "config", "user.email", "tester@example.com");
  await page.keyboard.press("Control+Enter");
  await toast()
    .getByText(/^Committed 3 files as [0-9a-f]{7}/)
    .waitFor();
  await until(sections, { Committed: ["a.txt", "b.txt", "new.txt"] });
  assert.equal(rig().git(folder, "log", "-1", "--format=%s").trim(), "Work on it");
  assert.equal(short(), "");
  await panel().getByText("Work on it").waitFor();
});

step("each file with conflict marks of an apply can be opened", async () => {
  const { page, repo, home } = rig();
  const told = path.join(home, "told");
  writeFileSync(path.join(home, "mine"), `#!/bin/sh\nprintf '%s' "$*" >'${told}'\n`, { mode: 0o755 });
  rig().cli("settings", "set", "general.editor", path.join(home, "mine"));
  writeFileSync(path.join(repo, "a.txt"), "theirs\n");
  rig().git(repo, "commit", "-q", "-am", "theirs");
  await panel().getByRole("button", { name: "Apply…" }).click();
  const dialog = page.getByRole("dialog", { name: "Apply to main checkout" });
  await dialog.getByText("Applies with conflicts in 1 file").waitFor(); // said before anything is done
  await dialog
    .getByRole("list", { name: /would have conflict marks/ })
    .getByText("a.txt")
    .waitFor();
  await dialog.getByRole("button", { name: "Apply to main checkout" }).click();
  await dialog.getByText("Applied with conflicts in 1 file.").waitFor();
  await dialog.getByRole("button", { name: "Open in editor: a.txt" }).click();
  await dialog.getByText("Opened in mine.").waitFor();
  assert.equal(readFileSync(told, "utf8"), path.join(repo, "a.txt"));
  await screen(rig(), "apply-conflicts");
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  rig().git(repo, "reset", "-q", "--hard");
});

step("a conflict is told, and keeps a commit back", async () => {
  const { page } = rig();
  try {
    rig().git(folder, "merge", "-q", "main");
  } catch {
    // it is what is wanted
  }
  await panel().getByRole("button", { name: "Read the changes again" }).click();
  await panel().getByText("In the middle of a merge.").waitFor();
  await page.getByRole("textbox", { name: "Commit message" }).fill("x");
  assert.equal(
    await panel()
      .getByRole("button", { name: /^Commit/ })
      .getAttribute("title"),
    "1 file has a conflict that is not resolved.",
  );
  assert.equal(
    await panel()
      .getByRole("button", { name: /^Discard/ })
      .count(),
    0,
  );
});
