// The page Activity, and the tokens of the settings: who asked for what, and who may.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({});
const step = story(test);
const activity = () => rig().page.getByRole("main", { name: "Activity" });
const open = () => rig().page.getByRole("button", { name: "Activity", exact: true }).click();
const tokens = () => rig().page.getByRole("list", { name: "Named tokens" });

/** Calls a tool as a client does, and returns what it gives. */
async function callTool(url, token, name, args) {
  const revision = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": "tools/call",
      "Mcp-Name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args, _meta: meta },
    }),
  });
  return (await answer.json()).result.structuredContent;
}

step("before anything was asked for, the page says what it will list", async () => {
  await open();
  await activity().getByText("Nothing was asked for yet.").waitFor();
  await screen(rig(), "activity-jobs-none");
});

step("each change is a job, with who asked, about what, and its steps", async () => {
  await rig().task("first");
  await open();
  const row = activity().getByRole("row", { name: /task_new/ });
  await row.getByText("You, on the command line").waitFor();
  await row.getByText("first").waitFor();
  await row.getByText("Done").waitFor();
  await row.getByRole("button", { name: /task_new/ }).click();
  await activity().getByRole("list", { name: "Steps" }).getByText("asked by owner via cli").waitFor();
  await screen(rig(), "activity-jobs");
  await activity().getByRole("combobox", { name: "State" }).selectOption("failed");
  await activity().getByText("No job is in this state.").waitFor();
});

step("the ledger is looked through by who, verb and outcome, and written into a file without values", async () => {
  const { page } = rig();
  await activity().getByRole("tab", { name: "Jobs" }).focus();
  await page.keyboard.press("ArrowRight");
  await activity().getByRole("textbox", { name: "Verb" }).fill("task_new");
  const rows = activity().getByRole("row");
  await rows.nth(2).waitFor();
  for (let i = 0; i < 100 && (await rows.count()) !== 3; i++) await page.waitForTimeout(50);
  assert.equal(await rows.count(), 3, "its head, and asked and done of one call");
  await activity().getByRole("button", { name: "Export…" }).click();
  const file = path.join(path.dirname(rig().settingsFile), "export.jsonl");
  await activity()
    .getByRole("textbox", { name: /New file/ })
    .fill(file);
  await activity().getByRole("button", { name: "Write file" }).click();
  await activity().getByText("2 rows in").waitFor();
  await screen(rig(), "activity-ledger");
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map((line) => line.verb),
    ["task_new", "task_new"],
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(file, "utf8").includes("first"), "a value is in the export");
  await activity().getByRole("button", { name: "Write file" }).click();
  await activity().getByText("is there already").waitFor();
});

step("a named token is made, changed and revoked, and its value is not on the page", async () => {
  const { page } = rig();
  rig().cli("mcp", "enable");
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "New named token…" }).click();
  await tokens().getByRole("textbox", { name: /Name/ }).fill("ci");
  await tokens()
    .getByRole("radio", { name: /^Operator/ })
    .check();
  await tokens().getByRole("radio", { name: "Only these" }).check();
  assert.equal(await tokens().getByRole("button", { name: "Make token" }).isDisabled(), true, "it would reach nothing");
  await tokens().getByRole("checkbox").first().check();
  await tokens().getByRole("button", { name: "Make token" }).scrollIntoViewIfNeeded();
  await screen(rig(), "tokens");
  await tokens().getByRole("button", { name: "Make token" }).click();
  await tokens().getByText("Operator").waitFor();
  const [made] = rig().cli("token", "list").tokens;
  assert.equal(made.scope, "operator");
  assert.equal(made.all_projects, false);
  assert.ok(!(await page.content()).includes(readFileSync(made.file, "utf8").trim()), "its value is on the page");

  await tokens().getByRole("button", { name: "Change ci" }).click();
  await tokens()
    .getByRole("radio", { name: /^Read only/ })
    .check();
  await tokens().getByRole("button", { name: "Save token" }).click();
  await tokens().getByText("Read only").waitFor();
  assert.equal(rig().cli("token", "list").tokens[0].scope, "readonly");

  await tokens().getByRole("button", { name: "Revoke ci…" }).click();
  await tokens().getByRole("button", { name: "Revoke ci", exact: true }).click();
  await tokens().getByText("None yet.").waitFor();
  assert.equal(existsSync(made.file), false);
});

