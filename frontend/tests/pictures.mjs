// Draws docs/pictures: every screen that the UI tests look at, in both themes, and a page that lists them. `make pictures` runs it. A
// folder that is given gets all pictures as they are, at every size, to look at. With `drawn` behind it, that folder has them already: a run
// of the UI tests with TERMIC_PICTURES put them there.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "./profile.mjs";
import { screens } from "./ui/screens.mjs";

/** Of all pictures together, in bytes: the repository stays small. */
const most = 4 * 1024 * 1024;
const docs = path.join(root, "docs/pictures");
const themes = ["dark", "light"];

const fresh = mkdtempSync(path.join(tmpdir(), "termic-pictures-"));
const raw = process.argv[2] ? path.resolve(process.argv[2]) : fresh;
mkdirSync(raw, { recursive: true });
try {
  const env = { ...process.env, TERMIC_PICTURES: raw };
  const tests =
    process.argv[3] === "drawn"
      ? { status: 0 }
      : spawnSync(process.execPath, [path.join(import.meta.dirname, "run.mjs"), "ui"], { env, stdio: "inherit" });
  if (tests.status !== 0)
    throw new Error("the tests failed, so the pictures are not all there; docs/pictures is as it was");
  const files = Object.keys(screens).flatMap((name) => themes.map((theme) => `${name}-${theme}`));
  const drawn = new Set(readdirSync(raw));
  const missing = files.filter((file) => !drawn.has(`${file}-1280.png`));
  if (missing.length > 0) throw new Error(`no picture was taken of ${missing.join(", ")}`);
  rmSync(docs, { recursive: true, force: true });
  mkdirSync(docs, { recursive: true });
  let size = 0;
  for (const file of files) {
    const to = path.join(docs, `${file}.webp`);
    // A window has few colours: with 32 of them and no loss, text stays sharp and the files small.
    const few = ["-strip", "+dither", "-colors", "32", "-define", "webp:lossless=true"];
    const made = spawnSync("convert", [path.join(raw, `${file}-1280.png`), ...few, to]);
    if (made.status !== 0) throw new Error(`${made.stderr}`);
    size += statSync(to).size;
  }
  writeFileSync(path.join(docs, "README.md"), index());
  if (size > most) throw new Error(`the pictures have ${size} bytes, more than ${most}`);
  console.log(`${files.length} pictures, ${Math.round(size / 1024)} KiB`);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

function index() {
  const rows = Object.entries(screens).map(
    ([name, says]) =>
      `## ${says}\n\n| Dark | Light |\n| --- | --- |\n| ${themes.map((theme) => `![${name}, ${theme}](${name}-${theme}.webp)`).join(" | ")} |\n`,
  );
  return `# Pictures of the window\n\nEvery screen and dialog, at 1280 x 800, as the tests saw it. \`make pictures\` draws them again. Names and numbers are\nexamples.\n\n${rows.join("\n")}`;
}
