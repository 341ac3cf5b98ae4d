import { expect, test } from "vitest";
import type { CageOffer, Repo, TabStatus, TaskDetail } from "../gen/api";
import {
  defaultMode,
  endingOf,
  forceLines,
  hostProblem,
  knobChanges,
  knobsOf,
  linesOf,
  namedIn,
  pathProblem,
  proposals,
  refusal,
  refusals,
  saveLabel,
  shieldOf,
  strictest,
  tick,
  ticked,
  tightenings,
} from "./cage";
import { allowedIn, allowing, gathered, refusedCount, whyRefused } from "./denials";

const tab = (over: Partial<TabStatus> = {}): TabStatus => ({
  id: "tab",
  index: 1,
  kind: "agent",
  agent: "claude",
  title: "Claude",
  is_default: true,
  live: true,
  queued: 0,
  ...over,
});

const task = (over: Partial<TaskDetail> = {}): TaskDetail => ({
  id: "t",
  name: "t",
  project: "p",
  agent: "claude",
  branch: "b",
  base_branch: "main",
  path: "/w",
  is_main_checkout: false,
  created: "2026-01-01T00:00:00Z",
  state: "live",
  sandbox: "enforce",
  tabs: [tab()],
  port: 0,
  ...over,
});

const since = "2026-01-01T00:00:00Z";
const cage = (mode: string, restart?: boolean) => ({ mode, since, ...(restart ? { restart } : {}) });

test.each([
  ["what is set where nothing runs", task({ tabs: [] }), { mode: "enforce", restart: false, open: false }],
  ["what is set where the app does not tell", task(), { mode: "enforce", restart: false, open: false }],
  ["what is in force, not what is set", task({ tabs: [tab({ cage: cage("off") })] }), { mode: "off", restart: true }],
  [
    "the most open of two that differ",
    task({ tabs: [tab({ cage: cage("enforce") }), tab({ cage: cage("monitor") })] }),
    { mode: "monitor", restart: true },
  ],
  ["lists that differ", task({ tabs: [tab({ cage: cage("enforce", true) })] }), { mode: "enforce", restart: true }],
  ["red: off, and it never asks", task({ sandbox: "off", yolo: true, tabs: [] }), { open: true }],
  ["not red: caged, and it never asks", task({ yolo: true, tabs: [] }), { open: false }],
  ["not red: off, and it asks", task({ sandbox: "off", tabs: [] }), { open: false }],
  [
    "a shell has no cage and changes nothing",
    task({ tabs: [tab({ kind: "shell", cage: cage("off") })] }),
    { mode: "enforce", restart: false },
  ],
])("the shield shows %s", (_, given, wanted) => {
  expect(shieldOf(given)).toMatchObject(wanted);
});

test("a report of a cage becomes sentences, and what is not known by name is passed on", () => {
  const lines = forceLines({
    mode: "enforce",
    since,
    walls: ["mounts", "network namespace", "landlock 7", "seccomp", "a new wall"],
    limits: ["processes: 4096 by cgroup v2", "memory: not limited"],
    notes: ["it runs as root"],
  });
  expect(lines.find((line) => line.name === "Kernel")?.text).toBe("Landlock 7, seccomp.");
  expect(lines.find((line) => line.name === "Also")?.text).toBe("A new wall.");
  expect(lines.filter((line) => !line.holds).map((line) => line.text)).toEqual([
    "Processes: 4096 by cgroup v2, memory: not limited.",
    "It runs as root.",
  ]);
});

test("a mode without walls promises nothing", () => {
  for (const mode of ["off", "monitor"]) expect(forceLines({ mode, since }).some((line) => line.holds)).toBe(false);
  expect(forceLines({ mode: "enforce-fs", since }).find((line) => line.name === "Network")?.holds).toBe(false);
});

const offers: CageOffer[] = [
  { mode: "off", can: true },
  { mode: "monitor", can: true },
  { mode: "enforce-fs", can: false, reason: "Namespaces are refused", fix: "Install the profile." },
  { mode: "enforce", can: false, reason: "Namespaces are refused", fix: "Install the profile." },
];

test("a mode that cannot be chosen says why and what to do, once for all modes that it is about", () => {
  expect(refusal("monitor", offers)).toBe("");
  expect(refusal("enforce", offers)).toBe("Namespaces are refused. Install the profile.");
  expect(refusals(offers)).toEqual([
    { modes: ["enforce-fs", "enforce"], text: "Namespaces are refused. Install the profile." },
  ]);
  expect(refusal("off", offers, { state: "knobs", mode: "monitor" })).toContain("at least “Monitor”");
  expect(refusal("off", [])).toBe("");
});

test("a repository only tightens the default", () => {
  const project = { id: "p", name: "p", root_path: "/r", tasks: 0 };
  const repo: Repo = { state: "knobs", mode: "enforce" };
  expect(defaultMode(project, "monitor")).toEqual({ mode: "monitor", from: "default of the settings" });
  expect(defaultMode({ ...project, sandbox: "off" }, "enforce")).toEqual({ mode: "off", from: "project default" });
  expect(defaultMode({ ...project, sandbox: "off", repo }, "off")).toEqual({
    mode: "enforce",
    from: "as .termic.yaml asks",
  });
  expect(defaultMode({ ...project, sandbox: "enforce", repo: { ...repo, mode: "off" } }, "off").mode).toBe("enforce");
  expect(strictest("off", undefined, "enforce-fs")).toBe("enforce-fs");
});

