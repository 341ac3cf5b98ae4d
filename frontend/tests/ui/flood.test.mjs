// A flood in a terminal that is looked at: pictures of it while its end is followed, every byte while somebody reads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withRig } from "./rig.mjs";

/** Catches the terminals that the page opens, and counts the bytes that each is given. */
function catchViews() {
  window.views = [];
  window.given = 0;
  const set = Map.prototype.set;
  Map.prototype.set = function (key, value) {
    if (value?.terminal?.write && value.element && !window.views.includes(value)) {
      window.views.push(value);
      const write = value.terminal.write.bind(value.terminal);
      value.terminal.write = (data, done) => {
        window.given += data.length;
        write(data, done);
      };
    }
    return set.call(this, key, value);
  };
}

const told = []; // what the page said of whom it follows, in order
const rig = withRig({
  before: catchViews,
  prepare: async (rig) => {
    rig.page.on("request", (request) => {
      if (!request.url().endsWith("/tell")) return;
      for (const one of request.postDataJSON()) if ("follows" in one) told.push(one.follows);
    });
    await rig.task("Flood");
    await rig.shell();
  },
});

const state = () =>
  rig().page.evaluate(() => {
    const { terminal } = window.views.find((one) => one.element.isConnected);
    const { active } = terminal.buffer;
    return { base: active.baseY, top: active.viewportY, given: window.given, selected: terminal.getSelection() };
  });

/** Waits until the state is as wanted, and returns it. */
async function until(wanted, what) {
  for (let tries = 0; tries < 150; tries++) {
    const is = await state();
    if (wanted(is)) return is;
    await rig().page.waitForTimeout(100);
  }
  assert.fail(`${what}: ${JSON.stringify(await state())}, told ${told}`);
}

/** How many bytes the terminal is given in a second. */
async function rate() {
  const before = await state();
  await rig().page.waitForTimeout(1000);
  return (await state()).given - before.given;
}

async function overTheTerminal() {
  const box = await rig().page.locator(".xterm-screen").boundingBox();
  await rig().page.mouse.move(box.x + 200, box.y + 200);
  return box;
}

test("a flood that is followed comes in pictures, and whole to somebody who scrolls up, selects or searches", async () => {
  const { page } = rig();
  assert.equal(told.at(-1), true);
  told.length = 0;
  await rig().type("clear; trap : INT; yes 'a line of a flood that nobody can read'");
  await rig().seen(/a line of a flood/);
  await page.waitForTimeout(1000);
  assert.deepEqual(told, []);
  const pictures = await rate();

  await overTheTerminal();
  await page.mouse.wheel(0, -600);
  await until(({ base, top }) => base - top > 5 && base > 1000, "scrolled up, with a history");
  const whole = await rate();
  assert.ok(whole > 4 * pictures, `${whole} bytes a second for a reader, ${pictures} in pictures`);
  const up = await state();
  assert.ok(up.base - up.top > 5, "the view was not taken back to the end");
  await page.keyboard.press("Space"); // whoever types sees the end
  await until(({ base, top }) => base === top, "back at the end");
  await page.waitForTimeout(1000);
  assert.deepEqual(told, [false, true]);
  assert.ok((await rate()) < whole / 2, "pictures again");

  const box = await overTheTerminal();
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 200, { steps: 4 });
  await page.waitForTimeout(500);
  assert.deepEqual(told.slice(2), [false]);
  await page.mouse.up();
  await page.mouse.click(box.x + 20, box.y + 20);
  await until(({ selected }) => selected === "", "nothing is selected");
  await page.waitForTimeout(500);
  assert.equal(told.at(-1), true);

  await page.keyboard.press("Control+Shift+F");
  await page.getByRole("textbox", { name: "Find in this terminal" }).waitFor();
  await page.waitForTimeout(300);
  assert.equal(told.at(-1), false);
  await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  assert.equal(told.at(-1), true);

  await page.keyboard.press("Control+C");
  await rig().seen(/ready>$/m); // what was typed before the interrupt arrives is thrown away by the kernel
  await rig().type("clear; trap - INT; echo after-$((1+1))");
  await rig().seen(/^after-2$/m);
});

test("what a program wants to copy in the midst of a flood is asked for, once and whole", async () => {
  const { page } = rig();
  const copied = Buffer.from("in the midst of it").toString("base64");
  await rig().type(`clear; seq 2000000; printf '\\e]52;c;${copied}\\a'; seq 2000000; echo over-$((1+1))`);
  await rig().seen(/^over-2$/m);
  await page.getByText(/wants to copy 18 characters/).waitFor();
  await page.getByRole("button", { name: "Copy it" }).click();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  for (let i = 0; i < 100 && (await clipboard()) !== "in the midst of it"; i++) await page.waitForTimeout(50);
  assert.equal(await clipboard(), "in the midst of it");
  assert.equal(await page.getByText(/wants to copy/).count(), 0);
});

test("colours that a program gave to the palette stay through a flood", async () => {
  await rig().type("clear; printf '\\e]4;1;rgb:12/34/56\\a'; seq 3000000; printf '\\e[31mred-%s\\e[m\\n' $((1+1))");
  await rig().seen(/^red-2$/m);
  const red = rig().page.locator(".xterm-rows span", { hasText: /^red-2$/ });
  let color = "";
  // A row that was just drawn anew has none, and commands come behind the picture.
  for (let tries = 0; tries < 50 && color !== "rgb(18, 52, 86)"; tries++) {
    color = await red.evaluate((one) => getComputedStyle(one).color);
    await rig().page.waitForTimeout(20);
  }
  assert.equal(color, "rgb(18, 52, 86)");
  await rig().type("clear; printf '\\e]104\\a'");
});
