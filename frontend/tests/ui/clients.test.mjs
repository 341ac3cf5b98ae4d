// The part of the settings page that is about clients: registering, verifying, repairing and taking back.

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

/** Stands in for Claude Code: it keeps entries in its file, as the real one does. */
const claude = `#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const file = process.env.HOME + "/.claude.json";
const doc = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
const servers = (doc.mcpServers ??= {});
const [group, act, name, entry] = process.argv.slice(2);
if (group === "--version") console.log("2.1.332 (Claude Code)");
else if (act === "add-json" && servers[name]) {
  console.error("MCP server " + name + " already exists in user config");
  process.exit(1);
} else if (act === "add-json") servers[name] = JSON.parse(entry === "-" ? readFileSync(0, "utf8") : entry);
else if (act === "remove" && !servers[name]) process.exit(1);
else if (act === "remove") delete servers[name];
if (group === "mcp") writeFileSync(file, JSON.stringify(doc, null, 2));
`;
const says = (version) => `#!/bin/sh\necho ${version}\n`;

/** Three lines of a person's, so that a diff shows the whole file. */
const original = '# mine\nmodel = "gpt-5" # and a comment\nweird   =   [ 1,2 ]\n';

const rig = withRig({
  files: {
    ".bash_profile": 'export PATH="$HOME/bin:/usr/bin:/bin"\n',
    "bin/claude": claude,
    "bin/codex": says("codex-cli 0.171.0"),
    "bin/gemini": says("0.61.0"),
    "bin/opencode": says("1.18.33"),
    ".codex/config.toml": original,
    ".claude.json": '{\n  "numStartups": 3\n}\n',
  },
});
const step = story(test);

const config = () => path.join(rig().home, ".codex/config.toml");
const text = () => readFileSync(config(), "utf8");
const page = () => rig().page;
const card = (name) => page().getByRole("region", { name: new RegExp(`^${name}`) });
const button = (name, label) => card(name).getByRole("button", { name: label, exact: true });
const tag = (name, word) => card(name).getByRole("heading", { level: 3 }).getByText(word, { exact: true }).waitFor();
const verified = (name) => card(name).getByText(/^Verified .* as .* would connect$/);

async function lookAgain() {
  await page().getByRole("button", { name: "Look again" }).click();
  await page().locator("button:enabled", { hasText: "Look again" }).waitFor();
}
/** The text that the shown diff says will stand in the file. */
async function shownText(name) {
  const rows = card(name).locator("tr.same .t, tr.added .t");
  return (await rows.allTextContents()).map((line) => `${line}\n`).join("");
}
async function focused(label) {
  const has = () => page().evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  for (let i = 0; i < 100 && (await has()) !== label; i++) await page().waitForTimeout(50);
  assert.equal(await has(), label);
}
async function unregister(name, label = `Unregister ${name}`) {
  await button(name, "Unregister…").click();
  await focused("Keep it");
  await button(name, label).click();
}

step("what is here is listed, each in words; only what is known to connect can be registered", async () => {
  await page().keyboard.press("Control+,");
  await tag("Claude Code", "Not registered");
  await tag("Codex", "Not registered");
  await tag("Gemini CLI", "Cannot connect yet");
  await tag("opencode", "Cannot connect yet");
  await card("Codex").getByText("0.171.0").waitFor();
  await card("Gemini CLI").getByText("Version 0.61.0 is here.").waitFor();
  assert.equal(await card("Gemini CLI").getByRole("button").count(), 0);
  assert.equal(
    await card("opencode")
      .getByRole("button", { name: /egister/ })
      .count(),
    0,
  );
  await page()
    .getByText(/^Not found on this computer: .*Cursor/)
    .waitFor();
});

step("the endpoint is off: the button says so, and one click does both", async () => {
  await card("Codex").getByText("has no address yet").waitFor();
  await button("Codex", "Switch on and register").focus();
  await page().keyboard.press("Enter");
  await tag("Codex", "Registered");
  await verified("Codex").waitFor();
  await card("Codex")
    .getByText(/listed \d+ tools|\d+ tools/)
    .first()
    .waitFor();
  assert.equal(rig().cli("mcp", "status").enabled, true);
  assert.ok(text().startsWith(original));
  assert.match(text(), /\[mcp_servers\.termic\]/);
  await focused("Verify");
});

step("unregistering shows what goes; Esc keeps it, and otherwise the file is as it was", async () => {
  const before = text();
  await button("Codex", "Unregister…").click();
  await card("Codex").getByText("What will be taken out").waitFor();
  await screen(rig(), "client-unregister");
  await focused("Keep it");
  await page().keyboard.press("Escape");
  await card("Codex").getByText("What will be taken out").waitFor({ state: "detached" });
  await focused("Unregister…");
  assert.equal(text(), before);
  await unregister("Codex");
  await tag("Codex", "Not registered");
  assert.equal(text(), original);
  await focused("Register with Codex");
});

