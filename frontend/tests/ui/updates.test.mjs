// News of releases: nothing is asked until the person wants it, what is signed is told, and what is not is told of as that.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { after, test } from "node:test";
import { screen, story, withRig } from "./rig.mjs";

const rig = withRig();
const step = story(test);

/** What is served, by path, and which paths were asked for. */
const files = new Map();
const asked = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  response.statusCode = files.has(request.url) ? 200 : 404;
  response.end(files.get(request.url));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const address = `http://127.0.0.1:${server.address().port}/latest.json`;

/** Signs a feed with a throw-away key, as `make release` does, and serves it; returns the public key. */
function publish(version) {
  const key = path.join(rig().dir, "key");
  const feed = path.join(rig().dir, "latest.json");
  const run = (...args) => execFileSync("ssh-keygen", ["-q", ...args], { stdio: "ignore" });
  if (!files.size) run("-t", "ed25519", "-N", "", "-C", "", "-f", key);
  const day = 24 * 3600 * 1000;
  const time = (ms) => new Date(ms).toISOString().replace(/\.\d+Z/, "Z");
  writeFileSync(
    feed,
    JSON.stringify({
      format: 1,
      version,
      made: time(Date.now()),
      until: time(Date.now() + 100 * day),
      page: "https://example.com/termic",
    }),
  );
  rmSync(`${feed}.sig`, { force: true });
  run("-Y", "sign", "-f", key, "-n", "termic-feed", feed);
  files.set("/latest.json", readFileSync(feed));
  files.set("/latest.json.sig", readFileSync(`${feed}.sig`));
  return readFileSync(`${key}.pub`, "utf8").trim();
}

const box = () => rig().page.locator("#settings-updates").locator("xpath=../following-sibling::div[1]");
const ask = () => box().getByRole("button", { name: "Ask now" });

step("it is off, and says what it would do", async () => {
  const { page } = rig();
  await page.keyboard.press("Control+,");
  assert.equal(await box().getByRole("checkbox").isChecked(), false);
  await box().getByText("This build names no address to ask").waitFor();
  assert.equal(await ask().count(), 0);
  const key = publish("0.2.0");
  await page.getByRole("textbox", { name: "Address", exact: true }).fill(address);
  await page.keyboard.press("Enter");
  await box().getByText(`Asks ${address}`).waitFor();
  await page.getByRole("textbox", { name: "Signed by" }).fill(key);
  await page.keyboard.press("Enter");
  for (let i = 0; i < 100 && !readFileSync(rig().settingsFile, "utf8").includes(key); i++)
    await page.waitForTimeout(50);
  assert.deepEqual(asked, []);
});

step("switched on, it asks and tells, also in the status bar", async () => {
  const { page } = rig();
  await box().getByRole("checkbox").check();
  await box().getByText("Termic 0.2.0 is out. This is 0.1.0.").waitFor();
  await box().getByRole("button", { name: "What is new" }).waitFor();
  assert.deepEqual(asked, ["/latest.json", "/latest.json.sig"]);
  await box().scrollIntoViewIfNeeded();
  await screen(rig(), "updates");
  await page.keyboard.press("Escape");
  await page.getByRole("contentinfo", { name: "Status" }).getByRole("button", { name: "Termic 0.2.0 is out" }).click();
  await page.waitForFunction(() => document.activeElement?.id === "settings-updates");
});

step("a feed that somebody changed is told of, and what was known stays", async () => {
  files.set("/latest.json", Buffer.from('{"format":1,"version":"6.6.6"}'));
  await ask().click();
  await box()
    .getByText(/is not signed by the key of the project/)
    .waitFor();
  await box().getByText("Termic 0.2.0 is out. This is 0.1.0.").waitFor();
});

step("the newest release is told as that, and switched off nothing is", async () => {
  const { page } = rig();
  publish("0.1.0");
  await ask().click();
  await box()
    .getByText(/^This is the newest release, as of/)
    .waitFor();
  await page.getByRole("contentinfo", { name: "Status" }).getByText("Termic 0.1.0", { exact: true }).waitFor();
  publish("0.3.0");
  await box().getByRole("checkbox").uncheck();
  await box().getByText("This is Termic 0.1.0.").waitFor();
  assert.equal(await ask().count(), 0);
});
