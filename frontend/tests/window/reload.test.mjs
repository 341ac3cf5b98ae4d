// The page is loaded anew in the middle of a flood, and what the terminal shows after that is what its program printed,
// without a gap. The process that draws the page crashes, and the page comes back.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Window } from "./driver.mjs";

let window;
before(async () => {
  window = await Window.start({ head: "[terminal]\nscrollback_lines = 600\n" });
  window.cli("project", "add", window.repo);
  window.cli("new", "Flood", "--project", "repo", "--no-agent");
  await window.click(await window.find(".task-row"));
});
after(() => window?.stop());

/** Starts a flood of numbered lines in a new terminal; it ends only when the file `stop` is there. */
async function flood(name) {
  const before = tabs().length;
  await window.press("Control", "Shift", "t");
  await window.until(() => tabs().length === before + 1, "a tab");
  const { id } = tabs().at(-1);
  await window.find(`[data-tab="${id}"]`);
  await window.find('[data-connection="live"]');
  await window.click(await window.find(".xterm-screen"));
  await window.keys(
    `n=0; while [ ! -e stop-${name} ]; do n=$((n+1)); echo "line $n of ${name}, $((n*7919%10007))"; done; echo last-$((40+2)) $n`,
  );
  await window.press("Enter");
  await window.shows(/line \d{4,} of/, ".xterm-rows");
  return id;
}

const tabs = () => JSON.parse(window.cli("status", "Flood")).task.tabs;

const rows = () =>
  window.run(
    "return [...document.querySelectorAll('.xterm-rows > div')].map((one) => one.textContent.replaceAll('\\u00a0', ' ').trimEnd())",
  );

/** Every line that the terminal has, from the bottom up as far as its scrollback goes. */
async function buffer() {
  const lines = new Map();
  let before = "";
  for (;;) {
    const seen = await rows();
    for (const line of seen) {
      const n = /^line (\d+) of/.exec(line)?.[1];
      if (n) lines.set(Number(n), line);
    }
    if (seen.join("\n") === before) return lines;
    before = seen.join("\n");
    await window.press("Shift", "PageUp");
    await new Promise((resolve) => setTimeout(resolve, 60)); // the rows are drawn at the next frame
  }
}

/** Ends the flood and compares what is shown with what was printed. */
async function compare(name, tab) {
  const { path } = JSON.parse(window.cli("path", "Flood"));
  writeFileSync(`${path}/stop-${name}`, "");
  await window.shows(/last-42 \d+/, ".xterm-rows");
  const { data } = JSON.parse(window.cli("logs", "Flood", "--tab", tab));
  const printed = [...data.matchAll(/^line (\d+) of .*$/gm)].map((found) => [Number(found[1]), found[0].trimEnd()]);
  const shown = await buffer();
  const last = printed.at(-1)[0];
  const numbers = [...shown.keys()].sort((a, b) => a - b);
  assert.equal(numbers.at(-1), last, "the last line is shown");
  assert.ok(numbers.length >= 500, `${numbers.length} lines are shown`);
  assert.equal(
    numbers.length,
    last - numbers[0] + 1,
    `there is a gap: ${numbers.find((n, i) => i > 0 && n !== numbers[i - 1] + 1)}`,
  );
  const wanted = new Map(printed);
  for (const [n, line] of shown) assert.equal(line, wanted.get(n) ?? line, `line ${n}`);
  assert.ok([...shown.keys()].filter((n) => wanted.has(n)).length >= 500, "too little of the ring was compared");
}

test("a reload in a flood loses no line that is still kept", async () => {
  const tab = await flood("reload");
  await window.run("location.reload()").catch(() => {}); // the answer may be lost with the page
  await window.drawn();
  await window.shows(/line \d+ of reload/, ".xterm-rows");
  await window.click(await window.find(".xterm-screen"));
  await compare("reload", tab);
});

test("a crash of the process that draws the page is no end: the page comes back, and takes up the flood", async () => {
  const tab = await flood("crash");
  const total = () => JSON.parse(window.cli("logs", "Flood", "--tab", tab)).total;
  process.kill(webProcess(), "SIGKILL"); // which ends the driver's session too
  const drawn = () => window.log.split("the window is drawn").length - 1;
  await window.until(() => drawn() === 3, "the page to be drawn again"); // at the start, loaded anew, and now
  assert.match(window.log, /the process that draws the window has ended.*loads_again=true/);
  // The flood waits for a page that says what it has shown: it goes on only where there is one again.
  const at = total();
  await window.until(() => total() > at + 1_000_000, "the flood to go on");
  assert.ok(window.holds());
});

/** The process that draws the page of this window. */
function webProcess() {
  const ours = window.pid();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${id}/status`, "utf8");
      if (/^Name:\s+WebKitWebProces/m.test(status) && Number(/^PPid:\s+(\d+)/m.exec(status)[1]) === ours)
        return Number(id);
    } catch {
      // it has ended meanwhile
    }
  }
  throw new Error("no process draws the page");
}