step("a token for a browser is shown once", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "New named token…" }).click();
  await tokens().getByRole("textbox", { name: /Name/ }).fill("phone");
  await tokens()
    .getByRole("radio", { name: /^A browser/ })
    .check();
  await tokens().getByRole("button", { name: "Make token" }).click();
  await page.getByText("This is the only time").waitFor();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  const value = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(value, /^\S{40,}$/);
  await page.getByRole("button", { name: "Hide it" }).click();
  await tokens().getByText("termic serve --web-addr").waitFor();
  assert.ok(!(await page.content()).includes(value), "its value is on the page for good");
  assert.equal(rig().cli("token", "list").tokens[0].face, "web");
});

step("what an operator asks for and would destroy waits for the person, who sees what it would do", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  await open();
  await activity()
    .getByRole("tab", { name: /^Approvals/ })
    .click();
  await activity().getByText("Nothing waits for you.").waitFor();
  await screen(rig(), "activity-approvals-none");
  const { token } = rig().cli("token", "new", "ci", "--scope", "operator");
  const task = rig().cli("list").tasks[0];
  const ask = (tool, args) => callTool(token.url, readFileSync(token.file, "utf8").trim(), tool, args);
  const raised = await ask("task_archive", { task: task.id, deleteBranch: true });
  assert.ok(raised.approval?.id, JSON.stringify(raised));
  await page.getByRole("button", { name: "1 approval waiting" }).waitFor();
  const card = activity().getByRole("listitem", { name: /task_archive of .*first/ });
  await card.getByText("ci, over MCP").waitFor();
  await card.getByText(/Removes the worktree of first/).waitFor();
  await screen(rig(), "activity-approvals");
  assert.equal(rig().cli("list").tasks.length, 1, "it was done before anybody decided");

  await card.getByRole("button", { name: "Deny…" }).click();
  await card.getByRole("textbox", { name: "Why" }).fill("not yet");
  await page.keyboard.press("Enter");
  await activity().getByText("Nothing waits for you.").waitFor();
  assert.equal(rig().cli("list").tasks.length, 1, "a denied call was done");

  assert.ok((await ask("task_archive", { task: task.id, discard: true })).approval?.id);
  await card.getByRole("button", { name: "Approve and archive" }).click();
  await activity().getByText("Nothing waits for you.").waitFor();
  for (let i = 0; i < 200 && rig().cli("list").tasks.length > 0; i++) await page.waitForTimeout(50);
  assert.equal(rig().cli("list").tasks.length, 0, "what was approved was not done");
  await activity().getByRole("combobox", { name: "Which approvals" }).selectOption("all");
  await activity()
    .getByText(/denied by You/)
    .waitFor();
  await activity().getByText("“not yet”").waitFor();

  // A job and its approval lead to each other, by keyboard; what waits is an entry of the palette.
  const denied = activity().getByRole("listitem").filter({ hasText: "not yet" });
  await denied.getByRole("button", { name: "Its job" }).focus();
  await page.keyboard.press("Enter");
  await activity().getByRole("list", { name: "Steps" }).getByText("asked by client:ci via mcp").waitFor();
  await activity().getByRole("button", { name: "Its approval" }).focus();
  await page.keyboard.press("Enter");
  await denied.waitFor();
  assert.equal(await activity().getByRole("combobox", { name: "Which approvals" }).inputValue(), "all");
  const other = await rig().task("second");
  assert.ok((await ask("task_archive", { task: other.id })).approval?.id);
  await page.getByRole("button", { name: "1 approval waiting" }).waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("Decide 1 approval");
  await page.keyboard.press("Enter");
  await activity()
    .getByRole("listitem", { name: /task_archive of .*second/ })
    .waitFor();
});

step("what waits is gone through and decided by keys alone", async () => {
  const { page } = rig();
  const [task] = rig().cli("list").tasks;
  const second = activity().getByRole("listitem", { name: /task_archive of .*second/ });
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label")?.startsWith("task_archive of"));
  await page.keyboard.press("Control+Backspace");
  await second.getByRole("textbox", { name: "Why" }).waitFor();
  await page.keyboard.press("Escape");
  await second.getByRole("button", { name: "Approve and archive" }).waitFor();
  assert.equal(rig().cli("list").tasks[0]?.id, task.id, "a key decided that only asks");
  await page.keyboard.press("Control+Enter");
  for (let i = 0; i < 200 && rig().cli("list").tasks.length > 0; i++) await page.waitForTimeout(50);
  assert.equal(rig().cli("list").tasks.length, 0, "what was approved by keys was not done");
});
