// The panes of a task: a tree of splits whose leaves show one tab each. Everything here makes new trees; none is changed.

import { type Layout, type Pane, SplitRight } from "../gen/api";

/** Limits that the app has as well: it refuses a layout beyond them. */
export const maxPanes = 6;
const leastShare = 0.1;

export type Side = "right" | "below";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a pane lies. */
export interface Place extends Box {
  tab: string;
}

/** Where the two parts of a split meet. */
export interface Divider extends Box {
  /** A tab of the first part and one of the second: the split is the one that parts them. */
  between: [string, string];
  side: Side;
  /** Pixels of the first part, of both together, and how far the first may reach. */
  at: number;
  length: number;
  from: number;
  to: number;
}

/** The least that a pane needs. */
export interface Least {
  width: number;
  height: number;
}

type Split = Pane & { first: Pane; second: Pane };
const isSplit = (pane: Pane): pane is Split => pane.first !== undefined && pane.second !== undefined;

/** The tabs that a tree shows, from the left and from the top. */
export function tabsOf(pane: Pane | undefined): string[] {
  if (!pane) return [];
  return isSplit(pane) ? [...tabsOf(pane.first), ...tabsOf(pane.second)] : [pane.tab ?? ""];
}

const clamped = (share: number) => Math.min(1 - leastShare, Math.max(leastShare, share));

function node(side: Side, share: number, first: Pane, second: Pane): Pane {
  return { split: side, share: clamped(share), first, second };
}

/** Puts a new pane beside or below that of a tab, which shares its room with it. */
export function splitAt(pane: Pane, tab: string, side: Side, fresh: string): Pane {
  if (isSplit(pane))
    return { ...pane, first: splitAt(pane.first, tab, side, fresh), second: splitAt(pane.second, tab, side, fresh) };
  return pane.tab === tab ? node(side, 0.5, pane, { tab: fresh }) : pane;
}

/** Takes the pane of a tab out; its sibling gets the room. Undefined: nothing is left. */
export function without(pane: Pane, tab: string): Pane | undefined {
  if (!isSplit(pane)) return pane.tab === tab ? undefined : pane;
  const first = without(pane.first, tab);
  const second = without(pane.second, tab);
  if (!first || !second) return first ?? second;
  return { ...pane, first, second };
}

/** Lets the pane of one tab show another; where that is shown already, the two change places. */
export function showIn(pane: Pane, old: string, fresh: string): Pane {
  if (isSplit(pane)) return { ...pane, first: showIn(pane.first, old, fresh), second: showIn(pane.second, old, fresh) };
  if (pane.tab === old) return { tab: fresh };
  return pane.tab === fresh ? { tab: old } : pane;
}

/** Gives the first part of the split that parts two tabs another share. */
export function withShare(pane: Pane, between: readonly [string, string], share: number): Pane {
  if (!isSplit(pane)) return pane;
  const first = tabsOf(pane.first);
  const [a, b] = between.map((tab) => first.includes(tab));
  if (a !== b) return { ...pane, share: clamped(share) };
  return a
    ? { ...pane, first: withShare(pane.first, between, share) }
    : { ...pane, second: withShare(pane.second, between, share) };
}

/** The least that a tree needs, so that each of its panes has its own least. */
export function needs(pane: Pane, least: Least): Least {
  if (!isSplit(pane)) return least;
  const first = needs(pane.first, least);
  const second = needs(pane.second, least);
  return pane.split === SplitRight
    ? { width: first.width + second.width + 1, height: Math.max(first.height, second.height) }
    : { width: Math.max(first.width, second.width), height: first.height + second.height + 1 };
}

/** What of a tree has room: the pane that has the keys stays longest, of the others the last goes first. */
export function fitting(root: Pane, box: Least, least: Least, focus: string): Pane {
  let pane = root;
  for (;;) {
    const need = needs(pane, least);
    if (!isSplit(pane) || (need.width <= box.width && need.height <= box.height)) return pane;
    const last = tabsOf(pane)
      .filter((tab) => tab !== focus)
      .at(-1);
    const less = last === undefined ? undefined : without(pane, last);
    if (!less) return pane;
    pane = less;
  }
}

/** Whether a pane has room for another one beside or below it. */
export function hasRoom(place: Box, side: Side, least: Least): boolean {
  return side === "right" ? place.width >= 2 * least.width + 1 : place.height >= 2 * least.height + 1;
}