test("only what differs is sent; an emptied list is sent empty", () => {
  const before = knobsOf({ mcp: true, projects: ["a"], agents: [], read: ["/r"], write: [], hosts: ["h"] });
  expect(knobChanges(before, { ...before })).toEqual({});
  expect(knobChanges(before, { ...before, mcp: false, projects: [], hosts: ["h", "i"] })).toEqual({
    noMcp: true,
    projects: [],
    hosts: ["h", "i"],
  });
  expect(knobChanges(before, { ...before, read: ["/r"] })).toEqual({});
});

test("an empty list stands for the own one", () => {
  expect(ticked([], "own")).toEqual(["own"]);
  expect(ticked([], "")).toEqual([]);
  expect(tick([], "own", "b", true)).toEqual(["own", "b"]);
  expect(tick(["own", "b"], "own", "b", false)).toEqual([]);
  expect(tick(["own", "b"], "own", "own", false)).toEqual(["b"]);
  expect(tick([], "", "b", true)).toEqual(["b"]);
});

test("lines say which list they come from, and which are new", () => {
  const saved = [{ kind: "task", hosts: ["a"] }];
  const now = [
    { kind: "task", hosts: ["a", "b"] },
    { kind: "settings", hosts: ["c"], read: ["/x"] },
  ];
  expect(linesOf(now, [...saved, { kind: "settings", hosts: ["c"] }], ["hosts"])).toEqual([
    { access: "hosts", text: "c", from: "settings", fresh: false },
    { access: "hosts", text: "a", from: "task", fresh: false },
    { access: "hosts", text: "b", from: "task", fresh: true },
  ]);
});

test.each([
  "api.example.com",
  "*.example.com",
  "10.0.0.7:8080",
  "@forges",
  "@Office-2",
  "@office:5432,80",
  "!@office",
  "*",
  "",
])("the host %j is no problem", (text) => {
  expect(hostProblem(text)).toBe("");
});
test("an entry with an @ names a group", () => {
  expect(["@forges", "!@Office-2", "@office:5432", "a@b", "office"].map(namedIn)).toEqual([
    "@forges",
    "@Office-2",
    "@office",
    "",
    "",
  ]);
});
test.each(["https://example.com", "example.com/path", "a b", "ex*mple.com", "*.*.com"])(
  "the host %j is one",
  (text) => {
    expect(hostProblem(text)).not.toBe("");
  },
);
test.each([
  ["/abs", true],
  ["~/x", true],
  ["$WORKSPACE", true],
  ["relative", false],
  ["~user/x", false],
  ["$HOMEX", false],
])("the path %j can be given: %j", (text, good) => {
  expect(pathProblem(text) === "").toBe(good);
});

test("saving says what it ends", () => {
  const live = task({
    tabs: [
      tab({ state: "working", mcp: "connected" }),
      tab({ agent: "codex", state: "needs_input" }),
      tab({ kind: "shell" }),
      tab({ live: false }),
    ],
  });
  const ending = endingOf(live, (id) => id ?? "");
  expect(ending).toEqual({
    terminals: 3,
    agents: 2,
    who: "claude working, codex waiting for you, 1 shell",
    hasToken: true,
  });
  expect(saveLabel(ending, false)).toBe("Save and end 3 terminals");
  expect(saveLabel(endingOf(task({ tabs: [] }), String), false)).toBe("Save");
  expect(saveLabel({ ...ending, terminals: 1 }, true)).toBe("Apply and end 1 terminal");
});

test("what a repository proposes is counted, what it tightens is said", () => {
  const repo: Repo = {
    state: "waiting",
    mode: "enforce-fs",
    no_mcp: true,
    projects: [],
    hosts: ["a", "b"],
    write: ["~/x"],
    scripts: [{ name: "setup", command: "make" }],
  };
  expect(proposals(repo)).toBe("1 path, 2 hosts and the setup script");
  expect(proposals({ state: "waiting", hosts: ["a"] })).toBe("1 host");
  expect(tightenings(repo)).toEqual([
    "Tasks are caged at least as “Files only”.",
    "Caged agents may not drive tasks.",
    "They may act on at most these projects: none.",
  ]);
});

test("the same refusal to two tabs is one line; what was only recorded is not counted as refused", () => {
  const denials = [
    { kind: "host", target: "a:443", tab_id: "1", count: 2, last: "2026-01-01T00:00:01Z" },
    { kind: "host", target: "a:443", tab_id: "2", count: 3, last: "2026-01-01T00:00:03Z" },
    { kind: "host", target: "a:443", tab_id: "2", count: 1, last: "2026-01-01T00:00:02Z", would_deny: true },
    { kind: "write", target: "/x", count: 1, last: "2026-01-01T00:00:04Z" },
  ];
  expect(gathered(denials).map((one) => [one.target, one.count, one.tab_id])).toEqual([
    ["/x", 1, undefined],
    ["a:443", 5, "2"],
    ["a:443", 1, "2"],
  ]);
  expect(refusedCount(denials)).toBe(2);
  expect(refusedCount(undefined)).toBe(0);
  const cage = { ...knobsOf(undefined), hosts: ["a:443"] };
  expect(refusedCount(denials, undefined, cage)).toBe(1);
  expect(allowedIn({ kind: "read", target: "/x", count: 1, last: "" }, { read: [], write: ["/x"], hosts: [] })).toBe(
    true,
  );
  expect(allowing(denials[0] as (typeof denials)[number])).toEqual({ host: "a:443" });
  expect(allowing({ kind: "other", target: "x", count: 1, last: "" })).toBeUndefined();
});

test.each([
  ["a.b:443", "a.b is not on the list", "It is not on the list."],
  ["a.b:443", "a.bc is not on the list.", "A.bc is not on the list."],
  ["/x", "", ""],
])("the reason of %j, %j, is shown as %j", (target, reason, wanted) => {
  expect(whyRefused({ kind: "host", target, count: 1, last: "", reason })).toBe(wanted);
});
