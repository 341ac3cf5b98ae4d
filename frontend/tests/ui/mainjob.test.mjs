// The main job through the page: add a repository, make a task with a prompt, see it done, look at the change, apply it.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);

step("a first start says what to do", async () => {
  const { page } = rig();
  await page.getByRole("heading", { name: "One task running in a minute" }).waitFor();
  await page.getByText("No git repository was found in your home folder.").waitFor();
  assert.equal(await page.getByRole("button", { name: /Start first task/ }).isDisabled(), true);
  await page.getByText("Choose a repository first.").waitFor();
  await screen(rig(), "welcome");
});

step("a folder that is no repository is refused with words, and the text stays", async () => {
  const { page, home } = rig();
  await page.getByRole("button", { name: "Add a project…" }).click();
  await page.getByLabel("Folder").fill(home);
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .filter({ hasText: /no git repository|not a git repository/i })
    .waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Folder" }).inputValue(), home);
  await page.getByRole("checkbox", { name: /^Add it as a plain folder/ }).waitFor();
  await screen(rig(), "add-project");
  await page.keyboard.press("Escape");
});

step("a repository is added", async () => {
  const { page, repo } = rig();
  await page.getByRole("button", { name: "Add a project…" }).click();
  await page.getByLabel("Folder").fill(repo);
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("treeitem", { name: "Project repo" }).waitFor();
});

step("a task is made with a prompt, and its agent gets the exact bytes", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: /^More options…/ }).click();
  await page.getByLabel("Name").fill("Greet the world");
  assert.equal(await page.getByLabel("Branch").getAttribute("placeholder"), "feature/greet-the-world");
  await page.getByRole("radio", { name: "Fake agent" }).check();
  const prompt = "Greet: \"world\" 'x' $HOME ünï 🙂\n#work 1\n#write greeting.txt hello there";
  assert.match(await page.getByLabel("First prompt").inputValue(), /^Read this repository/);
  await page.getByLabel("First prompt").fill(prompt);
  await screen(rig(), "new-task");
  await page.getByRole("button", { name: /Create task/ }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rig().seen(/done with prompt 1/);
  assert.deepEqual(rig().received(), [prompt]);
});

step("its mark changes to done, and to idle once it was looked at", async () => {
  const { page } = rig();
  const row = rig().row("Greet the world");
  await row.getByRole("img", { name: "Done" }).waitFor();
  await page.locator(".xterm-host").click();
  await row.getByRole("img", { name: "Idle" }).waitFor();
});

step("what is typed into the terminal arrives and is echoed", async () => {
  const { page } = rig();
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("typed by hand");
  await rig().seen(/typed by hand/);
  await page.keyboard.press("Enter");
  await rig().seen(/done with prompt 2/);
});

step("the change is listed, and shown line by line", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Read the changes again" }).click();
  await page.getByRole("button", { name: /^greeting\.txt/ }).click();
  await page.getByRole("heading", { name: /greeting\.txt/ }).waitFor();
  assert.equal(await page.locator(".patch .t.added").first().textContent(), "hello there");
});

step("it is applied to the main checkout", async () => {
  const { page, repo } = rig();
  await page.getByRole("contentinfo").getByText("Applies cleanly: 1 file").waitFor();
  await page.getByRole("button", { name: /Apply to main checkout…/ }).click();
  await page.getByRole("dialog").getByText("Applies cleanly: 1 file (1 added)").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Apply to main checkout" }).click();
  await page.getByText("Applied 1 new file to the main checkout, uncommitted.").waitFor();
  await screen(rig(), "applied");
  await page.getByRole("dialog").getByRole("button", { name: "Close Esc" }).click();
  assert.equal(readFileSync(path.join(repo, "greeting.txt"), "utf8").trim(), "hello there");
  await page.keyboard.press("Escape");
});

step("applying again changes nothing, and says so", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Apply…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Apply to main checkout" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await page.keyboard.press("Escape");
});

step("a main checkout with changes of its own is refused with words", async () => {
  const { page, repo } = rig();
  rig().git(repo, "add", ".");
  rig().git(repo, "commit", "-q", "-m", "Take it");
  writeFileSync(path.join(repo, "main.go"), "package other\n");
  const { tasks } = rig().cli("list");
  writeFileSync(path.join(tasks[0].path, "more.txt"), "more\n");
  await page.getByRole("button", { name: "Apply…" }).click();
  await page.getByRole("dialog").getByText("Cannot be applied now.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Apply to main checkout" }).click();
  await page
    .getByRole("dialog")
    .getByRole("alert")
    .filter({ hasText: /uncommitted change/ })
    .waitFor();
  await page.keyboard.press("Escape");
  rig().git(repo, "checkout", "-q", "main.go");
});

step("a prompt sent from the composer is delivered", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Send a prompt" }).click();
  await page.getByRole("textbox", { name: /Prompt for/ }).fill("from the composer");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Delivered.").waitFor();
  await screen(rig(), "composer");
  assert.ok(rig().received().includes("from the composer"));
  await page.keyboard.press("Escape");
});

step("archiving lists what would be lost and needs consent", async () => {
  const { page } = rig();
  const { tasks } = rig().cli("list");
  const folder = tasks[0].path;
  writeFileSync(path.join(folder, "only-here.txt"), "work\n");
  await page.getByRole("button", { name: "Actions of this task" }).click();
  await page.getByRole("menuitem", { name: "Archive…" }).click();
  await page.getByRole("button", { name: /^Archive and end/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This exists nowhere else:").waitFor();
  await dialog.getByText("only-here.txt").waitFor();
  const act = dialog.getByRole("button", { name: /^Archive and lose/ });
  await screen(rig(), "archive");
  assert.equal(await act.isDisabled(), true, "without consent nothing can be lost");
  assert.ok(existsSync(path.join(folder, "only-here.txt")));
  await dialog.getByRole("checkbox", { name: /^Lose it/ }).check();
  await act.click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(existsSync(folder), false);
});

step("the history brings it back", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Restore Greet the world" }).waitFor();
  await screen(rig(), "history");
  await page.getByRole("button", { name: "Restore Greet the world" }).click();
  await rig().row("Greet the world").waitFor();
  const { tasks } = rig().cli("list");
  assert.equal(existsSync(path.join(tasks[0].path, "only-here.txt")), true, "what was left uncommitted is back");
});

step("a stopped agent is started again from its tab", async () => {
  const { page } = rig();
  await screen(rig(), "ended");
  await page.getByRole("button", { name: "Start again" }).click();
  await page.locator('[data-connection="live"]').waitFor();
  await rig().seen(/resumed .* with 3 prompts/);
});

step("a task is renamed", async () => {
  const { page } = rig();
  await rig().row("Greet the world").focus();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name" }).fill("Greet everybody");
  await page.keyboard.press("Enter");
  await rig().row("Greet everybody").waitFor();
});
