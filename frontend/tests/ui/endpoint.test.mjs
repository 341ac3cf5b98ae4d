// The part of the settings page that is about the MCP endpoint.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig({});
const step = story(test);

const endpoint = () => rig().page.getByRole("group", { name: "MCP endpoint" });
const toggle = () => rig().page.getByRole("switch", { name: /Serve MCP on this computer/ });
const status = () => rig().cli("mcp", "status");
const data = (name) => path.join(path.dirname(rig().settingsFile), name);

/** Sends a call as a client does, with the token of the file. */
async function ask(tool) {
  const revision = "2026-07-28";
  const { url, token_file } = status();
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "X-Termic-Token": readFileSync(token_file, "utf8").trim(),
      "Content-Type": "application/json",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": "tools/call",
      "Mcp-Name": tool,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: tool,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": revision,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  return answer.status;
}

step("it is off at first", async () => {
  await rig().page.keyboard.press("Control+,");
  await endpoint().getByText("Off; nothing listens").waitFor();
  assert.equal(await toggle().isChecked(), false);
  assert.equal(existsSync(data("mcp-token")), false);
});

step("the switch binds it at once and shows its address, by keyboard alone", async () => {
  await toggle().focus();
  await rig().page.keyboard.press("Space");
  await endpoint().getByText("Serving", { exact: true }).waitFor();
  const { url } = status();
  await endpoint().getByText(url).waitFor();
  await rig()
    .page.getByText(`127.0.0.1:${new URL(url).port}`, { exact: true })
    .waitFor();
  assert.match(readFileSync(rig().settingsFile, "utf8"), /enabled = true/);
});

step("the address is copied, and no token is on the page", async () => {
  const { page } = rig();
  await page.getByRole("button", { name: "Copy the address" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), status().url);
  const token = readFileSync(data("mcp-token"), "utf8").trim();
  assert.equal((await page.content()).includes(token), false);
});

step("calls are listed with their outcome, never their contents", async () => {
  const { page } = rig();
  assert.equal(await ask("task_list"), 200);
  assert.equal(await ask("task_archive"), 200);
  const look = page.getByRole("button", { name: "Look for new calls" });
  const table = page.getByRole("table", { name: "Recent calls" });
  for (let i = 0; i < 100 && (await table.getByRole("row").count()) < 3; i++) {
    await look.click(); // rows of the ledger are grouped, and nobody tells of them
    await page.waitForTimeout(50);
  }
  await table.getByRole("row", { name: /full token task_list Done/ }).waitFor();
  await table.getByRole("row", { name: /full token task_archive Refused invalid argument/ }).waitFor();
  await screen(rig(), "endpoint");
});

step("a new token replaces the old one", async () => {
  const token = () => {
    try {
      return readFileSync(data("mcp-token"), "utf8");
    } catch {
      return ""; // the old one is taken away before the new one is written
    }
  };
  const before = token();
  await endpoint().getByRole("button", { name: "Replace token" }).click();
  for (let i = 0; i < 100 && ["", before].includes(token()); i++) await rig().page.waitForTimeout(50);
  assert.ok(!["", before].includes(token()));
  assert.equal(await ask("task_list"), 200);
});

step("another port is asked about first", async () => {
  const before = status().url;
  await endpoint().getByRole("button", { name: "Change port…" }).click();
  await endpoint().getByText("must be set up again").waitFor();
  await endpoint().getByRole("button", { name: "Keep it" }).click();
  assert.equal(status().url, before);
  await endpoint().getByRole("button", { name: "Change port…" }).click();
  await endpoint().getByRole("button", { name: "Use a new port" }).click();
  await endpoint().getByText(before).waitFor({ state: "detached" });
  assert.notEqual(status().url, before);
});

step("a taken port is said first, with the ways out; the switch stays on", async () => {
  const { page } = rig();
  const { port } = status();
  await toggle().click();
  await endpoint().getByText("Off; nothing listens").waitFor();
  const thief = createServer();
  await new Promise((resolve) => thief.listen(port, "127.0.0.1", resolve));
  await toggle().click();
  await page
    .getByRole("alert")
    .filter({ hasText: `Port ${port} is taken` })
    .waitFor();
  await endpoint().getByText("Not serving").waitFor();
  assert.equal(await toggle().isChecked(), true);
  assert.equal(existsSync(data("mcp-token")), false);
  await page.getByText("MCP not serving").waitFor();
  await screen(rig(), "endpoint-port-taken");
  await page.getByRole("button", { name: "Try again" }).click();
  await page
    .getByRole("alert")
    .filter({ hasText: `Port ${port} is taken` })
    .waitFor();
  await page.locator("button:enabled", { hasText: "Try again" }).waitFor(); // the attempt has ended
  await new Promise((resolve) => thief.close(resolve));
  await page.getByRole("button", { name: "Try again" }).click();
  await endpoint().getByText("Serving", { exact: true }).waitFor();
  assert.equal(status().port, port);
  await page.getByRole("alert").waitFor({ state: "detached" });
});

step("what another hand does is shown too", async () => {
  rig().cli("mcp", "disable");
  await endpoint().getByText("Off; nothing listens").waitFor();
  assert.equal(await toggle().isChecked(), false);
});
