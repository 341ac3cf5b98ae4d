import type { Hunk, PatchLine } from "./patch";

// The lines of a hunk as they stand beside each other, and what differs within a pair of lines.

/** A stretch of a line, in UTF-16 units: from the first to before the second. */
export type Stretch = readonly [number, number];

/** One line of one side. */
export interface Side {
  line: PatchLine;
  /** What differs from the line beside it; empty when the whole line is new, gone or the same. */
  marks: Stretch[];
}

/** Lines that stand beside each other. A side without a line is empty; a note stands across both. */
export interface Pair {
  left?: Side;
  right?: Side;
  note?: string;
  /** The pair is the first of a run of changes. */
  change: boolean;
}

/** Longer lines, and pairs that have less than this share in common, are not compared within. */
const longest = 2000;
const alike = 0.3;

/**
 * Puts the lines of a hunk beside each other: a line that is the same stands in both sides, and of a run of changes the
 * n-th that went stands beside the n-th that came.
 */
export function pairsOf(hunk: Hunk): Pair[] {
  const out: Pair[] = [];
  let gone: PatchLine[] = [];
  let come: PatchLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) {
      const [old, now] = [gone[i], come[i]];
      const marks = old && now ? marksOf(old.text, now.text) : { left: [], right: [] };
      out.push({
        ...(old ? { left: { line: old, marks: marks.left } } : {}),
        ...(now ? { right: { line: now, marks: marks.right } } : {}),
        change: i === 0,
      });
    }
    gone = [];
    come = [];
  };
  for (const line of hunk.lines) {
    if (line.kind === "removed") {
      if (come.length > 0) flush(); // what goes after something came is a change of its own
      gone.push(line);
    } else if (line.kind === "added") {
      come.push(line);
    } else {
      flush();
      if (line.kind === "note") out.push({ note: line.text, change: false });
      else out.push({ left: { line, marks: [] }, right: { line, marks: [] }, change: false });
    }
  }
  flush();
  return out;
}

/** Where the runs of changes of a hunk begin, as pairsOf has them. */
export function runsOf(hunk: Hunk): number[] {
  const out: number[] = [];
  for (const [i, { kind }] of hunk.lines.entries()) {
    const before = hunk.lines[i - 1]?.kind;
    const changed = kind === "added" || kind === "removed";
    if (
      changed &&
      (before === undefined || before === "same" || before === "note" || (kind === "removed" && before === "added"))
    )
      out.push(i);
  }
  return out;
}

/** How many runs of changes there are in some hunks. */
export function countRuns(hunks: Hunk[]): number {
  return hunks.reduce((sum, hunk) => sum + runsOf(hunk).length, 0);
}

/** What differs within two lines, by words: what the longest common row of words leaves out. */
export function marksOf(old: string, now: string): { left: Stretch[]; right: Stretch[] } {
  const none = { left: [], right: [] };
  if (old === now || old.length > longest || now.length > longest) return none;
  const a = words(old);
  const b = words(now);
  const common = commonWords(a, b);
  const kept = common.reduce((sum, [i]) => sum + (a[i]?.trim().length ?? 0), 0);
  const most = Math.max(old.trim().length, now.trim().length);
  if (most > 0 && kept / most < alike) return none;
  return {
    left: rest(a, new Set(common.map(([i]) => i))),
    right: rest(b, new Set(common.map(([, j]) => j))),
  };
}

/** Words, runs of blanks, and every other sign by itself. Joined they are the text. */
function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];
}

/** The places of a longest common row of words. Equal ends are cut off first, so that the table stays small. */
function commonWords(a: string[], b: string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: [number, number][] = [];
  for (let i = 0; i < head; i++) out.push([i, i]);
  const x = a.slice(head, a.length - tail);
  const y = b.slice(head, b.length - tail);
  if (x.length * y.length <= 40_000) for (const [i, j] of longestRow(x, y)) out.push([head + i, head + j]);
  for (let k = tail; k > 0; k--) out.push([a.length - k, b.length - k]);
  return out;
}

function longestRow(x: string[], y: string[]): [number, number][] {
  const width = y.length + 1;
  const best = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      best[i * width + j] =
        x[i] === y[j]
          ? 1 + (best[(i + 1) * width + j + 1] ?? 0)
          : Math.max(best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0);
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < x.length && j < y.length; ) {
    if (x[i] === y[j]) out.push([i++, j++]);
    else if ((best[(i + 1) * width + j] ?? 0) >= (best[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  return out;
}

/** The stretches of the words that are not kept; neighbours become one, also across a single blank. */
function rest(all: string[], kept: Set<number>): Stretch[] {
  const out: [number, number][] = [];
  let at = 0;
  for (const [i, word] of all.entries()) {
    const blank = word.trim() === "";
    const between = blank && kept.has(i) && i > 0 && !kept.has(i - 1) && i + 1 < all.length && !kept.has(i + 1);
    if (!kept.has(i) || between) {
      const last = out.at(-1);
      if (last && last[1] === at) last[1] = at + word.length;
      else out.push([at, at + word.length]);
    }
    at += word.length;
  }
  return out;
}
