import { expect, test } from "vitest";
import type { ClientPlanResult, ClientState } from "../gen/api";
import {
  endpointFacts,
  planView,
  prominent,
  registeredCount,
  registerLabel,
  removeLabel,
  shellWord,
  staleNotice,
  standing,
} from "./clients";

const client = (more: Partial<ClientState> = {}): ClientState => ({
  id: "codex",
  name: "Codex",
  installed: true,
  version: "0.171.0",
  usable: true,
  offered: true,
  file: "/h/.codex/config.toml",
  registered: false,
  ok: false,
  ...more,
});
const registered = (more: Partial<ClientState> = {}) => client({ registered: true, ...more });
const on = { known: true, serving: true };
const off = { known: true, serving: false };
const never = { known: false, serving: false };

test.each([
  ["registered", registered({ ok: true }), "Registered", "green", undefined, true],
  ["not registered", client(), "Not registered", "", "register", false],
  ["stale", registered({ stale: ["The endpoint is at port 2"] }), "Needs repair", "amber", "repair", true],
  ["foreign", registered({ foreign: true }), "Another entry", "amber", "replace", true],
  [
    "shadowed",
    registered({ shadows: [{ scope: "project", file: "/p/.mcp.json", where: "/p", words: "In /p another wins" }] }),
    "Another entry wins",
    "amber",
    undefined,
    true,
  ],
  [
    "forbidden by policy",
    registered({
      shadows: [{ scope: "denied", file: "/s.json", where: "deniedMcpServers", words: "It is denied" }],
      stale: ["x"],
    }),
    "Forbidden here",
    "amber",
    undefined,
    true,
  ],
  [
    "not registered, and forbidden",
    client({ shadows: [{ scope: "managed", file: "/m.json", where: "/m.json", words: "Others are loaded" }] }),
    "Forbidden here",
    "amber",
    undefined,
    false,
  ],
  [
    "off in a folder",
    registered({ shadows: [{ scope: "disabled", file: "/c.json", where: "/a", words: "In /a it is off" }] }),
    "Off in some folders",
    "amber",
    undefined,
    true,
  ],
  ["not installed", client({ installed: false }), "Not installed", "", undefined, false],
  ["too old", client({ usable: false, why: "Version 0.1 is here" }), "Cannot connect yet", "", undefined, false],
  [
    "no version known to connect",
    client({ usable: false, offered: false, why: "It speaks 2025-06-18" }),
    "Cannot connect yet",
    "",
    undefined,
    false,
  ],
  [
    "an entry of a version that cannot use it",
    registered({ usable: false, why: "Version 0.1 is here" }),
    "Cannot connect",
    "amber",
    undefined,
    true,
  ],
  [
    "a file that cannot be read",
    client({ problem: "Line 3 is no TOML", fix: "Correct it" }),
    "File cannot be used",
    "red",
    undefined,
    false,
  ],
] as const)("%s, in words and acts", (_, state, word, tone, registering, removable) => {
  const found = standing(state, on);
  expect([found.word, found.tone, found.registering, found.removable]).toEqual([word, tone, registering, removable]);
  expect(found.lines.every((line) => line.endsWith("."))).toBe(true);
});

test("a state says what is wrong and what to do", () => {
  const broken = standing(client({ problem: "Line 3 is no TOML", fix: "Correct it." }), on);
  expect(broken.lines).toEqual(["Line 3 is no TOML.", "Correct it."]);
  expect(standing(registered({ stale: ["The port changed", "The switch is off"] }), on).lines).toEqual([
    "The port changed.",
    "The switch is off.",
  ]);
  expect(standing(registered({ ok: true, edits: ["enabled_tools"] }), on).lines).toEqual([
    "Changed by hand and kept: enabled_tools.",
  ]);
  expect(standing(registered({ ok: true }), on).lines).toEqual([]);
});

test("a client that cannot be reached here is never offered, whatever stands in its file", () => {
  for (const more of [{ installed: false }, { usable: false, why: "x" }, { offered: false, usable: false, why: "x" }]) {
    for (const state of [client(more), registered(more), registered({ ...more, stale: ["x"] })]) {
      expect(standing(state, on).registering).toBeUndefined();
    }
  }
});

