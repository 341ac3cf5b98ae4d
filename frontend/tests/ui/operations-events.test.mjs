// The tabs Schedules, Triggers and Events of the page Operations: what happens by itself, as whom, and what came of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({});
const step = story(test);
const operations = () => rig().page.getByRole("main", { name: "Operations" });
const row = (name) => operations().getByRole("listitem").filter({ hasText: name });
const tab = (name) => operations().getByRole("tab", { name }).click();
const button = (name) => operations().getByRole("button", { name, exact: true });
const project = () => path.basename(rig().repo);

step("before anything happens by itself, each list says what it is for", async () => {
  await rig().task("target");
  await rig().page.getByRole("button", { name: "Operations", exact: true }).click();
  await tab("Schedules");
  await operations().getByText("Nothing is due at any time yet.").waitFor();
  await screen(rig(), "operations-schedules-none");
  await tab("Triggers");
  await operations().getByText("Nothing follows from events yet.").waitFor();
  await tab("Events");
  await operations().getByText("Nothing happened in this time.").waitFor();
});

step("a schedule is made by its form, and a refusal says what is wrong", async () => {
  await tab("Schedules");
  await button("New schedule").click();
  const form = operations().getByRole("form", { name: "New schedule" });
  await form.getByRole("textbox", { name: "Name" }).first().fill("nightly");
  await form.getByRole("textbox", { name: "Times" }).fill("30 25 * * *");
  await form.getByRole("combobox", { name: "Time zone" }).fill("Europe/Berlin");
  await form.getByRole("textbox", { name: "Name of the task" }).fill("night {date}");
  await form
    .getByRole("textbox", { name: "Prompt" })
    .fill("Update the dependencies, run the tests, and say what broke.");
  await form.getByRole("button", { name: "Add schedule" }).click();
  await form.getByText("The times cannot be read").waitFor();
  // Why it was refused, and the buttons, are in sight without scrolling.
  for (const one of [form.getByText("The times cannot be read"), form.getByRole("button", { name: "Add schedule" })]) {
    const at = await one.boundingBox();
    assert.ok(at && at.y + at.height <= 776, `it ends at ${at?.y + at?.height} of 800`);
  }
  await screen(rig(), "operations-schedule-new");
  await form.getByRole("textbox", { name: "Times" }).fill("30 2 * * *");
  await form.getByRole("button", { name: "Add schedule" }).click();
  await row("nightly").getByText("30 2 * * * in Europe/Berlin").waitFor();
  await row("nightly")
    .getByText(/^in \d+ (h|min)$/)
    .waitFor();
  await row("nightly").getByText("acts as you").waitFor();
});

step("a trigger is made, and a schedule that runs every few seconds sets it off", async () => {
  await tab("Triggers");
  await button("New trigger").click();
  const form = operations().getByRole("form", { name: "New trigger" });
  await form.getByRole("textbox", { name: "Name" }).first().fill("review");
  await form.getByRole("textbox", { name: "Only if it is called" }).fill("tick-*");
  await form.getByRole("textbox", { name: "Only with these facts" }).fill("outcome=done");
  await form.getByText("Send a prompt").click();
  await form.getByRole("combobox", { name: "Task" }).fill(`${project()}/target`);
  await form.getByRole("textbox", { name: "Prompt" }).fill("Something ticked.");
  await form.getByRole("checkbox", { name: /Append what is known/ }).check();
  await screen(rig(), "operations-trigger-new");
  await form.getByRole("button", { name: "Add trigger" }).click();
  await row("review").getByText("Tasks settle · tick-* · outcome=done").waitFor();
  rig().cli(
    "schedule",
    "add",
    "ticks",
    "--every",
    "5s",
    "--overlap",
    "--do",
    "task_new",
    "--into",
    project(),
    "--task-name",
    "tick-{time}",
    "--agent",
    "fake",
    "--sandbox",
    "off",
    "-p",
    "hello",
  );
  await tab("Schedules");
  await row("ticks")
    .getByText(/^Done /)
    .waitFor({ timeout: 30_000 });
  rig().cli("schedule", "update", "ticks", "--disable");
  await row("ticks").getByText("Off:").waitFor({ state: "attached" });
  await tab("Triggers");
  await row("review")
    .getByText(/^Done /)
    .first()
    .waitFor({ timeout: 40_000 });
});

