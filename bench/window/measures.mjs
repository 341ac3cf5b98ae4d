// What is measured. Each measure returns rows of the table: what, Termic, its peer in the same run, the ratio.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Profile } from "../../frontend/tests/profile.mjs";
import {
  command,
  echoes,
  flood,
  marked,
  median,
  memory,
  ms,
  openShell,
  openTask,
  openWindow,
  p95,
  pause,
  processor,
  ratio,
} from "./rig.mjs";

/** Time from the start of a program until it prints a line, in milliseconds. stop ends it. */
function untilLine(program, env, line, stop) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, [], { env, stdio: ["pipe", "pipe", "pipe"] });
    let took;
    let log = "";
    const read = (chunk) => {
      log += chunk;
      if (took !== undefined || !log.includes(line)) return;
      took = performance.now() - started;
      stop(child);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () =>
      took === undefined ? reject(new Error(`${program} ended before "${line}":\n${log}`)) : resolve(took),
    );
  });
}

/** From the start of the program to the first picture, against a window with one line of text; and to a shell's prompt. */
export async function start() {
  const { DISPLAY, WEBKIT_DISABLE_DMABUF_RENDERER, TERMIC_WINDOW, TERMIC_BARE } = process.env;
  const display = { DISPLAY, WEBKIT_DISABLE_DMABUF_RENDERER };
  const profile = new Profile();
  const home = mkdtempSync(path.join(tmpdir(), "termic-bare-"));
  const ours = [];
  const bare = [];
  for (let pair = 0; pair < 6; pair++) {
    const env = { ...profile.env, ...display, XDG_RUNTIME_DIR: profile.dir };
    ours.push(await untilLine(TERMIC_WINDOW, env, "the window is drawn", (child) => child.kill("SIGTERM")));
    bare.push(
      await untilLine(TERMIC_BARE, { ...env, HOME: home, XDG_RUNTIME_DIR: home }, "drawn", (child) =>
        child.stdin.end(),
      ),
    );
  }
  profile.remove();
  rmSync(home, { recursive: true, force: true });
  ours.shift(); // the first of a machine reads everything from the disk
  bare.shift();

  const window = await openWindow();
  await openTask(window, "Start");
  await openShell(window); // the first one compiles what the next ones use
  const prompts = [];
  for (let tab = 0; tab < 5; tab++) {
    await window.run("window.bench.opens()");
    await window.press("Control", "Shift", "t");
    prompts.push(await window.until(() => window.run("return window.bench.text"), "the text of a new terminal"));
  }
  await window.stop();
  const [o, b] = [median(ours), median(bare)];
  return [
    ["start of the process to the first picture, against a bare window of the same toolkit", ms(o), ms(b), ratio(o, b)],
    ["asking for a terminal to the first text of its shell", ms(median(prompts)), "–", "–"],
  ];
}

