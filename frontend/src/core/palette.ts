// What the command palette offers, and which of it fits what was typed. Nothing here knows a browser.

import type { Action } from "./keys";
import type { Mark } from "./marks";

/** The groups, in the order in which they are shown. What waits for the person comes before every other match. */
export const groups = ["Waiting for you", "This task", "Prompts", "Go to", "Do"] as const;
export type Group = (typeof groups)[number];

export interface Entry {
  /** Unique among the entries of one moment. */
  id: string;
  group: Group;
  label: string;
  /** What it leads to, or what follows from it. */
  hint?: string;
  /** The mark of a task; else an icon of that name. */
  mark?: Mark;
  icon?: string;
  shortcut?: Action;
  /** What Enter does, where the label is a place and not an act. */
  verb?: string;
  /** Why it cannot be done now. */
  reason?: string;
  run: () => void;
}

/** An entry that fits, and which parts of its label do: pairs of from and to. */
export interface Found {
  entry: Entry;
  parts: [number, number][];
}

/**
 * The entries in which every word of the query stands, in the label or in the hint, by group and within it the best
 * first: whose label begins with the query, then those in which words begin with it, then the rest, each as it came.
 */
export function search(entries: Entry[], query: string): Found[] {
  const words = fold(query).split(/\s+/).filter(Boolean);
  const found: (Found & { rank: number; at: number })[] = [];
  entries.forEach((entry, at) => {
    const fit = fitting(entry, words);
    if (fit) found.push({ entry, at, ...fit });
  });
  found.sort((a, b) => groups.indexOf(a.entry.group) - groups.indexOf(b.entry.group) || a.rank - b.rank || a.at - b.at);
  return found.map(({ entry, parts }) => ({ entry, parts }));
}

function fitting(entry: Entry, words: string[]): { parts: [number, number][]; rank: number } | undefined {
  const label = fold(entry.label);
  const hint = fold(entry.hint ?? "");
  const parts: [number, number][] = [];
  let rank = 0;
  for (const word of words) {
    const at = placeOf(label, word);
    if (at >= 0) {
      parts.push([at, at + word.length]);
      rank = Math.max(rank, at === 0 ? 0 : beginsWord(label, at) ? 1 : 2);
    } else if (hint.includes(word)) rank = 3;
    else return undefined;
  }
  return { parts: joined(parts), rank };
}

/** Where a word stands best: at the beginning of a word, else anywhere; -1 for nowhere. */
function placeOf(text: string, word: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) if (beginsWord(text, at)) return at;
  return text.indexOf(word);
}

function beginsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
}

/** Parts that touch or overlap, as one. */
function joined(parts: [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const [from, to] of parts.sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

/** Case and accents do not count. Every letter stays one code unit, so that places in the result are places in the text. */
function fold(text: string): string {
  let out = "";
  for (const char of text) {
    const plain = char
      .normalize("NFD")
      .replace(/\p{M}+/gu, "")
      .toLowerCase();
    out += plain.length === char.length ? plain : char.toLowerCase().length === char.length ? char.toLowerCase() : char;
  }
  return out;
}

/** A label in pieces, the fitting ones marked. */
export function pieces(label: string, parts: [number, number][]): { text: string; fits: boolean }[] {
  const out: { text: string; fits: boolean }[] = [];
  let at = 0;
  for (const [from, to] of parts) {
    if (from > at) out.push({ text: label.slice(at, from), fits: false });
    out.push({ text: label.slice(from, to), fits: true });
    at = to;
  }
  if (at < label.length) out.push({ text: label.slice(at), fits: false });
  return out;
}
