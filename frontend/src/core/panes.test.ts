import { expect, test } from "vitest";
import type { Pane } from "../gen/api";
import {
  fitLayout,
  fitting,
  hasRoom,
  mayGrow,
  neighbour,
  placesOf,
  showIn,
  splitAt,
  tabsOf,
  without,
  withShare,
} from "./panes";

const leaf = (tab: string): Pane => ({ tab });
const split = (side: "right" | "below", share: number, first: Pane, second: Pane): Pane => ({
  split: side,
  share,
  first,
  second,
});
const three = split("right", 0.5, leaf("a"), split("below", 0.5, leaf("b"), leaf("c")));
const least = { width: 100, height: 80 };
const box = { x: 0, y: 0, width: 801, height: 601 };

test("panes are made, shown otherwise, sized and taken away, and the tree before stays as it was", () => {
  const before = JSON.stringify(three);
  expect(tabsOf(splitAt(three, "b", "right", "d"))).toEqual(["a", "b", "d", "c"]);
  expect(tabsOf(without(three, "b"))).toEqual(["a", "c"]);
  expect(without(leaf("a"), "a")).toBeUndefined();
  expect(tabsOf(showIn(three, "b", "x"))).toEqual(["a", "x", "c"]);
  expect(tabsOf(showIn(three, "a", "c"))).toEqual(["c", "b", "a"]);
  expect(withShare(three, ["a", "c"], 0.7).share).toBe(0.7);
  expect(withShare(three, ["b", "c"], 0.99).second?.share).toBe(0.9);
  expect(JSON.stringify(three)).toBe(before);
});

test("a box is cut up without a gap, and every pane has what it needs", () => {
  const { panes, dividers } = placesOf(withShare(three, ["a", "b"], 0.1), box, { width: 200, height: 80 });
  expect(panes.map(({ tab, x, y, width, height }) => [tab, x, y, width, height])).toEqual([
    ["a", 0, 0, 200, 601],
    ["b", 201, 0, 600, 300],
    ["c", 201, 301, 600, 300],
  ]);
  expect(dividers.map(({ side, between, at, length }) => [side, between.join(), at, length])).toEqual([
    ["right", "a,b", 200, 800],
    ["below", "b,c", 300, 600],
  ]);
});

test("what has no room is a tab until there is more; the pane with the keys stays longest", () => {
  const fits = (width: number, height: number, focus: string) =>
    tabsOf(fitting(three, { width, height }, least, focus));
  expect(fits(801, 601, "a")).toEqual(["a", "b", "c"]);
  expect(fits(801, 120, "a")).toEqual(["a", "b"]);
  expect(fits(801, 120, "c")).toEqual(["a", "c"]);
  expect(fits(150, 601, "c")).toEqual(["c"]);
  expect(fits(1, 1, "b")).toEqual(["b"]);
  expect(hasRoom({ ...box, width: 201 }, "right", least)).toBe(true);
  expect(hasRoom({ ...box, width: 200 }, "right", least)).toBe(false);
  expect(mayGrow(splitAt(splitAt(splitAt(three, "a", "right", "d"), "a", "right", "e"), "a", "right", "f"))).toBe(
    false,
  );
});

test("the neighbour of a pane is the one that touches it most", () => {
  const { panes } = placesOf(withShare(three, ["b", "c"], 0.3), box, least);
  expect(neighbour(panes, "a", "right")).toBe("c");
  expect(neighbour(panes, "c", "up")).toBe("b");
  expect(neighbour(panes, "b", "left")).toBe("a");
  expect(neighbour(panes, "a", "left")).toBeUndefined();
  expect(neighbour(panes, "gone", "left")).toBeUndefined();
});

test("a layout loses what is gone, as in the app", () => {
  const layout = { task_id: "t", root: three, focus: "b", bottom: "s", open: true };
  expect(fitLayout(layout, new Set(["a", "b", "c", "s"]))).toEqual(layout);
  expect(fitLayout(layout, new Set(["a", "c"]))).toEqual({
    task_id: "t",
    root: split("right", 0.5, leaf("a"), leaf("c")),
    focus: "a",
  });
  expect(fitLayout(layout, new Set(["c", "s"]))).toEqual({ task_id: "t", focus: "c", bottom: "s", open: true });
  expect(fitLayout({ ...layout, root: split("right", 0.5, leaf("a"), leaf("s")) }, new Set(["a", "s"])).focus).toBe(
    "a",
  );
  expect(fitLayout(layout, new Set())).toEqual({ task_id: "t" });
});
