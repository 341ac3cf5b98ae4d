import { expect, test } from "vitest";
import type { Project, TabStatus, TaskDetail } from "../gen/api";
import { activity } from "./activity";
import { lossesOf, lossSummary, lossWords } from "./losses";
import { strongest, tabMark, taskMark } from "./marks";
import { changedRefs, refWords } from "./refs";
import { kindWords, selfRunOf } from "./selfrun";
import { groupsOf, projectStep, rowOrder, shownRows, sidebarTree, taskStays, taskStep } from "./tree";

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

const task = (id: string, over: Partial<TaskDetail> = {}): TaskDetail => ({
  id,
  name: id,
  project: "p",
  agent: "claude",
  branch: "b",
  base_branch: "main",
  path: "/w",
  is_main_checkout: false,
  created: "2026-01-01T00:00:00Z",
  state: "live",
  sandbox: "off",
  tabs: [tab()],
  port: 0,
  ...over,
});

test.each([
  ["working", task("t", { work_state: "working" })],
  ["waiting", task("t", { work_state: "needs_input" })],
  ["done", task("t", { work_state: "done" })],
  ["idle", task("t", { work_state: "idle" })],
  ["idle", task("t", {})],
  ["stopped", task("t", { work_state: "inactive", tabs: [tab({ live: false, exit: { code: 0 } })] })],
  ["failed", task("t", { work_state: "inactive", tabs: [tab({ live: false, exit: { code: 1 } })] })],
  [
    "failed",
    task("t", { work_state: "inactive", tabs: [tab({ live: false, exit: { code: -1, signal: "SIGKILL" } })] }),
  ],
  ["stopped", task("t", { work_state: "inactive", tabs: [tab({ kind: "terminal", live: false, exit: { code: 1 } })] })],
  ["failed", task("t", { state: "failed" })],
  ["failed", task("t", { state: "missing" })],
  ["working", task("t", { state: "creating" })],
])("mark %s", (wanted, given) => {
  expect(taskMark(given)).toBe(wanted);
});

test("finished work that was looked at is idle", () => {
  expect(taskMark(task("t", { work_state: "done" }), true)).toBe("idle");
  expect(tabMark(tab({ state: "done" }), true)).toBe("idle");
});

test("a parent shows the strongest of its children", () => {
  expect(strongest(["idle", "done", "waiting", "failed"])).toBe("waiting");
  expect(strongest([])).toBe("stopped");
});

test.each([
  ["Claude asks: run make", task("t", { detail: "run make" }), "waiting"],
  ["Claude waits for you", task("t"), "waiting"],
  ["Claude · working", task("t"), "working"],
  ["Claude · exited with 3", task("t", { tabs: [tab({ live: false, exit: { code: 3 } })] }), "failed"],
  ["Could not be created", task("t", { state: "failed" }), "failed"],
  ["Fetching", task("t", { state: "creating", log: ["Begin", "Fetching"] }), "working"],
] as const)("activity %j", (wanted, given, mark) => {
  expect(activity(given, mark, "Claude")).toBe(wanted);
});

test("children stand below the task that made them, however deep; the rest is in the order of the app", () => {
  const project: Project = { id: "p", name: "p", root_path: "/r", tasks: 4 };
  const tasks = [
    task("old", { created: "2026-01-01T00:00:00Z" }),
    task("new", { created: "2026-01-03T00:00:00Z" }),
    task("kid", { parent_id: "old", created: "2026-01-04T00:00:00Z" }),
    task("grandkid", { parent_id: "kid", created: "2026-01-05T00:00:00Z" }),
    task("orphan", { parent_id: "gone", created: "2026-01-02T00:00:00Z" }),
    task("away", { state: "archived" }),
  ];
  const tree = sidebarTree([project], tasks);
  expect(rowOrder(tree).map(({ id }) => id)).toEqual(["old", "kid", "grandkid", "new", "orphan"]);
});

