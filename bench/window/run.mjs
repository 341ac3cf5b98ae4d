// Measures the real window and prints a table: `make bench-window`, or build/window-test.sh node bench/window/run.mjs.
//
//	--run start,throughput,latency,crowd,rest   only these
//	--mb 200                            how much the floods print
//	--write FILE                        puts the table into FILE, between its two marks

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../frontend/tests/profile.mjs";
import * as measures from "./measures.mjs";

const { values } = parseArgs({
  options: { run: { type: "string" }, mb: { type: "string", default: "200" }, write: { type: "string" } },
});
const names = values.run?.split(",") ?? ["start", "throughput", "latency", "crowd", "rest"];

const folder = mkdtempSync(path.join(tmpdir(), "termic-bench-"));
process.env.TERMIC_BARE = path.join(folder, "bare");
execFileSync(
  "go",
  ["build", "-tags", "desktop,production,webkit2_41", "-o", process.env.TERMIC_BARE, "./bench/window/bare"],
  {
    cwd: root,
    env: { ...process.env, CGO_ENABLED: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  },
);

function webkit() {
  try {
    return `WebKitGTK ${execFileSync("pkg-config", ["--modversion", "webkit2gtk-4.1"], { encoding: "utf8" }).trim()}`;
  } catch {
    return "WebKitGTK";
  }
}

const lines = [];
function say(line) {
  lines.push(line);
  console.log(line);
}

const today = new Date().toISOString().slice(0, 10);
say(
  `${today}, ${platform()}/${arch()}, ${cpus().length} processors, ${webkit()}, Xvfb (no graphics card), drawn as text (DOM)`,
);
say("");
say(
  `Load before the run (runnable programs, 1 minute): ${loadavg()[0].toFixed(1)}. More than the processors means that the machine had other work.`,
);
say("");
say("| measure | Termic | peer | ratio |");
say("|---|---|---|---|");
try {
  for (const name of names) {
    if (!measures[name]) throw new Error(`no measure is called ${name}`);
    for (const row of await measures[name]({ megabytes: Number(values.mb) })) say(`| ${row.join(" | ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

if (values.write) {
  const [from, to] = ["<!-- window: written by make bench-window -->", "<!-- end of window -->"];
  const text = readFileSync(values.write, "utf8");
  const [head, rest] = text.split(from);
  if (rest === undefined || !rest.includes(to)) throw new Error(`${values.write} has no place for the table`);
  writeFileSync(values.write, `${head}${from}\n\n${lines.join("\n")}\n\n${to}${rest.split(to)[1]}`);
}
