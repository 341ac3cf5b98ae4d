import type { FileChange } from "../gen/api";
import { count } from "./text";

// What is changed in a worktree, by how far it got, and what a person can do with it.

export type ChangeKind = "staged" | "loose" | "committed";

export interface ChangeGroup {
  kind: ChangeKind;
  title: string;
  files: FileChange[];
}

/** A file that is partly staged stands in both of the first two. */
export function groupsOf(files: FileChange[]): ChangeGroup[] {
  const groups: ChangeGroup[] = [
    { kind: "staged", title: "Staged", files: files.filter((file) => file.staged) },
    { kind: "loose", title: "Not staged", files: files.filter(isLoose) },
    { kind: "committed", title: "Committed", files: files.filter((file) => !file.staged && !isLoose(file)) },
  ];
  return groups.filter((group) => group.files.length > 0);
}

/** Whether there is something in the file that is not staged. */
export function isLoose(file: FileChange): boolean {
  return file.unstaged === true || file.status === "untracked" || file.status === "unmerged";
}

/** What a verb is told of files: their paths, the other halves of renames, and how each was seen. */
export function named(files: FileChange[]): { paths: string[]; seen: string[] } {
  const paths: string[] = [];
  const seen: string[] = [];
  for (const file of files) {
    paths.push(file.path);
    seen.push(file.seen ?? "");
    if (file.also) {
      paths.push(file.also);
      seen.push(""); // a half that went has nothing that could have changed
    }
  }
  return { paths, seen };
}

/** What a commit would take: what is staged, or everything where nothing is. */
export function commitOf(files: FileChange[]): { files: number; all: boolean } {
  const staged = files.filter((file) => file.staged).length;
  return staged > 0 ? { files: staged, all: false } : { files: files.filter(isLoose).length, all: true };
}

/** "a.txt", or "3 files". */
export function called(paths: string[]): string {
  const [first] = paths;
  return paths.length === 1 && first !== undefined ? first : count(paths.length, "file");
}
