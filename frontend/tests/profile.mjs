// A profile is what the app under test runs in: a home, a data folder, a real git repository, and the fake agent in the
// place of a real one. Nothing of the machine's own configuration is read.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const dist = path.join(root, "frontend/dist");

let made = process.env.TERMIC_UI_PROGRAMS;

/** Builds programs of the repository where they are not there yet, and returns their folder: name -> [tags, package, flags for the linker]. */
export function build(programs) {
  if (!made) {
    const fresh = mkdtempSync(path.join(tmpdir(), "termic-ui-bin-"));
    made = fresh;
    process.on("exit", () => rmSync(fresh, { recursive: true, force: true }));
  }
  for (const [name, [tags, from, linked = ""]] of Object.entries(programs)) {
    const to = path.join(made, name);
    if (existsSync(to)) continue;
    execFileSync("go", ["build", "-tags", tags, "-ldflags", linked, "-o", to, from], {
      cwd: root,
      env: { ...process.env, CGO_ENABLED: "0" },
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
  return made;
}

export class Profile {
  constructor(options = {}) {
    this.bin = build({ fakeagent: ["headless", "./internal/fakeagent"] });
    this.dir = mkdtempSync(path.join(tmpdir(), "termic-ui-"));
    this.home = path.join(this.dir, "home");
    this.data = path.join(this.dir, "data");
    mkdirSync(this.home);
    for (const [name, text] of Object.entries(options.files ?? {})) this.writeHome(name, text);
    mkdirSync(this.data, { mode: 0o700 });
    writeFileSync(
      path.join(this.home, "gitconfig"),
      "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n",
    );
    this.repo = this.newRepo(options.repoName ?? "repo");
    for (const name of options.repos ?? []) this.newRepo(path.join("home", name));
    this.writeSettings(
      (options.settings ?? "").replaceAll("DIR", this.dir).replaceAll("BIN", this.bin),
      options.head ?? "",
    );
  }

  /** Writes a file below the home; a script can be run. */
  writeHome(name, text) {
    const file = path.join(this.home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
    return file;
  }

  get env() {
    const { PATH, LANG } = process.env;
    return {
      PATH,
      LANG: LANG ?? "C.UTF-8",
      HOME: this.home,
      SHELL: "/bin/bash",
      TERM: "dumb",
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_DATA_HOME: path.join(this.home, ".local/share"),
      XDG_CACHE_HOME: path.join(this.home, ".cache"),
      GIT_CONFIG_GLOBAL: path.join(this.home, "gitconfig"),
      GIT_CONFIG_SYSTEM: "/dev/null",
      TERMIC_DATA_DIR: this.data,
    };
  }

  git(dir, ...args) {
    return execFileSync("git", ["-C", dir, ...args], { env: this.env, encoding: "utf8" });
  }

  newRepo(name) {
    const dir = path.join(this.dir, name);
    mkdirSync(dir, { recursive: true });
    this.git(dir, "init", "-q");
    writeFileSync(path.join(dir, "README.md"), "# A repository\n\nSome words.\n");
    writeFileSync(path.join(dir, "main.go"), 'package main\n\nfunc main() {\n\tprintln("hello")\n}\n');
    this.git(dir, "add", ".");
    this.git(dir, "commit", "-q", "-m", "Begin");
    return dir;
  }

  get settingsFile() {
    return path.join(this.data, "settings.toml");
  }

  writeSettings(more, head) {
    const one = (id, name, manner) =>
      `[[agents]]\nid = "${id}"\nname = "${name}"\ncommand = "${this.bin}/fakeagent"\nargs = ["--manner", "${manner}"]\n` +
      `session_id_args = ["--session-id", "{UUID}"]\nresume_id_args = ["--resume", "{UUID}"]\n` +
      `env = { FAKEAGENT_LOG = "${this.dir}/${id}.jsonl", FAKEAGENT_HOME = "${this.home}/${id}" }\n`;
    writeFileSync(
      this.settingsFile,
      `${head}\n${one("fake", "Fake agent", "osc7501")}\n${one("mute", "Mute agent", "silent")}\n${more}`,
    );
  }

  /** The prompts that an agent was given, in order. */
  received(id = "fake") {
    const file = path.join(this.dir, `${id}.jsonl`);
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .filter((record) => record.n)
      .map((record) => Buffer.from(record.prompt, "base64").toString());
  }

  remove() {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Tests of one story: each goes on where the one before ended, so that after a failure the rest cannot be told. */
export function story(test) {
  let broken = "";
  return (name, run) =>
    test(name, async () => {
      if (broken) throw new Error(`not tried, since this failed: ${broken}`);
      try {
        await run();
      } catch (error) {
        broken = name;
        throw error;
      }
    });
}
