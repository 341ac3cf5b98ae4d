import type { Stretch } from "./pairs";
import type { Hunk, PatchLine } from "./patch";

// Colours for lines of code in a diff. A diff shows pieces of files, so this is no parser: it knows comments, texts, numbers, the words that
// a language keeps for itself, and names that look like types. What it cannot tell stays plain.

/** What a stretch of a line is. */
export type Ink = "comment" | "text" | "number" | "keyword" | "type";

/** A stretch of a line with its ink, in UTF-16 units: from the first to before the second. */
export type Inked = readonly [number, number, Ink];

interface Language {
  /** What begins a comment that lasts to the end of the line. */
  line: readonly string[];
  /** What begins and ends what may go over lines, and what that is. */
  over: readonly (readonly [string, string, Ink])[];
  /** Quotation marks of texts that end with their line. */
  quotes: string;
  /** A single quotation mark holds one character, as in C; elsewhere it may be part of a word. */
  chars?: boolean;
  words: ReadonlySet<string>;
  /** Names of types that are written small. */
  types: ReadonlySet<string>;
  /** Names with a capital letter are types. */
  capitals?: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const none: ReadonlySet<string> = new Set();
const slashes = { line: ["//"], over: [["/*", "*/", "comment"]] as const, quotes: '"', types: none };

const go: Language = {
  ...slashes,
  over: [...slashes.over, ["`", "`", "text"]],
  chars: true,
  words: set(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false",
  ),
  types: set(
    "bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr any comparable",
  ),
  capitals: true,
};
const script: Language = {
  ...slashes,
  over: [...slashes.over, ["`", "`", "text"]],
  quotes: "\"'",
  words: set(
    "abstract as async await break case catch class const continue declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true false try type typeof undefined var void while with yield",
  ),
  types: set("any bigint boolean never number object string symbol unknown"),
  capitals: true,
};
const family: Language = {
  ...slashes,
  chars: true,
  words: set(
    "abstract alignas as assert async auto await break case catch class const constexpr constructor continue crate data default delete do dyn else enum explicit export extends extern fallthrough false final finally fn for friend fun func goto guard if impl implements import in inline interface internal is let loop match mod module move mut mutable namespace new nil noexcept null nullptr object open operator override package private protected protocol pub public readonly ref return sealed self static struct super switch template this throw throws trait true try type typedef typename union unsafe use using val var virtual volatile when where while yield",
  ),
  types: set(
    "bool boolean byte char double float i8 i16 i32 i64 i128 f32 f64 int long short signed size_t str string u8 u16 u32 u64 u128 usize isize unsigned void",
  ),
  capitals: true,
};
const python: Language = {
  line: ["#"],
  over: [
    ['"""', '"""', "text"],
    ["'''", "'''", "text"],
  ],
  quotes: "\"'",
  words: set(
    "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self",
  ),
  types: set("bool bytes dict float int list set str tuple"),
  capitals: true,
};
const shell: Language = {
  line: ["#"],
  over: [],
  quotes: "\"'",
  words: set(
    "if then elif else fi for while until do done case esac in function return local export readonly set unset exit break continue trap shift",
  ),
  types: none,
};
const ruby: Language = {
  ...python,
  over: [],
  words: set(
    "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield",
  ),
  types: none,
};
const keyed: Language = { line: ["#"], over: [], quotes: "\"'", words: set("true false null yes no"), types: none };
const sql: Language = {
  line: ["--"],
  over: slashes.over,
  quotes: "'\"",
  words: set(
    "select from where and or not insert into values update set delete create table index view drop alter add column primary key foreign references unique null default join left right inner outer on group by order having limit offset as distinct union all exists in is like between case when then else end begin commit rollback if with",
  ),
  types: set("integer int bigint text varchar boolean real blob timestamp date numeric"),
};
const style: Language = { line: [], over: slashes.over, quotes: "\"'", words: none, types: none };
const markup: Language = { line: [], over: [["<!--", "-->", "comment"]], quotes: '"', words: none, types: none };
const plain: Language = { line: [], over: [], quotes: '"', words: set("true false null"), types: none };

const byEnding: Record<string, Language> = { go, py: python, pyi: python, rb: ruby, sql, json: plain };
for (const ending of ["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts"]) byEnding[ending] = script;
for (const ending of "c h cc cpp cxx hpp cs java kt kts rs swift scala dart php proto zig m".split(" "))
  byEnding[ending] = family;
for (const ending of ["sh", "bash", "zsh", "fish"]) byEnding[ending] = shell;
for (const ending of ["yaml", "yml", "toml", "ini", "conf", "cfg", "env", "mk", "tf", "properties"])
  byEnding[ending] = keyed;
for (const ending of ["css", "scss", "less"]) byEnding[ending] = style;
for (const ending of ["html", "xml", "svg", "vue", "svelte"]) byEnding[ending] = markup;
const byName: Record<string, Language> = { makefile: keyed, dockerfile: shell, gemfile: ruby, rakefile: ruby };

/** The language of a file, by its name; undefined for one that is not known. */
function languageOf(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return byName[name] ?? byEnding[name.slice(name.lastIndexOf(".") + 1)];
}

/** Longer lines are made by programs, and stay plain. */
const longest = 2000;

/** What goes on from the line before: its end, and what it is. */
type Open = readonly [string, Ink] | undefined;

/** The inks of the lines of some hunks of a file. Lines without any are left out. */
export function inksOf(hunks: Hunk[], path: string): Map<PatchLine, Inked[]> {
  const out = new Map<PatchLine, Inked[]>();
  const language = languageOf(path);
  if (!language) return out;
  for (const hunk of hunks) {
    let old: Open;
    let now: Open;
    for (const line of hunk.lines) {
      if (line.kind === "note") continue;
      const read = inkLine(line.text, language, line.kind === "removed" ? old : now);
      if (line.kind !== "added")
        old = line.kind === "same" && old !== now ? inkLine(line.text, language, old).open : read.open;
      if (line.kind !== "removed") now = read.open;
      if (read.inks.length > 0) out.set(line, read.inks);
    }
  }
  return out;
}

const name = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const number = /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/iy;
const character = /'(?:\\[^']+|[^'\\])'/y;

function inkLine(text: string, language: Language, open: Open): { inks: Inked[]; open: Open } {
  const inks: Inked[] = [];
  if (text.length > longest) return { inks, open: undefined };
  let at = 0;
  /** Inks what begins at `from` up to the end that it has; without one it goes on in the next line. */
  const upTo = (from: number, after: number, end: string, ink: Ink): Open => {
    const found = text.indexOf(end, after);
    at = found < 0 ? text.length : found + end.length;
    if (at > from) inks.push([from, at, ink]);
    return found < 0 ? [end, ink] : undefined;
  };
  if (open) {
    const still = upTo(0, 0, open[0], open[1]);
    if (still) return { inks, open: still };
  } else if (language.over.some(([start]) => start === "/*") && /^\s*\*(?:[\s/]|$)/.test(text)) {
    return { inks: [[0, text.length, "comment"]], open: undefined }; // within a comment whose beginning the diff leaves out
  }
  while (at < text.length) {
    const from = at;
    if (language.line.some((mark) => begins(text, from, mark))) {
      inks.push([from, text.length, "comment"]);
      break;
    }
    const over = language.over.find(([start]) => text.startsWith(start, from));
    if (over) {
      const still = upTo(from, from + over[0].length, over[1], over[2]);
      if (still) return { inks, open: still };
      continue;
    }
    const ink = oneOf(text, from, language);
    at = ink.end;
    if (ink.kind) inks.push([from, at, ink.kind]);
  }
  return { inks, open: undefined };
}

/** A comment mark of one sign stands at the beginning of a word: "a#b" and "$#" have none. */
function begins(text: string, at: number, mark: string): boolean {
  return text.startsWith(mark, at) && (mark.length > 1 || at === 0 || /\s/.test(text[at - 1] ?? ""));
}

/** The next text, number or name of a line, or one sign that is none of these. */
function oneOf(text: string, at: number, language: Language): { end: number; kind?: Ink } {
  const sign = text[at] ?? "";
  if (language.quotes.includes(sign)) return { end: endOfText(text, at, sign), kind: "text" };
  if (language.chars && sign === "'") {
    character.lastIndex = at;
    return character.test(text) ? { end: character.lastIndex, kind: "text" } : { end: at + 1 };
  }
  number.lastIndex = at;
  if (number.test(text)) return { end: number.lastIndex, kind: "number" };
  name.lastIndex = at;
  const word = name.exec(text)?.[0];
  if (!word) return { end: at + 1 };
  const end = at + word.length;
  if (language.words.has(word) || (language === sql && language.words.has(word.toLowerCase())))
    return { end, kind: "keyword" };
  const type = language.types.has(word) || (language.capitals && /^\p{Lu}/u.test(word) && text[end] !== "(");
  return type ? { end, kind: "type" } : { end };
}

function endOfText(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) return i + 1;
  }
  return text.length;
}

/** A piece of a line that differs or does not, with its stretches of one ink. */
export interface Piece {
  marked: boolean;
  parts: { text: string; ink: Ink | undefined }[];
}

/** A line in pieces: what differs, and what stands between. */
export function inkPieces(text: string, marks: readonly Stretch[], inks: readonly Inked[]): Piece[] {
  const cuts = new Set([0, text.length]);
  for (const [from, to] of [...marks, ...inks]) cuts.add(from).add(to);
  const at = [...cuts].filter((cut) => cut <= text.length).sort((a, b) => a - b);
  const out: Piece[] = [];
  for (let i = 0; i + 1 < at.length; i++) {
    const [from = 0, to = 0] = [at[i], at[i + 1]];
    const marked = marks.some(([a, b]) => a <= from && to <= b);
    const ink = inks.find(([a, b]) => a <= from && to <= b)?.[2];
    const last = out.at(-1);
    if (last?.marked === marked) last.parts.push({ text: text.slice(from, to), ink });
    else out.push({ marked, parts: [{ text: text.slice(from, to), ink }] });
  }
  return out;
}
