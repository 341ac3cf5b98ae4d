// The MCP endpoint beside the real window: it has its own threads, so a page that hangs does not hold it up.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Window } from "./driver.mjs";

const revision = "2026-07-28";
const hang = 10_000;
let window;
before(async () => {
  window = await Window.start();
});
after(() => window?.stop());

test("it answers while the page hangs for ten seconds", async () => {
  const cli = (...args) =>
    JSON.parse(execFileSync(process.env.TERMIC_WINDOW, [...args, "--json"], { env: window.env, encoding: "utf8" }));
  const { url, token_file } = cli("mcp", "enable");
  const token = readFileSync(token_file, "utf8").trim();
  let hanging = true;
  const page = window
    .run("const end = Date.now() + arguments[0]; while (Date.now() < end); return document.title", hang)
    .finally(() => {
      hanging = false;
    });
  let answers = 0;
  let slowest = 0;
  while (hanging) {
    const start = performance.now();
    const answer = await fetch(url, {
      method: "POST",
      signal: AbortSignal.timeout(5_000),
      headers: {
        "X-Termic-Token": token,
        "Content-Type": "application/json",
        "MCP-Protocol-Version": revision,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "task_list",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "task_list",
          _meta: {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    assert.equal(answer.status, 200);
    await answer.text();
    slowest = Math.max(slowest, performance.now() - start);
    answers++;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await page;
  assert.ok(answers > 20, `${answers} answers in ten seconds`);
  assert.ok(slowest < 5_000, `the slowest took ${slowest} ms`);
});
