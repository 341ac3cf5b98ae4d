// What the desktop is told, seen on a session bus of its own: once for each event, and only while nobody looks.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { story } from "../profile.mjs";
import { Window } from "./driver.mjs";

let bus;
let monitor;
let window;
let heard = "";
const step = story(test);
/** The notifications that were sent, by their titles. */
const titles = () => [...heard.matchAll(/string "(“[^"]*)"/g)].map((match) => match[1]);

before(async () => {
  bus = spawn("dbus-daemon", ["--session", "--nofork", "--print-address"], { stdio: ["ignore", "pipe", "ignore"] });
  let address = "";
  for await (const line of createInterface({ input: bus.stdout })) {
    address = line.trim();
    break;
  }
  const env = { DBUS_SESSION_BUS_ADDRESS: address };
  monitor = spawn("dbus-monitor", ["--address", address, "interface='org.freedesktop.Notifications'"]);
  const ready = new Promise((resolve) => monitor.stdout.once("data", resolve));
  monitor.stdout.on("data", (chunk) => {
    heard += chunk;
  });
  await ready;
  window = await Window.start({ env });
  window.cli("project", "add", window.repo);
});
after(async () => {
  await window?.stop();
  for (const child of [monitor, bus]) child?.kill();
});

const look = (looks) => window.run("return globalThis.go.app.Bridge.Looking(arguments[0]).then(() => 1)", looks);

step("an agent that asks while nobody looks is told of, once", async () => {
  await look(false);
  window.cli("new", "Asks", "--project", "repo", "--agent", "fake", "--prompt", "#ask run <b>make</b>?");
  await window.until(() => titles().length > 0, "the notification");
  await window.shows(/1 waiting/);
  assert.match(heard, /repo · .*‹b›make‹\/b›/);
  assert.deepEqual(titles(), ["“Asks” needs input"]);
});

step("the title of the window says it too", async () => {
  assert.equal(await window.run("return document.title"), "(1) Asks needs input · Termic");
});

step("while the person looks, nothing is told", async () => {
  await look(true);
  window.cli("new", "Seen", "--project", "repo", "--agent", "fake", "--prompt", "#ask and this?");
  await window.shows(/2 waiting/);
  await look(false);
  window.cli("new", "After", "--project", "repo", "--agent", "fake", "--prompt", "#ask and now?");
  await window.until(() => titles().includes("“After” needs input"), "the next notification");
  assert.deepEqual(titles(), ["“Asks” needs input", "“After” needs input"]);
});
