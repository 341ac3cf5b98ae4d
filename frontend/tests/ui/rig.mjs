// A rig runs the real app without its window, with the test bridge, and a browser that shows its page.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { build, dist, Profile } from "../profile.mjs";
import { screens } from "./screens.mjs";

export { story } from "../profile.mjs";

/** The browser, by the names under which distributions install it. */
export function browserPath() {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    for (const dir of (process.env.PATH ?? "").split(":")) {
      if (existsSync(path.join(dir, name))) return path.join(dir, name);
    }
  }
  throw new Error("no Chromium was found: `make setup-test` installs it");
}

const browserArgs = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Rig extends Profile {
  /** Messages of the page's console that are errors: a test fails when one is left. */
  complaints = [];
  log = "";
  killed = false;

  static async start(options = {}) {
    if (!existsSync(path.join(dist, "index.html")))
      throw new Error("frontend/dist is missing: `npm run build` makes it");
    const rig = new Rig(options);
    build({ termic: ["headless,testbridge", ".", "-X main.version=0.1.0"] });
    await rig.serve();
    rig.browser = await chromium.launch({
      executablePath: browserPath(),
      args: [...browserArgs, ...(options.browserArgs ?? ["--disable-gpu"])],
    });
    rig.page = await rig.open(options);
    return rig;
  }

  async serve() {
    this.child = spawn(path.join(this.bin, "termic"), ["serve", "--log-level", "debug"], {
      env: { ...this.env, TERMIC_TEST_BRIDGE: "127.0.0.1:0", TERMIC_TEST_BRIDGE_DIST: dist },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    for await (const line of createInterface({ input: this.child.stdout })) {
      if (line.startsWith("termic: bridge ")) this.url = line.slice("termic: bridge ".length);
      if (line === "termic: ready") return;
    }
    throw new Error(`the app did not start:\n${this.log}`);
  }

  /** Opens the page in a browser context of its own and waits until it is drawn. */
  async open(options = {}) {
    const context = await this.browser.newContext({
      viewport: options.viewport ?? { width: 1280, height: 800 },
      colorScheme: options.colorScheme ?? "dark",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(`${error}`));
    await page.addInitScript(() => {
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) =>
        window.refused.push(`${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    if (options.before) await page.addInitScript(options.before);
    await page.goto(this.url);
    await page.locator(".win").waitFor();
    return page;
  }

  /** Runs a verb of the command line against the running app and returns its JSON. */
  cli(...args) {
    return JSON.parse(
      execFileSync(path.join(this.bin, "termic"), [...args, "--json"], { env: this.env, encoding: "utf8" }),
    );
  }

  /** Adds the repository and makes a task through the command line, for tests that are about something else. */
  async task(name, ...more) {
    if (this.cli("project", "list").projects.length === 0) this.cli("project", "add", this.repo);
    const { task } = this.cli("new", name, "--project", path.basename(this.repo), "--agent", "fake", ...more);
    await this.row(name).waitFor();
    await this.row(name).click();
    await this.page.locator('[data-connection="live"]').waitFor();
    return task;
  }

  row(name) {
    return this.page.locator(".task-row", { hasText: name });
  }

  /** What the shown terminal has on its screen, without trailing blanks. */
  async screen() {
    const rows = await this.page.locator(".xterm-host .xterm-rows > div").allTextContents();
    return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd()).join("\n");
  }

  /** Waits until the shown terminal's screen matches. */
  async seen(pattern, milliseconds = 15_000) {
    const until = Date.now() + milliseconds;
    let screen = "";
    while (Date.now() < until) {
      screen = await this.screen();
      if (pattern.test(screen)) return screen;
      await this.page.waitForTimeout(50);
    }
    throw new Error(`the terminal never showed ${pattern}; it shows:\n${screen.trimEnd()}`);
  }

  /** Opens a plain terminal in the selected task and waits for its prompt. */
  async shell() {
    const { page } = this;
    const before = await page.getByRole("tab").count();
    await page.keyboard.press("Control+Shift+T");
    await page.getByRole("tab").nth(before).waitFor();
    await page.locator("[role=tab][aria-selected=true]", { hasText: "Terminal" }).waitFor();
    await page.locator('[data-connection="live"]').waitFor();
    await page.locator(".xterm-helper-textarea").focus();
    await this.type("PS1='ready> '; clear");
    await this.seen(/^ready>$/m);
  }

  /** Types a line into the focused terminal. */
  async type(line) {
    await this.page.keyboard.type(line);
    await this.page.keyboard.press("Enter");
  }

  /** Ends the browser and the app, and fails if the page complained or the app did not end well. */
  async stop() {
    const refused = this.page ? await this.page.evaluate(() => window.refused).catch(() => []) : [];
    await this.browser?.close();
    this.child.kill("SIGTERM");
    const code = await this.ended;
    this.remove();
    if (this.killed) return; // a test took the app away: what the page and the app said of it was its matter
    const problems = [...this.complaints, ...refused.map((one) => `refused by the content policy: ${one}`)];
    if (code !== 0) problems.push(`the app ended with ${code}:\n${this.log.slice(-3000)}`);
    if (problems.length > 0) throw new Error(problems.join("\n"));
  }
}

const sizes = [
  [1280, 800],
  [1920, 1080],
];
/** The smallest window, and what is seen of the usual one at 200 %. */
const small = [
  [800, 560],
  [640, 400],
];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * A screen that a person sees: it has no serious fault for those who cannot see or point, in either theme, and where
 * TERMIC_PICTURES names a folder, pictures of it are put there, at two sizes.
 */
export async function screen({ page }, name) {
  assert.ok(screens[name], `the screen ${name} is not told in screens.mjs`);
  const dir = process.env.TERMIC_PICTURES;
  const before = page.viewportSize();
  const found = [];
  if (dir) await page.mouse.move(before.width / 2, 4); // nothing is pointed at
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
    for (const [width, height] of dir ? sizes : []) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(250); // panels and terminals settle; there is no event for the last of them
      await page.screenshot({ path: path.join(dir, `${name}-${colorScheme}-${width}.png`) });
    }
    if (dir) await page.setViewportSize(before);
    found.push(...(await faults(page)).map((one) => `${colorScheme}: ${one}`));
  }
  await page.emulateMedia({ colorScheme: "dark" });
  for (const [width, height] of small) {
    await page.setViewportSize({ width, height });
    if (dir) await page.waitForTimeout(250);
    if (dir) await page.screenshot({ path: path.join(dir, `${name}-dark-${width}.png`) });
    // Panes and terminals settle into the new size one after the other; there is no event for the last of them.
    let gone = await page.evaluate(lost);
    for (const end = Date.now() + 5000; gone.length > 0 && Date.now() < end; gone = await page.evaluate(lost))
      await page.waitForTimeout(50);
    found.push(...gone.map((one) => `at ${width} x ${height}: ${one}`));
  }
  await page.setViewportSize(before);
  if (dir) await page.waitForTimeout(250); // the panel comes back
  assert.deepEqual(found, [], `faults of the screen ${name}`);
}

/**
 * The controls that nobody can get at in a window of this size: not in sight, and in nothing that scrolls there. In the page; of an open
 * dialog, those in it alone.
 */
function lost() {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const names = [];
  if (document.documentElement.scrollWidth > innerWidth) names.push("the page is wider than the window");
  for (const one of top.querySelectorAll("button, input, select, textarea, a[href], summary")) {
    if (one.closest(".xterm, .unseen, [popover]:not(:popover-open), fieldset[disabled]") || !one.checkVisibility())
      continue;
    let { left, right, top: up, bottom } = one.getBoundingClientRect();
    let hidden = right - left < 1 || bottom - up < 1;
    for (let at = one.parentElement; at && !hidden; at = at.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(at);
      if (overflowX !== "visible" || overflowY !== "visible") {
        const box = at.getBoundingClientRect();
        const scrolls = (way) => way === "auto" || way === "scroll";
        if (scrolls(overflowX) && at.scrollWidth > at.clientWidth) [left, right] = [box.left, box.right];
        if (scrolls(overflowY) && at.scrollHeight > at.clientHeight) [up, bottom] = [box.top, box.bottom];
        hidden =
          left > box.right - 4 || right < box.left + 4 || up > box.bottom - 4 || bottom < box.top + 4 || box.height < 8;
      }
      if (position === "fixed" || at === top) break;
    }
    if (!hidden) hidden = left > innerWidth - 8 || right < 8 || up > innerHeight - 8 || bottom < 8;
    if (hidden) names.push(one.getAttribute("aria-label") ?? (one.textContent.trim() || one.outerHTML.slice(0, 80)));
  }
  return names;
}

/** What axe finds that is serious or worse. What xterm.js draws is measured on its own: its accessible text is a list beside it. */
export async function faults(page) {
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((one) => one.playState !== "running" || one.effect?.getTiming().iterations === Infinity),
  );
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const result = await window.axe.run(
      { exclude: [".xterm"] },
      { resultTypes: ["violations"], rules: { region: { enabled: false } } },
    );
    return (
      result.violations
        .filter((one) => one.impact === "serious" || one.impact === "critical")
        // A row of the tree that holds other rows is named by its project alone, and not by all that stands in it. A line of a
        // patch has two numbers, and is named by the one that counts.
        .map((one) => ({
          ...one,
          nodes: one.nodes.filter(
            (node) =>
              one.id !== "label-content-name-mismatch" || !/^<(div role="treeitem"|button class="no)/.test(node.html),
          ),
        }))
        .flatMap((one) =>
          one.nodes.map(
            (node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary?.split("\n").slice(1, 2)}`,
          ),
        )
    );
  });
}

/** A rig for the tests of one file. */
export function withRig(options = {}) {
  const held = {};
  before(async () => {
    held.rig = await Rig.start(options);
    await options.prepare?.(held.rig);
  });
  after(async () => {
    await held.rig?.stop();
  });
  return () => held.rig;
}