step("what is shown is what is written, to the byte", async () => {
  await card("Codex").getByText("What will be written").waitFor();
  await screen(rig(), "client-register");
  await card("Codex")
    .getByText(/lines added, every other byte kept, a copy beside it/)
    .waitFor();
  const shown = await shownText("Codex");
  assert.ok(shown.startsWith(original));
  await button("Codex", "Register with Codex").click();
  await tag("Codex", "Registered");
  assert.equal(text(), shown);
  await card("Codex")
    .getByText(/A copy of the file as it was is beside it/)
    .waitFor();
});

step("Claude Code is registered by its own commands, which are shown", async () => {
  await button("Claude Code", "Show the command").click();
  const commands = await card("Claude Code").getByLabel("Commands").textContent();
  assert.match(commands, /^claude mcp add-json termic '\{.*\}' --scope user$/);
  await button("Claude Code", "Register with Claude Code").click();
  await tag("Claude Code", "Registered");
  await verified("Claude Code").waitFor();
  await screen(rig(), "clients");
  const doc = JSON.parse(readFileSync(path.join(rig().home, ".claude.json"), "utf8"));
  assert.equal(doc.numStartups, 3);
  assert.equal(doc.mcpServers.termic.url, rig().cli("mcp", "status").url);
});

step("a new token changes nothing: it is read when a client connects", async () => {
  rig().cli("mcp", "rotate");
  await button("Codex", "Verify").click();
  await verified("Codex").waitFor();
  await lookAgain();
  await tag("Codex", "Registered");
});

step("a client that cannot connect says why it failed, and is tried again", async () => {
  rig().cli("mcp", "disable");
  await card("Codex").getByText("The endpoint is not serving now.").waitFor();
  await button("Codex", "Verify").click();
  await card("Codex")
    .getByText(/^Not verified/)
    .waitFor();
  await card("Codex").getByText("Failed:").first().waitFor({ state: "attached" });
  rig().cli("mcp", "enable");
  await button("Codex", "Try again").click();
  await verified("Codex").waitFor();
});

const notice = () => page().getByRole("alert").filter({ hasText: "no longer fit" });

step("an address that no longer holds is told of once, and repaired from there", async () => {
  await page().keyboard.press("Escape");
  rig().cli("mcp", "enable", "--new-port");
  await notice()
    .getByText(/The registrations with Claude Code and Codex no longer fit/)
    .waitFor();
  await notice().getByRole("button", { name: "Hide this notice" }).click();
  await notice().waitFor({ state: "detached" });
  await page().reload();
  await page().locator(".win").waitFor();
  assert.equal(await notice().count(), 0);
  rig().cli("mcp", "enable", "--new-port");
  await notice().getByRole("button", { name: "Repair 2 registrations" }).click();
  await notice().waitFor({ state: "detached" });
  const { url } = rig().cli("mcp", "status");
  assert.ok(text().includes(url));
  assert.equal(JSON.parse(readFileSync(path.join(rig().home, ".claude.json"), "utf8")).mcpServers.termic.url, url);
});

step("on the page it is repaired with the change in sight", async () => {
  rig().cli("mcp", "enable", "--new-port");
  await notice().getByRole("button", { name: "Show" }).click();
  await page().getByRole("heading", { name: "Clients" }).waitFor();
  await tag("Codex", "Needs repair");
  await card("Codex")
    .getByText(/The endpoint is at port \d+, the entry says \d+\./)
    .waitFor();
  await card("Codex").getByText("1 line added, 1 removed", { exact: false }).waitFor();
  await button("Codex", "Repair").click();
  await tag("Codex", "Registered");
  await button("Claude Code", "Repair").click();
  await tag("Claude Code", "Registered");
  assert.equal(rig().cli("client", "verify", "codex").ok, true);
});

step("what changed meanwhile is not written over: the new change is shown first", async () => {
  await unregister("Codex");
  await tag("Codex", "Not registered");
  assert.equal(text(), original);
  await card("Codex").getByText("What will be written").waitFor();
  appendFileSync(config(), "late = true\n");
  await button("Codex", "Register with Codex").click();
  await card("Codex")
    .getByRole("alert")
    .getByText(/no longer what was shown/)
    .waitFor();
  assert.equal(text(), `${original}late = true\n`);
  await card("Codex").locator("tr.same").getByText("late = true").waitFor();
  await button("Codex", "Register with Codex").click();
  await tag("Codex", "Registered");
});

