import { shown } from "./text";

/** One line of a unified diff. */
export interface PatchLine {
  kind: "same" | "added" | "removed" | "note";
  text: string;
  oldNumber?: number;
  newNumber?: number;
}

export interface Hunk {
  /** What git says about where it is, such as the function's name. */
  context: string;
  oldStart: number;
  newStart: number;
  lines: PatchLine[];
}

export interface FilePatch {
  path: string;
  oldPath?: string;
  /** Sentences of git such as "Binary files differ" or a change of mode. */
  notes: string[];
  hunks: Hunk[];
}

const hunkHead = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/**
 * Reads the output of `git diff`. It never fails: a line that it does not know becomes a note of its file, and text
 * that is cut in the middle gives what came before the cut.
 */
export function parsePatch(text: string): FilePatch[] {
  const files: FilePatch[] = [];
  let file: FilePatch | undefined;
  let hunk: Hunk | undefined;
  let oldNumber = 0;
  let newNumber = 0;
  let oldLeft = 0;
  let newLeft = 0;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const inHunk = hunk !== undefined && (oldLeft > 0 || newLeft > 0);
    if (!inHunk && line.startsWith("diff --git ")) {
      file = { path: pathOfHeader(line), notes: [], hunks: [] };
      files.push(file);
      hunk = undefined;
      continue;
    }
    if (!file) continue;
    const head = inHunk ? null : hunkHead.exec(line);
    if (head) {
      oldNumber = Number(head[1]);
      newNumber = Number(head[2]);
      [oldLeft, newLeft] = lengths(line);
      hunk = { context: head[3] ?? "", oldStart: oldNumber, newStart: newNumber, lines: [] };
      file.hunks.push(hunk);
      continue;
    }
    if (!inHunk || !hunk) {
      if (hunk && line.startsWith("\\")) hunk.lines.push({ kind: "note", text: line.slice(2) });
      else header(file, line);
      continue;
    }
    const body = line.slice(1);
    if (line.startsWith("+")) {
      hunk.lines.push({ kind: "added", text: body, newNumber: newNumber++ });
      newLeft--;
    } else if (line.startsWith("-")) {
      hunk.lines.push({ kind: "removed", text: body, oldNumber: oldNumber++ });
      oldLeft--;
    } else if (line.startsWith("\\")) {
      hunk.lines.push({ kind: "note", text: line.slice(2) });
    } else {
      hunk.lines.push({ kind: "same", text: body, oldNumber: oldNumber++, newNumber: newNumber++ });
      oldLeft--;
      newLeft--;
    }
  }
  return files;
}

function lengths(head: string): [number, number] {
  const found = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(head);
  return [Number(found?.[1] ?? 1), Number(found?.[2] ?? 1)];
}

function header(file: FilePatch, line: string): void {
  if (line.startsWith("+++ ")) {
    const path = pathOf(line.slice(4));
    if (path) file.path = path;
  } else if (line.startsWith("--- ")) {
    const path = pathOf(line.slice(4));
    if (path && path !== file.path) file.oldPath = path;
  } else if (line.startsWith("rename from ") || line.startsWith("copy from ")) {
    file.oldPath = unquote(line.slice(line.indexOf("from ") + 5));
  } else if (line.startsWith("rename to ") || line.startsWith("copy to ")) {
    file.path = unquote(line.slice(line.indexOf("to ") + 3));
  } else if (line.startsWith("Binary files ") || line === "GIT binary patch") {
    file.notes.push("Binary file, not shown");
  } else if (line.startsWith("old mode ") || line.startsWith("new mode ")) {
    file.notes.push(line);
  } else if (line.startsWith("new file mode 120000")) {
    file.notes.push("Symbolic link");
  }
}

/** The path of "--- a/x" or "+++ b/x"; undefined for /dev/null. */
function pathOf(text: string): string | undefined {
  const path = unquote(text.replace(/\t$/, ""));
  if (path === "/dev/null") return undefined;
  return path.replace(/^[abciw]\//, "");
}

/** The new path of "diff --git a/x b/x": used until a better line comes, and by files without one (mode, binary). */
function pathOfHeader(line: string): string {
  const rest = line.slice("diff --git ".length);
  const quoted = /"((?:[^"\\]|\\.)*)"$/.exec(rest);
  if (quoted) return unquote(quoted[0]).replace(/^[bw]\//, "");
  // Both halves are the same but for their first letter, unless the file was renamed; then other lines tell.
  const half = rest.slice((rest.length + 1) / 2);
  return half.replace(/^[bciw]\//, "");
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** Undoes git's C-style quoting of paths. */
export function unquote(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return text;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const inner = text.slice(1, -1);
  for (let i = 0; i < inner.length; i++) {
    const char = inner[i] ?? "";
    if (char !== "\\") {
      const whole = String.fromCodePoint(inner.codePointAt(i) ?? 0);
      bytes.push(...encoder.encode(whole));
      i += whole.length - 1;
      continue;
    }
    const octal = /^[0-7]{3}/.exec(inner.slice(i + 1));
    if (octal) {
      bytes.push(Number.parseInt(octal[0], 8));
      i += 3;
    } else {
      bytes.push(escapes[inner[i + 1] ?? ""] ?? 63);
      i += 1;
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** How many blocks of five are green and red, for the little bar behind a file. */
export function bars(insertions: number, deletions: number): { plus: number; minus: number } {
  const total = insertions + deletions;
  if (total === 0) return { plus: 0, minus: 0 };
  let plus = Math.round((insertions / total) * 5);
  if (insertions > 0 && plus === 0) plus = 1;
  if (deletions > 0 && plus === 5) plus = 4;
  return { plus, minus: 5 - plus };
}

/** How the kinds of lines are marked, and what a reader hears before them. */
export const signs = { same: " ", added: "+", removed: "−", note: "" } as const;
export const spoken = { same: "", added: "added", removed: "removed", note: "" } as const;

/** A line of code as it is drawn: tabs stay tabs; everything else that is not a character of the text becomes a mark. */
export function code(text: string): string {
  return text.split("\t").map(shown).join("\t");
}
