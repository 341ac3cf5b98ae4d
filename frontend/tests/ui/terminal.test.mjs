// Terminals in the page, against real programs. Names in brackets are those of the kinds of fault that they prove absent.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, test } from "node:test";
import { screen, withRig } from "./rig.mjs";

const rig = withRig({
  // WebGL on the processor: there to lose its context, and known as software, so that it is not used unasked.
  browserArgs: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  prepare: async (rig) => {
    await rig.task("Terminals");
    await rig.shell();
  },
});

// What a test before this one left running must not take this one's keys.
beforeEach(async () => {
  const { page } = rig();
  if ((await page.locator("[role=tab][aria-selected=true]", { hasText: "Terminal" }).count()) === 0) return;
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.press("Control+C");
  await rig().type("stty sane; clear; echo calm-$((1+2))");
  await rig().seen(/^calm-3$/m);
});

test("the program has the size of the page's grid from the start [P4]", async () => {
  const { page } = rig();
  await rig().type("clear; stty size");
  const screen = await rig().seen(/^\d+ \d+$/m);
  const [rows, cols] = /^(\d+) (\d+)$/m.exec(screen).slice(1).map(Number);
  assert.equal(rows, await page.locator(".xterm-rows > div").count());
  assert.ok(cols > 40 && cols !== 80, `${cols} columns`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await rig().type('clear; while [ "$(stty size)" = \'' + `${rows} ${cols}` + "' ]; do sleep .05; done; echo grown");
  await rig().seen(/^grown$/m);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("a family of emoji takes two columns, here and in the program [P5]", async () => {
  await rig().type("clear; printf '👩‍👩‍👧X'; IFS=';' read -sdR -p $'\\e[6n' row col; echo; echo \"col=$col\"");
  const screen = await rig().seen(/^col=\d+$/m);
  assert.match(screen, /^col=4$/m, screen);
});

test("what a program prints at once is not lost, nor what comes while nobody looks [P8]", async () => {
  const { page } = rig();
  await rig().type("clear; printf A; sleep .01; printf 'B\\n'");
  await rig().seen(/^AB$/m);
  await rig().type("clear; (sleep 1; printf C; sleep .2; printf 'D\\n') &");
  await page.keyboard.press("Alt+1");
  await page.waitForTimeout(1800);
  await page.keyboard.press("Alt+2");
  await rig().seen(/CD/);
});

test("a flood that nobody types into gets few pictures, and each is drawn once", async () => {
  const { page } = rig();
  await rig().type("clear; trap : INT; yes flooding");
  await rig().seen(/flooding/);
  await page.waitForTimeout(700); // whoever has just typed sees every picture
  const drawings = (seconds) =>
    page.evaluate(async (seconds) => {
      let count = 0;
      const first = document.querySelector(".xterm-rows > div");
      const watch = new MutationObserver((list) => {
        count += list.filter((one) => one.addedNodes.length > 0).length; // not what clears a row
      });
      watch.observe(first, { childList: true });
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      watch.disconnect();
      return count / seconds;
    }, seconds);
  const quiet = await drawings(2);
  assert.ok(quiet > 2 && quiet < 20, `${quiet} pictures a second`);
  // Of what is selected the colours are drawn as well; then again none is.
  await page.keyboard.press("Control+C");
  await rig().type("clear; echo chosen-$((1+1))");
  await rig().seen(/^chosen-2$/m);
  const row = await page.locator(".xterm-rows > div", { hasText: /^chosen-2/ }).boundingBox();
  await page.mouse.dblclick(row.x + 20, row.y + row.height / 2);
  await page.locator(".xterm-selection > div").first().waitFor({ state: "attached" });
  await rig().type("seq 100; echo scrolled-$((1+1))");
  await rig().seen(/^scrolled-2$/m);
  await page.locator(".xterm-selection > div").first().waitFor({ state: "detached" });
});

test("a flood ends less than a second after Ctrl-C, and the terminal is usable at once [P9]", async () => {
  const { page, dir } = rig();
  const stopped = path.join(dir, "stopped");
  await rig().type(`clear; trap : INT; yes flooding; date +%s%3N > ${stopped}`);
  await rig().seen(/flooding/);
  await page.waitForTimeout(2000);
  const pressed = Date.now();
  await page.keyboard.press("Control+C");
  await rig().seen(/ready>$/m);
  const took = Number(readFileSync(stopped, "utf8")) - pressed;
  assert.ok(took < 1000, `the flood ended after ${took} ms`);
  await rig().type("clear; trap - INT; echo after-$((1+1))");
  await rig().seen(/^after-2$/m);
});

test("a lost graphics context leaves the text on the screen [P7]", async () => {
  const page = await rig().open({ before: "localStorage.setItem('termic.renderer', 'webgl')" });
  const { page: first } = rig();
  rig().page = page;
  try {
    await rig().row("Terminals").click();
    await page.locator('[data-connection="live"]').waitFor();
    await page.locator(".xterm-screen canvas").first().waitFor({ state: "attached" });
    assert.equal(await page.locator(".xterm-rows").count(), 0, "drawn with WebGL at first");
    await page.evaluate(() => {
      for (const one of document.querySelectorAll(".xterm-screen canvas")) {
        one.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
      }
    });
    await rig().seen(/shortcuts/);
  } finally {
    await page.context().close();
    rig().page = first;
  }
});

test("text that is composed arrives once, at the end of the composition [P18]", async () => {
  const { page } = rig();
  await rig().type("clear; echo ready-$((1+1)); cat");
  await rig().seen(/^ready-2$/m);
  await page.evaluate(() => {
    const field = document.querySelector(".xterm-helper-textarea");
    const fire = (type, data) => field.dispatchEvent(new CompositionEvent(type, { data, bubbles: true }));
    fire("compositionstart", "");
    for (const part of ["ㅎ", "하", "한"]) {
      field.value = part;
      fire("compositionupdate", part);
    }
    fire("compositionend", "한");
    field.dispatchEvent(
      new InputEvent("input", { data: "한", inputType: "insertText", bubbles: true, composed: true }),
    );
  });
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
  const screen = await rig().seen(/한[\s\S]*한/);
  assert.equal(screen.match(/한/g).length, 2, `once typed, once from cat:\n${screen}`);
  await page.keyboard.press("Control+D");
});

test("a paste is bracketed, and cannot end its own brackets", async () => {
  const { page } = rig();
  await rig().type(
    "clear; printf '\\e[?2004h'; stty -echo -icanon -icrnl; head -c 28 | od -An -c; stty sane; printf '\\e[?2004l'",
  );
  await page.waitForTimeout(300);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "one\ntwo\u001b[201~rm x\u0000");
    document
      .querySelector(".xterm-helper-textarea")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  const screen = await rig().seen(/2\s+0\s+1\s+~/);
  const bytes = screen.replace(/\s+/g, "");
  assert.ok(bytes.includes("033[200~one\\rtwo[201~rmx033[201~".slice(0, 18)), screen);
  assert.equal(bytes.split("033[201~").length, 2, `one end of the brackets only:\n${screen}`);
});

test("a query is answered once, and not again when its output is drawn anew", async () => {
  const { page } = rig();
  await rig().type(
    "clear; stty raw -echo; printf '\\e[c\\e[6n'; sleep .5; n=$(dd bs=200 count=1 2>/dev/null | wc -c); stty sane; echo \"answer=$n\"; cat -v",
  );
  const screen1 = await rig().seen(/^answer=\d+$/m);
  assert.ok(Number(/answer=(\d+)/.exec(screen1)[1]) > 6, screen1);
  await page.reload();
  await page.locator(".win").waitFor();
  await page.keyboard.press("Alt+2");
  await page.locator('[data-connection="live"]').waitFor();
  await page.waitForTimeout(700);
  await page.locator(".xterm-helper-textarea").focus();
  await rig().type("mark");
  const screen = await rig().seen(/^mark$/m);
  assert.doesNotMatch(screen, /\^\[/, `an answer was typed after the reload:\n${screen}`);
  await page.keyboard.press("Control+C");
});

test("titles, names and branches are text, whatever they hold [S21]", async () => {
  const { page, repo } = rig();
  const evil = '<img src=x onerror="window.pwned=1"><b>bold</b>';
  await rig().type(`clear; printf '\\e]0;%s\\a' '${evil}'; printf '![](http://192.0.2.1/x.png)\\n'; sleep 1`);
  const { task } = rig().cli("new", evil, "--project", path.basename(repo), "--agent", "fake");
  writeFileSync(path.join(repo, "x"), "");
  await rig().row("<img src=x").waitFor();
  await rig().row("<img src=x").click();
  await page.locator('[data-connection="live"]').waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator(".win img").count(), 0);
  assert.equal(await page.locator(".win b", { hasText: /^bold$/ }).count(), 0);
  assert.equal(await page.locator(".task-row.on .nm").textContent(), evil);
  // What would turn the text around is refused in a name, and drawn as a mark where git brings it.
  assert.throws(
    () => rig().cli("rename", task.id, "--name", "reversed\u202Eoperand"),
    /characters that cannot be shown/,
  );
  writeFileSync(path.join(task.path, "reversed\u202Eoperand"), "");
  await page.getByRole("button", { name: "Read the changes again" }).click();
  await page.getByRole("button", { name: /^reversed◌operand/ }).waitFor();
});

test("a program puts text on the clipboard only when the person says so, and is never told what is on it", async () => {
  const { page } = rig();
  await rig().row("Terminals").click();
  await page.keyboard.press("Alt+2");
  await page.locator(".xterm-helper-textarea").focus();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const printf = (data) => rig().type(`clear; printf '\\e]52;c;${data}\\a'; echo asked`);
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  await printf(Buffer.from("theirs ünï\nsecond").toString("base64"));
  await page.getByText(/wants to copy 17 characters/).waitFor();
  await screen(rig(), "copying");
  assert.equal(await clipboard(), "mine");
  await page.getByRole("button", { name: "Not now" }).click();
  assert.equal(await clipboard(), "mine");
  await printf(Buffer.from("theirs ünï").toString("base64"));
  await page.getByRole("button", { name: "Copy it" }).click();
  for (let i = 0; i < 100 && (await clipboard()) !== "theirs ünï"; i++) await page.waitForTimeout(50);
  assert.equal(await clipboard(), "theirs ünï");
  await page.locator(".xterm-helper-textarea").focus();
  await rig().type("clear; printf '\\e]52;c;?\\a'; read -t 1 -n 8 answer; echo \"answer=[$answer]\"");
  await rig().seen(/^answer=\[\]$/m);
  rig().cli("settings", "set", "terminal.clipboard", "never");
  await page.waitForTimeout(300); // the page hears of settings; nothing on it tells
  await printf(Buffer.from("unasked").toString("base64"));
  await rig().seen(/^asked$/m);
  assert.equal(await page.getByText(/wants to copy/).count(), 0);
  assert.equal(await clipboard(), "theirs ünï");
  rig().cli("settings", "reset", "terminal.clipboard");
});

test("a file that a terminal names is opened by Ctrl and a click, and by no click alone", async () => {
  const { page, dir } = rig();
  const log = path.join(dir, "edited");
  const editor = path.join(dir, "code");
  writeFileSync(editor, `#!/bin/sh\nprintf '%s\\n' "$@" >>'${log}'\n`, { mode: 0o755 });
  rig().cli("settings", "set", "general.editor", `${editor} {FILE} {LINE}`);
  const { tasks } = rig().cli("list");
  const { path: folder } = tasks.find((one) => one.name === "Terminals");
  writeFileSync(path.join(folder, "näme.txt"), "x\n");
  await rig().type("clear; echo 漢字 ./näme.txt:12 said");
  await rig().seen(/^漢字\s* \.\/näme\.txt:12 said$/m);
  const row = page.locator(".xterm-rows > div", { hasText: /^漢字.*said/ }).last();
  const box = await row.boundingBox();
  const cell = box.height * 0.47; // of a monospace font, near enough to fall on a name of twelve columns
  const at = { x: box.x + cell * 9, y: box.y + box.height / 2 };
  await page.mouse.move(at.x, at.y);
  await page.mouse.click(at.x, at.y);
  await page.keyboard.down("Control");
  await page.mouse.move(at.x + 2, at.y);
  await page.mouse.click(at.x + 2, at.y);
  await page.keyboard.up("Control");
  let said = "";
  for (let i = 0; i < 200 && !said; i++) {
    await page.waitForTimeout(50);
    said = existsSync(log) ? readFileSync(log, "utf8") : "";
  }
  assert.equal(said, `${path.join(folder, "näme.txt")}\n12\n`);
});

test("words are found in a terminal", async () => {
  const { page } = rig();
  await rig().row("Terminals").click();
  await page.keyboard.press("Alt+1");
  await page.keyboard.press("Control+Shift+F");
  await page.getByRole("textbox", { name: "Find in this terminal" }).fill("nowhere-to-be-found");
  await page.keyboard.press("Enter");
  await page.getByText("Not found").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.className), "xterm-helper-textarea");
});

test("a program that ended says how, and its tab can be started again", async () => {
  const { page } = rig();
  await rig().shell();
  await rig().type("exit 3");
  await page.getByText("The shell exited with 3.").waitFor();
  await page.getByRole("button", { name: "Start again" }).click();
  await page.locator('[data-connection="live"]').waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await rig().type("echo back-$((2+2))");
  await rig().seen(/^back-4$/m);
});
