import { describe, expect, it } from "vitest";
import { type Entry, type Group, pieces, search } from "./palette";

const entry = (label: string, group: Group = "Do", hint = ""): Entry => ({
  id: label,
  group,
  label,
  hint,
  run: () => {},
});
const labels = (entries: Entry[], query: string) => search(entries, query).map((found) => found.entry.label);

describe("search", () => {
  const all = [
    entry("Quit Termic"),
    entry("Restart this tab", "This task"),
    entry("harbor-web / Usage page", "Go to", "preview on :18140"),
    entry("Review changes", "This task", "2 files"),
    entry("Fix flaky webhook retry", "Waiting for you", "Codex asks: run make e2e"),
    entry("Stop agents and terminals…", "This task"),
  ];

  it("shows everything by group when nothing is typed", () => {
    expect(labels(all, "  ")).toEqual([
      "Fix flaky webhook retry",
      "Restart this tab",
      "Review changes",
      "Stop agents and terminals…",
      "harbor-web / Usage page",
      "Quit Termic",
    ]);
  });

  it("puts what waits first, then what begins with the query, then the rest, and looks into hints", () => {
    expect(labels(all, "re")).toEqual([
      "Fix flaky webhook retry",
      "Restart this tab",
      "Review changes",
      "harbor-web / Usage page",
    ]);
  });

  it("wants every word, in any order, and no letter more", () => {
    expect(labels(all, "page usage")).toEqual(["harbor-web / Usage page"]);
    expect(labels(all, "page usages")).toEqual([]);
    expect(labels(all, "18140 usage")).toEqual(["harbor-web / Usage page"]);
  });

  it("does not mind case and accents, and says where they were found", () => {
    const found = search([entry("Préparer l’été 🙂 tâche")], "ETE tache");
    expect(found[0]?.parts.map(([from, to]) => found[0]?.entry.label.slice(from, to))).toEqual(["été", "tâche"]);
  });

  it("ranks the beginning of a word over its middle", () => {
    expect(labels([entry("unstop"), entry("do stop"), entry("stop")], "stop")).toEqual(["stop", "do stop", "unstop"]);
  });
});

it("cuts a label into pieces without losing a letter", () => {
  for (const parts of [
    [],
    [[0, 2]],
    [
      [1, 3],
      [4, 6],
    ],
    [[0, 6]],
  ] as [number, number][][]) {
    expect(
      pieces("abcdef", parts)
        .map((piece) => piece.text)
        .join(""),
    ).toBe("abcdef");
  }
  expect(pieces("Review", [[0, 2]])).toEqual([
    { text: "Re", fits: true },
    { text: "view", fits: false },
  ]);
});