/** A flood into the terminal that is shown, against the same terminal fed from memory; keys and Ctrl-C meanwhile. */
export async function throughput({ megabytes }) {
  const window = await openWindow();
  await openTask(window, "Flood");
  await openShell(window);
  await window.run("window.bench.settle()");
  const pairs = 4;
  const size = Math.ceil(megabytes / pairs);
  const file = flood(window, size);
  const ours = [];
  const read = [];
  const peer = [];
  const sunk = [];
  const hungry = [];
  const used = { app: 0, web: 0, fed: 0, readApp: 0, readWeb: 0 };
  /** Prints and returns how long it took until the last byte was drawn, in milliseconds, and the processor time of it. */
  const print = async (part) => {
    const before = processor(window);
    await window.run("window.bench.empty = performance.now(); window.bench.hungry = window.bench.chunks = 0");
    const end = await command(window, `printf '\\033]7777;from\\007'; ${part}; printf '\\033]7777;to\\007'`, "to");
    const after = processor(window);
    const [from, nothing] = await window.run("return [window.bench.marks.from, window.bench.hungry]");
    const took = end - from;
    return {
      took,
      nothing: nothing / took,
      app: (after.app - before.app) / took,
      web: (after.web - before.web) / took,
    };
  };
  const rate = (took) => (size * 81) / 80 / (took / 1000); // the terminal gets a CR before each LF
  for (let pair = 0; pair <= pairs; pair++) {
    const bytes = (pair === 0 ? 5 : size) * 1e6; // the first pair warms the compiler up
    const calm = processor(window);
    await window.run("window.bench.feed(arguments[0])", bytes);
    const fed = await marked(window, "fed");
    if (pair > 0) used.fed += (processor(window).web - calm.web) / fed / pairs;
    await command(window, "printf '\\033[2J\\033[H\\033]7777;clear\\007'", "clear");
    const part = pair === 0 ? `head -c ${bytes} ${file}` : `cat ${file}`;
    const followed = await print(part);
    await window.run("window.bench.reading(true)");
    const whole = await print(part);
    if (pair > 0) {
      hungry.push(whole.nothing);
      peer.push(size / (fed / 1000));
      ours.push(rate(followed.took));
      read.push(rate(whole.took));
      used.app += followed.app / pairs;
      used.web += followed.web / pairs;
      used.readApp += whole.app / pairs;
      used.readWeb += whole.web / pairs;
    }
    await window.run("delete window.bench.marks.sunk; window.bench.sink = arguments[0]", size * 1e6);
    const began = await window.run(
      "const at = performance.now(); window.bench.type(arguments[0]); return at",
      `cat ${file}\r`,
    );
    sunk.push(size / (((await marked(window, "sunk")) - began) / 1000));
    await command(window, "printf '\\033]7777;calm\\007'", "calm");
    await window.run("window.bench.reading(false)");
  }
  const ratios = (list) => median(list.map((one, i) => one / peer[i])).toFixed(2);
  const mb = (value) => `${value.toFixed(2)} MB/s`;
  const rows = [
    [
      `flood of ${megabytes} MB into the shown terminal, against the same terminal fed from memory`,
      mb(median(ours)),
      mb(median(peer)),
      ratios(ours),
    ],
    [
      "processors that it used: the app and the web view, against the web view fed from memory",
      `${used.app.toFixed(2)} + ${used.web.toFixed(2)}`,
      used.fed.toFixed(2),
      "–",
    ],
    [
      "the same flood while somebody reads in the terminal, so that it draws every byte",
      mb(median(read)),
      mb(median(peer)),
      ratios(read),
    ],
    ["processors that that used", `${used.readApp.toFixed(2)} + ${used.readWeb.toFixed(2)}`, used.fed.toFixed(2), "–"],
    [
      "the same flood, all of it sent and thrown away by the page: what the way to the page carries",
      mb(median(sunk)),
      "–",
      "–",
    ],
    [
      "share of the time in which such a terminal had nothing to draw",
      `${(100 * median(hungry)).toFixed(0)} %`,
      "–",
      "–",
    ],
  ];
  await window.stop();
  return rows;
}

/** What a flood does to keys and to Ctrl-C. */
export async function latency() {
  const window = await openWindow();
  await openTask(window, "Flood");
  await openShell(window);
  await window.run("window.bench.settle()");
  const file = flood(window, 20);
  const idle = await calm(window);
  const flooded = await whileFlooding(window, file, () => echoes(window, 12_000));
  const rows = [
    [
      "a key to the frame that shows what its program answered, p95: during the flood, against at rest (goal 80 ms)",
      ms(p95(flooded)),
      ms(p95(idle)),
      ratio(p95(flooded), p95(idle)),
    ],
    ["the same, median", ms(median(flooded)), ms(median(idle)), ratio(median(flooded), median(idle))],
  ];
  const stops = { flood: [], rest: [] };
  for (let round = 0; round < 9; round++) {
    stops.flood.push(await interrupt(window, `while :; do cat ${file}; done`, 700));
    stops.rest.push(await interrupt(window, "sleep 100", 300));
  }
  const [f, r] = [stops.flood, stops.rest].map((list) => list.sort((a, b) => a - b));
  rows.push(
    [
      "Ctrl-C to the program that gets it, p95: during the flood, against at rest (goal 50 ms)",
      ms(p95(f)),
      ms(p95(r)),
      ratio(p95(f), p95(r)),
    ],
    ["the same, median", ms(median(f)), ms(median(r)), ratio(median(f), median(r))],
  );
  await window.stop();
  return rows;
}

/** A program that answers each key with a mark and a letter. */
const answering = "stty -echo -icanon; while IFS= read -rN1; do printf '\\033]7777;key\\007k'; done";

/** Answers of a terminal in which nothing else happens. */
async function calm(window) {
  await command(window, `printf '\\033]7777;calm\\007'; ${answering}`, "calm");
  const all = await echoes(window, 6000);
  await window.run("window.bench.type('\\x03')");
  await pause(500); // the terminal throws away what was typed before the interrupt arrived
  await command(window, "stty sane; printf '\\033]7777;sane\\007'", "sane");
  return all;
}

