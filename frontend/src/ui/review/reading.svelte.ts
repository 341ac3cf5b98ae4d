import { keyOf } from "../../core/comments";
import { countRuns, runsOf } from "../../core/pairs";
import { type FilePatch, parsePatch } from "../../core/patch";
import { splitPath } from "../../core/text";
import type { FileChange, TaskDetail } from "../../gen/api";
import { ChangesOf } from "../panel/changes.svelte";
import { ReviewNotes } from "./notes.svelte";

/** What the review of one task shows, and how far a person has gone through it. */
export class Reading {
  readonly changes: ChangesOf;
  readonly notes: ReviewNotes;
  /** The tree has changed, and what is shown is older: it does not move while somebody writes about it. */
  behind = $state(false);
  /** The run of changes that is gone to, counted over all files; -1 for none yet. */
  run = $state(-1);

  diff = $derived.by(() => this.changes.diff);
  files = $derived.by(() => [...(this.diff?.files ?? [])].sort(byFolder));
  patches = $derived.by(() => new Map(parsePatch(this.diff?.diff ?? "").map((patch) => [patch.path, patch])));
  /** The number of the first run of each file. */
  firstRuns = $derived.by(() => {
    const out: number[] = [];
    let run = 0;
    for (const file of this.files) {
      out.push(run);
      run += countRuns(this.patches.get(file.path)?.hunks ?? []);
    }
    return { of: out, all: run };
  });
  /** The lines that have something said about them, by their keys. */
  spoken = $derived.by(() => {
    const keys = new Set(this.notes.comments.map(keyOf));
    if (this.notes.open) keys.add(keyOf(this.notes.open));
    return keys;
  });
  prints = $derived.by(
    () => new Map(this.files.map((file) => [file.path, printOf(file, this.patches.get(file.path))])),
  );

  constructor(task: TaskDetail) {
    this.changes = new ChangesOf(task.id, true);
    this.notes = new ReviewNotes(task.id);
  }

  /** Reads the changes again, unless a comment is being written. */
  look(): void {
    if (this.notes.open) this.behind = true;
    else void this.read();
  }

  async read(): Promise<void> {
    this.behind = false;
    await this.changes.read();
  }

  viewed(file: FileChange): boolean {
    return this.notes.isViewed(file.path, this.prints.get(file.path) ?? "");
  }

  view(file: FileChange, on: boolean): void {
    this.notes.view(file.path, this.prints.get(file.path) ?? "", on);
  }

  /** The file that a run belongs to. */
  fileOfRun(run: number): number {
    let at = 0;
    while (at + 1 < this.files.length && (this.firstRuns.of[at + 1] ?? 0) <= run) at++;
    return at;
  }

  /** Opens the editor at the run that is gone to: at the first line that came, or else at the first that went. */
  comment(): void {
    const at = this.fileOfRun(this.run);
    const file = this.files[at];
    if (this.run < 0 || !file) return;
    let left = this.run - (this.firstRuns.of[at] ?? 0);
    for (const hunk of this.patches.get(file.path)?.hunks ?? []) {
      const start = runsOf(hunk)[left];
      left -= runsOf(hunk).length;
      if (start === undefined) continue;
      const lines = hunk.lines.slice(start);
      const end = lines.findIndex((line) => line.kind === "same" || line.kind === "note");
      const run = end < 0 ? lines : lines.slice(0, end);
      const line = run.find((one) => one.kind === "added") ?? run[0];
      const number = line?.newNumber ?? line?.oldNumber;
      if (!line || number === undefined) return;
      this.notes.edit({ path: file.path, side: line.kind === "removed" ? "old" : "new", line: number }, line.text);
      return;
    }
  }
}

/** Folder first, so that the files of one stand together. */
function byFolder(a: FileChange, b: FileChange): number {
  const [one, other] = [splitPath(a.path), splitPath(b.path)];
  return one.folder.localeCompare(other.folder) || one.name.localeCompare(other.name);
}

/** Tells one state of a file's change from another: a sum over its lines (FNV-1a). */
function printOf(file: FileChange, patch: FilePatch | undefined): string {
  let sum = 0x811c9dc5;
  for (const hunk of patch?.hunks ?? [])
    for (const line of hunk.lines)
      for (const unit of `${line.kind} ${line.text}\n`) sum = Math.imul(sum ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  return `${file.status} +${file.insertions} -${file.deletions} ${(sum >>> 0).toString(16)}`;
}
