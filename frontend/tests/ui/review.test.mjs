// A review: differences beside or below each other, comments that go as one message, files that were looked at.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);
let folder = "";

/** The text of both sides of the rows of a file that begin with a change. */
const sides = (file) =>
  rig()
    .page.getByRole("article", { name: file })
    .locator("tr[id^=change]")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll(".t")].map((cell) => cell.textContent.trim())));

step("a task has changed files", async () => {
  const { page, repo } = rig();
  const lines = Array.from({ length: 400 }, (_, i) => `line ${i + 1}`);
  writeFileSync(path.join(repo, "long.txt"), `${lines.join("\n")}\n`);
  writeFileSync(path.join(repo, "take.go"), "package a\n\nfunc (b *B) Take() bool {\n\treturn true\n}\n");
  rig().git(repo, "add", ".");
  rig().git(repo, "commit", "-q", "-m", "files");
  await rig().task("Look at me");
  folder = rig().cli("list").tasks[0].path;
  writeFileSync(path.join(folder, "take.go"), "package a\n\nfunc (b *B) Take(now Time) bool {\n\treturn false\n}\n");
  lines[9] = "line ten";
  lines[299] = "line three hundred";
  lines.splice(350, 2);
  writeFileSync(path.join(folder, "long.txt"), `${lines.join("\n")}\n`);
  writeFileSync(path.join(folder, "new.txt"), "fresh\n");
  await page.getByRole("tree").waitFor();
  await page.keyboard.press("Control+Shift+R");
  await page.getByRole("heading", { name: /take\.go/ }).waitFor();
});

step("what was stands beside what is, and the words that differ are marked", async () => {
  const { page } = rig();
  assert.deepEqual(await sides("take.go"), [["func (b *B) Take() bool {", "func (b *B) Take(now Time) bool {"]]);
  const words = page.getByRole("article", { name: "take.go" }).locator(".word");
  assert.deepEqual(await words.allTextContents(), ["now Time", "true", "false"]);
  const inked = page.getByRole("article", { name: "take.go" }).locator(".t.removed .keyword");
  assert.deepEqual(
    await inked.allTextContents(),
    ["func", "return", "true"],
    "the words of the language have their colour",
  );
  assert.deepEqual(await sides("new.txt"), [["", "fresh"]]);
});

step("N and P go from change to change, through all files", async () => {
  const { page } = rig();
  await page.getByRole("region", { name: "Patch" }).focus();
  const here = () => page.locator("tr.here .t").allTextContents();
  await page.getByText(/^5 changes/).waitFor();
  await page.keyboard.press("n");
  await page.getByText(/^Change 1 of 5/).waitFor();
  assert.deepEqual(await here(), ["line 10", "line ten"]);
  for (const _ of [1, 2, 3, 4, 5]) await page.keyboard.press("n");
  await page.getByText(/^Change 5 of 5/).waitFor();
  assert.match((await here())[1], /Take\(now Time\)/);
  await page.keyboard.press("p");
  assert.deepEqual(await here(), ["", "fresh"]);
  await page.keyboard.press("n");
});

step("C comments on the change, and the comments gather", async () => {
  const { page } = rig();
  await page.keyboard.press("c");
  const box = page.getByRole("region", { name: "Comment on line 3 of take.go" });
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("Name it at, not now.");
  await page.keyboard.press("Control+Enter");
  await box.getByText("Not sent").waitFor();
  await page
    .getByRole("article", { name: "long.txt" })
    .getByRole("button", { name: "Comment on line 10", exact: true })
    .last()
    .click();
  await page.getByRole("textbox", { name: "Comment" }).fill("Why in words?\nAnd here?");
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.getByRole("region", { name: "Comments", exact: true }).getByText("2, not sent").waitFor();
});

step("a review does not move under a comment that is being written", async () => {
  const { page } = rig();
  await page.getByRole("article", { name: "new.txt" }).getByRole("button", { name: "Comment on line 1" }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill("half a thought");
  writeFileSync(path.join(folder, "new.txt"), "fresh\nand more\n");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await page.getByRole("button", { name: /The files have changed/ }).click();
  await page.getByRole("article", { name: "new.txt" }).getByText("and more").waitFor();
  const box = page.getByRole("textbox", { name: "Comment" });
  assert.equal(await box.inputValue(), "half a thought");
  await box.press("Escape");
  await box.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: /new\.txt/ }).waitFor(); // Esc took back the comment, not the review
});

step("what is not sent outlives a reload and a look at something else", async () => {
  const { page } = rig();
  await page.reload();
  await rig().row("Look at me").click();
  await page.keyboard.press("Control+Shift+R");
  await page.getByRole("region", { name: "Comments", exact: true }).getByText("2, not sent").waitFor();
});

step("a file that was looked at is looked at until it changes", async () => {
  const { page } = rig();
  const viewed = page.getByRole("article", { name: "take.go" }).getByRole("checkbox", { name: "Viewed" });
  await viewed.check();
  await page.getByText("1 of 3 viewed").waitFor();
  writeFileSync(path.join(folder, "take.go"), "package a\n\nfunc (b *B) Take(at Time) bool {\n\treturn false\n}\n");
  await page.getByRole("button", { name: "Read again" }).click();
  await page.getByText("0 of 3 viewed").waitFor();
  assert.equal(await viewed.isChecked(), false);
});

step("the comments go to the agent as one message", async () => {
  const { page } = rig();
  const before = rig().received().length;
  await page.getByRole("button", { name: "Send 2 comments to Fake agent" }).click();
  await page.getByText(/^2 comments: (Delivered|Queued)/).waitFor();
  await page.getByRole("region", { name: "Comments", exact: true }).waitFor({ state: "detached" });
  for (const end = Date.now() + 20000; rig().received().length === before && Date.now() < end; )
    await new Promise((done) => setTimeout(done, 50));
  assert.equal(
    rig().received().at(-1),
    "2 comments on your changes:\n\nlong.txt:10\n> line ten\nWhy in words?\nAnd here?\n\ntake.go:3\n> func (b *B) Take(now Time) bool {\nName it at, not now.",
  );
});

step("U shows the lines below each other, and the settings keep it", async () => {
  const { page } = rig();
  await page.getByRole("region", { name: "Patch" }).focus();
  await page.keyboard.press("u");
  await page.locator("#change-4.removed").waitFor({ state: "attached" });
  assert.match(readFileSync(path.join(rig().data, "settings.toml"), "utf8"), /review = "unified"/);
  await page.getByRole("radio", { name: "Side by side" }).check({ force: true });
  await page.locator("table.sides").first().waitFor();
});

step("a committed change that was taken back is named, since it differs from no base", async () => {
  const { page } = rig();
  const before = readFileSync(path.join(folder, "take.go"), "utf8");
  rig().git(folder, "commit", "-q", "-m", "take", "--", "take.go");
  writeFileSync(path.join(folder, "take.go"), "package a\n\nfunc (b *B) Take() bool {\n\treturn true\n}\n");
  await page.getByRole("button", { name: "Read again" }).click();
  const told = page.getByText(/^Taken back since the last commit/);
  await told.getByText("take.go").waitFor();
  assert.equal(await page.getByRole("heading", { name: /take\.go/ }).count(), 0);
  writeFileSync(path.join(folder, "take.go"), before);
  await page.getByRole("button", { name: "Read again" }).click();
  await told.waitFor({ state: "detached" });
});
