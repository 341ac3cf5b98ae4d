// Draws the pictures of the README in the real window: docs/window-dark.png and docs/window-light.png, and more for
// looking at in the folder that is given. Not a test: run it as `build/window-test.sh node frontend/tests/window/pictures.mjs`.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { change, demo, fill, transcript } from "../harbor.mjs";
import { root } from "../profile.mjs";
import { Window } from "./driver.mjs";

const more = process.argv[2];
const docs = path.join(root, "docs");
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const window = await Window.start({
  repoName: "harbor-api",
  head: '[appearance]\ntheme = "dark"\n[tasks]\nbranch_prefix = "feature"\n',
  settings: demo,
});
function cli(...args) {
  return JSON.parse(
    execFileSync(process.env.TERMIC_WINDOW, [...args, "--json"], { env: window.env, encoding: "utf8" }),
  );
}

/** Takes a picture of the window, without what lies around it. */
async function picture(file) {
  await pause(700);
  const whole = path.join(window.dir, "root.png");
  execFileSync("import", ["-window", "root", whole]);
  const crop = ["-bordercolor", "black", "-border", "1", "-trim", "+repage", "-strip", "-colors", "256"];
  execFileSync("convert", [whole, ...crop, file]);
}

const size = (width, height) =>
  window.run(
    "globalThis.runtime.WindowSetPosition(0, 0); globalThis.runtime.WindowSetSize(...arguments)",
    width,
    height,
  );
const choose = (name) =>
  window.until(
    () =>
      window.run(
        "const row = [...document.querySelectorAll('.task-row')].find((one) => one.textContent.includes(arguments[0])); row?.click(); return row !== undefined",
        name,
      ),
    name,
  );

try {
  fill(window);
  writeFileSync(path.join(window.dir, "demo.sh"), transcript);
  window.newRepo("harbor-web");
  cli("project", "add", window.repo);
  cli("project", "add", path.join(window.dir, "harbor-web"));
  const make = (name, project, agent, prompt) =>
    cli("new", name, "--project", project, "--agent", agent, ...(prompt ? ["--prompt", prompt] : [])).task;
  make("Migrate to pgx v5", "harbor-api", "mute", "");
  make(
    "Fix flaky webhook retry",
    "harbor-api",
    "fake",
    "Find out why the retry of webhooks fails one time in ten.\n#ask run make e2e",
  );
  make(
    "Usage page",
    "harbor-web",
    "fake",
    "Add a page that shows what a tenant used this month.\n#say Added the page and a test for it.",
  );
  make("Upgrade Vite to 8.3", "harbor-web", "fake", "Upgrade Vite.\n#exit 1");
  await pause(6000);
  await size(1280, 800);
  const first = make(
    "Rate limits per tenant",
    "harbor-api",
    "demo",
    "Add per-tenant rate limits to the public API, with a token bucket.",
  );
  await choose("Rate limits per tenant");
  await window.shows(/Wiring the limiter/, ".xterm-rows");
  change(window, first.path);
  cli("tab", first.id, "--kind", "terminal");
  await window.click(await window.button("Read the changes again"));
  await window.run("document.querySelector('.xterm-helper-textarea').focus()");
  for (const folder of [docs, more]) if (folder) mkdirSync(folder, { recursive: true });
  for (const theme of ["dark", "light"]) {
    await window.run("document.querySelector('.xterm-helper-textarea').focus()");
    cli("settings", "set", "appearance.theme", theme);
    await size(1280, 800);
    await picture(path.join(docs, `window-${theme}.png`));
    if (!more) continue;
    await size(1920, 1080);
    await picture(path.join(more, `main-${theme}-1920.png`));
    await size(1280, 800);
    await pause(300);
    await window.press("Control", "Shift", "n");
    await window.type(await window.find("dialog input.name"), "Audit log for admin actions");
    await picture(path.join(more, `new-task-${theme}.png`));
    await window.press("Escape");
    await window.press("Control", "Shift", "r");
    await window.find("[role=region][aria-label=Patch] article");
    await picture(path.join(more, `review-${theme}.png`));
    await window.press("Escape");
    await window.press("Control", ",");
    await picture(path.join(more, `settings-${theme}.png`));
    await window.press("Escape");
    await size(800, 560);
    await picture(path.join(more, `small-${theme}.png`));
    await size(1280, 800);
    await choose("Upgrade Vite");
    await picture(path.join(more, `crashed-${theme}.png`));
    await choose("Rate limits");
    await window.run("document.querySelector('[aria-label=\"Actions of this task\"]').click()");
    await picture(path.join(more, `menu-${theme}.png`));
    await window.press("Escape");
  }
} finally {
  await window.stop();
}
