// A rig runs the real app without its window, in a profile and a home of its own, with the test bridge, a real git
// repository and the fake agent in place of a real one; and a browser that shows the page.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const dist = path.join(root, "frontend/dist");

/** The programs under test, built once for a run of the tests. */
let built;
function programs() {
  if (built) return built;
  if (!existsSync(path.join(dist, "index.html")))
    throw new Error("frontend/dist is missing: run `npm run build` first");
  const dir = process.env.TERMIC_UI_PROGRAMS ?? mkdtempSync(path.join(tmpdir(), "termic-ui-bin-"));
  const env = { ...process.env, CGO_ENABLED: "0" };
  const go = (...args) => execFileSync("go", args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  go("build", "-tags", "headless,testbridge", "-o", path.join(dir, "termic"), ".");
  go("build", "-tags", "headless", "-o", path.join(dir, "fakeagent"), "./internal/fakeagent");
  built = {
    app: path.join(dir, "termic"),
    agent: path.join(dir, "fakeagent"),
    temporary: !process.env.TERMIC_UI_PROGRAMS,
    dir,
  };
  return built;
}

process.on("exit", () => {
  if (built?.temporary) rmSync(built.dir, { recursive: true, force: true });
});

/** The browser, by the names under which distributions install it. */
function browserPath() {
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

export class Rig {
  /** Messages of the page's console that are errors: a test fails when one is left. */
  complaints = [];

  static async start(options = {}) {
    const rig = new Rig();
    rig.dir = mkdtempSync(path.join(tmpdir(), "termic-ui-"));
    rig.home = path.join(rig.dir, "home");
    rig.data = path.join(rig.dir, "data");
    mkdirSync(rig.home);
    mkdirSync(rig.data, { mode: 0o700 });
    chmodSync(rig.data, 0o700);
    rig.repo = rig.newRepo(options.repoName ?? "repo");
    rig.writeSettings(options.settings ?? "");
    await rig.serve();
    rig.browser = await chromium.launch({
      executablePath: browserPath(),
      args: [...browserArgs, ...(options.browserArgs ?? ["--disable-gpu"])],
    });
    rig.page = await rig.open(options);
    return rig;
  }

  get env() {
    const { PATH, LANG } = process.env;
    return {
      PATH,
      LANG: LANG ?? "C.UTF-8",
      HOME: this.home,
      SHELL: "/bin/bash",
      TERM: "dumb",
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_DATA_HOME: path.join(this.home, ".local/share"),
      GIT_CONFIG_GLOBAL: path.join(this.home, "gitconfig"),
      GIT_CONFIG_SYSTEM: "/dev/null",
    };
  }

  git(dir, ...args) {
    return execFileSync("git", ["-C", dir, ...args], { env: this.env, encoding: "utf8" });
  }

  newRepo(name) {
    const dir = path.join(this.dir, name);
    mkdirSync(dir);
    const config = path.join(this.home, "gitconfig");
    if (!existsSync(config)) {
      writeFileSync(config, "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n");
    }
    this.git(dir, "init", "-q");
    writeFileSync(path.join(dir, "README.md"), "# A repository\n\nSome words.\n");
    writeFileSync(path.join(dir, "main.go"), 'package main\n\nfunc main() {\n\tprintln("hello")\n}\n');
    this.git(dir, "add", ".");
    this.git(dir, "commit", "-q", "-m", "Begin");
    return dir;
  }

  writeSettings(more) {
    const { agent } = programs();
    const one = (id, name, manner) =>
      `[[agents]]\nid = "${id}"\nname = "${name}"\ncommand = "${agent}"\nargs = ["--manner", "${manner}"]\n` +
      `session_id_args = ["--session-id", "{UUID}"]\nresume_id_args = ["--resume", "{UUID}"]\n` +
      `env = { FAKEAGENT_LOG = "${this.dir}/${id}.jsonl", FAKEAGENT_HOME = "${this.home}/${id}" }\n`;
    const settings = `[terminal]\nfont_size = 13\n\n${one("fake", "Fake agent", "osc7501")}\n${one("mute", "Mute agent", "silent")}\n${more}`;
    writeFileSync(this.settingsFile, settings);
  }

  get settingsFile() {
    return path.join(this.data, "settings.toml");
  }

  async serve() {
    this.child = spawn(programs().app, ["serve", "--log-level", "debug"], {
      env: {
        ...this.env,
        TERMIC_DATA_DIR: this.data,
        TERMIC_TEST_BRIDGE: "127.0.0.1:0",
        TERMIC_TEST_BRIDGE_DIST: dist,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.log = "";
    this.child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    const lines = createInterface({ input: this.child.stdout });
    for await (const line of lines) {
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
    page.setDefaultTimeout(10_000);
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(`${error}`));
    await page.addInitScript((script) => {
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) =>
        window.refused.push(`${event.violatedDirective} ${event.blockedURI}`),
      );
      if (script) new Function(script)();
    }, options.before ?? "");
    await page.goto(this.url);
    await page.locator(".win").waitFor();
    return page;
  }

  /** Runs a verb of the command line against the running app and returns its JSON. */
  cli(...args) {
    const env = { ...this.env, TERMIC_DATA_DIR: this.data };
    return JSON.parse(execFileSync(programs().app, [...args, "--json"], { env, encoding: "utf8" }));
  }

  /** The prompts that an agent was given, in order. */
  received(id = "fake") {
    const file = path.join(this.dir, `${id}.jsonl`);
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .filter((record) => record.n)
      .map((record) => Buffer.from(record.prompt, "base64").toString());
  }

  /** Adds the repository and makes a task through the command line, for tests that are about something else. */
  async task(name, ...more) {
    if (this.cli("project", "list").projects.length === 0) this.cli("project", "add", this.repo);
    const { task } = this.cli("new", name, "--project", path.basename(this.repo), "--agent", "fake", ...more);
    this.cli("wait", task.id, "--timeout", "30s");
    await this.page.getByRole("treeitem", { name: new RegExp(`^${literally(name)}`) }).waitFor();
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
    throw new Error(`the terminal never showed ${pattern}; it shows:\n${screen}`);
  }

  /** Opens a plain terminal in the selected task and waits for its prompt. */
  async shell() {
    const before = await this.page.getByRole("tab").count();
    await this.page.keyboard.press("Control+Shift+T");
    await this.page.getByRole("tab").nth(before).waitFor();
    await this.page.locator('[data-connection="live"]').waitFor();
    await this.page.locator(".xterm-helper-textarea").focus();
    await this.page.keyboard.type("PS1='ready> '; clear\n");
    await this.seen(/^ready> /m);
  }

  /** Ends the browser and the app, and fails if the page complained or the app did not end well. */
  async stop() {
    const refused = this.page ? await this.page.evaluate(() => window.refused).catch(() => []) : [];
    await this.browser?.close();
    this.child.kill("SIGTERM");
    const code = await this.ended;
    rmSync(this.dir, { recursive: true, force: true });
    const problems = [...this.complaints, ...refused.map((one) => `refused by the content policy: ${one}`)];
    if (code !== 0) problems.push(`the app ended with ${code}:\n${this.log.slice(-3000)}`);
    if (problems.length > 0) throw new Error(problems.join("\n"));
  }
}

function literally(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A rig for the tests of one file. */
export function withRig(options = {}) {
  const held = {};
  before(async () => {
    held.rig = await Rig.start(options);
  });
  after(async () => {
    await held.rig?.stop();
  });
  return () => held.rig;
}

/** Tests of one story: each goes on where the one before ended, so that after a failure the rest cannot be told. */
export function story(test) {
  let broken = "";
  return (name, run) =>
    test(name, async () => {
      if (broken) throw new Error(`not tried, since this failed: ${broken}`);
      try {
        await run();
      } catch (error) {
        broken = name;
        throw error;
      }
    });
}
