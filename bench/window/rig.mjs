// The window that is measured: the real one, on a profile of its own, with a driver.

import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Window } from "../../frontend/tests/window/driver.mjs";

const script = readFileSync(path.join(import.meta.dirname, "page.js"), "utf8");

/** An agent that prints one line and waits. */
const quiet = "#!/bin/sh\nprintf 'ready\\n'\nexec sleep 100000\n";

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function openWindow() {
  const window = await Window.start({
    settings: '[[agents]]\nid = "quiet"\nname = "Quiet agent"\ncommand = "DIR/home/quiet"\n',
    files: { quiet },
  });
  await window.run(
    script,
    prints(64 << 10)
      .replaceAll("\n", "\r\n")
      .slice(0, 64 << 10),
  );
  window.cli("project", "add", window.repo);
  return window;
}

/** Makes a task whose agent is quiet, and shows it. */
export async function openTask(window, name) {
  window.cli("new", name, "--project", "repo", "--agent", "quiet", "--sandbox", "off");
  await window.until(
    () =>
      window.run(
        "const row = [...document.querySelectorAll('.task-row')].find((one) => one.textContent.includes(arguments[0])); row?.click(); return row !== undefined",
        name,
      ),
    `the task ${name}`,
  );
  await window.find('[data-connection="live"]');
}

/** Opens a shell in the selected task, ready to be typed into. */
export async function openShell(window) {
  const tabs = () => window.run("return document.querySelectorAll('[role=tab]').length");
  const before = await tabs();
  await window.press("Control", "Shift", "t");
  await window.until(async () => (await tabs()) > before, "a new tab");
  await window.find('[data-connection="live"]');
  await command(window, `PS1='$ '; set +o history; printf '\\033]7777;ready\\007'`, "ready");
}

/** Types a line into the shown terminal, and waits until its program has printed a mark. Returns the time of that, in ms. */
export async function command(window, line, mark, milliseconds = 600_000) {
  await window.run("delete window.bench.marks[arguments[1]]; window.bench.type(arguments[0] + '\\r')", line, mark);
  return marked(window, mark, milliseconds);
}

/** Waits for a mark, looking seldom: each look takes time of the page. */
export async function marked(window, mark, milliseconds = 600_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await pause(150)) {
    const at = await window.run("return window.bench.marks[arguments[0]] ?? null", mark);
    if (at !== null) return at;
  }
  throw new Error(`waited in vain for the mark ${mark}; the terminal shows:\n${await window.text(".xterm-rows")}`);
}

/** Runs what takes a while in the page, then gives the times that keys took to be seen, sorted. */
export async function echoes(window, milliseconds) {
  await window.run("window.bench.keys(arguments[0])", milliseconds);
  await pause(milliseconds + 1500);
  const all = await window.run("return window.bench.echoes");
  if (all.length < 5) throw new Error(`only ${all.length} keys were seen`);
  return all.sort((a, b) => a - b);
}

const words =
  "cannot use value type error undefined expected declared not found import return string number field method call in of to from".split(
    " ",
  );

/** A text as compilers and tests print it, in lines of 79 characters: always the same, and no two lines alike. */
export function prints(bytes) {
  let state = 1;
  const some = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const lines = [];
  for (let length = 0; length < bytes; length += 80) {
    let line = `src/part${some(40)}/file${some(900)}.go:${some(2000)}:${some(90)}: `;
    while (line.length < 79) line += `${words[some(words.length)]} `;
    lines.push(line.slice(0, 79));
  }
  return `${lines.join("\n")}\n`;
}

/** So many megabytes of that in a file; a part of one counts whole. */
export function flood(window, megabytes) {
  const file = path.join(window.dir, `flood-${megabytes}`);
  writeFileSync(file, "");
  const piece = prints(1e6);
  for (let i = 0; i < megabytes; i++) appendFileSync(file, piece);
  return file;
}

/** The processes of the window: the program's own and those of its web view, by name. */
export function processes(window) {
  const children = new Map();
  const names = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const end = stat.lastIndexOf(")");
      names.set(entry, stat.slice(stat.indexOf("(") + 1, end));
      const parent = stat.slice(end + 2).split(" ")[1];
      children.set(parent, [...(children.get(parent) ?? []), entry]);
    } catch {
      // it has ended
    }
  }
  const found = [];
  const walk = (pid) => {
    for (const child of children.get(pid) ?? []) {
      const name = names.get(child) ?? "";
      if (/^(termic|WebKit)/.test(name)) found.push({ pid: child, name });
      walk(child);
    }
  };
  walk(`${window.driver.pid}`);
  return found;
}

/** Memory of the window's processes, shared pages by their share: { app, web }, in KiB. */
export function memory(window) {
  const sum = { app: 0, web: 0 };
  for (const { pid, name } of processes(window)) {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    sum[name.startsWith("termic") ? "app" : "web"] += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]);
  }
  return sum;
}

/** Processor time of the window's processes so far, with that of threads that have ended, in milliseconds: { app, web }. */
export function processor(window) {
  const sum = { app: 0, web: 0 };
  for (const { pid, name } of processes(window)) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    sum[name.startsWith("termic") ? "app" : "web"] += (Number(user) + Number(system)) * 10; // hundredths of a second
  }
  return sum;
}

export const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
export const p95 = (sorted) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))];
export const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const ratio = (ours, peer) => (ours / peer).toFixed(2);