step("events are a picture and a list, and one that is opened says what followed and why", async () => {
  rig().cli(
    "trigger",
    "add",
    "nobody",
    "--on",
    "schedule_fired",
    "--subject",
    "ticks",
    "--do",
    "task_send",
    "--task",
    `${project()}/target`,
    "-p",
    "x",
  );
  rig().cli("archive", "target", "--yes", "--discard");
  await tab("Schedules");
  await row("ticks").getByRole("button", { name: /ticks/ }).click();
  await button("Run now").click();
  await tab("Events");
  await operations().getByText("Hour", { exact: true }).click();
  await row("ran by hand").first().waitFor();
  await row("ran by hand").first().getByText("Some of it followed:").waitFor({ state: "attached" });
  await row("ran by hand").first().getByRole("button").click();
  await operations().getByText("nobody refused", { exact: false }).waitFor();
  await operations().getByText("by_hand").waitFor();
  await operations().locator("code", { hasText: "termic restore target" }).waitFor();
  await operations().getByText("It follows events of the kind “Tasks settle”.").waitFor();
  assert.equal(await operations().getByText("`").count(), 0);
  await screen(rig(), "operations-events");
  // The picture leads to the list.
  await rig().page.locator(".lane .mark").first().click();
  const said = operations().getByRole("list", { name: "What followed" });
  await said
    .getByText(/review (done|refused)|ticks done/)
    .first()
    .waitFor();
  assert.equal(await rig().page.evaluate(() => document.activeElement?.getAttribute("aria-expanded")), "true");
  await operations().getByRole("combobox", { name: "Kind" }).selectOption("check_flip");
  await operations().getByText("Nothing happened in this time.").waitFor();
  await operations().getByRole("combobox", { name: "Kind" }).selectOption("");
});

step("a hook shows its secret once", async () => {
  await tab("Triggers");
  await operations().getByRole("textbox", { name: "Name of the hook" }).fill("ci");
  await button("Add hook").click();
  const secret = await operations().locator(".made code").textContent();
  assert.match(secret, /^[0-9a-f]{64}$/);
  await screen(rig(), "operations-triggers");
  await button("Take it away").click();
  assert.equal(await operations().getByText(secret).count(), 0);
  await row("The browser face does not serve").waitFor();
});

/** Calls a tool as a client outside, with a token of its own. */
async function outside(name, tool, args) {
  const { url } = rig().cli("mcp", "enable");
  const { token } = rig().cli("token", "new", name, "--scope", "operator");
  const revision = "2026-07-28";
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "X-Termic-Token": readFileSync(token.file, "utf8").trim(),
      "Content-Type": "application/json",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": "tools/call",
      "Mcp-Name": tool,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "x",
      method: "tools/call",
      params: {
        name: tool,
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": revision,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const { result } = await answer.json();
  assert.equal(result.isError ?? false, false, JSON.stringify(result));
}

step("the rule of a token that was revoked has stopped, and says why", async () => {
  await outside("ci", "schedule_add", {
    name: "of ci",
    every: "1h",
    do: "task_new",
    into: project(),
    taskName: "by ci",
  });
  await tab("Schedules");
  await row("of ci").getByRole("button", { name: /of ci/ }).click();
  await row("of ci").getByText("acts as ci").waitFor();
  rig().cli("token", "revoke", "ci");
  await row("of ci").getByText("Stopped: The token of client:ci was revoked.").waitFor();
  await row("of ci").getByText("It stopped, and does nothing").waitFor();
  await screen(rig(), "operations-schedule-stopped");
  await button("Switch on").click();
  await row("of ci").getByText("Make the rule again").waitFor();
});

step("rules are changed, switched and deleted by keyboard", async () => {
  const { page } = rig();
  const press = async (name) => {
    await button(name).focus();
    await page.keyboard.press("Enter");
  };
  await tab("Schedules");
  await row("nightly")
    .getByRole("button", { name: /nightly/ })
    .focus();
  await page.keyboard.press("Enter");
  await press("Switch off");
  await row("nightly").getByText("Off:").waitFor({ state: "attached" });
  await press("Switch on");
  await row("nightly").getByText("On:").waitFor({ state: "attached" });
  await press("Change");
  const form = operations().getByRole("form", { name: "Change nightly" });
  await form.getByRole("textbox", { name: "Put off by up to" }).fill("10m");
  await form.getByRole("checkbox", { name: /Make up for missed runs/ }).check();
  await form.getByRole("button", { name: "Save schedule" }).click();
  await row("nightly").getByText("put off by up to 10m, missed runs are made up for by one").waitFor();
  await screen(rig(), "operations-schedules");
  await press("Delete…");
  await page.keyboard.press("Enter"); // the focus is on what deletes
  await row("nightly").waitFor({ state: "detached" });
});