/** Runs a flood without end, and something meanwhile. */
async function whileFlooding(window, file, run) {
  await command(window, `printf '\\033]7777;go\\007'; (while :; do cat ${file}; done) & ${answering}`, "go");
  await pause(1500);
  const result = await run();
  await window.run("window.bench.type('\\x03')");
  await pause(500);
  await command(window, "kill $!; stty sane; printf '\\033]7777;over\\007'", "over");
  return result;
}

/** Milliseconds from Ctrl-C to the shell that is told of it, by the machine's one clock. */
async function interrupt(window, what, settle) {
  const file = path.join(window.dir, "told");
  rmSync(file, { force: true });
  const line = `bash -c 'trap "echo \\$EPOCHREALTIME >${file}; exit" INT; printf "\\033]7777;on\\007"; ${what}'; printf '\\033]7777;off\\007'`;
  await command(window, line, "on");
  await pause(settle);
  const pressed = await window.run(
    "delete window.bench.marks.off; const at = performance.timeOrigin + performance.now(); window.bench.type('\\x03'); return at",
  );
  await marked(window, "off");
  return Number(readFileSync(file, "utf8").replace(",", ".")) * 1000 - pressed;
}

/** Twenty terminals of which three flood: the one that is shown must not suffer. */
export async function crowd({ megabytes }) {
  const window = await openWindow();
  await openTask(window, "Crowd");
  const others = 18; // and the agent's, and the one that is shown
  const size = Math.min(50, Math.ceil(megabytes / 4));
  const file = flood(window, size);
  for (let tab = 0; tab < others; tab++) await openShell(window);
  await openShell(window);
  await window.run("window.bench.settle()");
  const rate = async () => {
    const end = await command(window, `printf '\\033]7777;from\\007'; cat ${file}; printf '\\033]7777;to\\007'`, "to");
    return size / ((end - (await window.run("return window.bench.marks.from"))) / 1000);
  };
  const alone = { echo: await calm(window), rates: [] };
  await rate();
  for (let i = 0; i < 3; i++) alone.rates.push(await rate());
  await window.run(
    "for (const view of window.bench.views.slice(-4, -1)) window.bench.type(`while :; do cat ${arguments[0]}; done\\r`, view)",
    file,
  );
  await pause(3000);
  const beside = { echo: await calm(window), rates: [] };
  for (let i = 0; i < 3; i++) beside.rates.push(await rate());
  await window.stop();
  const mb = (value) => `${value.toFixed(2)} MB/s`;
  return [
    [
      "20 terminals, 3 of them flood unseen: a key in the shown one, p95, against 20 at rest",
      ms(p95(beside.echo)),
      ms(p95(alone.echo)),
      ratio(p95(beside.echo), p95(alone.echo)),
    ],
    [
      "the same: a flood into the shown one",
      mb(median(beside.rates)),
      mb(median(alone.rates)),
      ratio(median(beside.rates), median(alone.rates)),
    ],
  ];
}

const idleWatch = 60_000;

/** Memory of a terminal at rest, and what the window costs while nothing happens, shown and hidden. */
export async function rest() {
  const window = await openWindow();
  await openTask(window, "Rest");
  await openShell(window);
  await pause(8000);
  const one = memory(window);
  for (let tab = 0; tab < 20; tab++) await openShell(window);
  await pause(8000);
  const many = memory(window);
  const watch = async () => {
    await pause(5000);
    const before = processor(window);
    await pause(idleWatch);
    const after = processor(window);
    return [(after.app - before.app) / idleWatch, (after.web - before.web) / idleWatch];
  };
  const shown = await watch();
  await window.run("globalThis.runtime.Hide()");
  await window.until(() => window.run("return document.hidden"), "the page to be hidden");
  const hidden = await watch();
  await window.stop();
  const mib = (kib) => `${(kib / 1024).toFixed(1)} MiB`;
  const percent = (value) => `${(100 * value).toFixed(2)} %`;
  return [
    [
      "memory of the app with 21 terminals, against with 1",
      mib(many.app),
      mib(one.app),
      `${mib((many.app - one.app) / 20)} each`,
    ],
    [
      "memory of the web view's processes, the same",
      mib(many.web),
      mib(one.web),
      `${mib((many.web - one.web) / 20)} each`,
    ],
    [
      "processor at rest for 60 s, shown: the app, the web view (goal: under 1 %)",
      percent(shown[0]),
      percent(shown[1]),
      percent(shown[0] + shown[1]),
    ],
    ["the same, hidden", percent(hidden[0]), percent(hidden[1]), percent(hidden[0] + hidden[1])],
  ];
}
