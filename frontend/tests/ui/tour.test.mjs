// A tour of the window: each dialog, page and empty place that no other test looks at, in a profile as a person might have it.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { change, demo, fill, transcript } from "../harbor.mjs";
import { screen, withRig } from "./rig.mjs";

const rig = withRig({
  repoName: "harbor-api",
  head: '[tasks]\nbranch_prefix = "feature"\n',
  settings: demo,
  prepare: (rig) => {
    fill(rig);
    writeFileSync(path.join(rig.dir, "demo.sh"), transcript);
    rig.newRepo("harbor-web");
  },
});
const step = test; // each begins by itself, so that one fault does not hide the next
const dialog = (name) => rig().page.getByRole("dialog", { name });
const closed = () => rig().page.getByRole("dialog").waitFor({ state: "detached" });
const panel = () => rig().page.getByRole("complementary", { name: "Panel" });
const make = (name, project, agent, prompt) =>
  rig().cli("new", name, "--project", project, "--agent", agent, ...(prompt ? ["--prompt", prompt] : [])).task;

/** Runs an act of the palette. */
async function run(words) {
  const { page } = rig();
  await page.keyboard.press("Control+Shift+P");
  await dialog("Command palette").getByRole("combobox").fill(words);
  await page.keyboard.press("Enter");
}

/** Looks at a dialog and cancels it. */
async function look(name, picture) {
  await dialog(name).waitFor();
  await screen(rig(), picture);
  await rig().page.keyboard.press("Escape");
  await closed();
}

step("an empty window teaches what will be where", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByText(/^Nothing was archived yet/).waitFor();
  await screen(rig(), "history-none");
  await page.keyboard.press("Escape");
  for (const id of ["fake", "mute", "demo"]) rig().cli("settings", "set", `agents.${id}.disabled`, "true");
  await page.getByText("none yet").waitFor();
  await page.getByRole("button", { name: "Settings of agents…" }).waitFor();
  await screen(rig(), "no-agents");
  for (const id of ["fake", "mute", "demo"]) rig().cli("settings", "reset", `agents.${id}.disabled`);
  rig().cli("project", "add", rig().repo);
  rig().cli("project", "add", path.join(rig().dir, "harbor-web"));
  await page.getByRole("heading", { name: "Start a task" }).waitFor();
  await page.getByRole("button", { name: /^Start task/ }).waitFor();
  await screen(rig(), "no-tasks");
});

step("the window shows who waits, what one agent does, and what it changed", async () => {
  const { page } = rig();
  make("Migrate to pgx v5", "harbor-api", "mute", "");
  make("Fix flaky webhook retry", "harbor-api", "fake", "Find out why the retry of webhooks fails.\n#ask run make e2e");
  make(
    "Usage page",
    "harbor-web",
    "fake",
    "Add a page that shows what a tenant used.\n#say Added the page and a test.",
  );
  make("Upgrade Vite to 8.3", "harbor-web", "fake", "Upgrade Vite.\n#exit 1");
  const first = make("Rate limits per tenant", "harbor-api", "demo", "Add per-tenant rate limits to the public API.");
  await rig().row("Rate limits").click();
  await rig().seen(/Wiring the limiter/);
  await rig().row("Fix flaky").getByRole("img", { name: "Needs input" }).waitFor();
  change(rig(), first.path);
  await panel().getByRole("button", { name: "Read the changes again" }).click();
  await panel()
    .getByRole("button", { name: /^bucket_test/ })
    .waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await screen(rig(), "main");
});

step("menus and dialogs of a task", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Actions of this task" }).click();
  await screen(rig(), "task-menu");
  await page.keyboard.press("Escape");
  await run("rename task");
  await look("Rename task", "rename");
  await run("stop agents");
  await look(/^Stop /, "stop");
  await page.keyboard.press("Control+Shift+P");
  await dialog("Command palette").getByRole("combobox").fill("xyzzy");
  await look("Command palette", "palette-none");
});

step("dialogs of tabs and panes", async () => {
  const { page } = rig();
  rig().cli("tab", "Rate limits per tenant", "--kind", "terminal");
  rig().cli("tab", "Rate limits per tenant", "--kind", "agent", "--agent", "mute");
  await page.getByRole("tab", { name: "Mute agent" }).waitFor();
  await run("rename tab");
  await look("Rename tab", "rename-tab");
  await run("close the other tabs");
  await look(/^Close \d other tab/, "close-others");
  await page.keyboard.press("Control+Shift+W");
  await look("Close tab", "close-tab");
  await page.keyboard.press("Control+Shift+D");
  await look("Split to the right", "choose-tab");
});

