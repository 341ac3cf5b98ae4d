// Runs the test files of a folder with programs that are built once for all of them: `node tests/run.mjs ui`, or only
// those whose name has a word in it: `node tests/run.mjs ui clients`.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { build } from "./profile.mjs";

const folder = path.join(import.meta.dirname, process.argv[2] ?? "ui");
const programs = { fakeagent: ["headless", "./internal/fakeagent"] };
if (process.argv[2] === "ui") programs.termic = ["headless,testbridge", ".", "-X main.version=0.1.0"];
const env = { ...process.env, TERMIC_UI_PROGRAMS: build(programs) };
const files = readdirSync(folder)
  .filter((name) => name.endsWith(".test.mjs") && name.includes(process.argv[3] ?? ""))
  .map((name) => path.join(folder, name));
if (files.length === 0) {
  console.error(`No test file in ${folder} has "${process.argv[3]}" in its name.`);
  process.exit(2);
}
// Each file has an app, a profile and a browser of its own, and waits most of its time. Windows share one display, and so stand
// one after another.
const atOnce = process.argv[2] === "ui" ? 2 : 1;
const options = ["--test", "--test-reporter=spec", `--test-concurrency=${atOnce}`];
process.exit(spawnSync(process.execPath, [...options, ...files], { env, stdio: "inherit" }).status ?? 1);
