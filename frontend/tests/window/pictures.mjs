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

/** A program that prints what an agent might, and then works on: a picture of the fake agent would show its directives. */
const transcript = String.raw`
b='\e[1m' d='\e[90m' g='\e[32m' y='\e[33m' o='\e[38;5;173m' r='\e[31m' z='\e[0m'
say() { printf "$@"; printf '\n'; }
sleep 3 # until the window is there, so that nothing has to be drawn anew
say "$b"'Demo agent'"$z $d"'in harbor-api'"$z"
say "$d"'────────────────────────────────────────────────────────────────────────'"$z"
printf '> '
read -r prompt
printf '\e]7501;state=working:app=demo\e\\\n'
say "$g● $z"'I will look at how a request finds its tenant, then build the bucket.'
say ''
say "$g● $z$b"'Read'"$z(internal/http/router.go)"
say "  $d"'└ 148 lines'"$z"
say "$g● $z$b"'Search'"$z(pattern: $y"'"tenantFromContext"'"$z, path: $y"'"internal"'"$z)"
say "  $d"'└ 11 files'"$z"
say ''
say "$g● $z$b"'Update'"$z(internal/limit/bucket.go)"
say "  $d"'└ 13 lines added, 7 removed'"$z"
say "     $d"'11'"$z $r-"' tokens int'"$z"
say "     $d"'11'"$z $g+"' tokens float64'"$z"
say "     $d"'12'"$z $g+"' last   time.Time'"$z"
say "     $d"'13'"$z   rate   float64 $d// tokens per second$z"
say ''
say "$g● $z$b"'Run'"$z(go test ./internal/limit/...)"
say "  $d└$z"' ok   harbor/internal/limit  '"$d"'0.412s'"$z"
say ''
say "$o✶ Wiring the limiter into the router…$z $d(1m 48s)$z"
say ''
printf '\e]0;wiring the limiter\a> '
exec cat
`;

const window = await Window.start({
  repoName: "harbor-api",
  head: '[appearance]\ntheme = "dark"\n[tasks]\nbranch_prefix = "feature"\n',
  settings: '[[agents]]\nid = "demo"\nname = "Demo agent"\ncommand = "/bin/bash"\nargs = ["DIR/demo.sh"]\n',
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
  mkdirSync(docs, { recursive: true });
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