test("projects stand by their headings, and what is folded has no rows", () => {
  const project = (id: string, group?: string): Project => ({
    id,
    name: id,
    root_path: `/${id}`,
    tasks: 1,
    ...(group ? { group } : {}),
  });
  const projects = [project("a"), project("b", "Work"), project("c", "Work"), project("d")];
  const tasks = projects.flatMap(({ id }) => [
    task(`${id}1`, { project: id }),
    task(`${id}2`, { project: id, parent_id: `${id}1` }),
    task(`${id}3`, { project: id }),
  ]);
  const tree = sidebarTree(projects, tasks);
  expect(groupsOf(tree).map(({ name, nodes }) => `${name}:${nodes.map((node) => node.project.id).join("")}`)).toEqual([
    ":a",
    "Work:bc",
    ":d",
  ]);
  const seen = (...folded: string[]) => shownRows(tree, new Set(folded)).map(({ id }) => id);
  expect(seen().length).toBe(12);
  expect(seen("group:Work", "d", "a1")).toEqual(["a1", "a3"]);
  expect([taskStep(tree, "a1", 1), taskStep(tree, "a3", -1), taskStep(tree, "a1", -1)]).toEqual([2, 1, 0]);
  expect([taskStep(tree, "a3", 1), taskStep(tree, "a2", 1)]).toEqual([0, 0]);
  expect([taskStays(tree, "a1", 1), taskStays(tree, "a1", -1), taskStays(tree, "a3", 1)]).toEqual([
    undefined,
    "It stands at the top.",
    "It stands at the end.",
  ]);
  expect(taskStays(tree, "a2", 1)).toMatch(/below the task that made it/);
  // Within a group it changes places; the edge of a group takes the group along, and others go past it whole.
  const steps = ["a", "b", "c", "d"].map((id) => [projectStep(tree, id, -1), projectStep(tree, id, 1)]);
  expect(steps).toEqual([
    [0, 3],
    [1, 3],
    [2, 4],
    [2, 0],
  ]);
});

test("tasks that name each other as parents end in no loop", () => {
  const project: Project = { id: "p", name: "p", root_path: "/r", tasks: 2 };
  const tree = sidebarTree([project], [task("a", { parent_id: "b" }), task("b", { parent_id: "a" })]);
  expect(rowOrder(tree).length).toBe(2);
});

test("losses are read from a failure and said in words", () => {
  const losses = lossesOf({
    code: "needs_consent",
    message: "m",
    data: {
      losses: [{ kind: "dirty", count: 2, items: ["a", 3] }, { kind: "odd_kind", count: 1 }, "nonsense", { kind: 1 }],
    },
  });
  expect(losses).toEqual([
    { kind: "dirty", count: 2, items: ["a"] },
    { kind: "odd_kind", count: 1, items: [] },
  ]);
  expect(losses.map(lossWords)).toEqual(["2 changed files", "1 odd kind"]);
  expect(lossSummary(losses)).toBe("3 items");
  expect(lossSummary([{ kind: "unpushed", count: 2, items: [] }])).toBe("2 commits");
  expect(lossesOf({ code: "conflict", message: "m", data: { losses: [{ kind: "dirty", count: 2 }] } })).toEqual([]);
});

test("a ref that changed while two tasks ran is one", () => {
  const ref = (name: string) => ({ ref: name, old: "1".repeat(40), new: "2".repeat(40), noted: "", tasks: ["a", "b"] });
  const tasks = [
    task("a", { refs: [ref("refs/heads/x"), ref("refs/heads/b")] }),
    task("b", { refs: [ref("refs/heads/x")] }),
    task("c"),
  ];
  expect(changedRefs(tasks).map((one) => one.ref)).toEqual(["refs/heads/b", "refs/heads/x"]);
  expect(refWords(ref("x"))).toBe("1111111111 to 2222222222");
  expect(refWords({ old: "1".repeat(40) })).toBe("gone, was at 1111111111");
  expect(refWords({ new: "ref:refs/heads/x" })).toBe("new, at ref:refs/heads/x");
});

test("files that wait for consent are read from a failure, and from no other", () => {
  const file = { path: ".envrc", kind: "shell", how: "added" };
  const data = { files: [file, { kind: "git" }, 3], total: 5, complete: false };
  expect(selfRunOf({ code: "needs_consent", message: "m", data })).toEqual({
    files: [file],
    total: 5,
    complete: false,
  });
  expect(selfRunOf({ code: "needs_consent", message: "m", data: { losses: [] } })).toBeUndefined();
  expect(selfRunOf({ code: "conflict", message: "m", data })).toBeUndefined();
  expect(kindWords(file)).toBe("run by shells, added");
});