/** Whether a tree may have another pane. */
export const mayGrow = (pane: Pane | undefined): boolean => tabsOf(pane).length < maxPanes;

/** How far the first part of a split may reach, as shares, so that both keep what they need; where they cannot, nowhere. */
function rangeOf(split: Split, length: number, least: Least): { from: number; to: number } {
  const side = split.split === SplitRight ? "width" : "height";
  const from = clamped(needs(split.first, least)[side] / Math.max(1, length));
  const to = clamped(1 - needs(split.second, least)[side] / Math.max(1, length));
  if (from <= to) return { from, to };
  const share = split.share ?? 0.5;
  return { from: share, to: share };
}

/** Cuts a box up as the tree says, with a line of one pixel between two parts. Whole pixels, and no gap. */
export function placesOf(root: Pane, box: Box, least: Least): { panes: Place[]; dividers: Divider[] } {
  const panes: Place[] = [];
  const dividers: Divider[] = [];
  const walk = (pane: Pane, at: Box) => {
    if (!isSplit(pane)) {
      panes.push({ ...at, tab: pane.tab ?? "" });
      return;
    }
    const right = pane.split === SplitRight;
    const length = right ? at.width : at.height;
    const { from, to } = rangeOf(pane, length, least);
    const share = Math.min(to, Math.max(from, pane.share ?? 0.5));
    const first = Math.round((length - 1) * share);
    const rest = length - first - 1;
    walk(pane.first, right ? { ...at, width: first } : { ...at, height: first });
    dividers.push({
      ...(right ? { ...at, x: at.x + first, width: 1 } : { ...at, y: at.y + first, height: 1 }),
      between: [tabsOf(pane.first)[0] ?? "", tabsOf(pane.second)[0] ?? ""],
      side: right ? "right" : "below",
      at: first,
      length: length - 1,
      from: Math.round((length - 1) * from),
      to: Math.round((length - 1) * to),
    });
    walk(
      pane.second,
      right ? { ...at, x: at.x + first + 1, width: rest } : { ...at, y: at.y + first + 1, height: rest },
    );
  };
  walk(root, box);
  return { panes, dividers };
}

export type Direction = "left" | "right" | "up" | "down";

/** The pane that lies next to another one in a direction: of those that touch it, the one that shares most of its edge. */
export function neighbour(panes: Place[], tab: string, to: Direction): string | undefined {
  const from = panes.find((one) => one.tab === tab);
  if (!from) return undefined;
  const across = to === "left" || to === "right";
  const ahead = (one: Place) =>
    ({
      left: from.x - one.x - one.width,
      right: one.x - from.x - from.width,
      up: from.y - one.y - one.height,
      down: one.y - from.y - from.height,
    })[to];
  const shared = (one: Place) =>
    across
      ? Math.min(one.y + one.height, from.y + from.height) - Math.max(one.y, from.y)
      : Math.min(one.x + one.width, from.x + from.width) - Math.max(one.x, from.x);
  return panes
    .filter((one) => one !== from && ahead(one) >= 0 && shared(one) > 0)
    .sort((a, b) => ahead(a) - ahead(b) || shared(b) - shared(a))[0]?.tab;
}

/** A layout without what is gone, as the app would keep it: for the time until the app's own answer is there. */
export function fitLayout(layout: Layout, open: ReadonlySet<string>): Layout {
  const bottom = layout.bottom && open.has(layout.bottom) ? layout.bottom : "";
  const shows = new Set(open);
  shows.delete(bottom);
  let root = layout.root;
  for (const tab of tabsOf(root)) if (root && !shows.has(tab)) root = without(root, tab);
  let focus = layout.focus ?? "";
  if (root && !isSplit(root)) {
    focus = root.tab ?? "";
    root = undefined;
  }
  const tabs = tabsOf(root);
  if (root && !tabs.includes(focus)) focus = tabs[0] ?? "";
  if (!root && !shows.has(focus)) focus = "";
  return {
    task_id: layout.task_id,
    ...(root ? { root } : {}),
    ...(focus ? { focus } : {}),
    ...(bottom ? { bottom, open: layout.open ?? false } : {}),
    ...(layout.height ? { height: layout.height } : {}),
  };
}