step("what a person changed in the entry goes only with their consent", async () => {
  appendFileSync(config(), "startup_timeout_sec = 20\n");
  await lookAgain();
  await card("Codex").getByText("Changed by hand and kept: startup_timeout_sec.").waitFor();
  const edited = text();
  await button("Codex", "Unregister…").click();
  await card("Codex")
    .getByText(/startup_timeout_sec was added or changed by hand/)
    .waitFor();
  assert.equal(await button("Codex", "Unregister Codex").isDisabled(), true);
  await button("Codex", "Keep it").click();
  assert.equal(text(), edited);
  await button("Codex", "Unregister…").click();
  await card("Codex").getByRole("checkbox", { name: "It may go" }).check();
  await button("Codex", "Unregister Codex").click();
  await tag("Codex", "Not registered");
  assert.equal(text(), `${original}late = true\n`);
});

step("somebody else's entry of that name is replaced in sight, and comes back", async () => {
  const foreign = `${original}\n[mcp_servers.termic]\ncommand = "theirs"\n\n[features]\nother = true\n`;
  writeFileSync(config(), foreign);
  await lookAgain();
  await tag("Codex", "Another entry");
  await card("Codex").locator("tr.removed").getByText('command = "theirs"').waitFor();
  await button("Codex", "Replace the entry").click();
  await tag("Codex", "Registered");
  await unregister("Codex");
  await tag("Codex", "Another entry");
  assert.equal(text(), foreign);
});

step(
  "a file that does not parse is named with the place, left alone, and what to put there can be copied",
  async () => {
    const broken = `${original}[broken\n`;
    writeFileSync(config(), broken);
    await lookAgain();
    await tag("Codex", "File cannot be used");
    await card("Codex")
      .getByText(/line 4|:4/i)
      .first()
      .waitFor();
    assert.equal(
      await card("Codex")
        .getByRole("button", { name: /^Register/ })
        .count(),
      0,
    );
    await button("Codex", "Copy instead").click();
    await button("Codex", "Copy").click();
    await button("Codex", "Copied").waitFor();
    assert.match(await page().evaluate(() => navigator.clipboard.readText()), /\[mcp_servers\.termic\]/);
    await page().keyboard.press("Escape");
    await focused("Copy instead");
    assert.equal(text(), broken);
    writeFileSync(config(), original);
    await lookAgain();
    await tag("Codex", "Not registered");
  },
);

step("a client that was never seen to connect gets the block, marked as not tried", async () => {
  await button("opencode", "Copy the block").click();
  await card("opencode").getByText("Not tried").waitFor();
  await button("opencode", "Copy").click();
  await button("opencode", "Copied").waitFor();
  const block = JSON.parse(await page().evaluate(() => navigator.clipboard.readText()));
  assert.equal(block.mcp.termic.url, rig().cli("mcp", "status").url);
});

step("an entry that wins in a project is named", async () => {
  rig().cli("project", "add", rig().repo);
  writeFileSync(path.join(rig().repo, ".mcp.json"), '{"mcpServers":{"termic":{"command":"x"}}}');
  await lookAgain();
  await tag("Claude Code", "Another entry wins");
  await card("Claude Code").getByText(".mcp.json has an entry of the same name", { exact: false }).waitFor();
});

step("quotation marks of prose are refused in a host, and no field asks for them", async () => {
  await page().getByRole("button", { name: "Add host" }).click();
  await page().getByRole("textbox", { name: "Host" }).fill("“api.example.com”");
  await page().keyboard.press("Enter");
  await page().getByText(/curly/).waitFor();
  assert.equal(await page().getByRole("textbox", { name: "Host" }).getAttribute("autocorrect"), "off");
  await page().keyboard.press("Escape"); // takes the field back, not the page
  await page().getByRole("button", { name: "Add host" }).waitFor();
  await page().getByRole("textbox", { name: "Folder" }).fill("~/“tasks”");
  await page().keyboard.press("Enter");
  await page().getByRole("alert").getByText(/curly/).waitFor();
  assert.doesNotMatch(readFileSync(rig().settingsFile, "utf8"), /[“”]/);
});

step("in a narrow window nothing is cut", async () => {
  mkdirSync(path.join(rig().home, ".codex"), { recursive: true });
  for (const width of [800, 1280]) {
    await page().setViewportSize({ width, height: 800 });
    const wide = await page().evaluate(() =>
      [...document.querySelectorAll(".pane, .card, .card *")].flatMap((one) =>
        one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible" && one.clientWidth > 1
          ? [one.className || one.tagName]
          : [],
      ),
    );
    assert.deepEqual(wide, []);
    const longer = () =>
      document.documentElement.scrollHeight > innerHeight || document.body.scrollHeight > innerHeight;
    assert.equal(await page().evaluate(longer), false);
  }
});
