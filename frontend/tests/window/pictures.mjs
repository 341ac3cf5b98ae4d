// Draws the pictures of the README in the real window: docs/window-dark.png and docs/window-light.png, and more for
// looking at in the folder that is given. Not a test: run it as `build/window-test.sh node frontend/tests/window/pictures.mjs`.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../profile.mjs";
import { Window } from "./driver.mjs";

const more = process.argv[2];
const docs = path.join(root, "docs");
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A repository with enough in it to look like one. */
function fill(window) {
  const files = {
    "go.mod": "module harbor\n\ngo 1.26\n",
    "internal/limit/bucket.go":
      'package limit\n\nimport "sync"\n\n// Bucket lets requests pass at a rate.\ntype Bucket struct {\n\tmu     sync.Mutex\n\ttokens int\n\trate   float64 // tokens per second\n\tburst  float64\n}\n\n// Take reports whether a request may pass.\nfunc (b *Bucket) Take() bool {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\tif b.tokens > 0 {\n\t\tb.tokens--\n\t\treturn true\n\t}\n\treturn false\n}\n',
    "internal/http/router.go": "package http\n\nfunc routes() {}\n",
    "internal/http/throttle.go": "package http\n\n// Throttle is the old limiter.\nfunc Throttle() {}\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(window.repo, name)), { recursive: true });
    writeFileSync(path.join(window.repo, name), text);
  }
  window.git(window.repo, "add", ".");
  window.git(window.repo, "commit", "-q", "-m", "Add a limiter and a router");
}

/** What the agent of the first task changed. */
function change(window, dir) {
  const bucket = path.join(dir, "internal/limit/bucket.go");
  writeFileSync(
    bucket,
    'package limit\n\nimport (\n\t"sync"\n\t"time"\n)\n\n// Bucket lets requests pass at a rate.\ntype Bucket struct {\n\tmu     sync.Mutex\n\ttokens float64\n\tlast   time.Time\n\trate   float64 // tokens per second\n\tburst  float64\n}\n\n// Take spends one token and reports how long to wait for the next one.\n// A zero wait means the request may pass.\nfunc (b *Bucket) Take(now time.Time) time.Duration {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\tb.refill(now)\n\tif b.tokens >= 1 {\n\t\tb.tokens--\n\t\treturn 0\n\t}\n\treturn time.Duration((1 - b.tokens) / b.rate * 1e9)\n}\n',
  );
  window.git(dir, "add", ".");
  window.git(dir, "commit", "-q", "-m", "Refill buckets as time goes by");
  writeFileSync(
    path.join(dir, "internal/limit/bucket_test.go"),
    'package limit\n\nimport "testing"\n\nfunc TestTake(t *testing.T) {}\n',
  );
  window.git(dir, "add", ".");
  writeFileSync(path.join(dir, "internal/http/router.go"), "package http\n\nfunc routes() {\n\tlimitByTenant()\n}\n");
  window.git(dir, "rm", "-q", "internal/http/throttle.go");
  writeFileSync(path.join(dir, "NOTES.md"), "Limits come from the plan of a tenant.\n");
}

const window = await Window.start({
  repoName: "harbor-api",
  head: '[appearance]\ntheme = "dark"\n[tasks]\nbranch_prefix = "feature"\n',
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

const size = (width, height) => window.run("globalThis.runtime.WindowSetSize(...arguments)", width, height);
const choose = (name) =>
  window.run(
    "[...document.querySelectorAll('.task-row')].find((one) => one.textContent.includes(arguments[0])).click()",
    name,
  );

try {
  fill(window);
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
  const first = make(
    "Rate limits per tenant",
    "harbor-api",
    "fake",
    "Add per-tenant rate limits to the public API: a token bucket, limits from tenants.plan,\nand 429 with Retry-After. Keep the bucket in internal/limit.\n#say The bucket refills as time goes by now, and the router uses it.\n",
  );
  await pause(3000);
  change(window, first.path);
  await choose("Rate limits per tenant");
  await window.shows(/done with prompt 1|refills/, ".xterm-rows");
  cli("send", first.id, "Wire the limiter into the router, and give the middleware tests.\n#work 600");
  await pause(2500);
  await window.click(await window.button("Read the changes again"));
  await window.run("document.querySelector('.xterm-helper-textarea').focus()");
  mkdirSync(docs, { recursive: true });
  for (const theme of ["dark", "light"]) {
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
    await window.find("tr.added");
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
