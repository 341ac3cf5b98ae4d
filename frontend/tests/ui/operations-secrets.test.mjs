// The tab Secrets of the page Operations, and the choice of secrets for a new task and for those of a project. A value is typed once and
// stands nowhere afterwards.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({ prepare: (held) => held.cli("project", "add", held.repo) });
const step = story(test);
const value = "pl4nted-in-the-window";
const operations = () => rig().page.getByRole("main", { name: "Operations" });
const row = (name) => operations().getByRole("listitem").filter({ hasText: name });

/** Nothing of the page holds the value, fields included, nor does the app's log, nor a file of its folder but the one for it. */
async function nowhere() {
  const text = await rig().page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      ...[...document.querySelectorAll("input, textarea")].map((one) => one.value),
    ].join("\n"),
  );
  assert.ok(!text.includes(value), "the page holds the value");
  assert.ok(rig().log.length > 0 && !rig().log.includes(value), "the log holds the value");
  const data = path.dirname(rig().settingsFile);
  for (const file of readdirSync(data, { recursive: true, withFileTypes: true })) {
    const at = path.join(file.parentPath ?? file.path, file.name);
    if (!file.isFile() || path.relative(data, at).startsWith("secrets")) continue;
    assert.ok(!readFileSync(at).includes(value), `${at} holds the value`);
  }
}

step("before there is one, the page says what a secret is", async () => {
  await rig().page.getByRole("button", { name: "Operations", exact: true }).click();
  await operations().getByRole("tab", { name: "Secrets" }).click();
  await operations().getByText("There are no secrets yet.").waitFor();
  await screen(rig(), "operations-secrets-none");
});

step("one is made by keyboard, unseen, and its name is checked as it is typed", async () => {
  const { page } = rig();
  await operations().getByRole("button", { name: "New secret" }).focus();
  await page.keyboard.press("Enter");
  const form = operations().getByRole("form", { name: "New secret" });
  await page.keyboard.type("api-key");
  await form.getByText("capital letters, digits and _").waitFor();
  assert.equal(await form.getByRole("button", { name: "Add secret" }).isDisabled(), true);
  await form.getByRole("textbox", { name: "Name" }).fill("LD_PRELOAD");
  await form.getByLabel("Value").fill(value);
  await page.keyboard.press("Enter");
  await form.getByText("programs do what that variable says").waitFor();
  await form.getByRole("textbox", { name: "Name" }).fill("API_KEY");
  await form.getByRole("textbox", { name: "What it is for" }).fill("the shop's API");
  assert.equal(await form.getByLabel("Value").getAttribute("type"), "password");
  await form.getByLabel("Value").focus();
  await page.keyboard.press("Enter");
  await row("API_KEY").getByText("in a file of yours alone").waitFor();
  await operations().getByText("is in a file that only you may read, since").waitFor();
  await nowhere();
});

step("a new task is given it, and a project gives it to those of its own", async () => {
  const { page } = rig();
  rig().cli("project", "settings", "repo", "--agent", "fake");
  await page.getByRole("button", { name: "Actions of repo" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Project settings…" }).click();
  const settings = page.getByRole("dialog", { name: "Settings of “repo”" });
  await settings.getByRole("checkbox", { name: /API_KEY/ }).check();
  await screen(rig(), "project-settings-secrets");
  await settings.getByRole("button", { name: "Save" }).click();
  await settings.waitFor({ state: "detached" });
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  const box = dialog.getByRole("checkbox", { name: /API_KEY/ });
  await box.waitFor();
  assert.equal(await box.isChecked(), true);
  await dialog.getByRole("textbox", { name: "Name" }).fill("With a key");
  await box.scrollIntoViewIfNeeded();
  await screen(rig(), "new-task-secrets");
  await dialog.getByRole("button", { name: /Create task/ }).click();
  await rig().row("With a key").waitFor();
  const made = rig().cli("status", "With a key");
  assert.deepEqual(made.task.secrets, ["API_KEY"]);
  await page.keyboard.press("Control+Shift+N");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Without");
  await box.uncheck();
  await dialog.getByRole("button", { name: /Create task/ }).click();
  await rig().row("Without").waitFor();
  assert.equal(rig().cli("status", "Without").task.secrets, undefined);
});

step("the sandbox of a task takes a secret from it, and says what that ends", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Has one for a while");
  await dialog.getByRole("button", { name: /Create task/ }).click();
  await rig().row("Has one for a while").waitFor();
  await page.locator('[data-connection="live"]').waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("sandbox");
  await page.keyboard.press("Enter");
  const sandbox = page.getByRole("dialog", { name: /Sandbox/ });
  await sandbox.getByRole("checkbox", { name: /API_KEY/ }).uncheck();
  await sandbox.getByText("Saving ends 1 terminal").waitFor();
  await screen(rig(), "sandbox-secrets");
  await sandbox.getByRole("button", { name: /^Save/ }).click();
  await sandbox.waitFor({ state: "detached" });
  assert.equal(rig().cli("status", "Has one for a while").task.secrets, undefined);
});

step("the page says what names it, and who goes on with an older value", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Operations", exact: true }).click();
  await row("API_KEY")
    .getByText(/for new tasks of .*With a key/)
    .waitFor();
  await operations().getByRole("button", { name: "New secret" }).click();
  await operations().getByRole("form", { name: "New secret" }).getByRole("textbox", { name: "Name" }).fill("OTHER");
  await screen(rig(), "operations-secrets");
  await operations().getByRole("button", { name: "Cancel" }).click();
  await operations().getByRole("button", { name: "New value for API_KEY" }).click();
  await page.keyboard.type(`${value}-2`); // the focus is in the field
  await page.keyboard.press("Enter");
  await operations()
    .getByText(/go on with the older value.*With a key/)
    .waitFor();
  await operations().getByRole("button", { name: "Delete API_KEY…" }).click();
  await row("API_KEY").getByText("agents there will not start").waitFor();
  await page.keyboard.press("Enter"); // the focus is on what deletes
  await row("API_KEY").waitFor({ state: "detached" });
  await nowhere();
});
