// The browser face, in a real browser: a person with a token, and a page of somebody else that tries what pages can.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { build, Profile } from "../profile.mjs";
import { browserPath, screen } from "./rig.mjs";

class WebRig extends Profile {
  log = "";

  async start() {
    build({ "termic-page": ["headless,page", "."] });
    this.program = path.join(this.bin, "termic-page");
    this.child = spawn(this.program, ["serve", "--web-addr", "127.0.0.1:0", "--log-level", "debug"], {
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    for await (const line of createInterface({ input: this.child.stdout })) {
      if (line.startsWith("termic: web ")) this.url = line.slice("termic: web ".length);
      if (line === "termic: ready") break;
    }
    assert.ok(this.url, `it did not start:\n${this.log}`);
    this.port = new URL(this.url).port;
    this.browser = await chromium.launch({
      executablePath: browserPath(),
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--host-resolver-rules=MAP *.example 127.0.0.1"],
    });
    this.context = await this.browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width: 1280, height: 800 },
      colorScheme: "dark",
    });
    this.page = await this.open(this.context);
  }

  complaints = [];

  async open(context) {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000); // the first page of a browser on a busy machine
    page.on("pageerror", (error) => this.complaints.push(`${error}`));
    await page.addInitScript(() => {
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) =>
        window.refused.push(`${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    return page;
  }

  cli(...args) {
    return JSON.parse(execFileSync(this.program, [...args, "--json"], { env: this.env, encoding: "utf8" }));
  }

  token(name, scope) {
    return this.cli("token", "new", name, "--scope", scope, "--web").value;
  }

  async login(page, token) {
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Log out" }).waitFor();
  }

  async stop() {
    await this.browser?.close();
    this.child?.kill("SIGTERM");
    const code = await this.ended;
    this.remove();
    assert.deepEqual(this.complaints, []);
    assert.equal(code, 0, this.log.slice(-3000));
  }
}

const held = new WebRig();
const rig = () => held;
let reader;
let operator;

before(async () => {
  await rig().start();
  rig().cli("project", "add", rig().repo);
  rig().cli(
    "new",
    "Say hello",
    "--project",
    path.basename(rig().repo),
    "--agent",
    "fake",
    "--prompt",
    "#write hello.txt hi\n#say done",
    "--wait",
  );
  reader = rig().token("reader", "readonly");
  operator = rig().token("worker", "operator");
});
after(() => rig().stop());

test("a token logs in, sees what its scope may see, and logs out", async () => {
  const { page } = rig();
  await page.goto(rig().url);
  await page.getByLabel("Token").fill("nonsense");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("This token is not known here").waitFor();
  await screen(rig(), "web-login");
  await rig().login(page, reader);

  const [cookie, ...more] = await rig().context.cookies();
  assert.deepEqual(more, []);
  assert.ok(cookie.name.startsWith("__Host-"), cookie.name);
  assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.path], [true, true, "Strict", "/"]);
  assert.ok(!(await page.content()).includes(reader), "the page keeps no token");

  await page.getByRole("button", { name: "Say hello" }).click();
  await page.getByRole("heading", { name: "Say hello" }).waitFor();
  await page.locator("pre", { hasText: "done" }).waitFor();
  await page.getByRole("heading", { name: "hello.txt" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New task" }).count(), 0, "who reads makes no task");
  assert.equal(await page.getByLabel("Prompt").count(), 0, "who reads sends no prompt");
  await screen(rig(), "web-task");
  await page.getByRole("button", { name: "Jobs" }).click();
  await page.locator("code", { hasText: "task_new" }).first().waitFor();
  await screen(rig(), "web-jobs");
  assert.deepEqual(await page.evaluate(() => window.refused), []);

  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Token").waitFor();
  assert.deepEqual(await rig().context.cookies(), []);
  await page.reload();
  await page.getByLabel("Token").waitFor();
});

test("an operator makes a task and prompts its agent, and the page follows", async () => {
  const { page } = rig();
  await rig().login(page, operator);
  await page.getByRole("button", { name: "New task" }).click();
  await page.getByLabel("Name").fill("From a browser");
  await page.getByLabel("Agent").selectOption("fake");
  await screen(rig(), "web-new");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "From a browser" }).waitFor();
  await page.getByLabel("Prompt").fill("#say a word from afar");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator("pre", { hasText: "a word from afar" }).waitFor({ timeout: 60_000 });
  const job = rig()
    .cli("job", "list")
    .jobs.find((one) => one.verb === "task_send");
  assert.deepEqual([job.principal, job.face], ["client:worker", "web"]);
});

test("a token that is revoked takes its page away, and no other one", async () => {
  const { page } = rig();
  const other = await rig().open(
    await rig().browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } }),
  );
  await other.goto(rig().url);
  await rig().login(other, reader);
  rig().cli("token", "revoke", "worker");
  await page.getByText("The login has ended").waitFor();
  await page.getByLabel("Token").waitFor();
  await other.reload();
  await other.getByRole("button", { name: "Say hello" }).waitFor();
  await other.context().close();
});

/** What a page can try. It reports of each try whether anything could be read. */
const evil = (targets) => `<!doctype html><meta charset="utf-8"><script>
const targets = ${JSON.stringify(targets)};
const seen = {};
const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(() => done("no answer"), 3000))]);
const element = (tag, attributes, key) => within(new Promise((done) => {
  const one = Object.assign(document.createElement(tag), attributes);
  one.onload = () => {
    let text = "";
    try { text = one.contentDocument?.body?.innerText ?? ""; } catch { text = ""; }
    done(tag === "iframe" ? (text ? "read " + text : "refused") : "loaded");
  };
  one.onerror = () => done("refused");
  document.documentElement.append(one);
}));
(async () => {
  for (const to of targets) {
    for (const mode of ["cors", "no-cors"]) for (const path of ["api/v1/task_list", "api/v1/session", ""]) for (const method of ["GET", "POST"])
      seen[to + path + " " + method + " " + mode] = await within(fetch(to + path, { method, mode, credentials: "include", ...(method === "POST" ? { body: "{}" } : {}) })
        .then(async (r) => (r.type === "opaque" ? "opaque" : "read " + (await r.text())), () => "refused"));
    seen[to + " with a key"] = await within(fetch(to + "api/v1/task_rename", { method: "POST", credentials: "include", headers: { "X-Termic-Key": "0", "Content-Type": "application/json" },
      body: '{"task":"Say hello","name":"Stolen"}' }).then((r) => "read " + r.status, () => "refused"));
    for (const tag of ["img", "script", "iframe"]) seen[to + " " + tag] = await element(tag, { src: to + (tag === "img" ? "api/v1/task_list" : "") });
    seen[to + " socket"] = await within(new Promise((done) => {
      const socket = new WebSocket(to.replace("http", "ws") + "api/v1/changes");
      socket.onopen = () => done("open");
      socket.onerror = () => done("refused");
    }));
    seen[to + " events"] = await within(new Promise((done) => {
      const events = new EventSource(to + "api/v1/changes", { withCredentials: true });
      events.onmessage = events.onopen = () => done("open");
      events.onerror = () => (events.close(), done("refused"));
    }));
    navigator.sendBeacon(to + "api/v1/task_rename", '{"task":"Say hello","name":"Stolen"}');
    for (const enctype of ["text/plain", "application/x-www-form-urlencoded"]) {
      const frame = Object.assign(document.createElement("iframe"), { name: "f" + Math.random() });
      document.documentElement.append(frame);
      const form = Object.assign(document.createElement("form"), { action: to + "api/v1/task_rename", method: "POST", enctype, target: frame.name });
      form.append(Object.assign(document.createElement("input"), { name: '{"task":"Say hello","name":"Stolen","x":"', value: '"}' }));
      document.documentElement.append(form);
      form.submit();
    }
  }
  await new Promise((done) => setTimeout(done, 1500));
  window.done = seen;
})();
</script>`;

test("a page of somebody else can neither read nor change anything", async () => {
  const { page } = rig();
  await page.goto(rig().url);
  await rig().login(page, rig().token("victim", "operator"));
  // By its own name, by a name that somebody made lead here, and from another port of the same host, which browsers call the
  // same site, and to which they hand the same cookies.
  const targets = [`${rig().url}/`, `https://rebound.example:${rig().port}/`, `https://localhost:${rig().port}/`];
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(evil(targets)));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  for (const host of ["evil.example", "127.0.0.1", "localhost"]) {
    const attacker = await rig().open(rig().context); // the browser that is logged in
    await attacker.goto(`http://${host}:${server.address().port}/`);
    await attacker.waitForFunction(() => window.done, undefined, { timeout: 120_000 });
    const seen = await attacker.evaluate(() => window.done);
    assert.ok(Object.keys(seen).length >= 3 * 18, `${Object.keys(seen).length} tries`);
    const leaks = Object.entries(seen).filter(([, what]) => !["refused", "opaque", "no answer"].includes(what));
    assert.deepEqual(leaks, [], `from ${host}`);
    await attacker.close();
  }
  server.close();
  // By a rebound name the page itself is refused, so that no script of it runs under that name.
  const rebound = await rig().open(rig().context);
  await assert.rejects(rebound.goto(`https://rebound.example:${rig().port}/`), /ERR_HTTP_RESPONSE_CODE_FAILURE/);
  await rebound.close();
  const rows = rig().cli("ledger", "--limit", "200").rows;
  assert.deepEqual(
    rig()
      .cli("list")
      .tasks.map((task) => task.name)
      .sort(),
    ["From a browser", "Say hello"],
  );
  assert.ok(rows.length > 0);
  assert.deepEqual(
    rows.filter((row) => row.verb === "task_rename"),
    [],
    "nothing came as far as a verb",
  );
  // The person's own page goes on.
  await page.reload();
  await page.getByRole("button", { name: "Say hello" }).waitFor();
});
