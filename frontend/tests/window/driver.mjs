// Drives the real window through WebKitWebDriver, by its HTTP protocol. The window is a build with the tag e2e.

import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { Profile } from "../profile.mjs";

/** Longest wait for one answer of the driver, in milliseconds: it has been seen to hang. */
const patience = 20_000;
const elementKey = "element-6066-11e4-a52e-4f735466cecf";

export class Window extends Profile {
  log = "";

  static async start(options = {}) {
    const { TERMIC_WINDOW, TERMIC_WEBDRIVER, DISPLAY } = process.env;
    if (!TERMIC_WINDOW || !TERMIC_WEBDRIVER || !DISPLAY) {
      throw new Error("these tests need a built window and a display: run `make test-window`");
    }
    const window = new Window(options);
    try {
      await options.before?.(window);
    } catch (cause) {
      await window.stop().catch(() => {}); // or what it started would keep the run from ending
      throw cause;
    }
    const port = await freePort();
    window.base = `http://127.0.0.1:${port}`;
    const { WEBKIT_DISABLE_DMABUF_RENDERER } = process.env;
    window.driver = spawn(TERMIC_WEBDRIVER, [`--port=${port}`, "--host=127.0.0.1"], {
      env: { ...window.env, DISPLAY, WEBKIT_DISABLE_DMABUF_RENDERER, XDG_RUNTIME_DIR: window.dir, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [window.driver.stdout, window.driver.stderr]) {
      stream.on("data", (chunk) => {
        window.log += chunk;
      });
    }
    await window.until(async () => (await window.ask("GET", "/status")).ready, "the driver to be ready");
    await window.launch(options.args);
    return window;
  }

  /** Starts the program in a session of its own, and waits for its page. */
  async launch(args = []) {
    const made = await this.ask("POST", "/session", {
      capabilities: {
        alwaysMatch: { "webkitgtk:browserOptions": { binary: process.env.TERMIC_WINDOW, args } },
      },
    });
    this.session = `/session/${made.sessionId}`;
    await this.drawn();
  }

  drawn() {
    return this.until(() => this.run("return document.querySelector('.win') !== null"), "the page to be drawn");
  }

  /** Waits until the program has ended by itself, and starts it again. */
  async relaunch(args) {
    await this.until(() => !this.pid(), "the program to end");
    await this.ask("DELETE", this.session).catch(() => {});
    await this.launch(args);
  }

  /** The process of the window, as long as it runs. */
  pid() {
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const words = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
        const ours = readFileSync(`/proc/${id}/environ`, "utf8").includes(`TERMIC_DATA_DIR=${this.data}\0`);
        if (
          ours &&
          words[0] === process.env.TERMIC_WINDOW &&
          words[1] !== "serve" &&
          !/Z \(/.test(readFileSync(`/proc/${id}/status`, "utf8"))
        )
          return Number(id);
      } catch {
        // it has ended meanwhile
      }
    }
    return 0;
  }

  /** Runs the app on the profile without a window, and waits until it answers. */
  async serve() {
    const child = spawn(process.env.TERMIC_WINDOW, ["serve"], { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.served = { child, ended: new Promise((resolve) => child.once("exit", resolve)) };
    child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    await new Promise((resolve, reject) => {
      child.stdout.on("data", (chunk) => `${chunk}`.includes("termic: ready") && resolve());
      child.once("exit", () => reject(new Error(`serve did not start:\n${this.log}`)));
    });
  }

  /** Ends what serve() started, and returns its exit code. */
  async endServe() {
    this.served.child.kill("SIGTERM");
    return this.served.ended;
  }

  async ask(method, path, body) {
    const response = await fetch(this.base + path, {
      method,
      signal: AbortSignal.timeout(patience),
      ...(body ? { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : {}),
    });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  /** Tries until what is asked is true. */
  async until(ask, what, milliseconds = 20_000) {
    const end = Date.now() + milliseconds;
    let last = "";
    while (Date.now() < end) {
      try {
        const answer = await ask();
        if (answer) return answer;
      } catch (error) {
        last = `${error.message}`;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`waited in vain for ${what} ${last}\n${this.log.slice(-2000)}`);
  }

  /** Runs a script in the page. */
  run(script, ...args) {
    return this.ask("POST", `${this.session}/execute/sync`, { script, args });
  }

  /** The first element that matches, once it is there. */
  async find(selector) {
    const found = await this.until(
      () => this.ask("POST", `${this.session}/element`, { using: "css selector", value: selector }),
      selector,
    );
    return found[elementKey];
  }

  /** The first button whose words begin so. */
  async button(words, within = "body") {
    const script = `return [...document.querySelectorAll(arguments[1] + " button")].find((one) =>
      one.checkVisibility() && !one.disabled && (one.textContent.trim().startsWith(arguments[0]) || one.ariaLabel === arguments[0])) ?? null`;
    const found = await this.until(() => this.run(script, words, within), `the button ${words}`);
    return found[elementKey];
  }

  async click(element) {
    await this.ask("POST", `${this.session}/element/${element}/click`, {});
  }

  async type(element, text) {
    await this.ask("POST", `${this.session}/element/${element}/value`, { text: text.replaceAll("\n", "\ue007") });
  }

  /** Presses keys together, the last one last: names of WebDriver or characters. */
  async press(...keys) {
    const named = {
      Control: "\ue009",
      Shift: "\ue008",
      Alt: "\ue00a",
      Enter: "\ue007",
      Escape: "\ue00c",
      Tab: "\ue004",
      F6: "\ue036",
      PageUp: "\ue00e",
    };
    const values = keys.map((key) => named[key] ?? key);
    const actions = [
      ...values.map((value) => ({ type: "keyDown", value })),
      ...values.reverse().map((value) => ({ type: "keyUp", value })),
    ];
    await this.ask("POST", `${this.session}/actions`, { actions: [{ type: "key", id: "keys", actions }] });
  }

  /** Types text at whatever has the focus. */
  async keys(text) {
    const actions = [...text].flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.ask("POST", `${this.session}/actions`, { actions: [{ type: "key", id: "keys", actions }] });
  }

  text(selector = "body") {
    return this.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector);
  }

  async shows(pattern, selector = "body", milliseconds = 20_000) {
    await this.until(
      async () => pattern.test((await this.text(selector)).replaceAll("\u00a0", " ")),
      `${pattern} in ${selector}, which has: ${await this.text(selector)}`,
      milliseconds,
    );
  }

  /** Runs a verb of the command line against the running window and returns its JSON. */
  cli(...args) {
    return execFileSync(process.env.TERMIC_WINDOW, [...args, "--json"], { env: this.env, encoding: "utf8" });
  }

  /** Starts the program a second time; throws unless it ends well by itself. */
  second(...args) {
    const { TERMIC_WINDOW, DISPLAY } = process.env;
    execFileSync(TERMIC_WINDOW, args, { env: { ...this.env, DISPLAY }, timeout: patience });
  }

  /** Whether an app answers on the profile. */
  holds() {
    try {
      this.cli("list");
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the window, then the driver. Ending a session ends the app, so that its answer may be lost. */
  async stop() {
    try {
      this.cli("quit", "--commit"); // the end of the session leaves the program running, and the test would wait for its pipes
    } catch {
      // it has ended by itself
    }
    this.served?.child.kill("SIGTERM");
    await this.served?.ended;
    if (this.session) await this.ask("DELETE", this.session).catch(() => {});
    if (this.driver) {
      this.driver.kill("SIGTERM");
      await new Promise((resolve) => this.driver.once("exit", resolve));
    }
    this.remove();
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