step("the changes, and what is empty in the panel", async () => {
  const { page } = rig();
  await panel().getByRole("button", { name: "Stage all", exact: true }).click();
  await panel().getByRole("button", { name: "Unstage all" }).waitFor();
  await panel().getByRole("textbox", { name: "Commit message" }).fill("Refill buckets from the plan of a tenant");
  await screen(rig(), "commit");
  await panel()
    .getByRole("tab", { name: /Ledger/ })
    .click();
  await panel().getByRole("row").nth(2).waitFor();
  await screen(rig(), "ledger");
  await rig().row("Migrate to pgx").click();
  await panel()
    .getByText(/^Nothing differs from/)
    .waitFor();
  await screen(rig(), "no-changes");
  await panel()
    .getByRole("tab", { name: /Refused/ })
    .click();
  await panel()
    .getByText(/^This task has no cage/)
    .waitFor();
  await screen(rig(), "no-refusals");
  await panel()
    .getByRole("tab", { name: /Changes/ })
    .click();
  await page.keyboard.press("Control+Shift+R");
  await page
    .getByText(/Nothing differs|No changes/)
    .first()
    .waitFor();
  await screen(rig(), "review-none");
  await page.keyboard.press("Escape");
});

step("a review", async () => {
  const { page } = rig();
  await page.keyboard.press("Escape");
  await rig().row("Rate limits").click();
  await page.keyboard.press("Control+Shift+R");
  await page
    .getByRole("article", { name: /bucket\.go/ })
    .locator("tr.added, tr[id^=change]")
    .first()
    .waitFor();
  await page.getByRole("region", { name: "Patch" }).focus();
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await page.keyboard.press("c");
  await page
    .getByRole("region", { name: /^Comment on line/ })
    .getByRole("textbox")
    .fill("If rate is 0 this divides by zero. Return a fixed hour for plans without a rate.");
  await screen(rig(), "review");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Unified").click();
  await page.locator(".patch tr.removed").first().waitFor();
  await screen(rig(), "review-unified");
  await page.keyboard.press("Escape");
});

step("what can be done with a project", async () => {
  await rig().row("Rate limits").click();
  await run("harbor-api: group");
  await look(/^Group of/, "group");
  await run("remove harbor-api");
  await look(/^Remove “harbor-api”/, "remove-project");
});

step("a task in which nothing is open", async () => {
  const { page } = rig();
  await rig().row("Usage page").click();
  await page.keyboard.press("Control+Shift+W");
  await dialog("Close tab")
    .getByRole("button", { name: /^Close/ })
    .last()
    .click();
  await closed();
  await page.getByText(/^Nothing is open in this task/).waitFor();
  await screen(rig(), "no-tabs");
});

step("settings that hold nothing yet, and the library", async () => {
  const { page } = rig();
  await run("settings: prompts");
  await page.getByRole("list", { name: "Prompts of the library" }).waitFor();
  await screen(rig(), "prompts");
  await run("settings: recent calls");
  await page.getByText(/^None yet\. Calls/).waitFor();
  await screen(rig(), "calls-none");
  await run("settings: registration");
  await page.getByText(/^Looked /).waitFor();
  await screen(rig(), "clients-none");
  await page.keyboard.press("Escape");
});

step("the history is searched, kept to a project, and brings back", async () => {
  const { page } = rig();
  for (const name of ["Upgrade Vite to 8.3", "Migrate to pgx v5"]) rig().cli("archive", name, "--yes", "--discard");
  await run("history");
  const rows = page.getByRole("row");
  await page.getByText("2 tasks", { exact: true }).waitFor();
  const search = page.getByRole("searchbox", { name: "Search the history" });
  await search.fill("vite");
  await page.getByText("1 task", { exact: true }).waitFor();
  assert.match(await rows.nth(1).textContent(), /Upgrade Vite/);
  await search.fill("nothing of that kind");
  await page.getByText(/^No archived task fits/).waitFor();
  await screen(rig(), "history-no-match");
  await page.keyboard.press("Escape"); // the search alone
  await page.getByText("2 tasks", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Project" }).selectOption("harbor-api");
  await page.getByText("1 task", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Restore Migrate to pgx v5" }).click();
  await rig().row("Migrate to pgx").waitFor();
});

step("quit says what runs", async () => {
  await run("quit");
  await look("Quit Termic", "quit");
});