test("an endpoint that is off is said, and its switch is part of the act", () => {
  expect(standing(registered({ ok: true }), off).lines).toEqual(["The endpoint is not serving now."]);
  expect(standing(client(), never).lines[0]).toMatch(/never been on/);
  expect(standing(registered({ stale: ["port "] }), never).lines[0]).toMatch(/no address yet/);
  expect(registerLabel(client(), "register", on)).toBe("Register with Codex");
  expect(registerLabel(client(), "register", off)).toBe("Switch on and register");
  expect(registerLabel(client(), "repair", off)).toBe("Switch on and repair");
  expect(registerLabel(client(), "repair", on)).toBe("Repair");
  expect(removeLabel(registered())).toBe("Unregister");
  expect(removeLabel(registered({ foreign: true }))).toBe("Remove the entry");
});

test("the endpoint has an address when it has a port, and serves when it is on without an error", () => {
  const status = { enabled: true, url: "", token_file: "" };
  expect(endpointFacts(undefined)).toEqual(never);
  expect(endpointFacts({ ...status, port: 1 })).toEqual(on);
  expect(endpointFacts({ ...status, port: 1, error: "taken" })).toEqual(off);
  expect(endpointFacts({ ...status, enabled: false })).toEqual(never);
});

test("clients that are not here and cannot be registered are folded", () => {
  const absent = client({ installed: false, offered: false, usable: false });
  expect(prominent(absent)).toBe(false);
  expect(prominent({ ...absent, registered: true })).toBe(true);
  expect(prominent({ ...absent, problem: "x" })).toBe(true);
  expect(prominent({ ...absent, offered: true })).toBe(true);
  expect(registeredCount([absent])).toBe("");
  expect(registeredCount([absent, client(), registered({ ok: true })])).toBe("1 of 2");
});

const plan = (more: Partial<ClientPlanResult>): ClientPlanResult => ({
  client: client(),
  act: "add",
  file: "/h/c",
  digest: "d",
  ...more,
});

test("a plan of an edit is its lines, and what stays", () => {
  const view = planView(
    plan({
      diff: "--- /h/c\n+++ /h/c\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+[x]\n\\ No newline at end of file\n",
      notes: ["A note"],
    }),
  );
  expect(view.title).toBe("What will be written");
  expect(view.hunks[0]?.lines.map((line) => [line.kind, line.text])).toEqual([
    ["same", "a = 1"],
    ["removed", "b = 2"],
    ["added", "b = 3"],
    ["added", "[x]"],
    ["note", "No newline at end of file"],
  ]);
  expect(view.changes).toBe("2 lines added, 1 removed");
  expect(view.rest).toBe("every other byte kept, a copy beside it");
  expect(view.notes).toEqual(["A note."]);
});

test("a plan of commands shows them as a shell takes them", () => {
  const view = planView(
    plan({ runs: [["claude", "mcp", "add-json", "termic", `{"a":"it's"}`, "--scope", "user"]], diff: "" }),
  );
  expect(view.title).toBe("What will be written");
  expect(view.commands).toEqual([`claude mcp add-json termic '{"a":"it'\\''s"}' --scope user`]);
  expect(view.rest).toBe("");
  expect(shellWord("")).toBe("''");
});

test("a removal and a new file are told as such", () => {
  expect(planView(plan({ act: "remove" })).title).toBe("What will be taken out");
  const fresh = planView(plan({ diff: "--- /h/c\n+++ /h/c\n@@ -0,0 +1,2 @@\n+a\n+b\n" }));
  expect([fresh.changes, fresh.rest]).toEqual(["2 lines added", ""]);
});

test("registrations that no longer fit make one notice, with each reason once", () => {
  const stale = (name: string) => ({ id: name, name, stale: ["The endpoint is at port 2, the entry says 1"] });
  expect(staleNotice([])).toBe("");
  expect(staleNotice([stale("Codex")])).toBe(
    "The registration with Codex no longer fits. The endpoint is at port 2, the entry says 1.",
  );
  expect(staleNotice([stale("Claude Code"), stale("Codex")])).toBe(
    "The registrations with Claude Code and Codex no longer fit. The endpoint is at port 2, the entry says 1.",
  );
});
